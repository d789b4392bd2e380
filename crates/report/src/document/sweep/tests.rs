use super::*;

#[test]
fn timing_in_words() {
    let timing = |idle_ns, warmup_ns, duration_ns| Timing {
        idle_ns,
        warmup_ns,
        duration_ns,
        cooldown_ns: 0,
    };
    let minute = 60_000_000_000;
    assert_eq!(
        super::timing(timing(minute, minute, 5 * minute)),
        "1 min idle, 1 min of warm-up, 5 min counted"
    );
    assert_eq!(super::timing(timing(0, 0, minute)), "1 min counted");
}

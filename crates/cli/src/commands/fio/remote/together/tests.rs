use super::*;

fn progress(seconds: u64, running: u32, fraction: f64) -> Progress {
    Progress {
        elapsed_ns: seconds * 1_000_000_000,
        running,
        fraction: Some(fraction),
        bytes: [1 << 20, 0, 0],
        ios: [256, 0, 0],
        files: running,
        letters: "R".repeat(running as usize),
    }
}

#[test]
fn the_line_is_that_of_all_servers() {
    let mut together = Together::drawn_every(Nanos::from_secs(1), true, 2);
    assert_eq!(
        together
            .take(0, &progress(4, 1, 0.5))
            .as_deref()
            .map(|line| &line[..12]),
        Some("Jobs: 1 (f=1")
    );
    assert_eq!(together.take(1, &progress(4, 2, 0.25)), None, "once a second");
    let line = together.take(1, &progress(5, 2, 0.25)).expect("a line");
    assert_eq!(
        line.trim_end(),
        "Jobs: 3 (f=3): [R(3)][37.5%][r=2048KiB/s][r=512 IOPS][eta 00m:15s]"
    );
    assert!(line.ends_with('\r'));
    together.ended(0);
    let line = together.take(1, &progress(6, 2, 0.5)).expect("a line");
    assert!(line.starts_with("Jobs: 2 (f=2): [R(2)][50.0%]"), "{line}");
    assert_eq!((together.end_drawn(), together.end_drawn()), ("\n", ""));
}

#[test]
fn nothing_is_drawn_where_it_is_not_wanted() {
    let mut together = Together::drawn_every(Nanos::from_secs(1), false, 1);
    assert_eq!(together.take(0, &progress(4, 1, 0.5)), None);
    assert_eq!(together.end_drawn(), "");
}

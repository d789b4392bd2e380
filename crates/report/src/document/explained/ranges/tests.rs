use super::*;

#[test]
fn numbers_that_differ_become_ranges_and_others_stay() {
    let texts = [
        "did 100 % of that, 72.8 µs late on average (31.5 MB/s), with 32 in flight",
        "did 99 % of that, 1.20 ms late on average (31.4 MB/s), with 32 in flight",
        "did 100 % of that, 950 µs late on average (31.5 MB/s), with 32 in flight",
    ];
    assert_eq!(
        merged(&texts),
        "did 99 to 100 % of that, 72.8 µs to 1.20 ms late on average (31.4 to 31.5 MB/s), with 32 in flight"
    );
    assert_eq!(merged(&texts[..1]), texts[0]);
    assert_eq!(
        merged(&["9800 I/Os, 0.05 %.", "12.4k I/Os, 0.07 %."]),
        "9800 to 12.4k I/Os, 0.05 to 0.07 %."
    );
    assert_eq!(merged::<&str>(&[]), "");
}

/// Numbers within names are part of the name; a number at the end of a clause has no unit.
#[test]
fn names_and_other_words_are_told_apart() {
    assert_eq!(shape("device 254:0 of h07, p99"), "device 254:0 of h07, p99");
    assert_ne!(shape("a limit of h07"), shape("a limit of h08"));
    assert_eq!(shape("of 12, s"), "of #0, s");
    assert_eq!(shape("(12.5 ms)"), "(#1)");
    assert_eq!(shape("5 µs"), shape("7.10 s"));
    assert_ne!(shape("5 µs"), shape("5 MiB"));
    assert_eq!(shape("1.2.3 . ( k"), "1.2.3 . ( k");
    assert_eq!(merged(&["h07 took 5 ms", "h07 took 4 ms"]), "h07 took 4 to 5 ms");
}

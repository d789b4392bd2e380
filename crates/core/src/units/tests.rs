//! Printed forms, held as text.

use super::*;

#[test]
fn bytes_print_with_their_binary_unit() {
    let cases = [
        (0, "0 B"),
        (512, "512 B"),
        (4096, "4 KiB"),
        (1536, "1.50 KiB"),
        (10 << 30, "10 GiB"),
    ];
    for (n, text) in cases {
        assert_eq!(Bytes(n).to_string(), text);
    }
}

#[test]
fn durations_print_three_digits_and_change_unit_before_rounding_up() {
    let cases = [
        (0, "0 ns"),
        (999, "999 ns"),
        (12_345, "12.3 µs"),
        (999_499, "999 µs"),
        (999_600, "1.00 ms"),
        (2_595_500, "2.60 ms"),
        (108_751_000_000, "109 s"),
    ];
    for (n, text) in cases {
        assert_eq!(Nanos(n).to_string(), text);
    }
}

#[test]
fn bandwidth_prints_both_units() {
    assert_eq!(bandwidth(127_000_000.0), "121 MiB/s (127 MB/s)");
    assert_eq!(binary_rate(1023.9), "1.00 KiB/s");
    assert_eq!(decimal_rate(999.0), "999 B/s");
}

#[test]
fn counts_print_at_most_one_letter() {
    let cases = [
        (0.0, "0"),
        (1122.0, "1122"),
        (76_497.0, "76.5k"),
        (1_540_000.0, "1.54M"),
        (17.0, "17"),
    ];
    for (n, text) in cases {
        assert_eq!(count(n), text);
    }
}

#[test]
fn time_never_wraps() {
    assert_eq!(MonoTime(5).since(MonoTime(9)), Nanos::ZERO);
    assert_eq!(MonoTime(5).after(Nanos(u64::MAX)), MonoTime::NEVER);
    assert_eq!(Nanos(3) - Nanos(4), Nanos::ZERO);
}

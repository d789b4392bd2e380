use super::{TimeUnit, time, time_range};
use fathom_core::units::Nanos;

#[test]
fn units_and_the_bare_number() {
    let cases = [
        ("30", 30_000_000_000),
        ("30s", 30_000_000_000),
        ("2S", 2_000_000_000),
        ("1500ms", 1_500_000_000),
        ("1500msec", 1_500_000_000),
        ("100us", 100_000),
        ("7usec", 7_000),
        ("5ns", 5),
        ("5m", 300_000_000_000),
        ("2h", 7_200_000_000_000),
        ("1d", 86_400_000_000_000),
        ("0", 0),
    ];
    for (text, nanos) in cases {
        assert_eq!(time(text, TimeUnit::Seconds), Ok(Nanos(nanos)), "{text}");
    }
    assert_eq!(time("30", TimeUnit::Microseconds), Ok(Nanos(30_000)));
}

/// fio takes `0.5s` for 0 and `1:30` for 1 s.
#[test]
fn fractions_and_clocks() {
    for (text, ms) in [
        ("0.5s", 500),
        ("1.5m", 90_000),
        ("1:30", 90_000),
        ("01:00:05", 3_605_000),
        ("0.25", 250),
    ] {
        assert_eq!(
            time(text, TimeUnit::Seconds),
            Ok(Nanos::from_millis(ms)),
            "{text}"
        );
    }
}

/// fio takes `1h30m` for 1 µs.
#[test]
fn what_fio_reads_in_part_is_refused() {
    for text in [
        "",
        "1:2:3:4:5",
        "1.5x",
        "1:x",
        "1h30m",
        "10 s",
        "-1",
        "5x",
        "2days",
        "0x10",
        "999999999999d",
    ] {
        assert!(time(text, TimeUnit::Seconds).is_err(), "{text}");
    }
}

#[test]
fn a_bare_number_in_a_sum_counts_microseconds() {
    assert_eq!(time("(1h-90s)", TimeUnit::Seconds), Ok(Nanos::from_secs(3510)));
    assert_eq!(time("(5*100)", TimeUnit::Seconds), Ok(Nanos::from_micros(500)));
    assert_eq!(time("(5*1s)", TimeUnit::Seconds), Ok(Nanos::from_secs(5)));
}

#[test]
fn ranges() {
    let seconds = |from, to| Ok((Nanos::from_secs(from), Nanos::from_secs(to)));
    assert_eq!(time_range("1-5", TimeUnit::Seconds), seconds(1, 5));
    assert_eq!(time_range("5", TimeUnit::Seconds), seconds(5, 5));
    assert_eq!(
        time_range("500ms-1m", TimeUnit::Seconds),
        Ok((Nanos::from_millis(500), Nanos::from_secs(60)))
    );
    assert!(time_range("5-1", TimeUnit::Seconds).is_err());
    assert!(time_range("5-", TimeUnit::Seconds).is_err());
}

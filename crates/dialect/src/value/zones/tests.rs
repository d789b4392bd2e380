use super::{ZoneUnit, zones};
use fathom_core::workload::{Zone, ZoneSize};

fn zone(io_percent: f64, size: ZoneSize) -> Zone {
    Zone { io_percent, size }
}

fn refused(text: &str, unit: ZoneUnit) -> String {
    let fault = zones(text, unit).expect_err(text);
    let remedy = fault
        .remedy
        .map_or_else(String::new, |remedy| format!("; {remedy}"));
    format!("{}{remedy}", fault.message)
}

#[test]
fn zones_are_read() {
    use ZoneSize::{Bytes, Percent, Rest};
    for (text, expected) in [
        (
            "60/10:40/90",
            vec![zone(60.0, Percent(10.0)), zone(40.0, Percent(90.0))],
        ),
        (
            "60/10 : 40/ 80:",
            vec![zone(60.0, Percent(10.0)), zone(40.0, Percent(80.0))],
        ),
        ("60/10:40/", vec![zone(60.0, Percent(10.0)), zone(40.0, Rest)]),
        (
            "60:40",
            vec![zone(60.0, Percent(50.0)), zone(40.0, Percent(50.0))],
        ),
        (
            "20/10:80/:0/50",
            vec![
                zone(20.0, Percent(10.0)),
                zone(80.0, Percent(40.0)),
                zone(0.0, Percent(50.0)),
            ],
        ),
        ("12.5/1:87.5/", vec![zone(12.5, Percent(1.0)), zone(87.5, Rest)]),
    ] {
        assert_eq!(zones(text, ZoneUnit::Percent).expect(text), expected, "{text}");
    }
    assert_eq!(
        zones("60/1m:40/2k", ZoneUnit::Bytes(1024)).expect("bytes"),
        [zone(60.0, Bytes(1 << 20)), zone(40.0, Bytes(2048))]
    );
    assert_eq!(
        zones("60/1m:40/", ZoneUnit::Bytes(1000)).expect("bytes"),
        [zone(60.0, Bytes(1_000_000)), zone(40.0, Rest)]
    );
}

#[test]
fn what_does_not_add_up_is_refused() {
    for (text, said) in [
        (
            "60/10:30/20",
            "the shares of the I/Os in `60/10:30/20` add up to 90 %; let them add up to 100",
        ),
        (
            "60/10:40/95",
            "the sizes of `60/10:40/95` add up to 105 %; let them add up to 100 at most",
        ),
        ("a/b", "`a` is not a number; write a number such as 1.2"),
        ("/10:100/90", "`` is not a number; write a number such as 1.2"),
        ("", "`` is not a number; write a number such as 1.2"),
        ("140/10:-40/90", "`140` is not a share in percent; write 0 to 100"),
    ] {
        assert_eq!(refused(text, ZoneUnit::Percent), said);
    }
    assert_eq!(
        refused("60:40/1m", ZoneUnit::Bytes(1024)),
        "a zone of `60:40/1m` has no size; only the last may have none: it takes the rest"
    );
    assert!(refused(&"1/1:".repeat(257), ZoneUnit::Percent).contains("257 zones"));
}

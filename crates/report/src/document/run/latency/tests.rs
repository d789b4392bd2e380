use super::*;

#[test]
fn units_give_the_median_three_digits() {
    for (ns, name, text) in [
        (640.0, "ns", "640"),
        (999.4, "ns", "999"),
        (999.6, "µs", "1.00"),
        (1_234.0, "µs", "1.23"),
        (45_678.0, "µs", "45.7"),
        (456_789.0, "µs", "457"),
        (999_600.0, "ms", "1.00"),
        (2_000_000_000.0, "s", "2.00"),
    ] {
        let unit = unit_for(ns);
        assert_eq!((unit.name, number(ns, unit).as_str()), (name, text), "{ns}");
    }
}

#[test]
fn small_numbers_do_not_become_nothing() {
    let ms = unit_for(5e6);
    assert_eq!(number(0.0, ms), "0.000");
    assert_eq!(number(400.0, ms), "<0.001");
    assert_eq!(number(600.0, ms), "0.001");
    assert_eq!(number(123_400.0, ms), "0.123");
    assert_eq!(number(0.2, unit_for(10.0)), "<1");
}

use super::*;
use proptest::prelude::*;

proptest! {
    #[test]
    fn numbers_keep_five_digits(value in prop_oneof![-1e15..1e15f64, -1.0..1.0f64, 1e-9..1e-3f64]) {
        let kept = number(value).as_f64().expect("a number");
        prop_assert!((kept - value).abs() <= value.abs() * 5.001e-5, "{value} became {kept}");
    }

    #[test]
    fn numbers_are_short(value in 1e-6..1e6f64) {
        prop_assert!(number(value).to_string().len() <= 12, "{value} is {}", number(value));
    }

    #[test]
    fn no_name_holds_a_tag_or_a_template(name in ".*") {
        let shown = plain(&name);
        prop_assert!(!shown.contains(['<', '>', '$']) && !shown.contains("%{"), "{shown}");
    }
}

#[test]
fn what_is_no_number_is_nothing() {
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(number(value), Value::Null);
    }
    assert_eq!(number(0.0), json!(0));
    assert_eq!(number(123_456.7), json!(123_460));
    assert_eq!(number(0.012_345_67), json!(0.012_346));
}

#[test]
fn the_clock_suits_the_length() {
    assert_eq!(Clock::of(120.0).unit, "s");
    assert_eq!(Clock::of(3600.0).unit, "min");
    assert_eq!(Clock::of(86_400.0).unit, "h");
    assert!((Clock::of(86_400.0).at(43_200.0) - 12.0).abs() < 1e-12);
}

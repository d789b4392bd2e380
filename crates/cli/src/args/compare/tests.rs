use super::{condition, names, percent};
use fathom_analysis::compare::Field;

#[test]
fn what_is_typed_is_read_or_refused() {
    assert_eq!(names("OLD, new"), Ok((String::from("OLD"), String::from("new"))));
    for wrong in ["OLD", "a,a", ",b", "a,b,c", "a,\u{1b}[31m"] {
        assert!(names(wrong).is_err(), "{wrong}");
    }
    assert!((percent("5 %").expect("a percentage") - 0.05).abs() < 1e-12);
    for wrong in ["0", "-3%", "NaN", "x", "2000%"] {
        assert!(percent(wrong).is_err(), "{wrong}");
    }
    assert_eq!(condition("host-cache"), Ok(Field::HostCache));
    let error = condition("kernel").expect_err("it is never refused");
    assert!(
        error.contains("block-size") && !error.contains("kernel"),
        "{error}"
    );
}

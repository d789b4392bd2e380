use super::{counted, drawn_of_means, of_means, ways};
use crate::compare::restores::{ACS, DISK};

#[test]
fn ten_restores_are_as_far_apart_in_172_of_252_ways() {
    assert_eq!(counted(&ACS, &DISK), Some((172, 252)));
}

/// The smallest probability that so few can have.
#[test]
fn few_cannot_be_very_sure() {
    for (n, least) in [
        (3, 0.1),
        (4, 0.028_571),
        (5, 0.007_936),
        (6, 0.002_164),
        (7, 0.000_582),
    ] {
        let a: Vec<f64> = (0..n).map(f64::from).collect();
        let b: Vec<f64> = (0..n).map(|value| f64::from(value) + 100.0).collect();
        let found = of_means(&a, &b).expect("few");
        assert!((found - least).abs() < 1e-5, "{n}: {found}, not {least}");
    }
}

#[test]
fn all_ways_are_counted_once_and_too_many_not_at_all() {
    assert_eq!(ways(10, 5), Some(252));
    assert_eq!(ways(18, 9), Some(48_620));
    assert_eq!(ways(20, 10), None);
    assert_eq!(counted(&[1.0; 4], &[1.0; 4]), Some((70, 70)), "equal ones");
    assert_eq!(counted(&[], &[1.0]), None);
}

/// Twelve a side are drawn; nine a side are not, and come to about the same.
#[test]
fn ways_that_are_drawn_tell_about_what_all_tell() {
    let a: Vec<f64> = (0..12).map(|index| f64::from(index * index % 11)).collect();
    let b: Vec<f64> = a.iter().map(|value| value + 2.0).collect();
    let found = drawn_of_means(&a, &b).expect("some");
    let expected = crate::compare::groups::welch(&a, &b).expect("some").p(0.0);
    assert!((found - expected).abs() < 0.03, "{found}, not about {expected}");
    assert_eq!(drawn_of_means(&a, &b), Some(found), "the same each time");
    assert_eq!(drawn_of_means(&a[..4], &b[..4]), of_means(&a[..4], &b[..4]));
}

use super::*;
use crate::sweep::fixture::axes;
use fathom_testkit::make::sweep::{figures, measured, plan};

#[test]
fn medians() {
    assert!((median(&[3.0, 1.0, 2.0]) - 2.0).abs() < 1e-12);
    assert!((median(&[4.0, 1.0, 2.0, 3.0]) - 2.5).abs() < 1e-12);
    assert!(median(&[]).abs() < 1e-12);
}

#[test]
fn repeats_that_differ_widen_the_interval() {
    let plan = plan(axes());
    let mut results = measured(&plan, |_| 100.0);
    let at = plan.points[0];
    let repeats = [90.0, 100.0, 110.0].map(|iops| figures(at, iops)).to_vec();
    results.points[0].outcome = Outcome::Measured { repeats };
    // t(2) = 4.303, standard deviation 10 of 100, three of them.
    let expected = 4.303 * 10.0 / 3.0_f64.sqrt() / 100.0;
    let found = half_width(&results.points[0]).expect("three repeats");
    assert!((found - expected).abs() < 1e-9, "{found}");
    assert_eq!(half_width(&results.points[1]), Some(0.002));
}

#[test]
fn only_what_was_measured_is_seen() {
    let plan = plan(axes());
    let mut results = measured(&plan, |_| 100.0);
    results.points[3].outcome = Outcome::Pending;
    results.points[4].outcome = Outcome::Measured {
        repeats: vec![figures(plan.points[4], 0.0)],
    };
    let numbers: Vec<u32> = seen(&results).iter().map(|point| point.number).collect();
    assert_eq!(numbers.len(), plan.points.len() - 2);
    assert!(!numbers.contains(&3) && !numbers.contains(&4));
}

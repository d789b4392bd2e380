use super::*;
use crate::sweep::fixture::axes;
use fathom_testkit::make::sweep::{measured, nothing_yet, plan};

#[test]
fn nothing_measured_is_no_failure() {
    let plan = plan(axes());
    let found = conclude(&plan, &nothing_yet(&plan));
    assert_eq!(
        (found.iops_most, found.limits.len(), found.depths.len()),
        (None, 0, 0)
    );
    assert_eq!((found.counts.pending, found.counts.planned), (120, 120));
}

#[test]
fn the_first_of_equal_maxima() {
    let plan = plan(axes());
    let found = conclude(
        &plan,
        &measured(&plan, |at| (200.0 * f64::from(at.iodepth)).min(1000.0)),
    );
    let peak = found.iops_most.expect("a maximum");
    assert_eq!((peak.point, peak.alike), (2, 60));
}

#[test]
fn conclusions_survive_being_stored() {
    let plan = plan(axes());
    let found = conclude(
        &plan,
        &measured(&plan, |at| (200.0 * f64::from(at.iodepth)).min(1000.0)),
    );
    let text = serde_json::to_string(&found).expect("JSON");
    let read: Conclusions = serde_json::from_str(&text).expect("what was written");
    assert!(read == found, "{text}");
}

use super::*;
use crate::sweep::fixture::{Disk, axes};
use crate::sweep::seen::seen;
use fathom_core::sweep::{Axes, Coordinates};
use fathom_testkit::make::sweep::{measured, plan};
use proptest::prelude::*;

const NONE: f64 = 1e15;

fn found(axes: Axes, iops: impl Fn(Coordinates) -> f64) -> Vec<Limit> {
    let plan = plan(axes);
    let results = measured(&plan, iops);
    let seen = seen(&results);
    limits(&seen, &Saturated::of(&seen))
}

fn disk(iops: f64, bytes_per_second: f64) -> Disk {
    Disk {
        service_us: 500.0,
        us_per_kib: 2.0,
        iops,
        bytes_per_second,
        unit_bytes: u64::MAX,
    }
}

#[test]
fn both_limits_and_the_points_that_pin_them() {
    let disk = disk(5000.0, 200e6);
    let limits = found(axes(), |at| disk.at(at));
    assert!((rate(&limits, Quantity::Iops, Scope::All).expect("IOPS") - 5000.0).abs() < 1.0);
    assert!((rate(&limits, Quantity::BytesPerSecond, Scope::Writes).expect("bytes") - 200e6).abs() < 1.0);
    let iops = &limits[0];
    assert_eq!(iops.sizes_bytes, [4 << 10, 16 << 10]);
    assert_eq!(iops.depths, Some((4, 64)));
    assert!(iops.confidence > 0.9, "{iops:?}");
}

#[test]
fn no_plateau_is_no_limit() {
    let disk = disk(NONE, NONE);
    for limit in found(axes(), |at| disk.at(at)) {
        assert!(matches!(limit.verdict, Verdict::NotReached { .. }), "{limit:?}");
        assert!(limit.points.is_empty() && limit.confidence.abs() < 1e-12);
    }
}

#[test]
fn a_limit_on_bytes_is_none_on_iops() {
    // Every size is held by bytes: the smallest one looks as if IOPS were limited.
    let disk = disk(NONE, 20e6);
    let limits = found(axes(), |at| disk.at(at));
    assert_eq!(rate(&limits, Quantity::Iops, Scope::All), None);
    assert!((rate(&limits, Quantity::BytesPerSecond, Scope::All).expect("bytes") - 20e6).abs() < 1.0);
}

#[test]
fn a_limit_on_iops_is_none_on_bytes() {
    let disk = disk(1000.0, NONE);
    let limits = found(axes(), |at| disk.at(at));
    assert_eq!(rate(&limits, Quantity::BytesPerSecond, Scope::All), None);
    assert!((rate(&limits, Quantity::Iops, Scope::All).expect("IOPS") - 1000.0).abs() < 1.0);
}

#[test]
fn reads_and_writes_have_limits_of_their_own() {
    let (reads, writes) = (disk(5000.0, 200e6), disk(5000.0, 130e6));
    let limits = found(axes(), |at| {
        if at.read_percent > 0 {
            reads.at(at)
        } else {
            writes.at(at)
        }
    });
    let bytes = |scope| rate(&limits, Quantity::BytesPerSecond, scope).expect("bytes");
    assert!((bytes(Scope::Reads) - 200e6).abs() < 1.0);
    assert!((bytes(Scope::Writes) - 130e6).abs() < 1.0);
}

proptest! {
    #[test]
    fn limits_are_found_within_noise(
        iops in 300.0..30_000.0_f64,
        knee_kib in 20.0..400.0_f64,
        noise in proptest::collection::vec(-0.004..0.004_f64, 120),
    ) {
        // Saturated at the greatest depth in any case: 64 in flight of at most 0.52 ms each.
        let disk = Disk { service_us: 200.0, us_per_kib: 0.5, ..disk(iops, iops * knee_kib * 1024.0) };
        let plan = plan(axes());
        let limits = found(axes(), |at| {
            let number = plan.points.iter().position(|point| *point == at).expect("a point");
            disk.at(at) * (1.0 + noise[number])
        });
        let found = rate(&limits, Quantity::Iops, Scope::All).expect("a limit on IOPS");
        prop_assert!((found / iops - 1.0).abs() < 0.015, "{found} {iops}");
        let found = rate(&limits, Quantity::BytesPerSecond, Scope::All).expect("a limit on bytes");
        prop_assert!((found / (iops * knee_kib * 1024.0) - 1.0).abs() < 0.015, "{found}");
    }
}

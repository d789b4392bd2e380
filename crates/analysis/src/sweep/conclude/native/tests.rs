use super::*;
use crate::sweep::conclude;
use crate::sweep::fixture::{Disk, axes};
use fathom_core::sweep::Axes;
use fathom_testkit::make::sweep::{measured, plan};

const KIB: u64 = 1 << 10;

fn found(disk: Disk, sizes: &[u64]) -> NativeSize {
    let plan = plan(Axes {
        block_size_bytes: sizes.to_vec(),
        ..axes()
    });
    conclude(&plan, &measured(&plan, |at| disk.at(at))).native_size
}

fn disk(bytes_per_second: f64, unit_bytes: u64) -> Disk {
    Disk {
        service_us: 500.0,
        us_per_kib: 1.0,
        iops: 1000.0,
        bytes_per_second,
        unit_bytes,
    }
}

#[test]
fn a_unit_that_nothing_else_explains() {
    let size = found(disk(1e15, 64 * KIB), &[4 * KIB, 64 * KIB, 96 * KIB, 160 * KIB]);
    assert_eq!(size.unit, Unit::Found { bytes: 64 * KIB });
    assert_eq!(size.whole_up_to_bytes, Some(64 * KIB));
    assert_eq!(size.by_size_from_bytes, Some(96 * KIB));
    assert!(size.confidence > 0.8);
}

#[test]
fn bytes_alone() {
    let size = found(disk(50e6, u64::MAX), &[4 * KIB, 16 * KIB, 96 * KIB, 1024 * KIB]);
    // 50 KB at 1000 IOPS: a unit below 64 KiB would show.
    let Unit::Among { bytes, or_none: true } = &size.unit else {
        panic!("{:?}", size.unit);
    };
    assert_eq!(bytes.first(), Some(&(64 * KIB)));
    assert!((size.knee_bytes.expect("both limits") - 50_000.0).abs() < 1.0);
}

#[test]
fn too_few_sizes_to_tell() {
    let size = found(disk(1e15, 64 * KIB), &[4 * KIB, 64 * KIB]);
    assert!(matches!(size.unit, Unit::Unknown { .. }), "{:?}", size.unit);
    assert_eq!(size.whole_up_to_bytes, Some(64 * KIB));
    let size = found(
        Disk {
            iops: 1e15,
            ..disk(1e15, u64::MAX)
        },
        &[4 * KIB, 64 * KIB],
    );
    assert!(matches!(size.unit, Unit::Unknown { .. }), "{:?}", size.unit);
    assert_eq!(size.whole_up_to_bytes, None);
}

#[test]
fn steps_are_at_the_greatest_depth() {
    let size = found(disk(50e6, u64::MAX), &[4 * KIB, 64 * KIB, 256 * KIB]);
    let steps: Vec<(u64, u64, f64)> = size
        .steps
        .iter()
        .map(|step| (step.from_bytes, step.depth, step.latency_ratio))
        .collect();
    assert_eq!(steps.len(), 2);
    assert_eq!((steps[0].0, steps[0].1), (4 * KIB, 64));
    // Held by bytes at both sizes: four times as large, four times as long.
    assert!((steps[1].2 - 4.0).abs() < 1e-6, "{steps:?}");
}

use super::*;
use crate::sweep::conclude;
use crate::sweep::fixture::Disk;
use fathom_core::sweep::{Axes, PointFigures, ProbeResult};
use fathom_testkit::make::sweep::{figures, measured, plan};

const KIB: u64 = 1 << 10;

fn axes(sizes: &[u64]) -> Axes {
    Axes {
        random: vec![true, false],
        read_percent: vec![100, 0],
        block_size_bytes: sizes.iter().map(|kib| kib * KIB).collect(),
        iodepth: vec![1, 8, 32],
        threads: vec![2],
    }
}

/// Limits that meet at 111 KiB.
fn disk(unit_bytes: u64) -> Disk {
    Disk {
        service_us: 2_000.0,
        us_per_kib: 5.0,
        iops: 1100.0,
        bytes_per_second: 125e6,
        unit_bytes,
    }
}

/// What the load gives on such a disk.
fn probed(probe: Probe, disk: &Disk) -> ProbeResult {
    let share = f64::from(probe.large_percent) / 100.0;
    let counted_as = probe.large_bytes.div_ceil(disk.unit_bytes) as f64;
    let small = probe.at.block_size_bytes as f64;
    let mean = small + share * (probe.large_bytes as f64 - small);
    let iops = (disk.iops / (1.0 + share * (counted_as - 1.0))).min(disk.bytes_per_second / mean);
    let mut figures: PointFigures = figures(probe.at, iops);
    figures.total.bytes_per_second = iops * mean;
    ProbeResult { probe, figures }
}

fn unit_of(unit_bytes: u64, sizes: &[u64]) -> (Unit, Option<Probe>) {
    let plan = plan(axes(sizes));
    let disk = disk(unit_bytes);
    let mut results = measured(&plan, |at| disk.at(at));
    let probe = wanted(&plan, &results);
    results.probe = probe.map(|probe| probed(probe, &disk));
    if probe.is_some() {
        assert_eq!(wanted(&plan, &results), None, "once is enough");
    }
    (conclude(&plan, &results).native_size.unit, probe)
}

#[test]
fn a_mixture_tells_each_unit_below_its_large_size() {
    for unit_kib in [128, 256, 512] {
        let (unit, probe) = unit_of(unit_kib * KIB, &[4, 8, 64, 256, 1024]);
        let probe = probe.expect("a load");
        assert_eq!(
            unit,
            Unit::Found {
                bytes: unit_kib * KIB
            },
            "{probe:?}"
        );
        assert!(probe.at.random && probe.at.iodepth == 32 && probe.at.block_size_bytes == 4 * KIB);
        // Bytes do not hold it, whatever the unit.
        let mean = 4096.0 + f64::from(probe.large_percent) / 100.0 * (1_048_576.0 - 4096.0);
        assert!(1100.0 * mean <= 125e6 * ROOM);
    }
}

#[test]
fn a_unit_that_is_not_smaller_is_not_guessed() {
    for unit_kib in [1024, 4096] {
        let (unit, _) = unit_of(unit_kib * KIB, &[4, 64, 1024]);
        let Unit::Unknown { because } = unit else {
            panic!("{unit:?}");
        };
        assert!(because.contains("counts as one"), "{because}");
    }
}

#[test]
fn a_rate_that_is_not_known_well_tells_nothing() {
    let plan = plan(axes(&[4, 64, 1024]));
    let disk = disk(256 * KIB);
    let mut results = measured(&plan, |at| disk.at(at));
    let mut found = probed(wanted(&plan, &results).expect("a load"), &disk);
    for (half_width, is_found) in [(Some(0.002), true), (Some(0.02), false), (None, false)] {
        found.figures.iops_half_width = half_width;
        results.probe = Some(found.clone());
        let unit = conclude(&plan, &results).native_size.unit;
        assert_eq!(
            matches!(unit, Unit::Found { .. }),
            is_found,
            "{half_width:?}: {unit:?}"
        );
    }
}

#[test]
fn nothing_is_asked_for_where_the_points_tell_or_no_limit_is_known() {
    // Units of 32 KiB show below the place where the limits meet.
    let (unit, probe) = unit_of(32 * KIB, &[4, 16, 32, 48, 64, 80]);
    assert_eq!((unit, probe), (Unit::Found { bytes: 32 * KIB }, None));
    // No size above those that count as one.
    assert_eq!(unit_of(256 * KIB, &[4, 64]).1, None);
    let plan = plan(axes(&[4, 1024]));
    let slow = Disk {
        iops: 1e9,
        bytes_per_second: 1e12,
        ..disk(256 * KIB)
    };
    assert_eq!(wanted(&plan, &measured(&plan, |at| slow.at(at))), None);
}

//! The unit in which a limit on IOPS counts large I/O: found where it shows, not guessed where it cannot.

use super::modelled;
use fathom_analysis::sweep::conclude;
use fathom_analysis::sweep::findings::Unit;
use fathom_analysis::sweep::probe::wanted;
use fathom_core::sweep::{Axes, Probe, ProbeResult, SweepResults};
use fathom_model::Spec;
use fathom_model::spec::Limit;

const KIB: u64 = 1 << 10;

fn axes(sizes: &[u64]) -> Axes {
    Axes {
        random: vec![true],
        read_percent: vec![100],
        block_size_bytes: sizes.to_vec(),
        iodepth: vec![16, 32],
        threads: vec![2],
    }
}

fn unit(spec: &Spec, sizes: &[u64]) -> Unit {
    let plan = modelled::plan("unit", axes(sizes), 60);
    conclude(&plan, &modelled::measure_all(&plan, spec))
        .native_size
        .unit
}

/// What a sweep of the field report's sizes on a P15 with such a unit says of it, and the load of two sizes that it asked for.
fn with_a_mixture(unit_bytes: u64) -> (Unit, Probe) {
    let mut spec = modelled::p15();
    spec.disks[0].io_unit_bytes = unit_bytes;
    let plan = modelled::plan(
        "mixed",
        axes(&[4 * KIB, 8 * KIB, 64 * KIB, 256 * KIB, 1024 * KIB]),
        300,
    );
    let mut results = modelled::measure_all(&plan, &spec);
    let probe = wanted(&plan, &results).expect("a load that tells it");
    let figures = modelled::measure_probe(&plan, &probe, &spec);
    results.probe = Some(ProbeResult { probe, figures });
    (conclude(&plan, &results).native_size.unit, probe)
}

#[test]
fn a_p15_shows_it_where_sizes_are_mixed() {
    for unit in [128 * KIB, 256 * KIB, 512 * KIB] {
        let (found, probe) = with_a_mixture(unit);
        assert_eq!(found, Unit::Found { bytes: unit }, "{probe:?}");
    }
    let (found, _) = with_a_mixture(4096 * KIB);
    assert!(matches!(found, Unit::Unknown { .. }), "{found:?}");
}

#[test]
fn points_of_one_size_never_show_it_on_a_p15() {
    // Its limits meet at 111 KiB: with units from 256 KiB on, bytes hold large I/O first, and all points come out the same,
    // to the nanosecond; with 128 KiB nearly so.
    let plan = modelled::plan("unit", axes(&[64 * KIB, 256 * KIB, 384 * KIB, 1024 * KIB]), 60);
    let with = |unit_bytes: u64| {
        let mut spec = modelled::p15();
        spec.disks[0].io_unit_bytes = unit_bytes;
        modelled::measure_all(&plan, &spec)
    };
    let real = with(256 * KIB);
    for unit in [512 * KIB, 4096 * KIB] {
        assert!(real == with(unit), "units of {unit} bytes make a difference");
    }
    let most_off = |other: &SweepResults| {
        let pairs = real.points.iter().zip(&other.points);
        let off = pairs.filter_map(|(one, other)| Some((one.iops()? / other.iops()? - 1.0).abs()));
        off.fold(0.0, f64::max)
    };
    assert!(most_off(&with(128 * KIB)) < 0.001);
    assert!(most_off(&with(32 * KIB)) > 0.1);
}

/// A P15 with eight times the bandwidth: its limits meet at 888 KiB.
fn wide_p15() -> Spec {
    let mut spec = modelled::p15();
    spec.disks[0].limits.bytes_per_second = Limit::At(1_000_000_000);
    spec
}

#[test]
fn sizes_between_multiples_show_it() {
    let sizes = [4 * KIB, 64 * KIB, 256 * KIB, 384 * KIB, 640 * KIB, 1024 * KIB];
    assert_eq!(unit(&wide_p15(), &sizes), Unit::Found { bytes: 256 * KIB });
}

#[test]
fn multiples_alone_look_like_a_limit_on_bytes() {
    let found = unit(&wide_p15(), &[4 * KIB, 64 * KIB, 256 * KIB, 1024 * KIB]);
    let Unit::Among { bytes, or_none } = &found else {
        panic!("{found:?}");
    };
    assert!(bytes.contains(&(256 * KIB)) && *or_none, "{found:?}");
}

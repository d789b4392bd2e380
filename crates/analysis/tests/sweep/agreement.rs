//! The matrix of 200 points on the modelled disk of 2016: the conclusions agree with those that its author drew by hand.

use super::modelled;
use fathom_analysis::sweep::conclude;
use fathom_analysis::sweep::findings::{Conclusions, Contrast, Limit, Quantity, Scope, Unit, Verdict};
use fathom_core::sweep::SweepPlan;
use std::sync::OnceLock;

const KIB: u64 = 1 << 10;
const MIB: f64 = 1_048_576.0;

fn concluded() -> &'static (SweepPlan, Conclusions) {
    static DONE: OnceLock<(SweepPlan, Conclusions)> = OnceLock::new();
    DONE.get_or_init(|| {
        let plan = modelled::plan("hdd-2016.toml", modelled::axes(), 300);
        let results = modelled::measure_all(&plan, &modelled::hdd_2016());
        let conclusions = conclude(&plan, &results);
        (plan, conclusions)
    })
}

fn limit(quantity: Quantity, scope: Scope) -> (f64, &'static Limit) {
    let found = concluded().1.limits.iter();
    let limit = found
        .clone()
        .find(|limit| limit.quantity == quantity && limit.scope == scope)
        .expect("a limit of this kind");
    match limit.verdict {
        Verdict::Reached { rate, .. } => (rate, limit),
        Verdict::NotReached { most } => panic!("not reached, {most} at most"),
    }
}

fn within(found: f64, published: f64, percent: f64) {
    let off = (found / published - 1.0).abs() * 100.0;
    assert!(off <= percent, "{found}, published {published}: {off:.1} % off");
}

#[test]
fn maxima() {
    // "Max throughput: 99.61 MB/s (random / 100% read / 256k block / depth 16)": MiB/s. "Max IOPs: 496.24 IO/s".
    let found = &concluded().1;
    within(
        found.bytes_per_second_most.expect("a maximum").value / MIB,
        99.61,
        1.0,
    );
    within(found.iops_most.expect("a maximum").value, 496.24, 1.0);
    // Many others reach the same, which is why it is a limit and not a place.
    assert!(found.iops_most.expect("a maximum").alike > 50);
}

#[test]
fn limits_of_reads_and_writes() {
    // "approximately 500 IOPs in the majority of conditions"; "can read at up to 100MB/s", "can write at up to 67MB/s".
    for scope in [Scope::All, Scope::Reads, Scope::Writes] {
        let (rate, limit) = limit(Quantity::Iops, scope);
        within(rate, 500.0, 1.0);
        assert_eq!(limit.sizes_bytes, [4 * KIB, 8 * KIB, 64 * KIB], "{scope:?}");
        assert!(limit.confidence >= 0.9, "{limit:?}");
    }
    within(limit(Quantity::BytesPerSecond, Scope::Reads).0 / MIB, 100.0, 1.0);
    let (writes, limit) = limit(Quantity::BytesPerSecond, Scope::Writes);
    within(writes / MIB, 67.0, 1.0);
    assert_eq!(limit.sizes_bytes, [256 * KIB, 1024 * KIB]);
}

#[test]
fn native_size() {
    // "the native IO size of Standard LRS is smaller than 1M as there is a ~4x latency penalty"; "IOPS cap out at around
    // 400" with 256 KiB.
    let size = &concluded().1.native_size;
    assert_eq!(size.whole_up_to_bytes, Some(64 * KIB));
    assert_eq!(size.by_size_from_bytes, Some(256 * KIB));
    within(size.knee_bytes.expect("both limits"), 104_857_600.0 / 500.0, 1.0);
    let step = size.steps.last().expect("sizes");
    assert_eq!(
        (step.from_bytes, step.to_bytes, step.depth),
        (256 * KIB, 1024 * KIB, 64)
    );
    within(step.latency_ratio, 4.0, 2.0);
    // The limit on bytes holds large I/O before units would.
    let Unit::Among { bytes, or_none: true } = &size.unit else {
        panic!("{:?}", size.unit);
    };
    assert_eq!(bytes.first(), Some(&(256 * KIB)));
}

#[test]
fn slices() {
    let slice = &concluded().1.slice;
    within(slice.length_ns.expect("slices") / 1e6, 50.0, 2.0);
    assert!(slice.confidence >= 0.9, "{}", slice.confidence);
}

#[test]
fn latency_grows_linearly() {
    // "The IO latency of Standard LRS VHDs scales linearly with queue depth regardless of read/write or
    // sequential/random": an R² of 0.98 in the experiment's table.
    for growth in &concluded().1.growth {
        assert!(growth.r_squared.expect("four depths") > 0.98, "{growth:?}");
        let (slope, little) = (
            growth.slope_ns.expect("saturated"),
            growth.little_slope_ns.expect("saturated"),
        );
        within(slope, little, 1.0);
    }
}

#[test]
fn depth_and_shortfalls() {
    let (plan, found) = concluded();
    let names: Vec<String> = found
        .shortfalls
        .iter()
        .map(|short| plan.points[short.point as usize].name())
        .collect();
    // "Under random read IO with total queue depth <2 ... considerable IO degradation", with 4 and with 8 KiB.
    for size in ["4k", "8k"] {
        assert!(names.contains(&format!("rand-r100-{size}-q01-t2")), "{names:?}");
        assert!(
            !names
                .iter()
                .any(|name| name.starts_with("seq-") && name.contains(&format!("-{size}-")))
        );
    }
    // "[64 KiB:] All operations queue depth <2 show significant shortfalls ... worst ... random patterns with read".
    let of_64k: Vec<&String> = names.iter().filter(|name| name.contains("-64k-q01-")).collect();
    // Random writes fall short of 500 at any depth, so that depth is not what they lack.
    assert_eq!(of_64k.len(), 9, "{of_64k:?}");
    assert!(!names.contains(&String::from("rand-r000-64k-q01-t2")));
    assert_eq!(of_64k[0], "rand-r100-64k-q01-t2");
    // "queue depth is critical to achieving good performance" with 256 KiB; nothing needs more than 16 a thread.
    assert!(names.iter().filter(|name| name.contains("-256k-q01-")).count() == 10);
    assert!(
        found
            .depths
            .iter()
            .all(|need| need.levels_off && need.depth <= 32)
    );
}

#[test]
fn reads_against_writes() {
    // "very little difference between read and write performance until you hit the write throughput ceiling".
    let by_size = &concluded().1.read_write.by_size;
    let deepest = |size: u64| {
        by_size
            .iter()
            .find(|c| c.block_size_bytes == size)
            .expect("a size")
            .ratio_deepest
    };
    assert!((deepest(4 * KIB) - 1.0).abs() < 0.01);
    assert!((deepest(8 * KIB) - 1.0).abs() < 0.03);
    assert!(deepest(256 * KIB) > 1.4 && deepest(1024 * KIB) > 1.4);
}

#[test]
fn random_against_sequential() {
    // "For block sizes of <256K sequential workloads show better performance".
    let by_size: &[Contrast] = &concluded().1.random_sequential.by_size;
    for contrast in by_size
        .iter()
        .filter(|contrast| contrast.block_size_bytes < 256 * KIB)
    {
        assert!(
            contrast.pairs.iter().all(|pair| pair.ratio < 1.01),
            "{contrast:?}"
        );
        assert!(contrast.pairs[0].ratio < 0.5, "{contrast:?}");
    }
}

#[test]
fn nothing_to_beware_of() {
    assert_eq!(concluded().1.cautions, []);
    assert_eq!(concluded().1.counts.measured, 200);
}

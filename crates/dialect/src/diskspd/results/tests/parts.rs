//! Processors, merged latencies, ranges.

use super::made::{self, ranges};
use crate::diskspd::results::ranges::effective;
use crate::diskspd::results::{CpuTimes, CpuUse, EffectiveRange, Latency};
use fathom_core::rng::Rng;
use fathom_core::workload::{Distribution, Zone, ZoneSize};
use fathom_testkit::make;

#[test]
fn processors_of_proc_stat() {
    let before = CpuTimes::of_proc_stat(
        "cpu  9 9 9 9\ncpu0 100 0 100 800 0 0 0 0 0 0\ncpu1 1 2 3 4\ncpux 1 2 3 4\nintr 5\n",
    );
    assert_eq!(before.len(), 2);
    assert_eq!((before[1].user, before[1].kernel, before[1].idle), (3, 3, 4));
    let after = CpuTimes::of_proc_stat("cpu0 120 10 115 840 10 1 2 2 0 0\ncpu1 1 2 3 4\ncpu7 1 1 1 1\n");
    // cpu1 has not moved and cpu7 is new: nothing can be said of them.
    let used = CpuUse::between(&before, &after);
    assert_eq!(used.len(), 1);
    assert_eq!(
        (
            used[0].cpu,
            used[0].user_percent,
            used[0].kernel_percent,
            used[0].idle_percent
        ),
        (0, 30.0, 20.0, 50.0)
    );
    assert_eq!(CpuUse::mean(&[]), None);
    assert!(CpuTimes::of_proc_stat("").is_empty() && CpuTimes::of_proc_stat("cpu0").is_empty());
}

#[test]
fn merged_latencies_are_those_of_all_values() {
    for seed in 0..20 {
        let mut rng = Rng::new(seed);
        let values: Vec<Vec<u64>> = (0..3)
            .map(|part| (0..50 * part).map(|_| rng.below(1 << 24)).collect())
            .collect();
        let of = |values: &[u64]| {
            let histogram = make::histogram(values.iter().copied());
            let n = values.len() as f64;
            let mean = values.iter().sum::<u64>() as f64 / n.max(1.0);
            let squares: f64 = values.iter().map(|&v| (v as f64 - mean).powi(2)).sum();
            Latency {
                n: values.len() as u64,
                mean_ns: mean,
                stddev_ns: (squares / n.max(1.0)).sqrt(),
                extremes_ns: histogram.min().zip(histogram.max()),
                histogram: histogram.occupied().collect(),
            }
        };
        let merged = values
            .iter()
            .fold(Latency::default(), |all, part| all.and(&of(part)));
        let whole = of(&values.concat());
        assert_eq!(
            (merged.n, merged.extremes_ns, &merged.histogram),
            (whole.n, whole.extremes_ns, &whole.histogram)
        );
        assert!((merged.mean_ns - whole.mean_ns).abs() < 1e-3, "seed {seed}");
        assert!((merged.stddev_ns - whole.stddev_ns).abs() < 1e-3, "seed {seed}");
    }
}

#[test]
fn percentiles_agree_with_the_histograms_own() {
    let mut rng = Rng::new(5);
    let histogram = make::histogram((0..10_000).map(|_| 1000 + rng.below(1 << 22)));
    let latency = Latency {
        n: histogram.n(),
        extremes_ns: histogram.min().zip(histogram.max()),
        histogram: histogram.occupied().collect(),
        ..Latency::default()
    };
    for percent in [1.0, 25.0, 50.0, 99.0, 99.9, 99.99, 99.999_999_9] {
        let want = histogram.percentile(percent) as f64;
        let found = latency.at(percent / 100.0).expect("known");
        assert!(
            (found - want).abs() <= want / 500.0,
            "{percent}: {found}, not {want}"
        );
    }
    assert_eq!(latency.at(0.0), histogram.min().map(|min| min as f64));
    assert_eq!(latency.at(1.0), histogram.max().map(|max| max as f64));
    assert_eq!(Latency::default().at(0.5), None);
    // A part without a histogram leaves the whole without one.
    let bare = Latency {
        n: 3,
        mean_ns: 1.0,
        ..Latency::default()
    };
    let mut rng = Rng::new(1);
    assert_eq!(made::latency(&mut rng, 9).and(&bare).at(0.5), None);
    assert!(latency.and(&made::latency(&mut rng, 9)).at(0.5).is_some());
}

fn zones(list: &[(f64, ZoneSize)]) -> Distribution {
    let zone = |&(io_percent, size)| Zone { io_percent, size };
    Distribution::Zones(list.iter().map(zone).collect())
}

#[test]
fn ranges_of_diskspds_own_tests() {
    const KIB: u64 = 1 << 10;
    const GIB: u64 = 1 << 30;
    use ZoneSize::{Bytes, Percent, Rest};
    let check = |distribution: &Distribution, size: u64, want: &[(f64, u64, u64)]| {
        let found = effective(distribution, size, 4 * KIB, 4 * KIB);
        let want: Vec<EffectiveRange> = ranges(want);
        assert_eq!(found.len(), want.len(), "{found:?}");
        for (found, want) in found.iter().zip(&want) {
            assert_eq!((found.begin, found.end), (want.begin, want.end));
            assert!((found.io_percent - want.io_percent).abs() < 0.05, "{found:?}");
        }
    };
    let percent = zones(&[
        (10.0, Percent(10.0)),
        (10.0, Percent(10.0)),
        (0.0, Percent(10.0)),
        (80.0, Percent(70.0)),
    ]);
    check(
        &percent,
        100 * KIB,
        &[
            (10.0, 0, 8 * KIB),
            (10.0, 8 * KIB, 20 * KIB),
            (80.0, 28 * KIB, 100 * KIB),
        ],
    );
    let absolute = zones(&[
        (10.0, Bytes(GIB)),
        (10.0, Bytes(GIB)),
        (0.0, Bytes(100 * GIB)),
        (80.0, Rest),
    ]);
    check(
        &absolute,
        200 * GIB,
        &[(10.0, 0, GIB), (10.0, GIB, 2 * GIB), (80.0, 102 * GIB, 200 * GIB)],
    );
    // A target that ends within the third: its shares are those of what there is.
    let cut = zones(&[
        (10.0, Bytes(50 * KIB)),
        (20.0, Bytes(10 * KIB)),
        (30.0, Bytes(GIB)),
        (40.0, Rest),
    ]);
    check(
        &cut,
        100 * KIB,
        &[
            (16.7, 0, 50 * KIB),
            (33.3, 50 * KIB, 60 * KIB),
            (50.0, 60 * KIB, 100 * KIB),
        ],
    );
    check(&Distribution::Uniform, 100 * KIB, &[]);
    check(&percent, KIB, &[]);
}

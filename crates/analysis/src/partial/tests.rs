use super::*;
use crate::fixtures::quiet;
use fathom_core::histogram::Histogram;
use fathom_core::rng::Rng;
use fathom_core::run::Latency;
use fathom_core::run::SERIES_PERCENTILES;
use fathom_core::units::MonoTime;
use fathom_testkit::make;

/// Seconds of random latencies, and all of them in one histogram.
fn seconds(seed: u64, job: u32) -> (Vec<SeriesRow>, Histogram) {
    let mut rng = Rng::new(seed);
    let mut all = Histogram::new();
    let rows = (0..5u32).map(|second| {
        let count = rng.below(300);
        let histogram = make::histogram((0..count).map(|_| 50_000 + rng.below(900_000)));
        let ramp = second == 0;
        if !ramp {
            all.merge(&histogram);
        }
        SeriesRow {
            end: MonoTime(77 + u64::from(second + 1) * 1_000_000_000),
            job,
            ramp,
            ios: histogram.n(),
            bytes: histogram.n() * 4096,
            errors: 1,
            lat: histogram.summary(&SERIES_PERCENTILES),
            backlog: u64::from(second),
            ..make::second(second)
        }
    });
    (rows.collect(), all)
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-6 * b.abs()
}

/// The oracle is one histogram of all the latencies.
#[test]
fn it_is_what_the_seconds_add_up_to() {
    for seed in 0..50 {
        let (rows, all) = seconds(seed, 0);
        let mut run = quiet();
        run.summary.jobs.clear();
        fill(&mut run, &rows, &[]);
        let [job] = run.summary.jobs.as_slice() else {
            panic!("seed {seed}: one job");
        };
        assert_eq!(
            (job.read.ios, job.read.bytes),
            (all.n(), all.n() * 4096),
            "seed {seed}"
        );
        assert_eq!(
            (job.runtime_ns, job.backlog_max, job.read.errors),
            (4_000_000_000, 4, 4)
        );
        assert!(close(job.read.iops, all.n() as f64 / 4.0), "seed {seed}");
        let lat = &job.read.lat_ns;
        assert_eq!(
            (lat.n, Some(lat.min), Some(lat.max)),
            (all.n(), all.min(), all.max()),
            "seed {seed}"
        );
        assert!(
            close(lat.mean, all.mean()),
            "seed {seed}: {} {}",
            lat.mean,
            all.mean()
        );
        // Buckets of a histogram are known to 1/1024.
        assert!(
            (lat.stddev - all.stddev()).abs() <= 0.01 * all.stddev(),
            "seed {seed}"
        );
        assert!(lat.percentiles.is_empty(), "percentiles of seconds do not merge");
        let nothing = OpSummary {
            runtime_ns: job.runtime_ns,
            ..OpSummary::default()
        };
        assert_eq!(job.write, nothing);
    }
}

#[test]
fn groups_add_up_jobs() {
    let mut run = quiet();
    run.summary.jobs.clear();
    let mut second = run.workload.jobs[0].clone();
    second.name = String::from("other");
    run.workload.jobs.push(second);
    let (mut rows, _) = seconds(1, 0);
    rows.extend(seconds(2, 1).0);
    fill(&mut run, &rows, &[]);
    let [group] = run.summary.groups.as_slice() else {
        panic!("one group");
    };
    assert_eq!((group.name.as_str(), group.workers), ("quiet, other", 2));
    let ios: u64 = run.summary.jobs.iter().map(|job| job.read.ios).sum();
    assert_eq!(group.read.ios, ios);
}

#[test]
fn nothing_recorded_gives_zeros() {
    let mut run = quiet();
    run.summary.jobs.clear();
    fill(&mut run, &[], &[]);
    assert_eq!(run.summary.jobs[0].runtime_ns, 0);
    assert_eq!(run.summary.jobs[0].read, OpSummary::default());
}

#[test]
fn a_summary_that_is_there_stays() {
    let mut run = quiet();
    let before = run.clone();
    fill(&mut run, &seconds(1, 0).0, &[]);
    assert_eq!(run, before);
}

/// The oracle is the histogram itself; the series has the extremes.
#[test]
fn percentiles_come_from_the_histograms_so_far() {
    for seed in 0..20 {
        let (rows, all) = seconds(seed, 0);
        let mut run = quiet();
        run.summary.jobs.clear();
        run.workload.jobs[0].percentiles.list = vec![50.0, 99.0, 100.0];
        fill(&mut run, &rows, &make::buckets(0, Op::Read, Latency::Lat, &all));
        let read = &run.summary.jobs[0].read;
        let percentiles = &read.lat_ns.percentiles;
        assert_eq!(percentiles.len(), 3, "seed {seed}");
        for &(percentile, value) in percentiles {
            let exact = all.percentile(percentile) as f64;
            assert!(
                (value as f64 / exact - 1.0).abs() <= 1.0 / 512.0,
                "seed {seed}: {value}"
            );
        }
        assert_eq!(run.summary.groups[0].read.lat_ns.percentiles, *percentiles);
        assert_eq!(read.clat_ns, read.lat_ns, "a synchronous engine has no other");
        assert_eq!(read.slat_ns.n, 0);
        assert!(run.summary.jobs[0].write.lat_ns.percentiles.is_empty());
    }
}

use super::*;
use crate::fixtures;
use fathom_core::run::HistogramRow;
use fathom_testkit::make;

fn row(second: u32, ramp: bool, op: Op, ios: u64) -> SeriesRow {
    SeriesRow {
        ramp,
        op,
        ios,
        bytes: ios * 4096,
        ..make::second(second)
    }
}

/// `n` latencies of `ns`, as the engine's histogram would store them.
fn histogram(op: Op, metric: Latency, ns: u64, n: u64) -> HistogramRow {
    let one = make::buckets(0, op, metric, &make::histogram([ns]));
    HistogramRow { count: n, ..one[0] }
}

/// A job of 900 reads that took 1 ms each and 100 writes that took 5 ms, in ten seconds.
fn run() -> (Run, Vec<HistogramRow>) {
    let mut run = fixtures::quiet();
    let job = &mut run.summary.jobs[0];
    for (op, ios, ns) in [(Op::Read, 900, 1_000_000), (Op::Write, 100, 5_000_000)] {
        let summary = job.op_mut(op);
        summary.ios = ios;
        summary.bytes = ios * 4096;
        summary.iops = ios as f64 / 10.0;
        summary.bytes_per_second = ios as f64 * 409.6;
        summary.lat_ns = LatencySummary {
            n: ios,
            min: ns,
            mean: ns as f64,
            stddev: 0.0,
            max: ns,
            percentiles: Vec::new(),
        };
    }
    let histograms = vec![
        histogram(Op::Read, Latency::Lat, 1_000_000, 900),
        histogram(Op::Read, Latency::Clat, 900_000, 900),
        histogram(Op::Write, Latency::Lat, 5_000_000, 100),
    ];
    (run, histograms)
}

#[test]
fn totals_are_of_reads_and_writes() {
    let (run, histograms) = run();
    let found = figures(&run, &[], &histograms);
    assert_eq!(
        (found.read.ios, found.write.ios, found.total.ios),
        (900, 100, 1000)
    );
    assert!((found.total.iops - 100.0).abs() < 1e-9);
    assert!((found.total.bytes_per_second - 409_600.0).abs() < 1e-6);
    let lat = &found.total.lat_ns;
    assert_eq!((lat.n, lat.min, lat.max), (1000, 1_000_000, 5_000_000));
    // Exact, though buckets are not.
    assert!((lat.mean - 1_400_000.0).abs() < 1e-6, "{}", lat.mean);
    let near = |percentile: f64, ns: f64| {
        let found = lat.percentile(percentile).expect("a percentile") as f64;
        assert!((found / ns - 1.0).abs() <= 1.0 / 1024.0, "p{percentile}: {found}");
    };
    near(50.0, 1e6);
    near(90.0, 1e6);
    near(95.0, 5e6);
    // A thousand I/Os tell the 99.9th percentile, not the 99.99th.
    assert!(lat.percentile(99.9).is_some() && lat.percentile(99.99).is_none());
    assert_eq!(found.runtime_ns, 10_000_000_000);
}

#[test]
fn buckets_hold_all_latencies_of_lat() {
    let (run, histograms) = run();
    let buckets = figures(&run, &[], &histograms).lat_buckets;
    let counts: Vec<u64> = buckets.iter().map(|bucket| bucket.count).collect();
    assert_eq!(counts, [900, 100]);
    for (bucket, ns) in buckets.iter().zip([1_000_000, 5_000_000]) {
        assert!(bucket.low_ns <= ns && ns <= bucket.high_ns, "{bucket:?}");
        assert!(
            (bucket.high_ns + 1 - bucket.low_ns) * 16 <= bucket.low_ns,
            "{bucket:?}"
        );
    }
}

#[test]
fn the_ramp_and_cut_seconds_do_not_count() {
    let mut rows = Vec::new();
    for second in 0..40 {
        // The ramp is ten times as fast.
        let ramp = second < 20;
        let ios = if ramp { 1000 } else { 60 };
        rows.push(row(second, ramp, Op::Read, ios));
        rows.push(row(second, ramp, Op::Write, 40));
        rows.push(row(second, ramp, Op::Sync, 5000));
    }
    let mut cut = row(40, false, Op::Read, 1);
    cut.duration_ns = 20_000_000;
    rows.push(cut);
    assert_eq!(counted_seconds(&rows), [100.0; 20]);
    let (run, histograms) = run();
    assert_eq!(figures(&run, &rows, &histograms).iops_half_width, Some(0.0));
    assert_eq!(figures(&run, &rows[..60], &histograms).iops_half_width, None);
}

#[test]
fn nothing_done_is_no_failure() {
    let mut run = fixtures::quiet();
    run.summary.jobs[0].read = OpSummary::default();
    let found = figures(&run, &[], &[]);
    assert_eq!(found.total, DirectionFigures::default());
    assert_eq!((found.lat_buckets.len(), found.iops_half_width), (0, None));
}

//! Made-up runs and rows for the tests.

use fathom_core::backend::Op;
use fathom_core::rng::Rng;
use fathom_core::run::{
    HistogramRow, JobSummary, Latency, LatencySummary, Run, SERIES_PERCENTILES, SeriesRow, Status,
};
use fathom_core::units::{MonoTime, WallTime};
use fathom_core::workload::Job;
use fathom_testkit::make;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// A run under way.
pub(crate) fn run() -> Run {
    let job = Job {
        name: String::from("randread"),
        ..Job::default()
    };
    Run {
        command: vec![String::from("fathom")],
        started_unix_ns: WallTime(1_790_000_000_123_456_789),
        started_monotonic_ns: MonoTime(5_000_000_000),
        status: Status::Running,
        ..make::run(vec![job], Vec::new())
    }
}

/// The same run, finished.
pub(crate) fn finished() -> Run {
    let mut run = run();
    run.status = Status::Complete;
    let mut job = JobSummary {
        name: String::from("randread"),
        ..JobSummary::default()
    };
    job.read.ios = 4711;
    job.read.iops = 1.0 / 3.0;
    job.read.lat_ns = LatencySummary {
        n: 4711,
        min: 1,
        mean: 0.1 + 0.2,
        stddev: 1.0 / 7.0,
        max: u64::MAX,
        percentiles: vec![(50.0, 3), (99.99, 17)],
    };
    run.summary.jobs.push(job);
    run
}

/// A latency with whole numbers, as the series keeps it; empty for `n` 0.
pub(crate) fn latency(rng: &mut Rng, n: u64) -> LatencySummary {
    if n == 0 {
        return LatencySummary::default();
    }
    LatencySummary {
        n,
        min: rng.below(1000),
        mean: rng.below(1 << 40) as f64,
        stddev: rng.below(1 << 30) as f64,
        max: rng.next_u64(),
        percentiles: SERIES_PERCENTILES.map(|p| (p, rng.below(1 << 50))).to_vec(),
    }
}

/// The rows of one second of two jobs.
pub(crate) fn second(rng: &mut Rng, second: u32) -> Vec<SeriesRow> {
    let end = MonoTime(5_000_000_000 + u64::from(second + 1) * 1_000_000_000);
    [(0, Op::Read), (1, Op::Write), (1, Op::Sync)]
        .map(|(job, op)| {
            let n = rng.below(3) * 100;
            SeriesRow {
                end,
                job,
                ramp: second == 0,
                op,
                ios: n,
                bytes: n * 4096,
                errors: rng.below(2),
                lat: latency(rng, n),
                backlog: rng.below(9),
                late_ios: rng.below(2),
                ..make::second(second)
            }
        })
        .to_vec()
}

/// Some buckets of all metrics.
pub(crate) fn histograms() -> Vec<HistogramRow> {
    let metrics = Latency::ALL;
    let row = |index: usize| HistogramRow {
        job: index as u32 / 100,
        op: [Op::Read, Op::Write, Op::Trim, Op::Sync][index % 4],
        metric: metrics[index / 7 % 4],
        low_ns: index as u64 * 512,
        high_ns: index as u64 * 512 + 511,
        count: index as u64 % 13 + 1,
    };
    (0..20_000).map(row).collect()
}

/// Replaces a file's contents in place. `fs::write` empties the file first, which makes some file systems flush
/// it: too slow for thousands of variants.
pub(crate) fn put(path: &Path, bytes: &[u8]) {
    let file = File::options()
        .write(true)
        .create(true)
        .truncate(false)
        .open(path);
    let file = file.expect("opened");
    file.write_all_at(bytes, 0).expect("written");
    file.set_len(bytes.len() as u64).expect("cut");
}

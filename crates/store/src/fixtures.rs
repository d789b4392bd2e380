//! Made-up runs and rows for the tests.

use fathom_core::backend::Op;
use fathom_core::rng::Rng;
use fathom_core::run::{
    Build, CpuUsage, Environment, HistogramRow, JobSummary, Latency, LatencySummary, Run, SCHEMA,
    SERIES_PERCENTILES, SeriesRow, Status, Summary, Target,
};
use fathom_core::units::{MonoTime, WallTime};
use fathom_core::workload::{Job, Workload, Written};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// A run under way.
pub(crate) fn run() -> Run {
    Run {
        schema: String::from(SCHEMA),
        build: Build {
            version: String::from("0.1.0"),
            debug: false,
        },
        command: vec![String::from("fathom")],
        started_unix_ns: WallTime(1_790_000_000_123_456_789),
        started_monotonic_ns: MonoTime(5_000_000_000),
        status: Status::Running,
        written: Written::default(),
        workload: Workload {
            jobs: vec![Job {
                name: String::from("randread"),
                ..Job::default()
            }],
        },
        environment: Environment::default(),
        requirements: Vec::new(),
        summary: Summary {
            schema: String::from(SCHEMA),
            target: Target::default(),
            jobs: Vec::new(),
            groups: Vec::new(),
            total: None,
            disks: Vec::new(),
            cpu: CpuUsage::default(),
            warnings: Vec::new(),
            floor: None,
            model: None,
            streams: Vec::new(),
        },
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
                second,
                end,
                duration_ns: 1_000_000_000,
                job,
                ramp: second == 0,
                op,
                ios: n,
                bytes: n * 4096,
                errors: rng.below(2),
                lat: latency(rng, n),
                response: LatencySummary::default(),
                backlog: rng.below(9),
                late_ios: rng.below(2),
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

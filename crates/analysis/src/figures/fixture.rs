//! Outcomes for tests.

use super::Outcome;
use fathom_core::backend::Op;
use fathom_core::histogram::Histogram;
use fathom_core::run::{DiskSummary, Held, JobSummary, Latency, LatencySummary, ModelSummary, SeriesRow};
use fathom_testkit::make;

pub(super) const SECOND: u64 = 1_000_000_000;
pub(super) const MILLI: u64 = 1_000_000;

/// A job of `group` that read with these latencies (in ms), 1 MiB each, for `seconds`.
pub(super) fn job(name: &str, group: u32, latencies_ms: &[u64], seconds: u64) -> (JobSummary, Histogram) {
    let histogram = make::histogram(latencies_ms.iter().map(|ms| ms * MILLI));
    let lat_ns = histogram.summary(&[50.0]);
    let read = make::direction(latencies_ms.len() as u64, 1 << 20, seconds as f64, lat_ns);
    let job = JobSummary {
        name: name.to_owned(),
        group,
        workers: 1,
        runtime_ns: seconds * SECOND,
        read,
        ..JobSummary::default()
    };
    (job, histogram)
}

/// An outcome of such jobs, each with as many I/Os in flight as its number from 1.
pub(super) fn outcome(name: &str, jobs: &[(JobSummary, Histogram)]) -> Outcome {
    let rows = (0..).zip(jobs);
    let rows =
        rows.flat_map(|(number, (_, histogram))| make::buckets(number, Op::Read, Latency::Lat, histogram));
    Outcome {
        name: name.to_owned(),
        jobs: jobs.iter().map(|(job, _)| job.clone()).collect(),
        depths: (1..).take(jobs.len()).collect(),
        histograms: rows.collect(),
        series: Vec::new(),
        disks: vec![disk(100, 2), disk(300, 4)],
        model: ModelSummary {
            held: vec![held("disk IOPS", 30), held("disk MB/s", 10)],
            dirty_peak_bytes: 5_000_000_000,
            drain_ns: 7 * SECOND,
            ..ModelSummary::default()
        },
    }
}

fn held(limit: &str, held_ns: u64) -> Held {
    Held {
        limit: limit.to_owned(),
        held_ns,
    }
}

/// A disk that wrote so many I/Os of 64 KiB, each of so many ms, in 10 s.
fn disk(ios: u64, ms: u64) -> DiskSummary {
    DiskSummary {
        duration_ns: 10 * SECOND,
        write_ios: ios,
        write_bytes: ios << 16,
        write_time_ns: ios * ms * MILLI,
        weighted_busy_ns: ios * ms * MILLI,
        busy_ns: 5 * SECOND,
        ..DiskSummary::default()
    }
}

/// A row of `ios` reads of 1 MiB and of `lat_ms` each.
pub(super) fn row(job: u32, second: u32, ios: u64, lat_ms: u64) -> SeriesRow {
    SeriesRow {
        job,
        ios,
        bytes: ios << 20,
        lat: LatencySummary {
            n: ios,
            mean: (lat_ms * MILLI) as f64,
            ..LatencySummary::default()
        },
        ..make::second(second)
    }
}

//! The figures of one point, from the record of its run.
//!
//! Data in: a [`Run`], the rows of its series and of its histograms. Data out: [`PointFigures`]: totals over all jobs, reads
//! and writes apart and together, and how well the mean IOPS is known. It must not know other points.

mod steady;

pub(super) use steady::of_independent;
pub use steady::{BATCHES_MIN, SECONDS_MIN, half_width, steady};

use crate::latencies::{histogram, merged, middle_ns};
use fathom_core::backend::Op;
use fathom_core::histogram::Histogram;
use fathom_core::run::{HistogramRow, JobSummary, Latency, LatencySummary, OpSummary, Run, SeriesRow};
use fathom_core::sweep::{
    DirectionFigures, LATENCY_BUCKETS_AN_OCTAVE, LatencyBucket, POINT_PERCENTILES, PointFigures,
};
use std::collections::BTreeMap;

/// A second of the series that is shorter is the job's last one, cut off.
const WHOLE_SECOND_NS: u64 = 999_000_000;

/// What came out of a point's run. [`PointFigures::run`] and [`PointFigures::ended_steady`] are left for the caller, who
/// knows where the run is kept and why it ended.
pub fn figures(run: &Run, series: &[SeriesRow], histograms: &[HistogramRow]) -> PointFigures {
    let jobs = &run.summary.jobs;
    let read = direction(jobs, histograms, &[Op::Read]);
    let write = direction(jobs, histograms, &[Op::Write]);
    let total = direction(jobs, histograms, &[Op::Read, Op::Write]);
    let errors = jobs
        .iter()
        .map(|job| job.read.errors + job.write.errors + job.sync.errors);
    PointFigures {
        run: String::new(),
        runtime_ns: jobs.iter().map(|job| job.runtime_ns).max().unwrap_or(0),
        read,
        write,
        total,
        lat_buckets: buckets(histograms),
        iops_half_width: half_width(&counted_seconds(series)),
        ended_steady: false,
        errors: errors.sum(),
        warnings: run.summary.warnings.iter().map(ToString::to_string).collect(),
    }
}

/// IOPS of each whole second that counts, all jobs, reads and writes together, in the order of time: what
/// [`half_width`] and [`steady`] judge.
pub fn counted_seconds(series: &[SeriesRow]) -> Vec<f64> {
    let mut seconds: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    let counted = series.iter().filter(|row| !row.ramp && is_data(row.op));
    for row in counted {
        let (ios, duration_ns) = seconds.entry(row.second).or_default();
        *ios += row.ios;
        *duration_ns = row.duration_ns.max(*duration_ns);
    }
    let whole = seconds.values().filter(|(_, ns)| *ns >= WHOLE_SECOND_NS);
    whole.map(|&(ios, ns)| ios as f64 * 1e9 / ns as f64).collect()
}

fn is_data(op: Op) -> bool {
    matches!(op, Op::Read | Op::Write)
}

/// All jobs' I/Os of these operations. Counts, rates, the shortest, the longest and the mean are the summaries' own, which
/// are exact; percentiles and the deviation are those of the merged histograms (within 1/1024).
fn direction(jobs: &[JobSummary], histograms: &[HistogramRow], ops: &[Op]) -> DirectionFigures {
    let parts: Vec<&OpSummary> = jobs
        .iter()
        .flat_map(|job| ops.iter().map(|&op| job.op(op)))
        .collect();
    let sum = |value: fn(&OpSummary) -> u64| parts.iter().map(|part| value(part)).sum();
    let rate = |value: fn(&OpSummary) -> f64| parts.iter().map(|part| value(part)).sum();
    let of_ops = histograms.iter();
    let of_ops = of_ops.filter(|row| row.metric == Latency::Lat && ops.contains(&row.op));
    DirectionFigures {
        ios: sum(|part| part.ios),
        bytes: sum(|part| part.bytes),
        iops: rate(|part| part.iops),
        bytes_per_second: rate(|part| part.bytes_per_second),
        lat_ns: latency(&parts, &histogram(of_ops)),
    }
}

fn latency(parts: &[&OpSummary], histogram: &Histogram) -> LatencySummary {
    let known = merged(parts.iter().map(|part| &part.lat_ns));
    if known.n == 0 {
        return known;
    }
    let told = POINT_PERCENTILES.into_iter().filter(|&p| is_told(p, known.n));
    let summary = histogram.summary(&told.collect::<Vec<f64>>());
    let within = |(percentile, ns): (f64, u64)| (percentile, ns.clamp(known.min, known.max));
    LatencySummary {
        stddev: summary.stddev,
        percentiles: summary.percentiles.into_iter().map(within).collect(),
        ..known
    }
}

/// Whether `n` values tell a percentile: one of them at least lies above it.
fn is_told(percentile: f64, n: u64) -> bool {
    n as f64 * (100.0 - percentile) >= 100.0 - 1e-6
}

/// The buckets of [`PointFigures::lat_buckets`].
fn buckets(histograms: &[HistogramRow]) -> Vec<LatencyBucket> {
    let mut buckets: BTreeMap<u64, LatencyBucket> = BTreeMap::new();
    for row in histograms {
        if row.metric == Latency::Lat && is_data(row.op) {
            let (low_ns, high_ns) = bucket_of(middle_ns(row));
            let bucket = buckets.entry(low_ns).or_insert(LatencyBucket {
                low_ns,
                high_ns,
                count: 0,
            });
            bucket.count += row.count;
        }
    }
    buckets.into_values().filter(|bucket| bucket.count > 0).collect()
}

/// The bounds of the bucket that counts `ns`.
fn bucket_of(ns: u64) -> (u64, u64) {
    let bits = LATENCY_BUCKETS_AN_OCTAVE.ilog2();
    let shift = ns.checked_ilog2().unwrap_or(0).saturating_sub(bits);
    let low = ns >> shift << shift;
    (low, low + ((1 << shift) - 1))
}

#[cfg(test)]
mod tests;

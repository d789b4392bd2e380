//! Latencies of several parts put together.
//!
//! Data in: summaries, buckets of histograms. Data out: one summary, one histogram. It must not know what they are parts of.

use fathom_core::histogram::Histogram;
use fathom_core::run::{HistogramRow, LatencySummary};

/// Counts, extremes, mean and deviation of parts add up; percentiles do not.
pub(crate) fn merged<'a>(parts: impl Iterator<Item = &'a LatencySummary>) -> LatencySummary {
    let mut total = LatencySummary {
        min: u64::MAX,
        ..LatencySummary::default()
    };
    let (mut sum, mut squares) = (0.0, 0.0);
    for part in parts.filter(|part| part.n > 0) {
        let n = part.n as f64;
        total.n += part.n;
        total.min = total.min.min(part.min);
        total.max = total.max.max(part.max);
        sum += n * part.mean;
        squares += n * (part.mean * part.mean + part.stddev * part.stddev);
    }
    if total.n == 0 {
        return LatencySummary::default();
    }
    total.mean = sum / total.n as f64;
    // Rounding may leave the variance a little below zero.
    total.stddev = (squares / total.n as f64 - total.mean * total.mean)
        .max(0.0)
        .sqrt();
    total
}

/// Buckets as one histogram, in which each stands for its middle.
pub(crate) fn histogram<'a>(rows: impl Iterator<Item = &'a HistogramRow>) -> Histogram {
    let mut histogram = Histogram::new();
    rows.for_each(|row| histogram.record_many(middle_ns(row), row.count));
    histogram
}

/// The middle of a bucket.
pub(crate) fn middle_ns(row: &HistogramRow) -> u64 {
    row.low_ns + row.high_ns.saturating_sub(row.low_ns) / 2
}

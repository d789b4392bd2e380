//! Percentiles from the buckets of histograms that were kept.
//!
//! Data in: buckets. Data out: the percentiles of a summary whose counts and extremes are known from its series. A
//! bucket stands for its middle: an error of 1/1024 at most, as in the histogram that it came from.

use crate::latencies::histogram;
use fathom_core::backend::Op;
use fathom_core::histogram::Histogram;
use fathom_core::run::{HistogramRow, JobSummary, Latency, LatencySummary};

/// Fills the percentiles of `list` (ascending) in `summary`, that of the job sections `jobs`.
pub(super) fn fill(summary: &mut JobSummary, jobs: &[u32], list: &[f64], rows: &[HistogramRow]) {
    for op in [Op::Read, Op::Write, Op::Trim, Op::Sync] {
        let of = |metric: Latency| {
            let wanted = |row: &&HistogramRow| {
                jobs.contains(&row.job) && row.op.index() == op.index() && row.metric == metric
            };
            histogram(rows.iter().filter(wanted))
        };
        let target = summary.op_mut(op);
        for (metric, latency) in [
            (Latency::Lat, &mut target.lat_ns),
            (Latency::Response, &mut target.response_ns),
        ] {
            add(latency, list, &of(metric));
        }
        // The series has neither; where one kind of latency is all there is, it is completion latency.
        (target.slat_ns, target.clat_ns) = (of(Latency::Slat).summary(list), of(Latency::Clat).summary(list));
        if target.clat_ns.n == 0 && !target.lat_ns.percentiles.is_empty() {
            target.clat_ns = target.lat_ns.clone();
        }
    }
}

/// Adds percentiles to what the series says, whose extremes are exact.
fn add(latency: &mut LatencySummary, list: &[f64], histogram: &Histogram) {
    if histogram.n() > 0 && latency.n > 0 {
        let (low, high) = (latency.min, latency.max.max(latency.min));
        let values = histogram.percentiles(list);
        let values = values.into_iter().map(|value| value.clamp(low, high));
        latency.percentiles = list.iter().copied().zip(values).collect();
    }
}

//! Every point of a sweep in one table.
//!
//! Data in: results. Data out: a table. It must not know any file format.

use super::super::content::{Block, Table};
use crate::words::{joined, load, or};
use fathom_core::sweep::{Outcome, PointFigures, PointResult, SweepResults};
use fathom_core::units::{Bytes, Nanos, count, three_digits};

/// With more rows the table is shown only when asked for.
const FOLDED_ABOVE: usize = 40;

pub(super) fn table(results: &SweepResults) -> Vec<Block> {
    if results.points.is_empty() {
        return Vec::new();
    }
    let head = [
        "load", "note", "block", "iodepth", "threads", "IOPS", "MiB/s", "MB/s", "mean", "p99", "slowest",
    ];
    let table = Table::new(2, head, results.points.iter().map(row));
    let caption = format!("The {} points", results.points.len());
    vec![Block::Table(table.captioned(caption).folded_above(FOLDED_ABOVE))]
}

fn row(point: &PointResult) -> Vec<String> {
    let at = &point.coordinates;
    let time = |ns: Option<f64>| or(ns.map(|ns| Nanos(ns.round() as u64)), "–");
    let repeats = point.repeats().iter();
    let slowest = repeats.map(|figures| figures.total.lat_ns.max).max();
    let rate = |unit: f64| {
        or(
            point.bytes_per_second().map(|rate| three_digits(rate / unit)),
            "–",
        )
    };
    vec![
        load(at.random, at.read_percent),
        note(point),
        Bytes(at.block_size_bytes).to_string(),
        at.iodepth.to_string(),
        at.threads.to_string(),
        or(point.iops().map(count), "–"),
        rate(f64::from(1 << 20)),
        rate(1e6),
        time(point.lat_ns_mean()),
        time(point.lat_ns_percentile(99.0)),
        or(slowest.map(Nanos), "–"),
    ]
}

/// How well the IOPS are known: half the width of their interval in percent, of the repeat with the widest.
pub(super) fn half_width(repeats: &[PointFigures]) -> Option<String> {
    let widths = repeats.iter().filter_map(|figures| figures.iops_half_width);
    let widest = widths.reduce(f64::max)?;
    Some(format!("±{} %", three_digits(widest * 100.0)))
}

/// How the point is known.
fn note(point: &PointResult) -> String {
    match &point.outcome {
        Outcome::Pending => String::from("not measured yet"),
        Outcome::Inferred(inferred) => format!("inferred: {}", inferred.because),
        Outcome::Failed { message } => format!("failed: {message}"),
        Outcome::Measured { repeats } => {
            let several = repeats.len() > 1;
            let steady = repeats.iter().any(|figures| figures.ended_steady);
            let parts = [
                several.then(|| format!("{} repeats", repeats.len())),
                half_width(repeats),
                steady.then(|| String::from("ended steady")),
            ];
            joined(parts.into_iter().flatten(), ", ")
        }
    }
}

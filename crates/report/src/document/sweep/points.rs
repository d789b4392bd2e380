//! Every point of a sweep in one table.
//!
//! Data in: results. Data out: a table. It must not know any file format.

use super::super::content::{Block, Table};
use crate::words::load;
use fathom_core::sweep::{Outcome, PointResult, SweepResults};
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
    let table = Table::new(2, head, results.points.iter().map(row).collect());
    let caption = format!("The {} points", results.points.len());
    vec![Block::Table(table.captioned(&caption).folded_above(FOLDED_ABOVE))]
}

fn row(point: &PointResult) -> Vec<String> {
    let at = &point.coordinates;
    let text =
        |value: Option<f64>, write: &dyn Fn(f64) -> String| value.map_or_else(|| String::from("–"), write);
    let time = |ns: f64| Nanos(ns.round() as u64).to_string();
    let slowest = point
        .repeats()
        .iter()
        .map(|figures| figures.total.lat_ns.max)
        .max();
    let rate = point.bytes_per_second();
    vec![
        load(at.random, at.read_percent),
        note(point),
        Bytes(at.block_size_bytes).to_string(),
        at.iodepth.to_string(),
        at.threads.to_string(),
        text(point.iops(), &count),
        text(rate, &|rate| three_digits(rate / f64::from(1 << 20))),
        text(rate, &|rate| three_digits(rate / 1e6)),
        text(point.lat_ns_mean(), &time),
        text(point.lat_ns_percentile(99.0), &time),
        text(slowest.map(|ns| ns as f64), &time),
    ]
}

/// How the point is known.
fn note(point: &PointResult) -> String {
    match &point.outcome {
        Outcome::Pending => String::from("not measured yet"),
        Outcome::Inferred(inferred) => format!("inferred: {}", inferred.because),
        Outcome::Failed { message } => format!("failed: {message}"),
        Outcome::Measured { repeats } => {
            let steady = repeats.iter().filter(|figures| figures.ended_steady).count();
            let mut parts = Vec::new();
            if repeats.len() > 1 {
                parts.push(format!("{} repeats", repeats.len()));
            }
            let width = repeats
                .iter()
                .filter_map(|figures| figures.iops_half_width)
                .reduce(f64::max);
            if let Some(width) = width {
                parts.push(format!("±{} %", three_digits(width * 100.0)));
            }
            if steady > 0 {
                parts.push(String::from("ended steady"));
            }
            parts.join(", ")
        }
    }
}

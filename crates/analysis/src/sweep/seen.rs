//! The measured points of a sweep, ready for comparing.
//!
//! Data in: results. Data out: one plain row a measured point, and the rules of when two of them agree. It must not judge.

use super::findings::Line;
use super::point::of_independent;
use fathom_core::sweep::{Coordinates, LatencyBucket, Outcome, PointResult, SweepResults};
use std::collections::BTreeMap;

/// Two rates agree within this, however narrow their intervals: what one point is off by another's randomness.
pub(super) const AGREE: f64 = 0.02;
/// Wider intervals do not make points agree any further.
const WIDEST: f64 = 0.10;

/// A measured point.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen<'a> {
    /// Its number in the plan.
    pub(super) number: u32,
    pub(super) at: Coordinates,
    /// In flight over all threads.
    pub(super) depth: u64,
    pub(super) iops: f64,
    pub(super) bytes_per_second: f64,
    pub(super) lat_ns: f64,
    /// Half the width of the 95 % interval of its IOPS, as a share.
    pub(super) half_width: Option<f64>,
    /// Latencies of its first repeat.
    pub(super) lat_buckets: &'a [LatencyBucket],
}

/// The measured points that did any I/O, by their numbers.
pub(super) fn seen(results: &SweepResults) -> Vec<Seen<'_>> {
    let points = (0..).zip(&results.points);
    points
        .filter_map(|(number, point)| of_point(number, point))
        .collect()
}

fn of_point(number: u32, point: &PointResult) -> Option<Seen<'_>> {
    let Outcome::Measured { repeats } = &point.outcome else {
        return None;
    };
    let iops = point.iops().filter(|iops| iops.is_finite() && *iops > 0.0)?;
    Some(Seen {
        number,
        at: point.coordinates,
        depth: point.coordinates.total_depth(),
        iops,
        bytes_per_second: point.bytes_per_second()?,
        lat_ns: point.lat_ns_mean()?,
        half_width: half_width(point),
        lat_buckets: repeats.first().map_or(&[], |first| &first.lat_buckets),
    })
}

/// How well the mean over the repeats is known: by their spread or by their own intervals, whichever is wider.
pub(super) fn half_width(point: &PointResult) -> Option<f64> {
    let repeats = point.repeats();
    let within: Vec<f64> = repeats
        .iter()
        .filter_map(|repeat| repeat.iops_half_width)
        .collect();
    let squares: f64 = within.iter().map(|half| half * half).sum();
    let within =
        (!within.is_empty() && within.len() == repeats.len()).then(|| squares.sqrt() / repeats.len() as f64);
    if repeats.len() < 2 {
        return within;
    }
    let rates: Vec<f64> = repeats.iter().map(|repeat| repeat.total.iops).collect();
    let between = of_independent(&rates)?;
    Some(within.map_or(between, |within| within.max(between)))
}

/// Points by all that is not depth, each line by depth.
pub(super) fn by_line<'s, 'a>(seen: &'s [Seen<'a>]) -> BTreeMap<Line, Vec<&'s Seen<'a>>> {
    let mut lines: BTreeMap<Line, Vec<&Seen<'_>>> = BTreeMap::new();
    for point in seen {
        lines.entry(line_of(point.at)).or_default().push(point);
    }
    for line in lines.values_mut() {
        line.sort_by_key(|point| point.depth);
    }
    lines
}

impl Seen<'_> {
    /// Its half width, where known, and no more than makes sense for comparing.
    fn slack(&self) -> f64 {
        self.half_width.unwrap_or(0.0).min(WIDEST)
    }
}

pub(super) fn line_of(at: Coordinates) -> Line {
    Line {
        random: at.random,
        read_percent: at.read_percent,
        block_size_bytes: at.block_size_bytes,
        threads: at.threads,
    }
}

/// Whether rates `a` of one and `b` of another point agree.
pub(super) fn agree(one: &Seen<'_>, other: &Seen<'_>, a: f64, b: f64) -> bool {
    let tolerance = AGREE.max((one.slack() + other.slack()).min(WIDEST));
    (a - b).abs() <= tolerance * a.max(b)
}

/// The median; 0 of nothing. Of an even number, the mean of the middle two.
pub(super) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => 0.0,
        n if n % 2 == 1 => sorted[n / 2],
        n => f64::midpoint(sorted[n / 2 - 1], sorted[n / 2]),
    }
}

/// The farthest of `values` from `centre`, as a share of it.
pub(super) fn spread(values: &[f64], centre: f64) -> f64 {
    let off = values.iter().map(|value| (value - centre).abs() / centre);
    off.fold(0.0, f64::max)
}

#[cfg(test)]
mod tests;

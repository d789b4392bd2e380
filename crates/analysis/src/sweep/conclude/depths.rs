//! What depth brings, and what it costs.
//!
//! Data in: results, measured points. Data out: the depth that each line needs, how its latency grows, what falls short
//! at low depth. It must not know limits.

use crate::sweep::findings::{DepthNeeded, Growth, Line, Shortfall};
use crate::sweep::seen::{AGREE, Seen, by_line, line_of};
use fathom_core::sweep::{Outcome, SweepResults};
use std::collections::BTreeMap;

/// The share of a line's most that is enough.
const ENOUGH: f64 = 0.95;
/// A point below this share of what its line reaches falls short.
const SHORT: f64 = 0.90;
/// Latency within this of the lowest depth's is flat.
const FLAT: f64 = 1.10;

/// One known point of a line.
#[derive(Debug, Clone, Copy)]
struct Known {
    number: u32,
    depth: u64,
    iops: f64,
    inferred: bool,
}

/// Measured and inferred points by line, each by depth.
fn lines(results: &SweepResults) -> BTreeMap<Line, Vec<Known>> {
    let mut lines: BTreeMap<Line, Vec<Known>> = BTreeMap::new();
    for (number, point) in (0..).zip(&results.points) {
        if let Some(iops) = point.iops().filter(|iops| *iops > 0.0) {
            lines.entry(line_of(point.coordinates)).or_default().push(Known {
                number,
                depth: point.coordinates.total_depth(),
                iops,
                inferred: matches!(point.outcome, Outcome::Inferred(_)),
            });
        }
    }
    for line in lines.values_mut() {
        line.sort_by_key(|known| (known.depth, known.number));
    }
    lines
}

fn most(line: &[Known]) -> f64 {
    line.iter().map(|known| known.iops).fold(0.0, f64::max)
}

/// The smallest depth that reaches 95 % of each line's most.
pub(super) fn needed(results: &SweepResults) -> Vec<DepthNeeded> {
    let lines = lines(results).into_iter();
    let of_line = |(line, known): (Line, Vec<Known>)| {
        let iops_most = most(&known);
        let enough = known.iter().find(|known| known.iops >= ENOUGH * iops_most)?;
        Some(DepthNeeded {
            line,
            depth: enough.depth,
            point: enough.number,
            inferred: enough.inferred,
            iops_most,
            levels_off: known.last().is_some_and(|last| last.depth > enough.depth),
        })
    };
    lines.filter_map(of_line).collect()
}

/// Measured points below 90 % of what a deeper point of their line reaches, the worst first.
pub(super) fn shortfalls(results: &SweepResults) -> Vec<Shortfall> {
    let mut found = Vec::new();
    for known in lines(results).values() {
        for (at, short) in known.iter().enumerate() {
            let reachable_iops = most(&known[at..]);
            let share = short.iops / reachable_iops;
            if share < SHORT && !short.inferred {
                found.push(Shortfall {
                    point: short.number,
                    depth: short.depth,
                    iops: short.iops,
                    reachable_iops,
                    share,
                });
            }
        }
    }
    found.sort_by(|a, b| a.share.total_cmp(&b.share).then(a.point.cmp(&b.point)));
    found
}

/// How latency grows with depth, of each line with two measured depths or more.
pub(super) fn growth(seen: &[Seen<'_>]) -> Vec<Growth> {
    let of_line = |(line, points): (Line, Vec<&Seen<'_>>)| {
        let (first, last) = (*points.first()?, *points.last()?);
        if first.depth == last.depth {
            return None;
        }
        let flat = points
            .iter()
            .take_while(|point| point.lat_ns <= FLAT * first.lat_ns);
        let (slope_ns, little_slope_ns) = saturated_slope(&points).unzip();
        Some(Growth {
            line,
            points: points.iter().map(|point| point.number).collect(),
            r_squared: fit(&points).filter(|_| points.len() >= 3).map(|fit| fit.1),
            slope_ns,
            little_slope_ns,
            lowest_ns: first.lat_ns,
            flat_to_depth: flat.last().map_or(first.depth, |point| point.depth),
            from_depth: first.depth,
            to_depth: last.depth,
        })
    };
    by_line(seen).into_iter().filter_map(of_line).collect()
}

/// The slope over the points that are as fast as the fastest, and what Little's law (depth = rate × latency) says of it.
fn saturated_slope(points: &[&Seen<'_>]) -> Option<(f64, f64)> {
    let most = points.iter().map(|point| point.iops).fold(0.0, f64::max);
    let full: Vec<&Seen<'_>> = points
        .iter()
        .copied()
        .filter(|point| point.iops >= most * (1.0 - AGREE))
        .collect();
    let (slope, _) = fit(&full)?;
    Some((
        slope,
        1e9 * full.len() as f64 / full.iter().map(|p| p.iops).sum::<f64>(),
    ))
}

/// Least squares of mean latency over depth: slope and R². `None` where all are of one depth.
fn fit(points: &[&Seen<'_>]) -> Option<(f64, f64)> {
    let n = points.len() as f64;
    let x = |point: &Seen<'_>| point.depth as f64;
    let (mean_x, mean_y) = (
        points.iter().map(|point| x(point)).sum::<f64>() / n,
        points.iter().map(|point| point.lat_ns).sum::<f64>() / n,
    );
    let sum = |product: &dyn Fn(&Seen<'_>) -> f64| points.iter().map(|point| product(point)).sum::<f64>();
    let xx = sum(&|point| (x(point) - mean_x).powi(2));
    let yy = sum(&|point| (point.lat_ns - mean_y).powi(2));
    let xy = sum(&|point| (x(point) - mean_x) * (point.lat_ns - mean_y));
    if xx <= 0.0 {
        return None;
    }
    let r_squared = if yy > 0.0 { xy * xy / (xx * yy) } else { 1.0 };
    Some((xy / xx, r_squared))
}

#[cfg(test)]
mod tests;

//! From outcomes to a figure's value.
//!
//! Data in: a figure, the outcomes of its experiment. Data out: a number in the figure's unit, or why there is none. It
//! must not know what was published.

use super::Figure;
use super::measure::{Amount, Direction, DiskCount, Fold, PerJob, PhaseCount, Quantity, Statistic};
use super::outcome::{Outcome, Selection};
use super::seconds;
use crate::latencies::merged;
use fathom_core::backend::Op;
use fathom_core::run::{DiskSummary, JobSummary, Latency, LatencySummary, OpSummary};

/// Why a figure has no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ValueError {
    /// No outcome is meant.
    #[error("{what}: no run or section is called `{run}`")]
    NoOutcome {
        /// The figure.
        what: String,
        /// As written.
        run: String,
    },
    /// More outcomes are meant than the measure can do with, or fewer.
    #[error("{what}: `{run}` means {found} outcomes, and `{measure}` takes {takes}")]
    Outcomes {
        /// The figure.
        what: String,
        /// As written.
        run: String,
        measure: String,
        found: usize,
        /// In words.
        takes: &'static str,
    },
    /// The outcome has nothing of the kind.
    #[error("{what}: there is no `{measure}` in {outcome}")]
    Nothing {
        /// The figure.
        what: String,
        measure: String,
        outcome: String,
    },
}

/// The value of `figure` in its unit.
///
/// # Errors
/// What the figure means does not exist.
pub fn value(figure: &Figure, outcomes: &[Outcome]) -> Result<f64, ValueError> {
    let measure = &figure.measure;
    let mut groups = Vec::new();
    for text in figure.run.split(" : ") {
        let found = Selection::find(text, outcomes);
        if found.is_empty() {
            return Err(ValueError::NoOutcome {
                what: figure.what.clone(),
                run: text.to_owned(),
            });
        }
        if measure.quantity == Quantity::Outcomes {
            return Ok(found.len() as f64);
        }
        let values = found.iter().map(|selection| {
            let value = of_one(selection, &measure.quantity).ok_or_else(|| ValueError::Nothing {
                what: figure.what.clone(),
                measure: measure.text.clone(),
                outcome: selection.outcome.name.clone(),
            })?;
            Ok(Point {
                depth: selection.depth() as f64,
                value,
            })
        });
        groups.push(values.collect::<Result<Vec<Point>, ValueError>>()?);
    }
    let folded = fold(measure.fold, &groups).map_err(|takes| ValueError::Outcomes {
        what: figure.what.clone(),
        run: figure.run.clone(),
        measure: measure.text.clone(),
        found: groups.iter().map(Vec::len).sum(),
        takes,
    })?;
    Ok(folded / figure.unit.factor)
}

/// A value of one outcome, and its I/Os in flight.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Point {
    depth: f64,
    value: f64,
}

/// One number of the values of several selections. The error: what there must be.
fn fold(fold: Option<Fold>, groups: &[Vec<Point>]) -> Result<f64, &'static str> {
    let points: Vec<Point> = groups.concat();
    let numbers = || points.iter().map(|point| point.value);
    match fold {
        None => match points.as_slice() {
            [point] => Ok(point.value),
            _ => Err("one"),
        },
        Some(Fold::Ratio) => match groups {
            [first, second] => Ok(mean(first) / mean(second)),
            _ => Err("two selections"),
        },
        Some(Fold::Max) => Ok(numbers().fold(f64::NEG_INFINITY, f64::max)),
        Some(Fold::Min) => Ok(numbers().fold(f64::INFINITY, f64::min)),
        Some(Fold::Mean) => Ok(mean(&points)),
        Some(Fold::Median) => {
            let mut sorted: Vec<f64> = numbers().collect();
            sorted.sort_by(f64::total_cmp);
            let middle = sorted.len() / 2;
            Ok(f64::midpoint(sorted[(sorted.len() - 1) / 2], sorted[middle]))
        }
        Some(Fold::Linearity) if points.len() < 3 => Err("three or more"),
        Some(Fold::Linearity) => Ok(linearity(&points)),
    }
}

fn mean(points: &[Point]) -> f64 {
    points.iter().map(|point| point.value).sum::<f64>() / points.len() as f64
}

/// R² of the straight line through the points (least squares).
fn linearity(points: &[Point]) -> f64 {
    let y = mean(points);
    let x = points.iter().map(|point| point.depth).sum::<f64>() / points.len() as f64;
    let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
    for point in points {
        let (a, b) = (point.depth - x, point.value - y);
        xx += a * a;
        xy += a * b;
        yy += b * b;
    }
    xy * xy / (xx * yy)
}

/// A quantity in its dimension's base (nanoseconds, bytes, a share of 1).
fn of_one(selection: &Selection<'_>, quantity: &Quantity) -> Option<f64> {
    let model = &selection.outcome.model;
    match quantity {
        Quantity::Amount(direction, amount) => {
            let (ios, bytes) = done(selection, *direction);
            amount_of(*amount, (ios, bytes), selection.runtime_ns())
        }
        Quantity::Latency(direction, latency, statistic) => {
            latency_of(selection, *direction, *latency, *statistic)
        }
        Quantity::Share(direction, latency, range) => {
            let (within, all) = counts(selection, *direction, *latency, *range);
            (all > 0).then(|| within as f64 / all as f64)
        }
        Quantity::Within(direction, latency, range) => {
            Some(counts(selection, *direction, *latency, *range).0 as f64)
        }
        Quantity::Runtime => Some(selection.runtime_ns() as f64),
        Quantity::PerJob(most, what) => {
            let each = selection.summaries().map(|job| per_job(job, *what));
            let each: Vec<f64> = each.collect();
            Some(
                each.into_iter()
                    .fold(f64::NAN, if *most { f64::max } else { f64::min }),
            )
        }
        Quantity::Disk(which, count) => disk(&selection.outcome.disks, *which, *count),
        Quantity::DirtyPeak => Some(model.dirty_peak_bytes as f64),
        Quantity::HostDirtyPeak => Some(model.host_dirty_peak_bytes as f64),
        Quantity::Drain => Some(model.drain_ns as f64),
        Quantity::Held(limit) => {
            let of_limit = model.held.iter().filter(|held| held.limit == *limit);
            let all: u64 = model.held.iter().map(|held| held.held_ns).sum();
            (all > 0).then(|| of_limit.map(|held| held.held_ns).sum::<u64>() as f64 / all as f64)
        }
        Quantity::Seconds(direction, what, statistic) => {
            statistic_of(seconds::values(selection, *direction, *what), *statistic)
        }
        Quantity::Phase(number, count) => {
            let phase = *seconds::phases(selection).get(number - 1)?;
            Some(match count {
                PhaseCount::Duration => phase.duration_ns() as f64,
                PhaseCount::Bandwidth => phase.bandwidth(),
                PhaseCount::Iops => phase.iops(),
            })
        }
        Quantity::Stall => Some(seconds::stall_ns(&seconds::phases(selection)) as f64),
        Quantity::Outcomes => None,
    }
}

/// The summaries of a direction over jobs.
fn ops(job: &JobSummary, direction: Direction) -> impl Iterator<Item = &OpSummary> {
    [Op::Read, Op::Write, Op::Trim]
        .into_iter()
        .filter(move |&op| seconds::is_of(direction, op))
        .map(|op| job.op(op))
}

/// I/Os and bytes.
fn done(selection: &Selection<'_>, direction: Direction) -> (u64, u64) {
    let ops = selection.summaries().flat_map(|job| ops(job, direction));
    ops.fold((0, 0), |(ios, bytes), op| (ios + op.ios, bytes + op.bytes))
}

fn amount_of(amount: Amount, (ios, bytes): (u64, u64), time_ns: u64) -> Option<f64> {
    let rate = |number: u64| (time_ns > 0).then(|| number as f64 * 1e9 / time_ns as f64);
    match amount {
        Amount::Ios => Some(ios as f64),
        Amount::Bytes => Some(bytes as f64),
        Amount::Iops => rate(ios),
        Amount::Bandwidth => rate(bytes),
    }
}

fn per_job(job: &JobSummary, what: PerJob) -> f64 {
    match what {
        PerJob::Runtime => job.runtime_ns as f64,
        PerJob::Bandwidth(direction) => ops(job, direction).map(|op| op.bytes_per_second).sum(),
    }
}

fn summary(op: &OpSummary, latency: Latency) -> &LatencySummary {
    match latency {
        Latency::Lat => &op.lat_ns,
        Latency::Clat => &op.clat_ns,
        Latency::Slat => &op.slat_ns,
        Latency::Response => &op.response_ns,
    }
}

/// A statistic of a latency: exact where the summaries have it, from the merged histogram otherwise.
fn latency_of(
    selection: &Selection<'_>,
    direction: Direction,
    latency: Latency,
    statistic: Statistic,
) -> Option<f64> {
    let all = || {
        let ops = selection.summaries().flat_map(move |job| ops(job, direction));
        ops.map(move |op| summary(op, latency))
    };
    let whole = merged(all());
    if whole.n == 0 {
        return None;
    }
    match statistic {
        Statistic::Mean => Some(whole.mean),
        Statistic::Min => Some(whole.min as f64),
        Statistic::Max => Some(whole.max as f64),
        Statistic::Stdev => {
            // Within the parts and between them.
            let part = |summary: &LatencySummary| {
                let distance = summary.mean - whole.mean;
                (summary.stddev * summary.stddev + distance * distance) * summary.n as f64
            };
            Some((all().map(part).sum::<f64>() / whole.n as f64).sqrt())
        }
        Statistic::Percentile(percentile) => {
            let merged =
                selection.histogram(|row| row.metric == latency && seconds::is_of(direction, row.op));
            (merged.n() > 0).then(|| merged.percentile(percentile) as f64)
        }
    }
}

/// How many I/Os took longer than the first and no longer than the second, and how many there were.
fn counts(
    selection: &Selection<'_>,
    direction: Direction,
    latency: Latency,
    (from, to): (u64, u64),
) -> (u64, u64) {
    let histogram = selection.histogram(|row| row.metric == latency && seconds::is_of(direction, row.op));
    let buckets = histogram
        .occupied()
        .map(|(low, high, count)| (low + (high - low) / 2, count));
    let within = buckets.filter(|&(middle, _)| middle > from && middle <= to);
    (within.map(|(_, count)| count).sum(), histogram.n())
}

fn disk(disks: &[DiskSummary], which: Option<usize>, count: DiskCount) -> Option<f64> {
    let chosen = match which {
        None => disks,
        Some(number) => disks.get(number..=number)?,
    };
    let first = chosen.first()?;
    let sum = |of: fn(&DiskSummary) -> u64| chosen.iter().map(of).sum::<u64>();
    let ios = sum(|disk| disk.read_ios + disk.write_ios);
    let bytes = sum(|disk| disk.read_bytes + disk.write_bytes);
    let ticks = sum(|disk| disk.read_time_ns + disk.write_time_ns);
    let an_io = |total: u64| (ios > 0).then(|| total as f64 / ios as f64);
    match count {
        DiskCount::Amount(amount) => amount_of(amount, (ios, bytes), first.duration_ns),
        DiskCount::IoSize => an_io(bytes),
        DiskCount::Ticks => Some(ticks as f64),
        DiskCount::Latency => an_io(ticks),
        DiskCount::InQueue => Some(sum(|disk| disk.weighted_busy_ns) as f64),
        DiskCount::Util => {
            let time: u64 = sum(|disk| disk.duration_ns);
            (time > 0).then(|| sum(|disk| disk.busy_ns) as f64 / time as f64)
        }
    }
}

/// A statistic of plain values; `None` of no values.
fn statistic_of(mut values: Vec<f64>, statistic: Statistic) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    match statistic {
        Statistic::Mean => (!values.is_empty()).then_some(mean),
        Statistic::Min => values.first().copied(),
        Statistic::Max => values.last().copied(),
        Statistic::Stdev => {
            let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
            (!values.is_empty()).then(|| (squares / n).sqrt())
        }
        Statistic::Percentile(percentile) => {
            let rank = (percentile / 100.0 * n).ceil().max(1.0) as usize;
            values.get(rank - 1).copied()
        }
    }
}

#[cfg(test)]
mod tests;

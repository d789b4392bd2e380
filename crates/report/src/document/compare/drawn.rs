//! Both sides drawn over each other: over time, as distributions, repeat by repeat.
//!
//! Data in: a comparison with what its runs measured. Data out: charts. It must not judge.

use super::super::content::{Block, Chart, Width};
use super::words::{figure, interval, signed, value};
use crate::chart::percentiles::{self, Curve};
use crate::chart::sides::{self, Bar, Dots, Points};
use crate::compared::CompareReport;
use fathom_analysis::compare::{DirectionMeasured, Judged, Scale, SecondMeasured, Verdict};
use fathom_core::histogram::Histogram;

/// Figures whose intervals are drawn.
const BARS_MAX: usize = 60;
/// Loads that are drawn over time and as distributions.
const LOADS_MAX: usize = 12;
/// Runs of a side that are drawn.
const RUNS_MAX: usize = 10;

/// Intervals first, then each load and direction.
pub(super) fn blocks(report: &CompareReport<'_>) -> Vec<Block> {
    let mut blocks = Vec::new();
    if let Some(chart) = intervals(report) {
        blocks.push(Block::Charts(vec![chart]));
    }
    let [a, b] = [0, 1].map(|side| report.sides[side].measured);
    let Some(first) = a.first() else { return blocks };
    for (place, load) in first.loads.iter().enumerate().take(LOADS_MAX) {
        for direction in &load.directions {
            let of_side = |side: &'_ [fathom_analysis::compare::Measured]| -> Vec<DirectionMeasured> {
                let found = side.iter().take(RUNS_MAX).filter_map(|one| {
                    let directions = &one.loads.get(place)?.directions;
                    directions
                        .iter()
                        .find(|other| other.op.index() == direction.op.index())
                });
                found.cloned().collect()
            };
            let sides = [of_side(a), of_side(b)];
            if sides.iter().any(Vec::is_empty) || sides.iter().flatten().all(|one| one.seconds.is_empty()) {
                continue;
            }
            let name = match first.loads.len() {
                1 => direction.op.name().to_owned(),
                _ => format!("{} {}", load.name, direction.op.name()),
            };
            blocks.push(Block::Heading(name));
            blocks.push(Block::Charts(load_charts(report, &sides)));
        }
    }
    blocks
}

/// Each figure's change with its interval, around no change.
fn intervals(report: &CompareReport<'_>) -> Option<Chart> {
    let bars: Vec<Bar> = report
        .judged
        .iter()
        .filter_map(|judged| {
            let found = judged.difference.filter(|found| found.scale == Scale::Ratio)?;
            Some(Bar {
                name: figure(judged),
                value: 100.0 * found.value,
                low: 100.0 * found.low,
                high: 100.0 * found.high,
                differs: judged.verdict == Verdict::Differs,
                words: format!(
                    "{}, {}",
                    signed(report, judged, found.value),
                    interval(report, judged, found.low, found.high)
                ),
            })
        })
        .take(BARS_MAX)
        .collect();
    if bars.is_empty() {
        return None;
    }
    let [a, b] = &report.sides;
    let height = 110 + 30 * bars.len() as u32;
    Some(Chart::whole(
        &format!("What changes from {} to {}", a.name, b.name),
        "Points are what is seen, lines 95 % intervals; open points show no difference.",
        height,
        sides::intervals(&bars),
    ))
}

fn load_charts(report: &CompareReport<'_>, both: &[Vec<DirectionMeasured>; 2]) -> Vec<Chart> {
    let names = [0, 1].map(|side| report.sides[side].name.as_str());
    let lines = |of: fn(&SecondMeasured) -> f64| -> [Vec<Points>; 2] {
        [0, 1].map(|side| both[side].iter().map(|run| points(run, of)).collect())
    };
    let half = |title: &str, about: &str, figure| Chart {
        width: Width::Half,
        ..Chart::whole(title, about, 300, figure)
    };
    let mut charts = vec![
        half(
            "IOPS over time",
            "A line a run.",
            sides::over_time(names, &lines(|second| second.iops), "IOPS", false),
        ),
        half(
            "p99 over time",
            "Of the I/Os of each second.",
            sides::over_time(
                names,
                &lines(|second| second.latency_ns_p99 as f64 / 1e6),
                "p99 (ms)",
                true,
            ),
        ),
    ];
    let curves = [0, 1].map(|side| Curve {
        name: names[side].to_owned(),
        counts: counts(&both[side]),
    });
    if curves.iter().all(|curve| !curve.counts.is_empty()) {
        charts.push(half(
            "Percentiles",
            "All runs of a side together.",
            percentiles::figure(&curves),
        ));
        charts.push(half(
            "How often each latency is",
            "All runs of a side together; shares of its I/Os.",
            sides::densities(names, [0, 1].map(|side| curves[side].counts.as_slice())),
        ));
    }
    charts
}

/// Seconds thinned to what can be seen.
fn points(run: &DirectionMeasured, of: fn(&SecondMeasured) -> f64) -> Points {
    const POINTS_MAX: usize = 600;
    let first = run.seconds.first().map_or(0, |second| second.second);
    let together = run.seconds.len().div_ceil(POINTS_MAX).max(1);
    let mean = |some: &[SecondMeasured]| {
        let sum: f64 = some.iter().map(of).sum();
        let at = f64::from(some[0].second - first) + some.len() as f64 / 2.0;
        (at, sum / some.len() as f64)
    };
    run.seconds.chunks(together).map(mean).collect()
}

/// Latencies of all runs, in milliseconds.
fn counts(runs: &[DirectionMeasured]) -> Vec<(f64, u64)> {
    let mut whole = Histogram::new();
    for run in runs {
        for (low, high, count) in run.histogram.occupied() {
            whole.record_many(low + (high - low) / 2, count);
        }
    }
    whole
        .occupied()
        .map(|(low, high, count)| ((low + (high - low) / 2) as f64 / 1e6, count))
        .collect()
}

/// Every repeat of each figure as a point.
pub(super) fn repeats(report: &CompareReport<'_>) -> Vec<Block> {
    let several = |judged: &&Judged| judged.sides.iter().any(|side| side.values.len() > 1);
    let some: Vec<&Judged> = report.judged.iter().filter(several).collect();
    if some.is_empty() || some.len() > BARS_MAX {
        return Vec::new();
    }
    let names = [0, 1].map(|side| report.sides[side].name.as_str());
    let charts = some.iter().filter(|one| one.follows.is_none()).map(|judged| {
        let dots = [0, 1].map(|side| {
            let values = judged.sides[side].values.iter();
            values
                .map(|one| Dots {
                    value: sides::axis_value(judged.figure.quantity, one.value),
                    words: value(report, judged, one.value),
                })
                .collect::<Vec<Dots>>()
        });
        let unit = report.unit.unwrap_or_default();
        Chart {
            width: Width::Third,
            ..Chart::whole(
                &figure(judged),
                "",
                260,
                sides::repeats(names, &dots, judged.figure.quantity, unit),
            )
        }
    });
    vec![Block::Charts(charts.collect())]
}

//! IOPS, throughput and latency percentiles over time.
//!
//! Data in: the rows of a series. Data out: a chart each. It must not know what is worth a chart.

use super::thin::Envelope;
use super::{
    Clock, DASHES, Figure, Thinning, colour, latency_axis, milliseconds, number, numbers, plain, rate_axis,
};
use fathom_core::run::{LatencySummary, SeriesRow};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Intervals that are shorter (the last one of a job may be) have too few I/Os to say anything by rates or percentiles.
const SHORTEST_NS: u64 = 100_000_000;

/// A line of a chart: one direction of one job, or several of them together.
#[derive(Debug, Clone)]
pub(crate) struct Line<'a> {
    /// What it is called.
    pub(crate) name: String,
    /// Its rows, in the order of their seconds; of one second there may be several, whose rates add up.
    pub(crate) rows: Vec<&'a SeriesRow>,
}

/// What is common to all charts of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span {
    /// How lines are thinned.
    pub(crate) thinning: Thinning,
    /// The axis.
    pub(crate) clock: Clock,
    /// Until when nothing was counted, in seconds.
    pub(crate) ramp_s: f64,
}

pub(crate) fn iops(lines: &[Line<'_>], span: Span) -> Figure {
    rates(lines, span, "IOPS", "%{y:,.4~r} IOPS", |row| row.ios as f64)
}

pub(crate) fn throughput(lines: &[Line<'_>], span: Span) -> Figure {
    rates(lines, span, "throughput (MB/s)", "%{y:,.4~r} MB/s", |row| {
        row.bytes as f64 / 1e6
    })
}

fn rates(
    lines: &[Line<'_>],
    span: Span,
    title: &str,
    hover: &str,
    amount: impl Fn(&SeriesRow) -> f64,
) -> Figure {
    let mut data = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let envelope = span.thinning.apply(per_second(&line.rows, &amount));
        let look = Look {
            index,
            dash: "solid",
            name: &line.name,
            hover,
            band: !span.thinning.is_none(),
        };
        traces(&mut data, &envelope, span, look);
    }
    figure(data, span, &rate_axis(title), lines.len() > 1)
}

/// The rows that say something; where there is one only, that.
fn long_enough<'a>(rows: &[&'a SeriesRow]) -> impl Iterator<Item = &'a SeriesRow> {
    let only = rows.len() == 1;
    rows.iter()
        .copied()
        .filter(move |row| only || row.duration_ns >= SHORTEST_NS)
}

/// What each second moved, a second. A job's rows of one second (where its ramp ends within it, where intervals are shorter)
/// are parts of it; those of different jobs and directions are added.
fn per_second(rows: &[&SeriesRow], amount: impl Fn(&SeriesRow) -> f64) -> Vec<(u32, f64)> {
    let mut parts: BTreeMap<(u32, u32, usize), (f64, f64)> = BTreeMap::new();
    for row in long_enough(rows) {
        let (sum, duration_ns) = parts.entry((row.second, row.job, row.op.index())).or_default();
        *sum += amount(row);
        *duration_ns += row.duration_ns as f64;
    }
    let rates = parts
        .into_iter()
        .map(|((at, ..), (sum, duration_ns))| (at, sum * 1e9 / duration_ns.max(1.0)));
    by_second(rates, |all, rate| all + rate)
}

/// One value a second, of several (rows of one second are parts of it, or of several jobs) what `merge` makes of them.
fn by_second(points: impl Iterator<Item = (u32, f64)>, merge: fn(f64, f64) -> f64) -> Vec<(u32, f64)> {
    let mut seconds: Vec<(u32, f64)> = Vec::new();
    for (at, value) in points {
        match seconds.last_mut() {
            Some((second, all)) if *second == at => *all = merge(*all, value),
            _ => seconds.push((at, value)),
        }
    }
    seconds
}

/// What of a second's latencies is drawn: a percentile, or the slowest I/O.
const DRAWN: [(Option<f64>, &str); 5] = [
    (Some(50.0), "p50"),
    (Some(95.0), "p95"),
    (Some(99.0), "p99"),
    (Some(99.9), "p99.9"),
    (None, "slowest"),
];
/// Of these, what is drawn where a point stands for several seconds: more bands would hide each other.
const DRAWN_THINNED: [usize; 3] = [0, 2, 4];

/// Latency percentiles of one line, each over the I/Os of a second.
pub(crate) fn latency(line: &Line<'_>, span: Span) -> Figure {
    let mut data = Vec::new();
    for (index, (percentile, name)) in DRAWN.into_iter().enumerate() {
        if !span.thinning.is_none() && !DRAWN_THINNED.contains(&index) {
            continue;
        }
        let value = |latency: &LatencySummary| match percentile {
            Some(percentile) => latency.percentile(percentile),
            None => Some(latency.max),
        };
        let points = long_enough(&line.rows).filter_map(|row| {
            let latency = if row.response.n > 0 {
                &row.response
            } else {
                &row.lat
            };
            let ns = value(latency).filter(|_| latency.n > 0)?;
            Some((row.second, milliseconds(ns.max(1))))
        });
        let mut envelope = span.thinning.apply(by_second(points, f64::max));
        if envelope.at_s.is_empty() {
            continue;
        }
        let look = Look {
            index,
            dash: DASHES[index],
            name,
            hover: "%{y:.3~r} ms",
            // The slowest I/O of a span is that of its slowest second: it has no mean.
            band: percentile.is_some() && !span.thinning.is_none(),
        };
        if percentile.is_none() {
            envelope.mean.clone_from(&envelope.max);
        }
        traces(&mut data, &envelope, span, look);
    }
    figure(data, span, &latency_axis("latency (ms)"), true)
}

/// How a line looks.
#[derive(Debug, Clone, Copy)]
struct Look<'a> {
    /// Which colour.
    index: usize,
    dash: &'a str,
    name: &'a str,
    /// `%{y}` with its format and its unit.
    hover: &'a str,
    /// Whether the band from its lowest to its highest is drawn.
    band: bool,
}

/// A line, and the band around it where points stand for several seconds.
fn traces(data: &mut Vec<Value>, line: &Envelope, span: Span, look: Look<'_>) {
    let x = numbers(line.at_s.iter().map(|&at| span.clock.at(at)));
    let (name, tint, hover) = (plain(look.name), colour(look.index), look.hover);
    let mut extremes = Value::Null;
    let mut template = format!("{name}: {hover}<extra></extra>");
    if look.band {
        let edge = |values: &[f64], fill: &str| {
            json!({
                "type": "scatter", "mode": "lines", "x": x, "y": numbers(values.iter().copied()),
                "line": {"width": 0, "color": tint}, "fill": fill, "fillcolor": format!("{tint}~"),
                "hoverinfo": "skip", "showlegend": false, "legendgroup": name,
            })
        };
        data.push(edge(&line.max, "none"));
        data.push(edge(&line.min, "tonexty"));
        let both = line.min.iter().zip(&line.max);
        extremes = both
            .map(|(&low, &high)| json!([number(low), number(high)]))
            .collect();
        let low = hover.replace("%{y", "%{customdata[0]");
        let high = hover.replace("%{y", "%{customdata[1]");
        template = format!("{name}: {hover} ({low} to {high})<extra></extra>");
    }
    let mode = if line.at_s.len() == 1 { "markers" } else { "lines" };
    data.push(json!({
        "type": "scatter", "mode": mode, "x": x, "y": numbers(line.mean.iter().copied()), "name": name,
        "line": {"width": 1.6, "color": tint, "dash": look.dash}, "marker": {"color": tint},
        "customdata": extremes, "hovertemplate": template, "legendgroup": name,
    }));
}

fn figure(data: Vec<Value>, span: Span, y_axis: &Value, legend: bool) -> Figure {
    let mut layout = json!({
        "xaxis": span.clock.axis(),
        "yaxis": y_axis,
        "hovermode": "x unified",
        "showlegend": legend,
    });
    if span.ramp_s > 0.0 {
        layout["shapes"] = json!([{
            "type": "rect", "xref": "x", "yref": "paper", "x0": 0, "x1": number(span.clock.at(span.ramp_s)),
            "y0": 0, "y1": 1, "fillcolor": "@faint~", "line": {"width": 0}, "layer": "below",
        }]);
    }
    Figure { data, layout }
}

#[cfg(test)]
mod tests;

//! The percentile curve on an axis of nines: 90, 99 and 99.9 % are equally far from each other.
//!
//! Data in: counts by latency. Data out: the figure of one or more curves. It must not know what they are of.

use super::{DASHES, Figure, colour, latency_axis, numbers, plain};
use serde_json::{Value, json};

/// Points of a curve at most.
const POINTS_MAX: usize = 600;
/// Where the axis has names.
const LABELS: [(f64, &str); 11] = [
    (0.0, "0 %"),
    (std::f64::consts::LOG10_2, "50 %"),
    (1.0, "90 %"),
    (2.0, "99 %"),
    (3.0, "99.9 %"),
    (4.0, "99.99 %"),
    (5.0, "99.999 %"),
    (6.0, "99.9999 %"),
    (7.0, "7 nines"),
    (8.0, "8 nines"),
    (9.0, "9 nines"),
];

/// A distribution.
#[derive(Debug)]
pub(crate) struct Curve {
    pub(crate) name: String,
    /// Latency in milliseconds and how many I/Os took that long, ascending.
    pub(crate) counts: Vec<(f64, u64)>,
}

/// A point: nines, latency, percentile in words.
type Point = (f64, f64, String);

/// How many nines a share has: 0.999 has three.
fn nines(share: f64) -> f64 {
    -(1.0 - share).log10()
}

/// The points of a curve. It ends where one I/O decides: at 1 - 1/n.
fn points(counts: &[(f64, u64)]) -> Vec<Point> {
    let n: u64 = counts.iter().map(|&(_, ios)| ios).sum();
    let end = nines(1.0 - 1.0 / n.max(1) as f64).max(0.0);
    let mut points: Vec<Point> = Vec::new();
    let mut below = 0;
    for (index, &(latency, ios)) in counts.iter().enumerate() {
        below += ios;
        let share = below as f64 / n as f64;
        let at = if below == n { end } else { nines(share) };
        let step = end / POINTS_MAX as f64;
        let last = index + 1 == counts.len();
        // The first and the last are always kept: they are the extremes.
        if last || points.last().is_none_or(|(before, ..)| at - before >= step) {
            let words = if below == n {
                String::from("the slowest")
            } else {
                percentile(share)
            };
            points.push((at, latency, words));
        }
    }
    points
}

/// A share as a percentile with as many nines as it has, and two digits more.
fn percentile(share: f64) -> String {
    let decimals = (nines(share).floor().max(0.0) as usize).clamp(1, 9);
    format!("p{:.decimals$}", share * 100.0)
}

pub(crate) fn figure(curves: &[Curve]) -> Figure {
    let mut data: Vec<Value> = Vec::new();
    let mut end: f64 = 1.0;
    for (index, curve) in curves.iter().enumerate() {
        let points = points(&curve.counts);
        end = end.max(points.last().map_or(0.0, |(at, ..)| *at));
        let name = plain(&curve.name);
        data.push(json!({
            "type": "scatter", "mode": if points.len() == 1 { "markers" } else { "lines" },
            "x": numbers(points.iter().map(|(at, ..)| *at)),
            "y": numbers(points.iter().map(|&(_, latency, _)| latency)),
            "customdata": points.iter().map(|(.., words)| words).collect::<Vec<_>>(),
            "name": name,
            "line": {"width": 2, "color": colour(index), "dash": DASHES[index % DASHES.len()]},
            "marker": {"color": colour(index)},
            "hovertemplate": format!("%{{customdata}}: %{{y:.3~r}} ms<extra>{name}</extra>"),
        }));
    }
    let shown: Vec<_> = LABELS.into_iter().filter(|(at, _)| *at <= end + 0.2).collect();
    let layout = json!({
        "xaxis": {
            "title": {"text": "share of I/Os that took at most so long"},
            "tickvals": shown.iter().map(|(at, _)| *at).collect::<Vec<_>>(),
            "ticktext": shown.iter().map(|(_, name)| *name).collect::<Vec<_>>(),
            "range": [0, end + 0.1],
        },
        "yaxis": latency_axis("latency (ms)"),
        "hovermode": "closest",
        "showlegend": curves.len() > 1,
    });
    Figure { data, layout }
}

#[cfg(test)]
mod tests;

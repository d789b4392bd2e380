//! Curves over depth: a line a block size.
//!
//! Data in: lines. Data out: a figure. It must not know which figure of a point it shows.

use super::{DASHES, Figure, SYMBOLS, colour, number, numbers};
use serde_json::{Value, json};

/// One point of a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct At {
    /// In flight over all threads.
    pub(crate) depth: f64,
    pub(crate) value: f64,
    /// The lowest and the highest of the repeats.
    pub(crate) spread: (f64, f64),
    /// Whether it was measured, and does not only follow from others.
    pub(crate) measured: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Line {
    /// What it is called.
    pub(crate) name: String,
    /// Its points, by depth.
    pub(crate) points: Vec<At>,
}

/// The lines over depth, both axes logarithmic; `hover` formats `%{y}` with its unit.
pub(crate) fn figure(lines: &[Line], y_axis: &Value, hover: &str) -> Figure {
    let mut depths: Vec<f64> = lines
        .iter()
        .flat_map(|line| &line.points)
        .map(|at| at.depth)
        .collect();
    depths.sort_by(f64::total_cmp);
    depths.dedup();
    let data = lines
        .iter()
        .enumerate()
        .map(|(index, line)| trace(index, line, hover))
        .collect();
    let layout = json!({
        "xaxis": {
            "type": "log", "title": {"text": "in flight, all threads together"},
            "tickvals": numbers(depths.iter().copied()),
            "ticktext": depths.iter().map(ToString::to_string).collect::<Vec<_>>(),
        },
        "yaxis": y_axis, "hovermode": "closest", "showlegend": true,
    });
    Figure { data, layout }
}

fn trace(index: usize, line: &Line, hover: &str) -> Value {
    let symbol = SYMBOLS[index % SYMBOLS.len()];
    let each = |of: &dyn Fn(&At) -> Value| -> Value { line.points.iter().map(of).collect() };
    // Points that were not measured are hollow.
    let hollow = |at: &At| if at.measured { "" } else { "-open" };
    let mut trace = json!({
        "type": "scatter", "mode": "lines+markers", "name": line.name,
        "x": each(&|at| number(at.depth)),
        "y": each(&|at| number(at.value)),
        "customdata": each(&|at| json!(if at.measured { "" } else { ", inferred" })),
        "line": {"width": 1.6, "color": colour(index), "dash": DASHES[index % DASHES.len()]},
        "marker": {"color": colour(index), "symbol": each(&|at| json!(format!("{symbol}{}", hollow(at)))), "size": 7},
        "hovertemplate": format!("{}, %{{x}} in flight: {hover}%{{customdata}}<extra></extra>", line.name),
    });
    if line.points.iter().any(|at| at.spread.1 > at.spread.0) {
        trace["error_y"] = json!({
            "type": "data", "array": each(&|at| number(at.spread.1 - at.value)),
            "arrayminus": each(&|at| number(at.value - at.spread.0)), "thickness": 1, "width": 3, "color": colour(index),
        });
    }
    trace
}

//! Charts as figures for plotly.js: its traces and its layout, as its reference names them.
//!
//! Duty: turn rows into figures. Data in: rows of a run or points of a sweep. Data out: [`Figure`]s. It must not know the page
//! that they are shown on: colours are names (`@0` to `@7`, `@ink`, `@faint`, with `~` for the same, translucent) that the page
//! replaces with those of its light or its dark look.
//!
//! Latencies are milliseconds on all axes.

pub(crate) mod depths;
pub(crate) mod heat;
pub(crate) mod matrix;
pub(crate) mod percentiles;
pub(crate) mod price;
pub(crate) mod sides;
pub(crate) mod spikes;
mod thin;
pub(crate) mod time;

pub(crate) use thin::Thinning;

use crate::layout::without_controls;
use serde::Serialize;
use serde_json::{Value, json};

/// What plotly.js draws.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Figure {
    /// Its traces.
    pub(crate) data: Vec<Value>,
    /// Its axes and what else is around the traces.
    pub(crate) layout: Value,
}

/// Dashes, so that lines differ in more than their colours.
pub(crate) const DASHES: [&str; 6] = ["solid", "dash", "dot", "dashdot", "longdash", "longdashdot"];
/// Marks, likewise.
pub(crate) const SYMBOLS: [&str; 8] = [
    "circle",
    "square",
    "diamond",
    "triangle-up",
    "x",
    "star",
    "triangle-down",
    "cross",
];

/// The name of a colour: there are eight that eyes of all kinds tell apart, which then begin again.
pub(crate) fn colour(index: usize) -> String {
    format!("@{}", index % 8)
}

/// A number with five digits that count; nothing where it is none.
pub(crate) fn number(value: f64) -> Value {
    if !value.is_finite() {
        return Value::Null;
    }
    if value == 0.0 {
        return json!(0);
    }
    let digits = 4 - value.abs().log10().floor() as i32;
    let rounded = if digits >= 0 {
        let scale = 10f64.powi(digits);
        (value * scale).round() / scale
    } else {
        let scale = 10f64.powi(-digits);
        (value / scale).round() * scale
    };
    if rounded.fract() == 0.0 && rounded.abs() < 1e15 {
        json!(rounded as i64)
    } else {
        json!(rounded)
    }
}

/// Numbers, likewise.
pub(crate) fn numbers(values: impl IntoIterator<Item = f64>) -> Value {
    Value::Array(values.into_iter().map(number).collect())
}

/// Nanoseconds as seconds.
pub(crate) fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

/// Nanoseconds as milliseconds.
pub(crate) fn milliseconds(ns: u64) -> f64 {
    ns as f64 / 1e6
}

/// A name from outside as plotly.js shows it letter by letter: it would read tags and templates in it.
pub(crate) fn plain(name: &str) -> String {
    without_controls(name)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace("%{", "% {")
        .replace('$', "\u{ff04}")
}

/// An axis of latencies from small to large, in milliseconds.
pub(crate) fn latency_axis(title: &str) -> Value {
    // With more ticks, plotly.js writes 6, 7, 8 and 9 into each other.
    json!({"type": "log", "title": {"text": title}, "tickformat": "~g", "nticks": 4})
}

/// A linear axis from 0.
pub(crate) fn rate_axis(title: &str) -> Value {
    json!({
        "title": {"text": title},
        "rangemode": "tozero",
        "exponentformat": "SI",
    })
}

/// The unit in which the time since the start is shown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Clock {
    /// Its name.
    pub(crate) unit: &'static str,
    /// Its length in seconds.
    pub(crate) seconds: f64,
}

impl Clock {
    /// The one that suits so many seconds.
    pub(crate) fn of(seconds: f64) -> Self {
        let (unit, seconds) = match seconds {
            s if s <= 300.0 => ("s", 1.0),
            s if s <= 18_000.0 => ("min", 60.0),
            _ => ("h", 3600.0),
        };
        Self { unit, seconds }
    }
    pub(crate) fn axis(self) -> Value {
        json!({
            "title": {"text": "time since the start"},
            "hoverformat": ".5~g",
            "rangemode": "tozero",
            "ticksuffix": format!(" {}", self.unit),
        })
    }
    /// A moment, in seconds, on the axis.
    pub(crate) fn at(self, seconds: f64) -> f64 {
        seconds / self.seconds
    }
}

#[cfg(test)]
mod tests;

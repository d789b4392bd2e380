//! The latency heat map over time.
//!
//! Data in: a grid of counts. Data out: its figure. It must not know where the counts come from.

use super::{Clock, Figure, latency_axis, numbers};
use fathom_core::units::count;
use serde_json::{Value, json};

/// Counts by time and latency.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Grid {
    /// The edges of the spans of time, in seconds since the start: one more than there are columns.
    pub(crate) time_edges_s: Vec<f64>,
    /// The edges of the latencies, in milliseconds: one more than there are rows.
    pub(crate) latency_edges_ms: Vec<f64>,
    /// For each latency, for each span: how many.
    pub(crate) counts: Vec<Vec<f64>>,
}

/// The heat map. Colours go by the logarithm of the counts, so that one slow I/O among thousands is seen.
pub(crate) fn figure(grid: &Grid, clock: Clock) -> Figure {
    let most = grid.counts.iter().flatten().copied().fold(1.0, f64::max);
    let top = most.log10().max(0.3);
    // What a second's percentiles leave of an I/O is still drawn, in the faintest colour.
    let colour = |ios: f64| json!((ios.max(1.0).log10() * 100.0).round() / 100.0);
    let exact = |ios: f64| json!(ios.round().max(1.0) as u64);
    let each = |write: &dyn Fn(f64) -> Value| -> Value {
        let cell = |&ios: &f64| if ios > 0.0 { write(ios) } else { Value::Null };
        let rows = grid.counts.iter();
        rows.map(|row| row.iter().map(cell).collect::<Value>()).collect()
    };
    let ticks: Vec<f64> = (0..=top.floor() as i32).map(f64::from).collect();
    let names: Vec<String> = ticks.iter().map(|&power| count(10f64.powf(power))).collect();
    let data = json!({
        "type": "heatmap",
        "x": numbers(grid.time_edges_s.iter().map(|&edge| clock.at(edge))),
        "y": numbers(grid.latency_edges_ms.iter().copied()),
        "z": each(&colour),
        "customdata": each(&exact),
        "colorscale": "Viridis", "zmin": 0, "zmax": top, "hoverongaps": false,
        "hovertemplate": format!("%{{x:.5~g}} {}, about %{{y:.2~r}} ms: %{{customdata}} I/Os<extra></extra>", clock.unit),
        "colorbar": {"title": {"text": "I/Os", "side": "right"}, "tickvals": ticks, "ticktext": names},
    });
    let layout =
        json!({"xaxis": clock.axis(), "yaxis": latency_axis("latency (ms)"), "hovermode": "closest"});
    Figure {
        data: vec![data],
        layout,
    }
}

//! Spikes: where they are in the run, the I/Os around each, where their time went.
//!
//! Data in: what was found, and the I/Os of the windows. Data out: figures. It must not judge.

use super::{Clock, Figure, SYMBOLS, colour, latency_axis, milliseconds, number, numbers, plain, seconds};
use crate::document::SpikeWindow;
use crate::document::window::Drawn;
use fathom_analysis::explain::answer::{Cause, Spike, SpikeReport, Split};
use serde_json::{Value, json};

/// All spikes over the run: a mark for the worst I/O of each, by cause, its window behind it.
pub(crate) fn overview(report: &SpikeReport, clock: Clock) -> Figure {
    let mut data = Vec::new();
    for (index, cause) in Cause::ALL.into_iter().enumerate() {
        let spikes = report.kept.iter();
        let spikes: Vec<&Spike> = spikes.filter(|spike| spike.verdict.cause == cause).collect();
        if spikes.is_empty() {
            continue;
        }
        let words: Vec<String> = spikes.iter().map(|spike| who(spike)).collect();
        data.push(json!({
            "type": "scatter", "mode": "markers", "name": cause.name(),
            "x": numbers(spikes.iter().map(|spike| clock.at(seconds(spike.start_ns)))),
            "y": numbers(spikes.iter().map(|spike| milliseconds(spike.worst.response_ns))),
            "marker": {"color": tint(cause), "symbol": SYMBOLS[index % SYMBOLS.len()], "size": 9},
            "customdata": words,
            "hovertemplate": format!("%{{x}}: %{{y:.3~r}} ms, %{{customdata}}<extra></extra>"),
        }));
    }
    let windows: Vec<Value> = report.kept.iter().map(|spike| behind(spike, clock)).collect();
    let layout = json!({
        "xaxis": clock.axis(), "yaxis": latency_axis("worst I/O (ms)"), "hovermode": "closest", "showlegend": true,
        "shapes": windows,
    });
    Figure { data, layout }
}

fn behind(spike: &Spike, clock: Clock) -> Value {
    band(
        clock.at(seconds(spike.start_ns)),
        clock.at(seconds(spike.start_ns + spike.duration_ns)),
        spike.verdict.cause,
    )
}

/// The colour of a cause, the same in all charts.
fn tint(cause: Cause) -> String {
    let index = Cause::ALL.iter().position(|known| *known == cause);
    colour(index.unwrap_or(0))
}

/// A span of time behind the traces, shaded by whose it was.
fn band(from: f64, to: f64, cause: Cause) -> Value {
    let tint = tint(cause);
    json!({
        "type": "rect", "xref": "x", "yref": "paper", "x0": number(from), "x1": number(to), "y0": 0, "y1": 1,
        "fillcolor": format!("{tint}~"), "line": {"width": 0.5, "color": tint}, "layer": "below",
    })
}

fn who(spike: &Spike) -> String {
    let cause = spike.verdict.cause.name();
    spike.verdict.process.as_ref().map_or_else(
        || cause.to_owned(),
        |process| format!("{cause} by {}", plain(&process.comm.to_string())),
    )
}

/// The I/Os around one spike. Times are milliseconds from its begin.
pub(crate) fn window(window: &SpikeWindow, spike: &Spike) -> Figure {
    let ms = |at_ns: u64| (at_ns as f64 - spike.start_ns as f64) / 1e6;
    let mut data = Vec::new();
    let usual = "other I/Os";
    for (name, drawn, tint, symbol) in [
        (usual, &window.usual.kept, "@0", "circle"),
        ("slow I/Os", &window.slow.kept, "@1", "diamond"),
    ] {
        if drawn.is_empty() {
            continue;
        }
        let x = |io: &Drawn| ms(io.at_ns);
        data.push(json!({
            "type": "scatter", "mode": "markers", "name": name,
            "x": numbers(drawn.iter().map(x)),
            "y": numbers(drawn.iter().map(|io| milliseconds(io.latency_ns.max(1)))),
            "customdata": drawn.iter().map(|io| io.op).collect::<Vec<_>>(),
            "marker": {"color": tint, "symbol": symbol, "size": if name == usual { 4 } else { 6 }, "opacity": 0.75},
            "hovertemplate": "%{customdata} done at %{x:.5~g} ms: %{y:.3~r} ms<extra></extra>",
        }));
    }
    let range = window.range_ns();
    let (from, to) = (ms(range.start), ms(range.end));
    for (name, ns, dash) in [
        ("slow from here on", spike.threshold_ns, "dash"),
        ("usual", spike.usual_ns, "dot"),
    ] {
        let level = number(milliseconds(ns.max(1)));
        data.push(json!({
            "type": "scatter", "mode": "lines", "name": name, "x": [number(from), number(to)], "y": [level, level],
            "line": {"width": 1.2, "dash": dash, "color": "@ink"},
            "hovertemplate": format!("{name}: %{{y:.3~r}} ms<extra></extra>"),
        }));
    }
    let layout = json!({
        "xaxis": {
            "title": {"text": "time since the spike began"}, "ticksuffix": " ms",
            "range": [number(from), number(to)],
        },
        "yaxis": latency_axis("latency (ms)"),
        "hovermode": "closest", "showlegend": true,
        "shapes": [band(0.0, spike.duration_ns as f64 / 1e6, spike.verdict.cause)],
    });
    Figure { data, layout }
}

/// A part of a slow I/O's time, in nanoseconds.
pub(crate) type Part = fn(&Split) -> f64;

/// All parts, in the order in which it meets them.
pub(crate) const PARTS: [(&str, Part); 6] = [
    ("due and not sent", |split| split.unsent_ns),
    ("above the block layer", |split| split.above_ns),
    ("waiting for a tag", |split| split.tag_ns),
    ("in the scheduler", |split| split.scheduler_ns),
    ("at the device", |split| split.device_ns),
    ("done and not seen", |split| split.reap_ns),
];

/// Patterns of the parts, so that they differ in more than their colours.
const PATTERNS: [&str; 6] = ["", "/", "x", ".", "-", "\\"];

/// Where the slow I/Os of each spike spent their time; `None` where no block trace tells.
pub(crate) fn splits(spikes: &[(String, &Spike)]) -> Option<Figure> {
    let known: Vec<(&String, Split)> = spikes
        .iter()
        .filter_map(|(name, spike)| Some((name, spike.split?)))
        .collect();
    if known.is_empty() {
        return None;
    }
    let names: Vec<&String> = known.iter().map(|(name, _)| *name).collect();
    let mut data = Vec::new();
    for (index, (name, part)) in PARTS.into_iter().enumerate() {
        let values: Vec<f64> = known.iter().map(|(_, split)| part(split) / 1e6).collect();
        if values.iter().all(|&value| value <= 0.0) {
            continue;
        }
        let name = name.replace(" and", ",");
        data.push(json!({
            "type": "bar", "orientation": "h", "name": name, "y": names, "x": numbers(values),
            "marker": {
                "color": colour(index), "pattern": {"shape": PATTERNS[index], "fillmode": "overlay", "solidity": 0.2},
            },
            "hovertemplate": format!("%{{y}}: {name} %{{x:.3~r}} ms<extra></extra>"),
        }));
    }
    let layout = json!({
        "barmode": "stack", "legend": {"traceorder": "normal"}, "hovermode": "closest", "showlegend": true,
        "xaxis": {"title": {"text": "mean time of a slow I/O (ms)"}},
        "yaxis": {"type": "category", "autorange": "reversed", "title": {"text": "spike"}},
    });
    Some(Figure { data, layout })
}

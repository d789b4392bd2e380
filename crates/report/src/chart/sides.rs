//! Two sides drawn over each other.
//!
//! Data in: numbers of two sides. Data out: figures. It must not know what was compared, nor judge.

use super::{Clock, Figure, colour, latency_axis, number, numbers, plain, rate_axis};
use fathom_analysis::compare::Quantity;
use serde_json::{Value, json};

/// A figure's change, in percent.
#[derive(Debug)]
pub(crate) struct Bar {
    pub(crate) name: String,
    pub(crate) value: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) differs: bool,
    /// What is shown of it when it is pointed at.
    pub(crate) words: String,
}

/// A line over time: seconds since its start, value.
pub(crate) type Points = Vec<(f64, f64)>;

/// A repeat.
#[derive(Debug)]
pub(crate) struct Dots {
    pub(crate) value: f64,
    pub(crate) words: String,
}

/// From so many percent on ratios are drawn, on a logarithmic axis.
const RATIOS_FROM: f64 = 150.0;

/// Intervals around no change, the first at the top.
pub(crate) fn intervals(bars: &[Bar]) -> Figure {
    let as_ratios = bars.iter().any(|bar| bar.high > RATIOS_FROM);
    let at = |percent: f64| if as_ratios { 1.0 + percent / 100.0 } else { percent };
    let mut data: Vec<Value> = Vec::new();
    for differs in [true, false] {
        let some: Vec<&Bar> = bars.iter().filter(|bar| bar.differs == differs).collect();
        if some.is_empty() {
            continue;
        }
        let tint = colour(usize::from(!differs) * 7);
        data.push(json!({
            "type": "scatter", "mode": "markers",
            "name": if differs { "differs" } else { "no difference shown, or too few repeats" },
            "x": numbers(some.iter().map(|bar| at(bar.value))),
            "y": some.iter().map(|bar| plain(&bar.name)).collect::<Vec<_>>(),
            "error_x": {
                "type": "data", "symmetric": false, "thickness": 2.2, "width": 6, "color": tint,
                "array": numbers(some.iter().map(|bar| at(bar.high) - at(bar.value))),
                "arrayminus": numbers(some.iter().map(|bar| at(bar.value) - at(bar.low))),
            },
            "marker": {"size": 10, "color": tint, "symbol": if differs { "circle" } else { "circle-open" }},
            "customdata": some.iter().map(|bar| plain(&bar.words)).collect::<Vec<_>>(),
            "hovertemplate": "%{y}: %{customdata}<extra></extra>",
        }));
    }
    let names: Vec<String> = bars.iter().rev().map(|bar| plain(&bar.name)).collect();
    let axis = if as_ratios {
        json!({"type": "log", "title": {"text": "ratio"}, "tickprefix": "×", "tickformat": "~g", "dtick": "D2"})
    } else {
        json!({"title": {"text": "change"}, "ticksuffix": " %"})
    };
    let none = at(0.0);
    let layout = json!({
        "xaxis": axis,
        "shapes": [{
            "type": "line", "xref": "x", "yref": "paper", "x0": none, "x1": none, "y0": 0, "y1": 1,
            "line": {"width": 2, "color": "@ink"},
        }],
        "yaxis": {"type": "category", "categoryorder": "array", "categoryarray": names, "automargin": true},
        "hovermode": "closest", "showlegend": data.len() > 1,
    });
    Figure { data, layout }
}

/// A thin line a run, in its side's colour.
pub(crate) fn over_time(names: [&str; 2], sides: &[Vec<Points>; 2], title: &str, is_latency: bool) -> Figure {
    let seconds = sides
        .iter()
        .flatten()
        .flatten()
        .map(|(at, _)| *at)
        .fold(0.0, f64::max);
    let clock = Clock::of(seconds);
    let mut data: Vec<Value> = Vec::new();
    for (side, runs) in sides.iter().enumerate() {
        for (place, run) in runs.iter().enumerate() {
            data.push(json!({
                "type": "scatter", "mode": if run.len() == 1 { "markers" } else { "lines" },
                "x": numbers(run.iter().map(|(at, _)| clock.at(*at))),
                "y": numbers(run.iter().map(|(_, value)| *value)),
                "name": plain(names[side]), "legendgroup": names[side], "showlegend": place == 0,
                "line": {"width": if runs.len() > 1 { 1.2 } else { 1.8 }, "color": colour(side),
                         "dash": if side == 0 { "solid" } else { "dot" }},
                "opacity": if runs.len() > 3 { 0.65 } else { 0.9 },
                "hovertemplate": format!("{}, run {}: %{{y:.4~r}}<extra></extra>", plain(names[side]), place + 1),
            }));
        }
    }
    let axis = if is_latency {
        latency_axis(title)
    } else {
        rate_axis(title)
    };
    let layout = json!({"xaxis": clock.axis(), "yaxis": axis, "hovermode": "closest", "showlegend": true});
    Figure { data, layout }
}

/// Shares of I/Os by latency, in steps of a sixteenth of an octave.
pub(crate) fn densities(names: [&str; 2], sides: [&[(f64, u64)]; 2]) -> Figure {
    const STEPS: f64 = 16.0;
    let mut data: Vec<Value> = Vec::new();
    for (side, counts) in sides.into_iter().enumerate() {
        let all: u64 = counts.iter().map(|(_, count)| count).sum();
        let mut steps: Vec<(i64, u64)> = Vec::new();
        for &(ms, count) in counts {
            let step = (ms.max(1e-6).log2() * STEPS).floor() as i64;
            match steps.last_mut() {
                Some((last, sum)) if *last == step => *sum += count,
                last => {
                    // Where nothing was, the line goes down.
                    if let Some((last, _)) = last.copied().filter(|(last, _)| step > last + 1) {
                        steps.push((last + 1, 0));
                        if step > last + 2 {
                            steps.push((step - 1, 0));
                        }
                    }
                    steps.push((step, count));
                }
            }
        }
        data.push(json!({
            "type": "scatter", "mode": "lines", "name": plain(names[side]), "fill": "tozeroy",
            "fillcolor": format!("{}~", colour(side)),
            "line": {"width": 1.6, "color": colour(side), "shape": "hvh", "dash": if side == 0 { "solid" } else { "dot" }},
            "x": numbers(steps.iter().map(|(step, _)| ((*step as f64 + 0.5) / STEPS).exp2())),
            "y": numbers(steps.iter().map(|(_, count)| 100.0 * *count as f64 / all.max(1) as f64)),
            "hovertemplate": format!("{}: %{{y:.3~r}} %% around %{{x:.3~r}} ms<extra></extra>", plain(names[side])).replace("%%", "%"),
        }));
    }
    let layout = json!({
        "xaxis": latency_axis("latency (ms)"),
        "yaxis": {"title": {"text": "share of I/Os"}, "ticksuffix": " %", "rangemode": "tozero"},
        "hovermode": "closest", "showlegend": true,
    });
    Figure { data, layout }
}

/// A value in the unit of its axis: milliseconds, seconds of a command, MB/s, MB.
pub(crate) fn axis_value(quantity: Quantity, value: f64) -> f64 {
    match quantity {
        Quantity::Iops | Quantity::Number => value,
        Quantity::Duration | Quantity::IoWait | Quantity::CpuTime => value / 1e9,
        Quantity::BytesPerSecond
        | Quantity::LatencyMean
        | Quantity::Latency(_)
        | Quantity::StorageRead
        | Quantity::StorageWritten => value / 1e6,
    }
}

/// A point a repeat, side by side.
pub(crate) fn repeats(names: [&str; 2], sides: &[Vec<Dots>; 2], quantity: Quantity, unit: &str) -> Figure {
    let unit = match quantity {
        Quantity::Iops => "IOPS",
        Quantity::BytesPerSecond => "MB/s",
        Quantity::LatencyMean | Quantity::Latency(_) => "ms",
        Quantity::Duration | Quantity::IoWait | Quantity::CpuTime => "s",
        Quantity::StorageRead | Quantity::StorageWritten => "MB",
        Quantity::Number => unit,
    };
    let mut data: Vec<Value> = Vec::new();
    for (side, dots) in sides.iter().enumerate() {
        // Repeats in their order from left to right, so that a drift is seen.
        let step = 0.6 / dots.len().max(2) as f64;
        let middle = (dots.len() as f64 - 1.0) / 2.0;
        let x = (0..dots.len()).map(|place| side as f64 + step * (place as f64 - middle));
        data.push(json!({
            "type": "scatter", "mode": "markers", "name": plain(names[side]),
            "x": numbers(x), "y": numbers(dots.iter().map(|dot| dot.value)),
            "marker": {"size": 8, "color": colour(side), "symbol": if side == 0 { "circle" } else { "diamond" }},
            "customdata": dots.iter().map(|dot| plain(&dot.words)).collect::<Vec<_>>(),
            "hovertemplate": "%{customdata}<extra></extra>",
        }));
        let mean = dots.iter().map(|dot| dot.value).sum::<f64>() / dots.len().max(1) as f64;
        data.push(json!({
            "type": "scatter", "mode": "lines", "showlegend": false, "hoverinfo": "skip",
            "x": [number(side as f64 - 0.35), number(side as f64 + 0.35)], "y": [number(mean), number(mean)],
            "line": {"width": 1.6, "color": colour(side)},
        }));
    }
    let layout = json!({
        "xaxis": {"tickvals": [0, 1], "ticktext": [plain(names[0]), plain(names[1])], "range": [-0.6, 1.6], "showgrid": false},
        "yaxis": {"title": {"text": plain(unit)}, "exponentformat": "SI"},
        "hovermode": "closest", "showlegend": false,
    });
    Figure { data, layout }
}

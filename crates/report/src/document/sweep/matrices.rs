//! The matrices of a sweep: heat maps over block size × depth, and curves over depth, for each order, mix and number of
//! threads.
//!
//! Data in: the plan and its results. Data out: blocks with charts. It must not know how they are drawn.

use super::super::content::{Block, Chart, Document, Table, Width};
use super::super::grouped;
use super::points::half_width;
use crate::chart::depths::{self, At, Line};
use crate::chart::matrix::{self, Cell, Panel, Scale};
use crate::chart::{latency_axis, plain};
use crate::words::{load, plural, point as place, threads, when};
use fathom_core::sweep::{Axes, Coordinates, Outcome, PointFigures, PointResult, SweepPlan, SweepResults};
use fathom_core::units::{Bytes, Nanos, count, decimal_rate, three_digits};
use serde_json::json;

/// A figure of a point that has a heat map.
struct Measure {
    title: &'static str,
    scale: &'static str,
    logarithmic: bool,
    of: fn(&PointResult) -> Option<f64>,
    /// As it is written into a cell: without its unit, which the title has.
    label: fn(f64) -> String,
    /// With its unit.
    full: fn(f64) -> String,
}

/// The figures, latencies in the unit that suits those of this sweep.
fn measures(results: &SweepResults) -> [Measure; 3] {
    let p99 = |point: &PointResult| point.lat_ns_percentile(99.0);
    let longest = results.points.iter().filter_map(p99).fold(0.0, f64::max);
    let (latency, label): (_, fn(f64) -> String) = if longest < 1e7 {
        ("p99 latency (µs)", |ns| three_digits(ns / 1e3))
    } else {
        ("p99 latency (ms)", |ns| three_digits(ns / 1e6))
    };
    [
        Measure {
            title: "IOPS",
            scale: "Viridis",
            logarithmic: false,
            of: PointResult::iops,
            label: count,
            full: |iops| format!("{} IOPS", count(iops)),
        },
        Measure {
            title: "MB/s",
            scale: "Viridis",
            logarithmic: false,
            of: PointResult::bytes_per_second,
            label: |rate| three_digits(rate / 1e6),
            full: decimal_rate,
        },
        Measure {
            title: latency,
            scale: "Cividis",
            logarithmic: true,
            of: |point| point.lat_ns_percentile(99.0),
            label,
            full: |ns| Nanos(ns.round() as u64).to_string(),
        },
    ]
}

/// The figures that a terminal has.
type Figure = (&'static str, fn(&PointResult) -> Option<String>);
const FIGURES: [Figure; 4] = [
    ("IOPS", |point| point.iops().map(|iops| count(iops.round()))),
    ("MiB/s", |point| {
        let rate = point.bytes_per_second()?;
        Some(three_digits(rate / f64::from(1 << 20)))
    }),
    ("mean, ms", |point| point.lat_ns_mean().map(milliseconds)),
    ("p99, ms", |point| point.lat_ns_percentile(99.0).map(milliseconds)),
];

fn milliseconds(ns: f64) -> String {
    three_digits(ns / 1e6)
}

/// For a terminal: for each order, mix and number of threads, figures over size and depth.
pub(super) fn told(document: &mut Document, plan: &SweepPlan, results: &SweepResults) {
    let any = |wanted: fn(&Outcome) -> bool| results.points.iter().any(|point| wanted(&point.outcome));
    let inferred = any(|outcome| matches!(outcome, Outcome::Inferred(_)));
    let failed = any(|outcome| matches!(outcome, Outcome::Failed { .. }));
    let pending = any(|outcome| matches!(outcome, Outcome::Pending));
    let marks = [
        inferred.then_some("~ inferred from other points"),
        failed.then_some("! could not be measured"),
        pending.then_some(". not yet measured"),
    ];
    let marks = marks.into_iter().flatten();
    let title = Block::Headline(String::from("The matrix"));
    let marks = marks.map(|words| Block::Text(String::from(words)));
    document.add("", std::iter::once(title).chain(marks));
    let axes = &plan.axes;
    let mut groups = groups(results);
    groups.sort_by_key(|((.., threads), _)| axes.threads.iter().position(|known| known == threads));
    for ((random, read_percent, threads), group) in groups {
        let title = format!(
            "{}, {}: over size and depth a thread",
            load(random, read_percent),
            plural(threads, "thread")
        );
        document.add(&title, [Block::Table(side_by_side(axes, &group))]);
    }
}

/// All figures in one table.
fn side_by_side(axes: &Axes, group: &Points<'_>) -> Table {
    let columns = FIGURES.iter();
    let columns = columns.flat_map(|figure| axes.iodepth.iter().map(move |&depth| (figure, depth)));
    let columns: Vec<(&Figure, u32)> = columns.collect();
    let depths = columns.iter().map(|(_, depth)| depth.to_string());
    let row = |&size: &u64| {
        let mut row = vec![Bytes(size).to_string()];
        row.extend(columns.iter().map(|((_, of), depth)| {
            let Some(point) = find(group, size, *depth) else {
                return String::new();
            };
            let value = of(point);
            match &point.outcome {
                Outcome::Pending => String::from("."),
                Outcome::Failed { .. } => String::from("!"),
                Outcome::Inferred(_) => format!("~{}", value.unwrap_or_default()),
                Outcome::Measured { .. } => value.unwrap_or_default(),
            }
        }));
        row
    };
    let head = std::iter::once(String::from("depth")).chain(depths);
    Table::new(1, head, axes.block_size_bytes.iter().map(row))
        .on_terminal(|layout| layout.groups = columns.iter().map(|((name, _), _)| *name).collect())
}

/// Points that differ in block size and depth only.
type Points<'a> = [&'a PointResult];
/// What they share: whether the order is random, the share of reads, the number of threads.
type Shared = (bool, u8, u32);

/// All groups of such points.
fn groups(results: &SweepResults) -> Vec<(Shared, Vec<&PointResult>)> {
    grouped(&results.points, |point| {
        let at = &point.coordinates;
        (at.random, at.read_percent, at.threads)
    })
}

fn find<'a>(group: &Points<'a>, size: u64, depth: u32) -> Option<&'a PointResult> {
    let at = |point: &&&PointResult| {
        point.coordinates.block_size_bytes == size && point.coordinates.iodepth == depth
    };
    group.iter().find(at).copied()
}

/// Values of one coordinate among points, ascending.
fn values<T: Ord>(points: &[&PointResult], of: impl Fn(&Coordinates) -> T) -> Vec<T> {
    let mut values: Vec<T> = points.iter().map(|point| of(&point.coordinates)).collect();
    values.sort_unstable();
    values.dedup();
    values
}

/// Three heat maps a group.
pub(super) fn heat_maps(plan: &SweepPlan, results: &SweepResults) -> Vec<Block> {
    let mut blocks = Vec::new();
    if results.points.is_empty() {
        return blocks;
    }
    let inferred = results
        .points
        .iter()
        .any(|point| matches!(point.outcome, Outcome::Inferred(_)));
    let mut text = String::from(
        "A row a block size, a column a depth. Within one figure, colours mean the same in all panels: the lighter, the more; \
         of p99 latency on a logarithmic scale.",
    );
    if inferred {
        text.push_str(" ~ marks what was not measured but follows from other points.");
    }
    blocks.push(Block::Text(text));
    let measures = measures(results);
    let scales: Vec<Scale> = measures.iter().map(|measure| scale(measure, results)).collect();
    for ((random, read_percent, on), group) in groups(results) {
        let name = format!("{}{}", load(random, read_percent), threads(plan, on));
        blocks.push(Block::Heading(name.clone()));
        let mut charts = Vec::new();
        for (measure, &scale) in measures.iter().zip(&scales) {
            let panel = panel(measure, &group);
            // Of points that are inferred only, no percentile is known.
            if panel.cells.iter().flatten().all(|cell| cell.value.is_none()) {
                continue;
            }
            let depth = format!("iodepth, on {}", plural(on, "thread"));
            let title = format!("{}, {name}", measure.title);
            let height = (110 + 38 * panel.sizes.len() as u32).max(200);
            let figure = matrix::figure(&panel, scale, &depth);
            charts.push(Chart {
                width: Width::Third,
                table: Some(table(measure, &panel)),
                ..Chart::whole(&title, "", height, figure)
            });
        }
        blocks.push(Block::Charts(charts));
    }
    blocks
}

/// The same as a table.
fn table(measure: &Measure, panel: &Panel) -> Table {
    let depths = panel.depths.iter().map(|depth| format!("iodepth {depth}"));
    let head = std::iter::once(String::from("block size")).chain(depths);
    let rows = panel.sizes.iter().zip(&panel.cells).map(|(size, cells)| {
        let labels = cells.iter().map(|cell| cell.label.clone());
        std::iter::once(size.clone()).chain(labels).collect()
    });
    Table::new(1, head, rows).captioned(measure.title)
}

fn scale(measure: &Measure, results: &SweepResults) -> Scale {
    let known = || {
        results
            .points
            .iter()
            .filter_map(measure.of)
            .filter(|value| *value > 0.0)
    };
    let high = known().fold(f64::MIN_POSITIVE, f64::max);
    let low = if measure.logarithmic {
        known().fold(high, f64::min)
    } else {
        0.0
    };
    Scale {
        name: measure.scale,
        logarithmic: measure.logarithmic,
        range: (low, high),
    }
}

fn panel(measure: &Measure, group: &Points<'_>) -> Panel {
    let sizes = values(group, |at| at.block_size_bytes);
    let depths = values(group, |at| at.iodepth);
    let cell = |size: u64, depth: u32| {
        let point = find(group, size, depth);
        point.map_or_else(Cell::default, |point| self::cell(measure, point))
    };
    Panel {
        cells: sizes
            .iter()
            .map(|&size| depths.iter().map(|&depth| cell(size, depth)).collect())
            .collect(),
        depths: depths.iter().map(ToString::to_string).collect(),
        sizes: sizes.iter().map(|&size| Bytes(size).to_string()).collect(),
    }
}

fn cell(measure: &Measure, point: &PointResult) -> Cell {
    let place = place(point.coordinates);
    let value = (measure.of)(point);
    let (label, told) = match (&point.outcome, value) {
        (Outcome::Pending, _) => (String::from("…"), String::from("not measured yet")),
        (Outcome::Failed { message }, _) => (String::from("failed"), plain(message)),
        (_, None) => (String::from("–"), String::from("not known")),
        (Outcome::Inferred(inferred), Some(value)) => {
            let full = (measure.full)(value);
            let because = plain(&inferred.because);
            (
                format!("~{}", (measure.label)(value)),
                format!("about {full}, inferred: {because}"),
            )
        }
        (Outcome::Measured { repeats }, Some(value)) => {
            let mut told = (measure.full)(value);
            if repeats.len() > 1 {
                told = format!("{told} (mean of {})", plural(repeats.len(), "repeat"));
            }
            if let Some(width) = half_width(repeats) {
                told = format!("{told}, IOPS {width}");
            }
            ((measure.label)(value), told)
        }
    };
    Cell {
        value,
        label,
        hover: format!("{place}:<br>{told}"),
    }
}

/// IOPS and latency over depth, a line a block size.
pub(super) fn depth_curves(plan: &SweepPlan, results: &SweepResults) -> Vec<Block> {
    let mut blocks = Vec::new();
    for ((random, read_percent, on), group) in groups(results) {
        if values(&group, |at| at.iodepth).len() < 2 {
            continue;
        }
        let name = format!("{}{}", load(random, read_percent), threads(plan, on));
        let iops = Curve {
            title: "IOPS",
            axis: json!({"type": "log", "title": {"text": "IOPS"}, "tickformat": "~s", "nticks": 4}),
            hover: "%{y:,.4~r} IOPS",
            unit: 1.0,
            of: PointResult::iops,
            of_repeat: |figures| figures.total.iops,
        };
        let latency = Curve {
            title: "Mean latency",
            axis: latency_axis("mean latency (ms)"),
            hover: "%{y:.3~r} ms",
            unit: 1e6,
            of: PointResult::lat_ns_mean,
            of_repeat: |figures| figures.total.lat_ns.mean,
        };
        let charts = [iops, latency].into_iter().filter_map(|curve| {
            let lines = lines(&group, &curve);
            let drawn = lines.iter().any(|line| !line.points.is_empty());
            let figure = depths::figure(&lines, &curve.axis, curve.hover);
            let title = format!("{}, {name}", curve.title);
            drawn.then(|| Chart {
                width: Width::Half,
                ..Chart::whole(&title, "", 320, figure)
            })
        });
        let charts: Vec<Chart> = charts.collect();
        if !charts.is_empty() {
            blocks.push(Block::Charts(charts));
        }
    }
    if !blocks.is_empty() {
        let several = results.points.iter().any(|point| point.repeats().len() > 1);
        let bars = || String::from(" Bars reach from the lowest to the highest repeat.");
        let about = "A line a block size; both axes are logarithmic. Hollow marks are inferred.";
        blocks.insert(0, Block::Text(format!("{about}{}", when(several, bars))));
    }
    blocks
}

/// A figure of a point over depth, and of each of its repeats.
struct Curve {
    title: &'static str,
    axis: serde_json::Value,
    hover: &'static str,
    unit: f64,
    of: fn(&PointResult) -> Option<f64>,
    of_repeat: fn(&PointFigures) -> f64,
}

/// A line a block size.
fn lines(group: &Points<'_>, curve: &Curve) -> Vec<Line> {
    let &Curve {
        unit, of, of_repeat, ..
    } = curve;
    let line = |size: u64| {
        let mut points: Vec<At> = group
            .iter()
            .filter(|point| point.coordinates.block_size_bytes == size)
            .filter_map(|point| {
                let value = of(point).filter(|value| *value > 0.0)? / unit;
                let repeats = point.repeats().iter().map(|figures| of_repeat(figures) / unit);
                Some(At {
                    depth: point.coordinates.total_depth() as f64,
                    value,
                    spread: repeats.fold((value, value), |(low, high), one| (low.min(one), high.max(one))),
                    measured: !point.repeats().is_empty(),
                })
            })
            .collect();
        points.sort_by(|a, b| a.depth.total_cmp(&b.depth));
        Line {
            name: Bytes(size).to_string(),
            points,
        }
    };
    values(group, |at| at.block_size_bytes)
        .into_iter()
        .map(line)
        .collect()
}

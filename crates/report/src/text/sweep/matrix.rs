//! The matrix as tables: for each order, mix and number of threads, figures over size and depth.
//!
//! Data in: a plan, its results. Data out: tables within the width; as many figures side by side as fit. It must not
//! judge.

use crate::layout::{table, table_width};
use crate::style::Look;
use crate::text::Page;
use crate::words::{load, plural};
use fathom_core::sweep::{Coordinates, Outcome, PointResult, SweepPlan, SweepResults};
use fathom_core::units::{Bytes, count, three_digits};
use std::collections::BTreeMap;

/// A figure of each point.
struct Figure {
    name: &'static str,
    of: fn(&PointResult) -> Option<String>,
}

const FIGURES: [Figure; 4] = [
    Figure {
        name: "IOPS",
        of: iops,
    },
    Figure {
        name: "MiB/s",
        of: mebibytes,
    },
    Figure {
        name: "mean, ms",
        of: mean,
    },
    Figure {
        name: "p99, ms",
        of: p99,
    },
];

fn iops(point: &PointResult) -> Option<String> {
    point.iops().map(|iops| count(iops.round()))
}

fn mebibytes(point: &PointResult) -> Option<String> {
    point
        .bytes_per_second()
        .map(|bytes| three_digits(bytes / f64::from(1 << 20)))
}

fn mean(point: &PointResult) -> Option<String> {
    point.lat_ns_mean().map(|ns| three_digits(ns / 1e6))
}

fn p99(point: &PointResult) -> Option<String> {
    point.lat_ns_percentile(99.0).map(|ns| three_digits(ns / 1e6))
}

pub(super) fn render(page: &mut Page, plan: &SweepPlan, results: &SweepResults) {
    page.gap();
    page.painted(Look::Bold, "The matrix", 2);
    let marks = [
        (
            is_any(results, |outcome| matches!(outcome, Outcome::Inferred(_))),
            "~ inferred from other points",
        ),
        (
            is_any(results, |outcome| matches!(outcome, Outcome::Failed { .. })),
            "! could not be measured",
        ),
        (
            is_any(results, |outcome| matches!(outcome, Outcome::Pending)),
            ". not yet measured",
        ),
    ];
    for (_, words) in marks.iter().filter(|(there, _)| *there) {
        page.paragraph(words, 2);
    }
    let by_place: BTreeMap<Coordinates, &PointResult> = results
        .points
        .iter()
        .map(|point| (point.coordinates, point))
        .collect();
    for &threads in &plan.axes.threads {
        for &random in &plan.axes.random {
            for &read_percent in &plan.axes.read_percent {
                let corner = Coordinates {
                    random,
                    read_percent,
                    threads,
                    block_size_bytes: 0,
                    iodepth: 0,
                };
                page.gap();
                let threads = plural(u64::from(threads), "thread");
                let heading = format!(
                    "{}, {threads}: over size and depth a thread",
                    load(random, read_percent)
                );
                page.painted(Look::Bold, &heading, 2);
                tables(page, plan, &by_place, corner);
            }
        }
    }
}

fn is_any(results: &SweepResults, wanted: fn(&Outcome) -> bool) -> bool {
    results.points.iter().any(|point| wanted(&point.outcome))
}

/// As many figures in a table as fit, in as many tables as it takes; a figure that does not fit by itself has its depths
/// in several.
fn tables(
    page: &mut Page,
    plan: &SweepPlan,
    points: &BTreeMap<Coordinates, &PointResult>,
    corner: Coordinates,
) {
    let all: Vec<(&Figure, u32)> = FIGURES
        .iter()
        .flat_map(|figure| plan.axes.iodepth.iter().map(move |&depth| (figure, depth)))
        .collect();
    let groups: Vec<&[(&Figure, u32)]> = all.chunk_by(|one, other| one.0.name == other.0.name).collect();
    let mut from = 0;
    while from < groups.len() {
        let fits = |to: &usize| {
            let columns: Vec<(&Figure, u32)> = groups[from..*to].concat();
            table_width(&rows(plan, points, corner, &columns), 2) <= page.columns()
        };
        let to = (from + 1..=groups.len()).rev().find(fits);
        let columns = groups[from..to.unwrap_or(from + 1)].concat();
        for part in parts(page, plan, points, corner, &columns) {
            for line in table(&rows(plan, points, corner, part), 1, 2) {
                page.line(&line);
            }
        }
        from = to.unwrap_or(from + 1);
    }
}

/// Columns in parts that fit.
fn parts<'a>(
    page: &Page,
    plan: &SweepPlan,
    points: &BTreeMap<Coordinates, &PointResult>,
    corner: Coordinates,
    columns: &'a [(&'a Figure, u32)],
) -> Vec<&'a [(&'a Figure, u32)]> {
    let mut parts = Vec::new();
    let mut rest = columns;
    while !rest.is_empty() {
        let fits = |n: &usize| table_width(&rows(plan, points, corner, &rest[..*n]), 2) <= page.columns();
        let n = (1..=rest.len()).rev().find(fits).unwrap_or(1);
        let (part, after) = rest.split_at(n);
        parts.push(part);
        rest = after;
    }
    parts
}

fn rows(
    plan: &SweepPlan,
    points: &BTreeMap<Coordinates, &PointResult>,
    corner: Coordinates,
    columns: &[(&Figure, u32)],
) -> Vec<Vec<String>> {
    let mut names = vec![String::new()];
    let mut depths = vec![String::from("depth")];
    let mut last = "";
    for (figure, depth) in columns {
        names.push(String::from(if figure.name == last { "" } else { figure.name }));
        depths.push(depth.to_string());
        last = figure.name;
    }
    let mut rows = vec![names, depths];
    for &block_size_bytes in &plan.axes.block_size_bytes {
        let mut row = vec![Bytes(block_size_bytes).to_string()];
        row.extend(columns.iter().map(|&(figure, iodepth)| {
            let at = Coordinates {
                block_size_bytes,
                iodepth,
                ..corner
            };
            points
                .get(&at)
                .map_or_else(String::new, |point| cell(point, figure))
        }));
        rows.push(row);
    }
    rows
}

fn cell(point: &PointResult, figure: &Figure) -> String {
    match &point.outcome {
        Outcome::Pending => String::from("."),
        Outcome::Failed { .. } => String::from("!"),
        Outcome::Inferred(_) => {
            (figure.of)(point).map_or_else(|| String::from("~"), |value| format!("~{value}"))
        }
        Outcome::Measured { .. } => (figure.of)(point).unwrap_or_default(),
    }
}

//! The latency table and the percentile list of a section.
//!
//! One unit a table, stated in its header, so that columns compare at a glance.

use super::super::content::{Block, Table};
use super::section::{Direction, Section};
use fathom_analysis::warnings::is_supported;
use fathom_core::run::LatencySummary;

/// The percentiles that tables have columns for.
pub(super) const COLUMNS: [f64; 5] = [50.0, 90.0, 99.0, 99.9, 99.99];

/// What gives way, in this order, where the table is too wide.
const GIVES_WAY: [&str; 5] = ["stddev", "p90", "p99.99", "min", "p99.9"];

/// A unit of time: its name and its length in nanoseconds.
#[derive(Clone, Copy)]
struct Unit {
    name: &'static str,
    ns: f64,
}

/// One row: whose latency, and which.
struct Row<'a> {
    label: String,
    latency: &'a LatencySummary,
}

/// The table, and the lists of percentiles that say more than it.
pub(super) fn blocks(section: &Section<'_>) -> Vec<Block> {
    let rows = rows_of(section);
    let Some(unit) = unit_of(&rows) else {
        return Vec::new();
    };
    let mut blocks = vec![Block::Gap, Block::Table(table(&rows, unit))];
    blocks.extend(percentiles(section));
    blocks
}

/// All latencies that were measured, the direction's name before each.
fn rows_of<'a>(section: &Section<'a>) -> Vec<Row<'a>> {
    let of_direction = |Direction { op, summary, .. }: Direction<'a>| {
        let (slat, clat, lat) = (&summary.slat_ns, &summary.clat_ns, &summary.lat_ns);
        let all = [
            Some(("slat", slat)),
            (slat.n > 0 || lat.n == 0).then_some(("clat", clat)),
            Some(("lat", lat)),
            Some(("response", &summary.response_ns)),
        ];
        all.into_iter()
            .flatten()
            .map(move |(metric, latency)| (op.name(), metric, latency))
    };
    let sync = section.sync().map(|sync| match &sync.lat_ns {
        lat if lat.n > 0 => ("sync", "lat", lat),
        _ => ("sync", "lat", &sync.clat_ns),
    });
    let rows = section.directions().flat_map(of_direction).chain(sync);
    let rows = rows.filter(|(.., latency)| latency.n > 0);
    rows.map(|(direction, metric, latency)| Row {
        label: format!("{direction} {metric}"),
        latency,
    })
    .collect()
}

/// The unit in which the smallest median has three digits: but for slat, which is small beside the others, and for what
/// takes no time at all (buffered I/O is complete when its submission returns).
fn unit_of(rows: &[Row<'_>]) -> Option<Unit> {
    let typical = |row: &Row<'_>| {
        row.latency
            .percentile(50.0)
            .map_or(row.latency.mean, |p50| p50 as f64)
    };
    let whole = rows.iter().filter(|row| !row.label.ends_with(" slat"));
    let smallest = whole.map(typical).filter(|ns| *ns > 0.0).reduce(f64::min);
    (!rows.is_empty()).then(|| unit_for(smallest.unwrap_or(0.0)))
}

fn unit_for(ns: f64) -> Unit {
    let (name, length) = match ns {
        ns if ns < 999.5 => ("ns", 1.0),
        ns if ns < 999_500.0 => ("µs", 1e3),
        ns if ns < 999_500_000.0 => ("ms", 1e6),
        _ => ("s", 1e9),
    };
    Unit { name, ns: length }
}

/// Three significant digits at least, but no digit below what the clock counts.
fn number(ns: f64, unit: Unit) -> String {
    let value = ns / unit.ns;
    let decimals = match value {
        v if v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        v if v >= 0.9995 => 2,
        _ => 3,
    };
    let decimals = if unit.ns > 1.0 { decimals } else { 0 };
    if value > 0.0 && value < 0.5 * 10f64.powi(-decimals) {
        return format!("<{:.*}", decimals as usize, 10f64.powi(-decimals));
    }
    format!("{value:.*}", decimals as usize)
}

/// The table with its header. Percentile columns that no row has, or none has enough I/Os for, are left out.
fn table(rows: &[Row<'_>], unit: Unit) -> Table {
    let shown = |row: &Row<'_>, percentile: f64| {
        let value = row.latency.percentile(percentile)?;
        is_supported(row.latency.n, percentile).then_some(value)
    };
    let columns = COLUMNS.into_iter();
    let columns: Vec<f64> = columns
        .filter(|&percentile| rows.iter().any(|row| shown(row, percentile).is_some()))
        .collect();
    let mut head = vec![format!("latency, {}", unit.name)];
    head.extend(["min", "mean", "stddev"].map(String::from));
    head.extend(columns.iter().map(|percentile| format!("p{percentile}")));
    head.push(String::from("max"));
    let cells = |row: &Row<'_>| {
        let latency = row.latency;
        let mut cells = vec![row.label.clone(), number(latency.min as f64, unit)];
        cells.extend([latency.mean, latency.stddev].map(|ns| number(ns, unit)));
        cells.extend(columns.iter().map(|&percentile| {
            shown(row, percentile).map_or_else(|| String::from("-"), |ns| number(ns as f64, unit))
        }));
        cells.push(number(latency.max as f64, unit));
        cells
    };
    let spare = GIVES_WAY.iter();
    let spare = spare.filter_map(|name| head.iter().position(|column| column == name));
    let spare: Vec<usize> = spare.collect();
    Table::new(1, head, rows.iter().map(cells)).on_terminal(|layout| layout.spare = spare)
}

/// The full list of each direction's main latency, as far as it is supported, where it says more than the table.
fn percentiles(section: &Section<'_>) -> impl Iterator<Item = Block> {
    section.directions().filter_map(|direction| {
        let latency = direction.latency;
        let list = latency.percentiles.iter().copied();
        let list: Vec<(f64, u64)> = list
            .filter(|&(percentile, _)| is_supported(latency.n, percentile))
            .collect();
        let in_table = |&(percentile, _): &(f64, u64)| COLUMNS.iter().any(|p| (p - percentile).abs() < 1e-9);
        if list.iter().all(in_table) {
            return None;
        }
        let unit = unit_for(latency.percentile(50.0).map_or(latency.mean, |p50| p50 as f64));
        let cell = |(percentile, ns)| [format!("p{percentile}"), number(ns as f64, unit)];
        let (op, metric) = (direction.op.name(), direction.metric);
        let caption = format!("{op} {metric} percentiles, {}", unit.name);
        Some(Block::Grid(caption, list.into_iter().map(cell).collect()))
    })
}

#[cfg(test)]
mod tests;

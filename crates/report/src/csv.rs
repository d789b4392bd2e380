//! Reports as CSV (RFC 4180), one table each: units are in the names of the columns, what is not known is empty.
//!
//! Data in: the rows of a run or the points of a sweep. Data out: the text of a file. It must not judge.

use crate::export::csv::{Cell, Columns};
use fathom_core::run::{LatencySummary, Run, SERIES_PERCENTILES, SeriesRow};
use fathom_core::sweep::{
    DirectionFigures, Outcome, POINT_PERCENTILES, PointFigures, PointResult, SweepResults, mean_of,
};

/// A row a second and direction of a run. Latencies are total ones, `response` ones count from when an I/O was due.
pub(crate) fn series(run: &Run, rows: &[SeriesRow]) -> String {
    let mut columns = Columns::<SeriesRow>::new();
    columns.add("second", |row| row.second);
    columns.add("job", |row| {
        let job = run.workload.jobs.get(row.job as usize);
        job.map(|job| job.name.clone())
    });
    columns.add("direction", |row| row.op.name());
    columns.add("counted", |row| !row.ramp);
    columns.add("end_ns", |row| {
        row.end.0.saturating_sub(run.started_monotonic_ns.0)
    });
    columns.add("duration_ns", |row| row.duration_ns);
    columns.add("ios", |row| row.ios);
    columns.add("bytes", |row| row.bytes);
    columns.add("errors", |row| row.errors);
    columns.add("iops", |row| rate(row, row.ios));
    columns.add("bytes_per_second", |row| rate(row, row.bytes));
    latencies(&mut columns, "lat", |row| &row.lat);
    latencies(&mut columns, "response", |row| &row.response);
    columns.add("backlog_ios", |row| row.backlog);
    table(&columns, rows)
}

fn table<R>(columns: &Columns<'_, R>, rows: &[R]) -> String {
    let mut text = columns.head();
    for row in rows {
        columns.line(row, &mut text);
    }
    text
}

fn rate(row: &SeriesRow, amount: u64) -> Cell {
    let rate = amount as f64 * 1e9 / row.duration_ns as f64;
    Cell::decimal((row.duration_ns > 0).then_some(rate), 3)
}

/// A figure of a latency.
type OfLatency = fn(&LatencySummary) -> Cell;
/// A figure of a direction.
type OfDirection = fn(&DirectionFigures) -> Option<f64>;
/// One of the latencies of a row.
type LatencyOf = fn(&SeriesRow) -> &LatencySummary;

fn latencies(columns: &mut Columns<'_, SeriesRow>, metric: &str, of: LatencyOf) {
    let whole: [(&str, OfLatency); 3] = [
        ("min", |latency| latency.min.into()),
        ("mean", |latency| Cell::decimal(Some(latency.mean), 1)),
        ("max", |latency| latency.max.into()),
    ];
    for (what, value) in whole {
        columns.add(format!("{metric}_ns_{what}"), move |row| {
            known(of, row).map(value)
        });
    }
    for percentile in SERIES_PERCENTILES {
        columns.add(format!("{metric}_ns_{}", key(percentile)), move |row| {
            known(of, row)?.percentile(percentile)
        });
    }
}

fn known(of: LatencyOf, row: &SeriesRow) -> Option<&LatencySummary> {
    Some(of(row)).filter(|latency| latency.n > 0)
}

/// `p99_9` for 99.9.
fn key(percentile: f64) -> String {
    format!("p{percentile}").replace('.', "_")
}

/// A row a point of a sweep. Rates, means and percentiles are means over the repeats; `min` and `max` are those of all.
pub(crate) fn points(results: &SweepResults) -> String {
    let mut columns = Columns::<(usize, &PointResult)>::new();
    columns.add("point", |(index, _)| *index as u64);
    columns.add("name", |(_, point)| point.coordinates.name());
    columns.add("random", |(_, point)| point.coordinates.random);
    columns.add("read_percent", |(_, point)| point.coordinates.read_percent);
    columns.add("block_size_bytes", |(_, point)| {
        point.coordinates.block_size_bytes
    });
    columns.add("iodepth", |(_, point)| point.coordinates.iodepth);
    columns.add("threads", |(_, point)| point.coordinates.threads);
    columns.add("total_depth", |(_, point)| point.coordinates.total_depth());
    columns.add("outcome", |(_, point)| outcome(point).0);
    columns.add("reason", |(_, point)| outcome(point).1.to_owned());
    columns.add("repeats", |(_, point)| point.repeats().len() as u64);
    columns.add("runtime_ns", |(_, point)| {
        sum(point, |figures| figures.runtime_ns)
    });
    columns.add("iops_half_width_percent", |(_, point)| {
        let widths = point
            .repeats()
            .iter()
            .filter_map(|figures| figures.iops_half_width);
        Cell::decimal(widths.reduce(f64::max).map(|width| width * 100.0), 3)
    });
    columns.add("errors", |(_, point)| sum(point, |figures| figures.errors));
    columns.add("iops", |(_, point)| Cell::decimal(point.iops(), 3));
    columns.add("iops_min", |(_, point)| {
        Cell::decimal(iops(point).reduce(f64::min), 3)
    });
    columns.add("iops_max", |(_, point)| {
        Cell::decimal(iops(point).reduce(f64::max), 3)
    });
    columns.add("bytes_per_second", |(_, point)| {
        Cell::decimal(point.bytes_per_second(), 3)
    });
    columns.add("lat_ns_mean", |(_, point)| Cell::decimal(point.lat_ns_mean(), 1));
    columns.add("lat_ns_min", |(_, point)| {
        point
            .repeats()
            .iter()
            .map(|figures| figures.total.lat_ns.min)
            .min()
    });
    columns.add("lat_ns_max", |(_, point)| {
        point
            .repeats()
            .iter()
            .map(|figures| figures.total.lat_ns.max)
            .max()
    });
    for percentile in POINT_PERCENTILES {
        columns.add(format!("lat_ns_{}", key(percentile)), move |(_, point)| {
            Cell::decimal(point.lat_ns_percentile(percentile), 0)
        });
    }
    direction(&mut columns, "read", |figures| &figures.read);
    direction(&mut columns, "write", |figures| &figures.write);
    let rows: Vec<(usize, &PointResult)> = results.points.iter().enumerate().collect();
    table(&columns, &rows)
}

/// What became of a point, and why.
fn outcome(point: &PointResult) -> (&'static str, &str) {
    match &point.outcome {
        Outcome::Pending => ("pending", ""),
        Outcome::Measured { .. } => ("measured", ""),
        Outcome::Inferred(inferred) => ("inferred", &inferred.because),
        Outcome::Failed { message } => ("failed", message),
    }
}

/// A sum over all repeats, where there are any.
fn sum(point: &PointResult, of: fn(&PointFigures) -> u64) -> Option<u64> {
    point.repeats().iter().map(of).reduce(|sum, one| sum + one)
}

fn iops(point: &PointResult) -> impl Iterator<Item = f64> {
    point.repeats().iter().map(|figures| figures.total.iops)
}

/// The columns of one direction: empty where it did nothing.
fn direction(
    columns: &mut Columns<'_, (usize, &PointResult)>,
    name: &str,
    of: fn(&PointFigures) -> &DirectionFigures,
) {
    let figures: [(&str, OfDirection, usize); 4] = [
        ("iops", |figures| Some(figures.iops), 3),
        ("bytes_per_second", |figures| Some(figures.bytes_per_second), 3),
        ("lat_ns_mean", |figures| Some(figures.lat_ns.mean), 1),
        ("lat_ns_p99", |figures| figures.lat_ns_percentile(99.0), 0),
    ];
    for (what, value, decimals) in figures {
        columns.add(format!("{name}_{what}"), move |(_, point)| {
            let value =
                |repeat: &PointFigures| Some(of(repeat)).filter(|figures| figures.ios > 0).and_then(value);
            Cell::decimal(mean_of(point.repeats(), value), decimals)
        });
    }
}

#[cfg(test)]
mod tests;

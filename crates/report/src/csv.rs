//! Reports as CSV (RFC 4180), one table each: units are in the names of the columns, what is not known is empty.
//!
//! Data in: the rows of a run or the points of a sweep. Data out: the text of a file. It must not judge.

use crate::export::csv::Line;
use fathom_core::run::{Run, SERIES_PERCENTILES, SeriesRow};
use fathom_core::sweep::{
    DirectionFigures, Outcome, POINT_PERCENTILES, PointFigures, PointResult, SweepResults, mean_of,
};

/// A row a second and direction of a run. Latencies are total ones, `response` ones count from when an I/O was due.
pub(crate) fn series(run: &Run, rows: &[SeriesRow]) -> String {
    let mut names: Vec<String> = [
        "second",
        "job",
        "direction",
        "counted",
        "end_ns",
        "duration_ns",
        "ios",
        "bytes",
        "errors",
        "iops",
        "bytes_per_second",
    ]
    .map(str::to_owned)
    .into();
    for metric in ["lat", "response"] {
        names.extend(["min", "mean", "max"].map(|what| format!("{metric}_ns_{what}")));
        names.extend(SERIES_PERCENTILES.map(|percentile| format!("{metric}_ns_{}", key(percentile))));
    }
    names.push(String::from("backlog_ios"));
    let mut text = names.join(",");
    text.push_str("\r\n");
    for row in rows {
        series_row(&mut text, run, row);
    }
    text
}

/// `p99_9` for 99.9.
fn key(percentile: f64) -> String {
    format!("p{percentile}").replace('.', "_")
}

fn series_row(text: &mut String, run: &Run, row: &SeriesRow) {
    let job = run.workload.jobs.get(row.job as usize);
    let rate = |amount: u64| (row.duration_ns > 0).then(|| amount as f64 * 1e9 / row.duration_ns as f64);
    let mut line = Line::new(text);
    line.number(row.second)
        .word(job.map_or("", |job| job.name.as_str()))
        .word(row.op.name())
        .number(u8::from(!row.ramp))
        .number(row.end.0.saturating_sub(run.started_monotonic_ns.0))
        .number(row.duration_ns)
        .number(row.ios)
        .number(row.bytes)
        .number(row.errors);
    for value in [rate(row.ios), rate(row.bytes)] {
        decimal(&mut line, value, 3);
    }
    for latency in [&row.lat, &row.response] {
        let known = latency.n > 0;
        line.optional(known.then_some(latency.min));
        decimal(&mut line, known.then_some(latency.mean), 1);
        line.optional(known.then_some(latency.max));
        for percentile in SERIES_PERCENTILES {
            line.optional(latency.percentile(percentile).filter(|_| known));
        }
    }
    line.number(row.backlog);
    text.push_str("\r\n");
}

fn decimal(line: &mut Line<'_>, value: Option<f64>, decimals: usize) {
    match value.filter(|value| value.is_finite()) {
        Some(value) => line.number(format_args!("{value:.decimals$}")),
        None => line.word(""),
    };
}

/// A row a point of a sweep. Rates, means and percentiles are means over the repeats; `min` and `max` are those of all.
pub(crate) fn points(results: &SweepResults) -> String {
    let mut names: Vec<String> = [
        "point",
        "name",
        "random",
        "read_percent",
        "block_size_bytes",
        "iodepth",
        "threads",
        "total_depth",
        "outcome",
        "reason",
        "repeats",
        "runtime_ns",
        "iops_half_width_percent",
        "errors",
        "iops",
        "iops_min",
        "iops_max",
        "bytes_per_second",
        "lat_ns_mean",
        "lat_ns_min",
        "lat_ns_max",
    ]
    .map(str::to_owned)
    .into();
    names.extend(POINT_PERCENTILES.map(|percentile| format!("lat_ns_{}", key(percentile))));
    for direction in ["read", "write"] {
        names.extend(
            ["iops", "bytes_per_second", "lat_ns_mean", "lat_ns_p99"]
                .map(|what| format!("{direction}_{what}")),
        );
    }
    let mut text = names.join(",");
    text.push_str("\r\n");
    for (index, point) in results.points.iter().enumerate() {
        point_row(&mut text, index, point);
    }
    text
}

fn point_row(text: &mut String, index: usize, point: &PointResult) {
    let at = &point.coordinates;
    let (outcome, reason) = match &point.outcome {
        Outcome::Pending => ("pending", ""),
        Outcome::Measured { .. } => ("measured", ""),
        Outcome::Inferred(inferred) => ("inferred", inferred.because.as_str()),
        Outcome::Failed { message } => ("failed", message.as_str()),
    };
    let repeats = point.repeats();
    let known = !repeats.is_empty();
    let all = |of: fn(&PointFigures) -> u64| known.then(|| repeats.iter().map(of).sum::<u64>());
    let mut line = Line::new(text);
    line.number(index)
        .word(&at.name())
        .number(u8::from(at.random))
        .number(at.read_percent)
        .number(at.block_size_bytes)
        .number(at.iodepth)
        .number(at.threads)
        .number(at.total_depth())
        .word(outcome)
        .word(reason)
        .number(repeats.len())
        .optional(all(|figures| figures.runtime_ns));
    let width = repeats
        .iter()
        .filter_map(|figures| figures.iops_half_width)
        .reduce(f64::max);
    decimal(&mut line, width.map(|width| width * 100.0), 3);
    line.optional(all(|figures| figures.errors));
    let rates = || repeats.iter().map(|figures| figures.total.iops);
    for value in [
        point.iops(),
        rates().reduce(f64::min),
        rates().reduce(f64::max),
        point.bytes_per_second(),
    ] {
        decimal(&mut line, value, 3);
    }
    decimal(&mut line, point.lat_ns_mean(), 1);
    line.optional(repeats.iter().map(|figures| figures.total.lat_ns.min).min())
        .optional(repeats.iter().map(|figures| figures.total.lat_ns.max).max());
    for percentile in POINT_PERCENTILES {
        decimal(&mut line, point.lat_ns_percentile(percentile), 0);
    }
    direction_fields(&mut line, repeats, |figures| &figures.read);
    direction_fields(&mut line, repeats, |figures| &figures.write);
    text.push_str("\r\n");
}

/// The fields of one direction: empty where it did nothing.
fn direction_fields(
    line: &mut Line<'_>,
    repeats: &[PointFigures],
    of: fn(&PointFigures) -> &DirectionFigures,
) {
    let some = |figures: &PointFigures, value: f64| (of(figures).ios > 0).then_some(value);
    decimal(
        line,
        mean_of(repeats, |figures| some(figures, of(figures).iops)),
        3,
    );
    decimal(
        line,
        mean_of(repeats, |figures| some(figures, of(figures).bytes_per_second)),
        3,
    );
    decimal(
        line,
        mean_of(repeats, |figures| some(figures, of(figures).lat_ns.mean)),
        1,
    );
    decimal(
        line,
        mean_of(repeats, |figures| of(figures).lat_ns_percentile(99.0)),
        0,
    );
}

#[cfg(test)]
mod tests;

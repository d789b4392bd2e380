//! What was measured over time and over latency, as charts.
//!
//! Data in: the rows of a run. Data out: blocks with charts, and what was done to the numbers in words. It must not judge.

use super::RunReport;
use super::content::{Block, Chart};
use super::heat::{HeatSource, LatencyHeat};
use crate::chart::percentiles::Curve;
use crate::chart::time::{self, Line, Span};
use crate::chart::{Clock, Thinning, heat as heat_chart, percentiles as percentile_chart, seconds};
use crate::words::{capital, when};
use fathom_core::backend::Op;
use fathom_core::run::{HistogramRow, Latency, Run, SeriesRow};
use fathom_core::units::Nanos;
use std::collections::{BTreeMap, BTreeSet};

/// Lines that have a colour of their own. Where there are more, directions are added up.
const LINES_MAX: usize = 8;
/// Latency charts: one a line.
const LATENCY_CHARTS_MAX: usize = 8;

const OPS: [Op; 4] = [Op::Read, Op::Write, Op::Trim, Op::Sync];

/// IOPS, throughput and latency over time.
pub(super) fn over_time(report: &RunReport<'_>) -> Vec<Block> {
    let all = lines(report.run, report.series);
    if all.is_empty() {
        return Vec::new();
    }
    let span = span(report.series);
    let (rates_note, latency_note) = notes(span);
    let summed = (all.len() > LINES_MAX).then(|| sums(report.series));
    let drawn = summed.as_ref().unwrap_or(&all);
    let moving = drawn
        .iter()
        .filter(|line| line.rows.iter().any(|row| row.bytes > 0));
    let moving: Vec<Line<'_>> = moving.cloned().collect();
    let iops = time::iops(drawn, span);
    let mut charts = vec![Chart::whole("IOPS", rates_note.as_str(), 300, iops)];
    if !moving.is_empty() {
        let throughput = time::throughput(&moving, span);
        charts.push(Chart::whole("Throughput", rates_note, 300, throughput));
    }
    for line in all.iter().take(LATENCY_CHARTS_MAX) {
        let kind = if line.rows.iter().any(|row| row.response.n > 0) {
            "Response time, from when an I/O was due"
        } else {
            "Latency"
        };
        let title = format!("{kind}: {}", line.name);
        let latency = time::latency(line, span);
        charts.push(Chart::whole(&title, latency_note.as_str(), 340, latency));
    }
    let mut blocks = vec![Block::Charts(charts)];
    if summed.is_some() {
        blocks.push(Block::Text(format!(
            "There are {} jobs and directions: their rates are added up by direction, and latencies are drawn of the first \
             {LATENCY_CHARTS_MAX}. The CSV report has all of them.",
            all.len()
        )));
    }
    blocks
}

/// How to read charts of rates, and of latencies.
fn notes(span: Span) -> (String, String) {
    let ramp = when(span.ramp_s > 0.0, || String::from(" Shaded: not counted."));
    match span.thinning.point() {
        None => (
            ramp.trim().to_owned(),
            format!("Percentiles over the I/Os of each second.{ramp}"),
        ),
        Some(point) => (
            format!(
                "Each point stands for {point}: the line is the mean of its seconds, the band reaches from the lowest to the \
                 highest second.{ramp}"
            ),
            format!(
                "Each point stands for {point}: the lines of percentiles are means of its seconds' percentiles, the bands reach \
                 from the lowest to the highest second; the slowest is the slowest I/O of all its seconds.{ramp}"
            ),
        ),
    }
}

/// The rows of all that did anything, in the order of their seconds, by what they have in common.
fn rows<K: Ord>(series: &[SeriesRow], key: impl Fn(&SeriesRow) -> K) -> BTreeMap<K, Vec<&SeriesRow>> {
    let mut lines: BTreeMap<K, Vec<&SeriesRow>> = BTreeMap::new();
    for row in series {
        lines.entry(key(row)).or_default().push(row);
    }
    lines.retain(|_, rows| rows.iter().any(|row| row.ios > 0));
    for rows in lines.values_mut() {
        rows.sort_by_key(|row| row.second);
    }
    lines
}

/// A line for each direction of each job.
fn lines<'a>(run: &Run, series: &'a [SeriesRow]) -> Vec<Line<'a>> {
    let lines = rows(series, |row| (row.job, row.op.index()));
    let several = are_several(lines.keys().map(|(job, _)| *job));
    let lines = lines.into_iter().map(|((job, op), rows)| Line {
        name: name(run, job, op, several),
        rows,
    });
    lines.collect()
}

fn are_several(mut jobs: impl Iterator<Item = u32>) -> bool {
    let first = jobs.next();
    jobs.any(|job| Some(job) != first)
}

/// A direction, with its job where there are several.
fn name(run: &Run, job: u32, op: usize, several: bool) -> String {
    let op = OPS[op].name();
    match run.workload.jobs.get(job as usize) {
        Some(job) if several => format!("{}, {op}", job.name),
        _ => op.to_owned(),
    }
}

/// A line for each direction, all jobs together.
fn sums(series: &[SeriesRow]) -> Vec<Line<'_>> {
    let lines = rows(series, |row| row.op.index()).into_iter();
    let lines = lines.map(|(op, rows)| Line {
        name: format!("{}, all jobs", OPS[op].name()),
        rows,
    });
    lines.collect()
}

/// The length of a run.
fn seconds_of(series: &[SeriesRow]) -> u32 {
    series.iter().map(|row| row.second + 1).max().unwrap_or(0)
}

fn span(series: &[SeriesRow]) -> Span {
    let length = seconds_of(series).max(1);
    let counted = series.iter().any(|row| !row.ramp);
    let ramp = series
        .iter()
        .filter(|row| row.ramp && counted)
        .map(|row| row.second + 1);
    Span {
        thinning: Thinning::of(length),
        clock: Clock::of(f64::from(length)),
        ramp_s: f64::from(ramp.max().unwrap_or(0)),
    }
}

/// The latency heat map of each kind of I/O.
pub(super) fn heat(report: &RunReport<'_>) -> Option<Block> {
    let estimate = || LatencyHeat::estimate(report.series);
    let estimated = report.heat.is_none().then(estimate);
    let heat = report.heat.or(estimated.as_ref())?;
    let clock = Clock::of(f64::from(seconds_of(report.series).max(1)));
    let span = Nanos(heat.column_ns());
    let about = match heat.source() {
        HeatSource::Ios => format!(
            "Each column is {span} and each row 9 % of a latency; the colour is how many I/Os ended there, on a logarithmic \
             scale. Every I/O of the record is counted."
        ),
        HeatSource::Series => format!(
            "An estimate: the record has no stream of I/Os, so each second's I/Os are spread evenly between its percentiles \
             (fastest, p50, p90, p95, p99, p99.9, slowest). Each column is {span}; the colour is how many I/Os, on a \
             logarithmic scale."
        ),
    };
    let chart = |op: Op| {
        let figure = heat_chart::figure(&heat.grid(op)?, clock);
        let title = format!("{}s by latency", capital(op.name()));
        Some(Chart::whole(&title, about.as_str(), 380, figure))
    };
    let charts: Vec<Chart> = OPS.into_iter().filter_map(chart).collect();
    let charts = Some(charts).filter(|charts| !charts.is_empty());
    charts.map(Block::Charts)
}

/// The percentile curves of all directions.
pub(super) fn percentiles(report: &RunReport<'_>) -> Option<Block> {
    let mut curves = curves(report.run, report.histograms);
    let all = curves.len();
    curves.truncate(LINES_MAX);
    let more = when(all > LINES_MAX, || {
        format!(" Drawn are the first {LINES_MAX} of {all} directions.")
    });
    let about = format!(
        "Each further nine is as wide as the one before it. A curve ends where a single I/O decides.{more}"
    );
    let figure = percentile_chart::figure(&curves);
    let chart = Chart::whole("Latency by percentile", about, 400, figure);
    (all > 0).then(|| Block::Charts(vec![chart]))
}

/// Latency in milliseconds, and how many I/Os took that long.
type Counts = Vec<(f64, u64)>;

/// A curve for each direction of each job: of response times where there is a schedule.
fn curves(run: &Run, histograms: &[HistogramRow]) -> Vec<Curve> {
    let mut kept: BTreeMap<(u32, usize, Latency), Counts> = BTreeMap::new();
    for row in histograms.iter().filter(|row| row.count > 0) {
        let middle = f64::midpoint(row.low_ns as f64, row.high_ns as f64).max(1.0) / 1e6;
        let counts = kept.entry((row.job, row.op.index(), row.metric)).or_default();
        counts.push((middle, row.count));
    }
    let directions: BTreeSet<(u32, usize)> = kept.keys().map(|&(job, op, _)| (job, op)).collect();
    let several = are_several(directions.iter().map(|(job, _)| *job));
    let curve = |(job, op)| {
        let metrics = [Latency::Response, Latency::Lat, Latency::Clat];
        let mut found = metrics.into_iter();
        let (metric, mut counts) =
            found.find_map(|metric| Some((metric, kept.remove(&(job, op, metric))?)))?;
        counts.sort_by(|a, b| a.0.total_cmp(&b.0));
        let due = if metric == Latency::Response {
            ", from when due"
        } else {
            ""
        };
        let name = format!("{}{due}", name(run, job, op, several));
        Some(Curve { name, counts })
    };
    directions.into_iter().filter_map(curve).collect()
}

/// A moment since the start, as charts have it.
pub(super) fn clock(series: &[SeriesRow], last_ns: u64) -> Clock {
    Clock::of(f64::from(seconds_of(series)).max(seconds(last_ns)))
}

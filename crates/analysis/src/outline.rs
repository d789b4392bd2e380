//! What limited a load, by what it measured alone: for runs and sweeps without a record of their I/Os, devices or counters.
//!
//! Data in: a run and its series, or a sweep's points; the limits that are those of the disk and the machine. Data out: an [`Outline`].
//! It knows rates, latencies and, of a modelled machine, what that says held I/Os; whose doing a slow second was it cannot know. It
//! must not know how that is told.

use crate::explain::KnownDisk;
use crate::live::{Evidence, Usual};
use crate::usage::{LoadReading, Usage};
use fathom_core::backend::Op;
use fathom_core::run::{Run, SeriesRow};
use fathom_core::sweep::{Outcome, PointFigures, SweepPlan, SweepResults};
use fathom_core::workload::Job;
use std::collections::BTreeMap;

/// A shorter interval is no reading: rates over so little time say nothing.
const SHORT_NS: u64 = 250_000_000;

/// What limited a load, as far as its own figures tell.
#[derive(Debug, Clone, PartialEq)]
pub struct Outline {
    /// A reading is a second of a run or a point of a sweep.
    pub usage: Usage,
    /// What a modelled machine says held I/Os, as a share of their time, the most first.
    pub held: Vec<(String, f64)>,
    pub pace: Pace,
    /// The mean number in flight.
    pub in_flight: f64,
    /// Of a run; `None`: points of a sweep are means.
    pub disturbed: Option<Disturbed>,
}

/// What the load asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// So many at a time, as fast as they were answered.
    AsAnswered,
    /// So many a second, and it got them.
    Kept,
    /// So many a second, which it did not get: at the end so many were due.
    Behind { ios: u64 },
}

/// Seconds with an I/O far slower than was usual before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Disturbed {
    pub seconds: u64,
    pub lat_ns_max: u64,
}

impl Outline {
    /// Of a run. `None`: it has no load, or no second of it was counted.
    pub fn of_run(run: &Run, series: &[SeriesRow], known: &[KnownDisk]) -> Option<Self> {
        let counted = || {
            series
                .iter()
                .filter(|row| !row.ramp && row.duration_ns >= SHORT_NS)
        };
        let mut seconds: BTreeMap<u64, LoadReading> = BTreeMap::new();
        let mut usual = Usual::default();
        let mut disturbed: BTreeMap<u64, u64> = BTreeMap::new();
        for row in counted() {
            let reading = seconds.entry(row.end.0).or_default();
            let a_second = 1e9 / row.duration_ns as f64;
            reading.in_flight += row.lat.mean * row.lat.n as f64 / row.duration_ns as f64;
            reading.errors += row.errors;
            if row.op != Op::Sync {
                reading.ios_per_second += row.ios as f64 * a_second;
                reading.bytes_per_second += row.bytes as f64 * a_second;
            }
            if let Some(found) = usual.judge(row.job, row.op, &row.lat, &Evidence::default()) {
                let longest = disturbed.entry(row.end.0).or_default();
                *longest = found.lat_ns_max.max(*longest);
            }
        }
        let readings: Vec<LoadReading> = seconds.into_values().collect();
        if run.workload.jobs.is_empty() || readings.is_empty() {
            return None;
        }
        let jobs = || run.workload.jobs.iter();
        let step_ns = counted().map(|row| row.duration_ns).max().unwrap_or(0);
        Some(Self {
            held: held(run, series),
            pace: pace(jobs(), series),
            in_flight: mean(readings.iter().map(|reading| reading.in_flight)),
            disturbed: Some(Disturbed {
                seconds: disturbed.len() as u64,
                lat_ns_max: disturbed.into_values().max().unwrap_or(0),
            }),
            usage: Usage::of_load(
                &disk_name(run),
                &readings,
                step_ns,
                known,
                run.summary.target.modelled,
            ),
        })
    }

    /// Of a sweep. `None`: no point was measured.
    pub fn of_sweep(plan: &SweepPlan, results: &SweepResults, known: &[KnownDisk]) -> Option<Self> {
        let repeats = results.points.iter().filter_map(|point| match &point.outcome {
            Outcome::Measured { repeats } => Some(repeats),
            Outcome::Pending | Outcome::Inferred(_) | Outcome::Failed { .. } => None,
        });
        let readings: Vec<LoadReading> = repeats.flatten().map(reading_of).collect();
        if readings.is_empty() {
            return None;
        }
        Some(Self {
            held: Vec::new(),
            pace: Pace::AsAnswered,
            in_flight: mean(readings.iter().map(|reading| reading.in_flight)),
            disturbed: None,
            usage: Usage::of_load(
                &plan.target.description,
                &readings,
                plan.timing.duration_ns,
                known,
                plan.target.modelled,
            ),
        })
    }
}

fn reading_of(figures: &PointFigures) -> LoadReading {
    let total = &figures.total;
    LoadReading {
        ios_per_second: total.iops,
        bytes_per_second: total.bytes_per_second,
        in_flight: total.lat_ns.mean * total.iops / 1e9,
        errors: figures.errors,
    }
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len().max(1) as f64;
    values.sum::<f64>() / count
}

/// The disk below the target, where it is one that has a name; else the target.
fn disk_name(run: &Run) -> String {
    let target = &run.summary.target;
    let mut names: Vec<&str> = (target.files.iter().filter_map(|file| file.device.as_ref()))
        .map(|device| device.name.as_str())
        .collect();
    names.dedup();
    match names.as_slice() {
        [one] => (*one).to_owned(),
        _ => target.description.clone(),
    }
}

fn held(run: &Run, series: &[SeriesRow]) -> Vec<(String, f64)> {
    let took_ns: f64 = series.iter().map(|row| row.lat.mean * row.lat.n as f64).sum();
    let model = run.summary.model.iter().flat_map(|model| &model.held);
    let mut held: Vec<(String, f64)> = model
        .map(|held| {
            (
                held.limit.clone(),
                (held.held_ns as f64 / took_ns.max(1.0)).min(1.0),
            )
        })
        .collect();
    held.sort_by(|a, b| b.1.total_cmp(&a.1));
    held
}

fn pace<'a>(mut jobs: impl Iterator<Item = &'a Job>, series: &[SeriesRow]) -> Pace {
    if !jobs.all(|job| job.pace.rate.iter().any(Option::is_some)) {
        return Pace::AsAnswered;
    }
    // What each job was behind in its last row, and how much it did in that second: what is due and sent at once is not late.
    let mut last: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    for row in series.iter().filter(|row| row.duration_ns >= SHORT_NS) {
        last.insert(row.job, (row.backlog, row.ios));
    }
    let behind = last.into_values().filter(|(backlog, ios)| backlog > ios);
    match behind.map(|(backlog, _)| backlog).sum() {
        0 => Pace::Kept,
        ios => Pace::Behind { ios },
    }
}

#[cfg(test)]
mod tests;

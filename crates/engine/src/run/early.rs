//! Jobs that end before their time: since another ended, or since their results are steady.
//!
//! Data in: reports of workers, rows of seconds. Data out: jobs that are told that enough is known. It must not know how a
//! worker ends.

use super::Options;
use super::job::RunningJob;
use super::phases::JobState;
use fathom_core::run::{SeriesRow, SteadyAccount};
use fathom_core::workload::{ExitWhat, Steady, SteadyOf};
use std::collections::VecDeque;
use std::sync::atomic::Ordering;

const SECOND: u64 = 1_000_000_000;

/// After each tick: ends what is to end with what has ended, and what is steady.
pub(super) fn look(jobs: &mut [RunningJob], rows: &[SeriesRow], options: &Options) {
    pass_on(jobs, options);
    end_with_others(jobs);
    end_steady(jobs, rows);
}

/// What is known of the whole run is known of each job.
pub(super) fn pass_on(jobs: &[RunningJob], options: &Options) {
    if options.enough.load(Ordering::Relaxed) {
        for job in jobs {
            job.enough.store(true, Ordering::Relaxed);
        }
    }
}

/// As in fio, one job with `exitall` makes the end of any worker count; which others end is said by the job that ended.
fn end_with_others(jobs: &mut [RunningJob]) {
    let any = jobs.iter().any(|job| job.plan.job.stops.exit_all);
    let mut ended = Vec::new();
    for (at, job) in jobs.iter_mut().enumerate() {
        let reports = job.reports.iter().flatten();
        let (mut count, mut failed) = (0, job.failure.is_some());
        for report in reports {
            count += 1;
            failed |= report.end.failed;
        }
        let news = std::mem::replace(&mut job.looked_at, count) < count || job.failure.is_some();
        if news && (any || failed && job.plan.job.stops.exit_all_on_error) {
            ended.push(at);
        }
    }
    for at in ended {
        let (what, group) = (jobs[at].plan.job.stops.exit_what, jobs[at].plan.job.group);
        for job in jobs.iter_mut() {
            let runs = job.state == JobState::Running;
            let ends = match what {
                ExitWhat::Group => runs && job.plan.job.group == group,
                ExitWhat::Running => runs,
                ExitWhat::All => true,
            };
            if ends {
                job.enough.store(true, Ordering::Relaxed);
                if job.state == JobState::Waiting {
                    job.state = JobState::Done;
                }
            }
        }
    }
}

/// A job whose results are steady ends; one that is reported with its group is judged with it.
fn end_steady(jobs: &mut [RunningJob], rows: &[SeriesRow]) {
    if rows.is_empty() || jobs.iter().all(|job| job.steady.is_none()) {
        return;
    }
    let members = |jobs: &[RunningJob], at: usize| -> Vec<u32> {
        let job = &jobs[at].plan.job;
        let same = |other: &RunningJob| {
            job.group_reporting && other.plan.job.group_reporting && other.plan.job.group == job.group
        };
        (0..jobs.len())
            .filter(|&other| other == at || same(&jobs[other]))
            .map(|at| at as u32)
            .collect()
    };
    for at in 0..jobs.len() {
        let members = members(jobs, at);
        let job = &mut jobs[at];
        let (start, ramp) = (job.start.0, job.plan.job.limit.ramp_time.0);
        let Some(steady) = &mut job.steady else { continue };
        let counted = start.saturating_add(ramp).saturating_add(steady.wanted.ramp.0);
        let own = rows.iter().filter(|row| members.contains(&row.job) && !row.ramp);
        steady.add(own.filter(|row| row.end.0.saturating_sub(row.duration_ns) >= counted));
        if steady.attained {
            job.enough.store(true, Ordering::Relaxed);
        }
    }
}

/// The last samples of a job, one a second.
#[derive(Debug)]
pub(super) struct Steadiness {
    wanted: Steady,
    /// The second that is being summed up: I/Os, bytes, and the sum of their latencies in nanoseconds.
    second: Option<(u32, [f64; 3])>,
    samples: VecDeque<[f64; 3]>,
    attained: bool,
}

impl Steadiness {
    pub(super) fn new(wanted: Steady) -> Self {
        Self {
            wanted,
            second: None,
            samples: VecDeque::new(),
            attained: false,
        }
    }

    fn add<'a>(&mut self, rows: impl Iterator<Item = &'a SeriesRow>) {
        for row in rows {
            let sum = match &mut self.second {
                Some((second, sum)) if *second == row.second => sum,
                _ => {
                    self.close();
                    &mut self.second.insert((row.second, [0.0; 3])).1
                }
            };
            sum[0] += row.ios as f64;
            sum[1] += row.bytes as f64;
            sum[2] += row.lat.mean * row.lat.n as f64;
        }
    }

    /// The second before is complete.
    fn close(&mut self) {
        let Some((_, sample)) = self.second.take() else {
            return;
        };
        let most = (self.wanted.duration.0 / SECOND).max(1) as usize;
        if self.samples.len() == most {
            self.samples.pop_front();
        }
        self.samples.push_back(sample);
        self.attained |= self.samples.len() == most && self.is_steady();
    }

    /// How steady the samples so far are, and the mean of what has to be.
    fn judged(&self) -> (f64, f64) {
        let value = |[ios, bytes, lat]: &[f64; 3]| match self.wanted.of {
            SteadyOf::Iops => *ios,
            SteadyOf::Bandwidth => *bytes,
            SteadyOf::Latency => lat / ios.max(1.0),
        };
        let values: Vec<f64> = self.samples.iter().map(value).collect();
        let criterion = if self.wanted.slope {
            slope(&values)
        } else {
            deviation(&values)
        };
        (criterion, values.iter().sum::<f64>() / values.len() as f64)
    }

    /// As outputs tell it.
    pub(super) fn account(&self) -> SteadyAccount {
        let (criterion, mean) = self.judged();
        let finite = |value: f64| if value.is_finite() { value } else { 0.0 };
        SteadyAccount {
            attained: self.attained,
            criterion: finite(criterion),
            criterion_percent: finite(criterion / mean * 100.0),
            ios: self.samples.iter().map(|sample| sample[0] as u64).collect(),
            bytes: self.samples.iter().map(|sample| sample[1] as u64).collect(),
        }
    }

    fn is_steady(&self) -> bool {
        let (criterion, mean) = self.judged();
        let criterion = criterion.abs();
        let criterion = if self.wanted.in_percent && mean > 0.0 {
            criterion / mean * 100.0
        } else {
            criterion
        };
        mean > 0.0 && criterion < self.wanted.limit
    }
}

/// The largest distance from the mean.
fn deviation(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    values
        .iter()
        .map(|value| (value - mean).abs())
        .fold(0.0, f64::max)
}

/// That of the straight line through the samples, by least squares; one apart.
fn slope(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let middle = (n - 1.0) / 2.0;
    let mean = values.iter().sum::<f64>() / n;
    let (mut upper, mut lower) = (0.0, 0.0);
    for (at, value) in values.iter().enumerate() {
        let x = at as f64 - middle;
        upper += x * (value - mean);
        lower += x * x;
    }
    if lower == 0.0 { 0.0 } else { upper / lower }
}

#[cfg(test)]
mod tests;

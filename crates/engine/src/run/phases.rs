//! Which job may start when, how far each group is, and how all of it ended.

use super::job::RunningJob;
use super::{GroupProgress, Options, Progress};
use fathom_core::run::Status;
use fathom_core::units::{MonoTime, Nanos};
use fathom_core::workload::Job;
use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::Ordering;

/// Where a job stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JobState {
    /// Not started.
    Waiting,
    /// Started.
    Running,
    /// Ended.
    Done,
}

/// The order of jobs.
pub(super) struct Phases<'a> {
    pub jobs: Vec<&'a Job>,
}

impl Phases<'_> {
    /// The jobs that may start now. A job with `stonewall`, and all after it, wait until all jobs before it
    /// have ended; a job with `wait_for` also waits for the end of the jobs of that name before it.
    pub(super) fn may_start(&self, states: &[JobState]) -> Vec<usize> {
        let mut starts = Vec::new();
        // All so far have ended; all before the last wall have.
        let (mut all_done, mut wall_open) = (true, true);
        let mut unfinished: HashSet<&str> = HashSet::new();
        for (at, (job, state)) in self.jobs.iter().zip(states).enumerate() {
            if job.start.stonewall {
                wall_open = all_done;
            }
            let awaited = job.start.wait_for.as_ref();
            let come = awaited.is_none_or(|name| !unfinished.contains(name.as_str()));
            if *state == JobState::Waiting && wall_open && come {
                starts.push(at);
            }
            if *state != JobState::Done {
                all_done = false;
                unfinished.insert(&job.name);
            }
        }
        starts
    }
}

/// The jobs whose turn has come. After a stop, or once enough is known, none is: those that wait are done then.
pub(super) fn turns(jobs: &mut [RunningJob], options: &Options) -> Vec<usize> {
    if options.stop.load(Ordering::Relaxed) || options.enough.load(Ordering::Relaxed) {
        for job in jobs.iter_mut().filter(|job| job.state == JobState::Waiting) {
            job.state = JobState::Done;
        }
    }
    if jobs.iter().all(|job| job.state != JobState::Waiting) {
        return Vec::new();
    }
    let states: Vec<JobState> = jobs.iter().map(|job| job.state).collect();
    let phases = Phases {
        jobs: jobs.iter().map(|job| &job.plan.job).collect(),
    };
    phases.may_start(&states)
}

/// Whether all jobs have ended.
pub(super) fn all_done(jobs: &[RunningJob]) -> bool {
    jobs.iter().all(|job| job.state == JobState::Done)
}

/// How a run whose jobs have all ended has ended. Enough is complete.
pub(super) fn status(jobs: &[RunningJob], options: &Options) -> Status {
    let failed = |job: &RunningJob| {
        job.failure.is_some() || job.reports.iter().flatten().any(|report| report.end.failed)
    };
    if jobs.iter().any(failed) {
        Status::Failed
    } else if options.stop.load(Ordering::Relaxed) {
        Status::Interrupted
    } else {
        Status::Complete
    }
}

/// How far each group is.
pub(super) fn progress(jobs: &[RunningJob], epoch: MonoTime, now: MonoTime) -> Progress {
    let groups = groups(jobs).into_iter();
    Progress {
        elapsed: now.since(epoch),
        groups: groups
            .map(|(group, members)| group_progress(group, &members, epoch, now))
            .collect(),
    }
}

/// The jobs of each reporting group.
pub(super) fn groups(jobs: &[RunningJob]) -> BTreeMap<u32, Vec<&RunningJob>> {
    let mut groups: BTreeMap<u32, Vec<&RunningJob>> = BTreeMap::new();
    for job in jobs {
        groups.entry(job.plan.job.group).or_default().push(job);
    }
    groups
}

fn group_progress(group: u32, members: &[&RunningJob], epoch: MonoTime, now: MonoTime) -> GroupProgress {
    let mut result = GroupProgress {
        group,
        ..GroupProgress::default()
    };
    let names: Vec<&str> = members.iter().map(|job| job.plan.job.name.as_str()).collect();
    result.name = names.join(", ");
    result.done = members.iter().all(|job| job.state == JobState::Done);
    result.started = members.iter().any(|job| job.state != JobState::Waiting);
    result.ramping = result.started;
    let mut newest = 0;
    let mut fractions = Vec::new();
    for job in members {
        result.workers += job.plan.workers.len() as u32;
        if job.state == JobState::Running {
            result.running += job.reports.iter().filter(|report| report.is_none()).count() as u32;
        }
        result.ramping &= now < job.start.after(job.plan.job.limit.ramp_time);
        newest = newest.max(job.collector.live().second);
        fractions.push(fraction(job, now));
    }
    for live in members
        .iter()
        .map(|job| job.collector.live())
        .filter(|live| live.second == newest)
    {
        result.live.second = newest;
        for op in 0..3 {
            result.live.ios[op] += live.ios[op];
            result.live.bytes[op] += live.bytes[op];
        }
        // An upper bound where several jobs run: the worst of their p99.
        result.live.lat_ns_p99 = result.live.lat_ns_p99.max(live.lat_ns_p99);
    }
    let end_of_newest = MonoTime(epoch.0 + (u64::from(newest == 0) + newest) * 1_000_000_000);
    result.silent = now.since(end_of_newest);
    // The group is done when its slowest job is.
    let slowest = fractions.iter().copied().min_by(|a, b| a.0.total_cmp(&b.0));
    if let Some((share, left)) = slowest {
        result.fraction = (share >= 0.0).then_some(share);
        result.eta = left;
    }
    result
}

/// The share of a job that is done (below 0: unknown) and the time left.
fn fraction(job: &RunningJob, now: MonoTime) -> (f64, Option<Nanos>) {
    if job.state == JobState::Done {
        return (1.0, Some(Nanos::ZERO));
    }
    if job.state == JobState::Waiting {
        return (
            0.0,
            job.plan
                .job
                .limit
                .runtime
                .map(|runtime| runtime + job.plan.job.limit.ramp_time + job.plan.job.limit.cooldown_time),
        );
    }
    let limit = &job.plan.job.limit;
    let elapsed = now.since(job.start);
    let by_time = limit.runtime.map(|runtime| {
        let whole = runtime + limit.ramp_time + limit.cooldown_time;
        (elapsed.0 as f64 / whole.0.max(1) as f64, whole - elapsed)
    });
    let amount: u64 = job.plan.workers.iter().map(|worker| worker.amount).sum();
    let amount = amount.saturating_mul(u64::from(job.plan.job.region.loops.max(1)));
    let moved = job.collector.bytes();
    let by_bytes = (!limit.time_based && moved > 0).then(|| {
        let share = moved as f64 / amount.max(1) as f64;
        let left = elapsed.0 as f64 * (1.0 / share.max(1e-9) - 1.0);
        (share, Nanos(left.max(0.0) as u64))
    });
    // Whichever comes first ends the job.
    match (by_time, by_bytes) {
        (Some(time), Some(bytes)) if bytes.0 > time.0 => (bytes.0.min(1.0), Some(bytes.1)),
        (Some(time), _) => (time.0.min(1.0), Some(time.1)),
        (None, Some(bytes)) => (bytes.0.min(1.0), Some(bytes.1)),
        (None, None) => (-1.0, None),
    }
}

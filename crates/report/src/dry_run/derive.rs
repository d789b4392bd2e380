//! What follows from a workload: memory, amounts and time, as far as they can be known before it runs.
//!
//! Data in: the workload, and what its files give it. Data out: sums over all jobs. It must not know words.

mod work;

use super::placement::{PlacedFile, Placement};
use fathom_core::units::Nanos;
use fathom_core::workload::{Job, Workload};
use work::Work;

/// Sums over all jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Derived {
    pub(super) workers: u64,
    pub(super) in_flight: u64,
    pub(super) buffer_bytes: u64,
    /// `None` where the files are not known.
    pub(super) files: Option<Layout>,
    /// Reads, writes and trims, without syncs.
    pub(super) ios: Bound,
    /// What they move.
    pub(super) bytes: Bound,
    /// What of it is written. Laying out files that are missing comes on top.
    pub(super) written_bytes: Bound,
    pub(super) time: Time,
}

/// What is done to files before the first I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Layout {
    pub(super) all: u64,
    pub(super) new: u64,
    pub(super) extended: u64,
    pub(super) filled_bytes: u64,
    pub(super) reserved_bytes: u64,
}

/// How much of something there will be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bound {
    Exactly(u64),
    /// That is to be expected; chance decides.
    About(u64),
    /// No more than that: time may make it less. What a mix writes is its expected part of that.
    AtMost(u64),
    /// Only time is a limit.
    Unbounded,
    /// The files decide, and are not known.
    Unknown,
}

/// How long it will take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Time {
    /// So long.
    Exactly(Nanos),
    /// No longer: work may be done sooner.
    AtMost(Nanos),
    /// So long, and then as long as jobs without a time limit need.
    AtLeast(Nanos),
}

impl Derived {
    pub(super) fn of(workload: &Workload, placement: Option<&Placement>) -> Self {
        let jobs = &workload.jobs;
        let buffers = |job: &Job| job.total_depth().saturating_mul(job.max_block_bytes());
        let placed = |index: usize| placement.and_then(|placement| placement.jobs.get(index));
        let work = jobs
            .iter()
            .enumerate()
            .map(|(index, job)| Work::of(job, placed(index)))
            .fold(Work::NONE, Work::plus);
        Self {
            workers: jobs.iter().map(|job| u64::from(job.numjobs)).sum(),
            in_flight: jobs.iter().map(Job::total_depth).fold(0, u64::saturating_add),
            buffer_bytes: jobs.iter().map(buffers).fold(0, u64::saturating_add),
            files: placement.map(|placement| layout(&placement.files)),
            ios: work.ios,
            bytes: work.bytes,
            written_bytes: work.written_bytes,
            time: time(jobs),
        }
    }
}

fn layout(files: &[PlacedFile]) -> Layout {
    let mut layout = Layout::default();
    for file in files {
        layout.all += 1;
        layout.new += u64::from(file.size_bytes.is_none());
        layout.extended += u64::from(file.size_bytes.is_some_and(|now| now < file.need_bytes));
        layout.filled_bytes = layout.filled_bytes.saturating_add(file.filled_bytes);
        layout.reserved_bytes = layout.reserved_bytes.saturating_add(file.reserved_bytes);
    }
    layout
}

impl Bound {
    /// The sum, as certain as the less certain of the two.
    fn plus(self, other: Self) -> Self {
        use Bound::{About, AtMost, Exactly, Unbounded, Unknown};
        match (self, other) {
            (Unbounded, _) | (_, Unbounded) => Unbounded,
            (Unknown, _) | (_, Unknown) => Unknown,
            (Exactly(a), Exactly(b)) => Exactly(a.saturating_add(b)),
            // Nothing at all adds no doubt.
            (Exactly(0), bound) | (bound, Exactly(0)) => bound,
            (About(a), Exactly(b) | About(b)) | (Exactly(a), About(b)) => About(a.saturating_add(b)),
            (AtMost(a), Exactly(b) | About(b) | AtMost(b)) | (Exactly(a) | About(a), AtMost(b)) => {
                AtMost(a.saturating_add(b))
            }
        }
    }

    fn times(self, n: u64) -> Self {
        self.map(|amount| amount.saturating_mul(n))
    }

    fn map(self, change: impl Fn(u64) -> u64) -> Self {
        match self {
            Self::Exactly(n) => Self::Exactly(change(n)),
            Self::About(n) => Self::About(change(n)),
            Self::AtMost(n) => Self::AtMost(change(n)),
            other => other,
        }
    }

    /// The same, where something else may end it sooner; `limit`: that lets no more through.
    fn or_sooner(self, limit: Option<u64>) -> Self {
        let limit = limit.unwrap_or(u64::MAX);
        match self {
            Self::Exactly(0) => self,
            Self::Exactly(n) | Self::About(n) | Self::AtMost(n) => Self::AtMost(n.min(limit)),
            other => other,
        }
    }
}

/// Jobs run at once but for stonewalls and `wait_for`; the last one's end counts.
fn time(jobs: &[Job]) -> Time {
    let mut ends: Vec<(&str, Nanos)> = Vec::new();
    let (mut barrier, mut open, mut early) = (Nanos::ZERO, false, false);
    for job in jobs {
        let latest = |ends: &[(&str, Nanos)]| ends.iter().map(|&(_, end)| end).max().unwrap_or_default();
        if job.start.stonewall {
            barrier = latest(&ends);
        }
        let awaited = job.start.wait_for.as_deref();
        let awaited = ends
            .iter()
            .find(|&&(name, _)| Some(name) == awaited)
            .map(|&(_, end)| end);
        let begin = barrier.max(awaited.unwrap_or_default()).get();
        let bounded = job.limit.runtime.is_some();
        open |= !bounded;
        early |= !job.limit.time_based || job.start.delay.0 != job.start.delay.1;
        let length = [
            job.start.delay.1,
            job.limit.ramp_time,
            job.limit.runtime.unwrap_or_default(),
        ];
        let end = length
            .iter()
            .fold(begin, |sum, part| sum.saturating_add(part.get()));
        ends.push((&job.name, Nanos(if bounded { end } else { begin })));
    }
    let end = ends.iter().map(|&(_, end)| end).max().unwrap_or_default();
    match (open, early) {
        (true, _) => Time::AtLeast(end),
        (false, true) => Time::AtMost(end),
        (false, false) => Time::Exactly(end),
    }
}

#[cfg(test)]
mod tests;

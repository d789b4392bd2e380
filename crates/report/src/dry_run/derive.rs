//! What follows from a workload: memory, amounts and time, as far as they can be known before it runs.

use fathom_core::run::Target;
use fathom_core::units::Nanos;
use fathom_core::workload::{Amount, Job, Mix, Rate, Workload};

/// Sums over all jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Derived {
    pub(super) workers: u64,
    pub(super) in_flight: u64,
    pub(super) buffer_bytes: u64,
    pub(super) written: Volume,
    pub(super) time: Time,
}

/// How much will be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Volume {
    /// Nothing.
    None,
    /// So many bytes.
    Exactly(u64),
    /// No more bytes than that: time or chance may make it less.
    AtMost(u64),
    /// Only time is a limit.
    Unbounded,
    /// The target's size decides, and is not known.
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
    pub(super) fn of(workload: &Workload, target: Option<&Target>) -> Self {
        let jobs = &workload.jobs;
        let buffers = |job: &Job| job.total_depth().saturating_mul(job.max_block_bytes());
        Self {
            workers: jobs.iter().map(|job| u64::from(job.numjobs)).sum(),
            in_flight: jobs.iter().map(Job::total_depth).fold(0, u64::saturating_add),
            buffer_bytes: jobs.iter().map(buffers).fold(0, u64::saturating_add),
            written: jobs
                .iter()
                .map(|job| written(job, target))
                .fold(Volume::None, Volume::plus),
            time: time(jobs),
        }
    }
}

impl Volume {
    /// The less certain of the two, with the sum of what is known.
    fn plus(self, other: Self) -> Self {
        use Volume::{AtMost, Exactly, None, Unbounded, Unknown};
        match (self, other) {
            (None, volume) | (volume, None) => volume,
            (Exactly(a), Exactly(b)) => Exactly(a.saturating_add(b)),
            (Exactly(a) | AtMost(a), Exactly(b) | AtMost(b)) => AtMost(a.saturating_add(b)),
            (Unbounded, _) | (_, Unbounded) => Unbounded,
            (Unknown, _) | (_, Unknown) => Unknown,
        }
    }
}

/// What a job writes. Laying out files that are missing comes on top.
fn written(job: &Job, target: Option<&Target>) -> Volume {
    if !job.writes() || job.pattern.mix == Mix::Trim {
        return Volume::None;
    }
    let workers = u64::from(job.numjobs);
    let runtime = job
        .limit
        .runtime
        .map(|runtime| Nanos(runtime.get().saturating_add(job.limit.ramp_time.get())));
    // A schedule bounds what time lets through.
    let by_rate = runtime.and_then(|runtime| Some(bytes_in(job, runtime)?.saturating_mul(workers)));
    let by_size = work_bytes(job, target).map(|bytes| write_share(job, bytes.saturating_mul(workers)));
    if job.limit.time_based && runtime.is_some() {
        return by_rate.map_or(Volume::Unbounded, Volume::AtMost);
    }
    match (by_size, by_rate) {
        (Some(size), Some(rate)) => Volume::AtMost(size.min(rate)),
        (Some(size), None) if runtime.is_some() || matches!(job.pattern.mix, Mix::ReadWrite { .. }) => {
            Volume::AtMost(size)
        }
        (Some(size), None) => Volume::Exactly(size),
        (None, Some(rate)) => Volume::AtMost(rate),
        (None, None) => Volume::Unknown,
    }
}

/// The part of a job's bytes that is written; of a mix, drawn at random, its expected part.
fn write_share(job: &Job, bytes: u64) -> u64 {
    match job.pattern.mix {
        Mix::ReadWrite { read_percent } => {
            let percent = 100 - u128::from(read_percent.min(100));
            (u128::from(bytes) * percent / 100) as u64
        }
        _ => bytes,
    }
}

/// Bytes that one worker's write schedule has in a time.
fn bytes_in(job: &Job, time: Nanos) -> Option<u64> {
    let per_second = match job.pace.rate[1]? {
        Rate::BytesPerSecond(bytes) => u128::from(bytes),
        Rate::Iops(iops) => u128::from(iops) * u128::from(job.block_size[1].max()),
    };
    u64::try_from(per_second.saturating_mul(u128::from(time.get())) / 1_000_000_000).ok()
}

/// Bytes that one worker reads, writes and trims, unless time ends it; `None`: only the files know.
fn work_bytes(job: &Job, target: Option<&Target>) -> Option<u64> {
    let region = &job.region;
    let whole = target
        .and_then(|target| target.files.first())
        .map(|file| file.size_bytes);
    let bytes = match region.io_size.or(region.size) {
        Some(Amount::Bytes(bytes)) => bytes,
        Some(Amount::Percent(percent)) => (u128::from(whole?) * u128::from(percent) / 100) as u64,
        None => whole?,
    };
    let bytes = bytes.saturating_mul(u64::from(region.loops.max(1)));
    Some(match region.number_ios {
        Some(ios) => bytes.min(ios.saturating_mul(job.max_block_bytes())),
        None => bytes,
    })
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

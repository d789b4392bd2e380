//! How many I/Os a job does, and how many bytes they move.
//!
//! Data in: a job and what its files give it. Data out: [`Work`]. The rules are those of the engine's patterns
//! (docs/measuring.md, "Amounts"): where they do not settle a number, it is a bound.

use super::Bound;
use crate::dry_run::placement::{PlacedJob, PlacedWorker};
use fathom_core::units::Nanos;
use fathom_core::workload::{Arrival, BlockSize, Distribution, EngineKind, Job, Mix, RandomMap, Rate};

/// What is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Work {
    pub(super) ios: Bound,
    pub(super) bytes: Bound,
    pub(super) written_bytes: Bound,
}

impl Work {
    pub(super) const NONE: Self = Self::all(Bound::Exactly(0));
    const UNBOUNDED: Self = Self::all(Bound::Unbounded);
    const UNKNOWN: Self = Self::all(Bound::Unknown);

    const fn all(bound: Bound) -> Self {
        Self {
            ios: bound,
            bytes: bound,
            written_bytes: bound,
        }
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            ios: self.ios.plus(other.ios),
            bytes: self.bytes.plus(other.bytes),
            written_bytes: self.written_bytes.plus(other.written_bytes),
        }
    }

    /// With other I/Os and bytes, and as much written.
    fn moving(self, change: impl Fn(Bound) -> Bound) -> Self {
        Self {
            ios: change(self.ios),
            bytes: change(self.bytes),
            ..self
        }
    }

    /// Of one job, over all its workers.
    pub(super) fn of(job: &Job, placed: Option<&PlacedJob>) -> Self {
        let mut work = amounts(job, placed);
        // What the null engine or a network takes is kept nowhere.
        let kept = !matches!(job.engine.kind, EngineKind::Null | EngineKind::Net);
        if !job.writes() || job.pattern.mix == Mix::Trim || !kept {
            work.written_bytes = Bound::Exactly(0);
        }
        work
    }
}

fn amounts(job: &Job, placed: Option<&PlacedJob>) -> Work {
    if let Some(replay) = &job.replay {
        return Work {
            ios: Bound::Exactly(replay.ios[..3].iter().sum()),
            bytes: Bound::Exactly(replay.bytes.iter().sum()),
            written_bytes: Bound::Exactly(replay.bytes[1]),
        };
    }
    let limit = &job.limit;
    let time = limit
        .runtime
        .map(|runtime| Nanos(runtime.get().saturating_add(limit.ramp_time.get())));
    let by_rate = time.and_then(|time| scheduled(job, time));
    if limit.time_based && time.is_some() {
        return by_rate.unwrap_or(Work::UNBOUNDED);
    }
    let by_size = placed.map_or(Work::UNKNOWN, |placed| {
        let workers = placed.workers.iter();
        let each = workers.map(|worker| of_worker(job, worker));
        each.fold(Work::NONE, Work::plus)
    });
    if time.is_none() {
        return by_size;
    }
    let cap = |bound: Option<Bound>| match bound {
        Some(Bound::AtMost(n) | Bound::About(n)) => Some(n),
        _ => None,
    };
    Work {
        ios: by_size.ios.or_sooner(cap(by_rate.map(|work| work.ios))),
        bytes: by_size.bytes.or_sooner(cap(by_rate.map(|work| work.bytes))),
        written_bytes: by_size
            .written_bytes
            .or_sooner(cap(by_rate.map(|work| work.written_bytes))),
    }
}

/// What the schedules of all workers have in a time; `None` where a direction has none, or what is written is read
/// back.
fn scheduled(job: &Job, time: Nanos) -> Option<Work> {
    if job.verify.as_ref().is_some_and(|verify| verify.read_back) {
        return None;
    }
    let workers = u128::from(job.numjobs);
    let narrow = |n: u128| u64::try_from(n).unwrap_or(u64::MAX);
    let (mut ios, mut bytes, mut written) = (0u128, 0u128, 0u128);
    for op in job.used_ops() {
        let (smallest, largest) = (job.block_size[op].min().max(1), job.block_size[op].max());
        let due =
            |per_second: u64| u128::from(per_second).saturating_mul(u128::from(time.get())) / 1_000_000_000;
        // The first is due at once.
        let (n, moved) = match job.pace.rate[op]? {
            Rate::Iops(iops) => {
                let n = due(iops) + 1;
                (n, n.saturating_mul(u128::from(largest)))
            }
            Rate::BytesPerSecond(rate) => {
                let moved = due(rate).saturating_add(u128::from(largest));
                (moved.div_ceil(u128::from(smallest)), moved)
            }
        };
        ios = ios.saturating_add(n.saturating_mul(workers));
        bytes = bytes.saturating_add(moved.saturating_mul(workers));
        if op == 1 {
            written = moved.saturating_mul(workers);
        }
    }
    let bound = match job.pace.arrival {
        Arrival::Constant => Bound::AtMost,
        Arrival::Poisson => Bound::About,
    };
    Some(Work {
        ios: bound(narrow(ios)),
        bytes: bound(narrow(bytes)),
        written_bytes: bound(narrow(written)),
    })
}

/// One worker, all its passes.
fn of_worker(job: &Job, worker: &PlacedWorker) -> Work {
    let mut pass = pass(job, worker);
    if job.pattern.mix == Mix::TrimWrite {
        // Each block is trimmed, then written.
        pass = pass.moving(|all| all.times(2));
    }
    if let Some(most) = job.region.number_ios {
        let bytes = most.saturating_mul(job.max_block_bytes());
        pass.ios = pass.ios.map(|ios| ios.min(most));
        pass.bytes = pass.bytes.map(|all| all.min(bytes));
    }
    pass.written_bytes = written(job, pass.bytes);
    let verify = job.verify.as_ref();
    let reads_back = verify.is_some_and(|verify| verify.read_back && !verify.only);
    if reads_back && job.writes() {
        pass = pass.moving(|all| match job.pattern.mix {
            Mix::Write => all.times(2),
            _ => all.times(2).or_sooner(None),
        });
    }
    let passes = u64::from(job.region.loops.max(1));
    Work {
        written_bytes: pass.written_bytes.times(passes),
        ..pass.moving(|all| all.times(passes))
    }
}

/// The part of the bytes that is written; of a mix, drawn at random, its expected part.
fn written(job: &Job, bytes: Bound) -> Bound {
    match (job.pattern.mix, bytes) {
        (Mix::ReadWrite { read_percent }, bytes) => {
            let percent = 100 - u128::from(read_percent.min(100));
            let part = |bytes: u64| (u128::from(bytes) * percent / 100) as u64;
            match bytes.map(part) {
                Bound::Exactly(n) => Bound::About(n),
                other => other,
            }
        }
        (Mix::TrimWrite, bytes) => bytes.map(|bytes| bytes / 2),
        (_, bytes) => bytes,
    }
}

/// One pass over a worker's files, each block once.
fn pass(job: &Job, worker: &PlacedWorker) -> Work {
    let amount = worker.amount_bytes;
    let (smallest, largest) = (job.min_block_bytes().max(1), job.max_block_bytes());
    // Each block once, or until the amount is reached: then the last block may go beyond it.
    let each_once = job.region.io_size.is_none() && !draws_independently(job);
    if !is_even(job) {
        let over = if each_once { 0 } else { largest.saturating_sub(1) };
        return Work {
            ios: Bound::AtMost(amount.div_ceil(smallest)),
            bytes: Bound::AtMost(amount.saturating_add(over)),
            written_bytes: Bound::Unknown,
        };
    }
    let mut ios = amount.div_ceil(smallest);
    if each_once {
        let whole = |sum: u64, &(_, bytes): &(u64, u64)| sum.saturating_add(bytes / smallest);
        ios = ios.min(worker.regions.iter().fold(0, whole));
    }
    Work {
        ios: Bound::Exactly(ios),
        bytes: Bound::Exactly(ios.saturating_mul(smallest)),
        written_bytes: Bound::Unknown,
    }
}

fn draws_independently(job: &Job) -> bool {
    let skewed = |op: usize| job.pattern.distribution[op] != Distribution::Uniform;
    job.pattern.random && (job.pattern.random_map == RandomMap::Independent || job.used_ops().any(skewed))
}

/// Whether all blocks have one size, and lie one behind the other.
fn is_even(job: &Job) -> bool {
    let shape = &job.pattern;
    let size = job.min_block_bytes();
    job.used_ops().all(|op| {
        job.block_size[op] == BlockSize::Fixed(size)
            && (job.block_align[op] == 0 || job.block_align[op] == size)
            && (!shape.random || shape.random_percent[op] == 100)
    }) && shape.run_length <= 1
        && (shape.random || shape.skip_bytes == 0)
}

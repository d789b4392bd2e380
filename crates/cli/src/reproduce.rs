//! Published experiments, carried out on the disk model.
//!
//! Data in: experiments. Data out: the outcomes of their runs, in their order. Runs share nothing, so that they are carried
//! out side by side; what comes out does not depend on how many at a time. It must not judge.

pub(crate) mod experiment;
mod single;

use crate::live;
use anyhow::Context;
use experiment::Experiment;
use fathom_analysis::figures::Outcome;
use single::Single;
use std::sync::{Mutex, PoisonError};

/// Runs at a time, where there are as many processors.
const THREADS_MAX: usize = 2;

/// What an experiment left.
#[derive(Debug, Default)]
pub(crate) struct Carried {
    /// Of each run; of one that runs each section for itself, of each of those.
    pub outcomes: Vec<Outcome>,
    /// I/Os of all runs.
    pub ios: u64,
    /// Virtual time of all runs.
    pub virtual_ns: u64,
}

/// Carries all `experiments` out.
pub(crate) fn carry_out(experiments: &[Experiment], quiet: bool) -> anyhow::Result<Vec<Carried>> {
    let mut singles: Vec<(usize, Single)> = Vec::new();
    for (number, experiment) in experiments.iter().enumerate() {
        let prepared = single::prepare(experiment).with_context(|| experiment.name.clone())?;
        singles.extend(prepared.into_iter().map(|single| (number, single)));
    }
    let steps = Some(singles.len() as u64);
    let bar = live::bar(steps, "{pos} of {len} runs {wide_bar} {elapsed}", quiet);
    let lefts = side_by_side(&singles, |(_, single)| {
        let left = single.carry_out();
        bar.inc(1);
        left
    });
    bar.finish_and_clear();
    let mut carried: Vec<Carried> = experiments.iter().map(|_| Carried::default()).collect();
    for ((number, _), left) in singles.iter().zip(lefts) {
        let left = left.with_context(|| experiments[*number].name.clone())?;
        let of = &mut carried[*number];
        let jobs = left.outcomes.iter().flat_map(|outcome| &outcome.jobs);
        of.ios += jobs.map(|job| job.read.ios + job.write.ios).sum::<u64>();
        of.virtual_ns += left.virtual_ns;
        of.outcomes.extend(left.outcomes);
    }
    Ok(carried)
}

/// What `work` makes of each item, in their order.
fn side_by_side<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let left = Mutex::new(items.iter().enumerate());
    let next = || left.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work_off = || -> Vec<(usize, R)> {
        std::iter::from_fn(next)
            .map(|(at, item)| (at, work(item)))
            .collect()
    };
    let mut done: Vec<(usize, R)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.min(THREADS_MAX))
            .map(|_| scope.spawn(work_off))
            .collect();
        let joined = workers.into_iter().map(std::thread::ScopedJoinHandle::join);
        joined
            .flat_map(|done| done.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests;

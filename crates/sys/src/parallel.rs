//! Work on many things, on all cores.
//!
//! Data in: a slice and what to do with a part of it. Data out: what came of each, in order. It must not be used while a load
//! is measured.

use std::num::NonZero;

/// Fewer are not worth a thread.
const WORTH_A_THREAD: usize = 1000;

/// Has `work` done on all of `items`, in as many parts as there are cores and parts worth a thread; the results stand in the
/// order of the items.
pub fn in_parts<T: Sync, R: Send>(items: &[T], work: impl Fn(&[T]) -> Vec<R> + Sync) -> Vec<R> {
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let each = items.len().div_ceil(cores).max(WORTH_A_THREAD);
    if items.len() <= each {
        return work(items);
    }
    let work = &work;
    std::thread::scope(|scope| {
        let (own, others) = items.split_at(each);
        let others: Vec<_> = others
            .chunks(each)
            .map(|part| scope.spawn(move || work(part)))
            .collect();
        let mut results = work(own);
        for other in others {
            let part = other.join();
            results.extend(part.unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        results
    })
}

#[cfg(test)]
mod tests;

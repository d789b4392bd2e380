//! Sequences that the workers of a job share, one a file.
//!
//! Data in: the plan of a job. Data out: the pointers of each of its workers, in the order of its files.

use crate::plan::{FilePlan, JobPlan, WorkerFiles};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// The pointers of one job; none where each worker has its own.
#[derive(Debug, Default)]
pub(crate) struct Sequences<'a> {
    pointers: BTreeMap<(&'a Path, u64, u64), Arc<AtomicU64>>,
}

/// Workers share where they have the same part of the same file.
fn key(file: &FilePlan) -> (&Path, u64, u64) {
    (&file.path, file.span.start, file.span.bytes)
}

impl<'a> Sequences<'a> {
    /// Those of `plan`.
    pub(crate) fn new(plan: &'a JobPlan) -> Self {
        let pattern = &plan.job.pattern;
        let mut pointers = BTreeMap::new();
        if pattern.shared_sequence && !pattern.random {
            for file in plan.workers.iter().flat_map(|worker| &worker.files) {
                pointers.entry(key(file)).or_default();
            }
        }
        Self { pointers }
    }

    /// Those of one of its workers, in the order of its files; empty where it has its own.
    pub(crate) fn of(&self, worker: &WorkerFiles) -> Vec<Arc<AtomicU64>> {
        let pointers = worker
            .files
            .iter()
            .map_while(|file| self.pointers.get(&key(file)));
        pointers.map(Arc::clone).collect()
    }
}

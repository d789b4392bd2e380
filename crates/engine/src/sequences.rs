//! Sequences that workers share, one for each part of a file.
//!
//! Data in: the plans of jobs that start. Data out: the pointers of each worker, in the order of its files. They live as
//! long as the run, so that a job that starts later goes on where the others are.

use crate::plan::{FilePlan, JobPlan, WorkerFiles};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// The pointers of a run.
#[derive(Debug, Default)]
pub(crate) struct Sequences {
    pointers: BTreeMap<(PathBuf, u64, u64), Arc<AtomicU64>>,
}

/// Workers share where they have the same part of the same file.
fn key(file: &FilePlan) -> (PathBuf, u64, u64) {
    (file.path.clone(), file.span.start, file.span.bytes)
}

impl Sequences {
    /// Those of one worker of `plan`, in the order of its files; empty where it has its own.
    pub(crate) fn of(&mut self, plan: &JobPlan, worker: &WorkerFiles) -> Vec<Arc<AtomicU64>> {
        let pattern = &plan.job.pattern;
        if !pattern.shared_sequence || pattern.random {
            return Vec::new();
        }
        let pointer = |file| Arc::clone(self.pointers.entry(key(file)).or_default());
        worker.files.iter().map(pointer).collect()
    }
}

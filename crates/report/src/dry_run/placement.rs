//! Where a workload goes: what the files that are there give it.
//!
//! Data in: the plan, from whoever looked at the files. Data out: plain data for the words and the sums. It must not look
//! at files.

use fathom_core::run::Target;
use fathom_core::workload::Job;
use serde::{Serialize, Serializer};
use std::path::{Path, PathBuf};

/// A workload on its files.
#[derive(Debug, Clone, PartialEq)]
pub struct Placement {
    /// What it is aimed at.
    pub target: Target,
    /// Each job, in the order of the workload's.
    pub jobs: Vec<PlacedJob>,
    /// Each file or device, once.
    pub files: Vec<PlacedFile>,
}

/// One job on its files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedJob {
    pub workers: Vec<PlacedWorker>,
}

/// One worker on its files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlacedWorker {
    /// The part of each of its files that it uses: first byte and length, both in bytes.
    #[serde(serialize_with = "regions")]
    pub regions: Vec<(u64, u64)>,
    /// What one pass moves, in bytes.
    pub amount_bytes: u64,
}

/// One file or device, and what has to be done to it before the first I/O.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlacedFile {
    #[serde(serialize_with = "path")]
    pub path: PathBuf,
    /// Its size; `None`: it is still to be made.
    pub size_bytes: Option<u64>,
    /// The size that it needs.
    pub need_bytes: u64,
    /// What is written to it before the run.
    pub filled_bytes: u64,
    /// What is reserved for it before the run, without writing it.
    pub reserved_bytes: u64,
}

/// By their names, one by one: of many workers, all of them would be many times the text.
fn regions<S: Serializer>(regions: &[(u64, u64)], serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Region {
        offset_bytes: u64,
        size_bytes: u64,
    }
    serializer.collect_seq(regions.iter().map(|&(offset_bytes, size_bytes)| Region {
        offset_bytes,
        size_bytes,
    }))
}

/// As it is shown, whatever its letters.
fn path<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
}

impl PlacedWorker {
    /// All its regions together, in bytes.
    pub(super) fn region_bytes(&self) -> u64 {
        self.regions
            .iter()
            .fold(0, |sum, &(_, bytes)| sum.saturating_add(bytes))
    }
}

impl PlacedJob {
    /// What `size=` came to, of the worker with the least and the one with the most, in bytes.
    pub(super) fn size_bytes(&self, job: &Job) -> Option<(u64, u64)> {
        // With file sizes of their own, files are used in full and size= says how much is done on them.
        let by_amount = job.region.file_size.is_some() && job.region.io_size.is_none();
        self.bounds(|worker| {
            if by_amount {
                worker.amount_bytes
            } else {
                worker.region_bytes()
            }
        })
    }

    /// What one pass moves, of the worker with the least and the one with the most, in bytes.
    pub(super) fn amount_bytes(&self) -> Option<(u64, u64)> {
        self.bounds(|worker| worker.amount_bytes)
    }

    /// Where the first worker begins in its first file.
    pub(super) fn offset_bytes(&self) -> Option<u64> {
        self.start_of(0)
    }

    /// How much further the second worker begins.
    pub(super) fn increment_bytes(&self) -> Option<u64> {
        self.start_of(1)?.checked_sub(self.start_of(0)?)
    }

    fn start_of(&self, worker: usize) -> Option<u64> {
        let region = self.workers.get(worker)?.regions.first()?;
        Some(region.0)
    }

    fn bounds(&self, bytes: impl Fn(&PlacedWorker) -> u64) -> Option<(u64, u64)> {
        let all = || self.workers.iter().map(&bytes);
        Some((all().min()?, all().max()?))
    }
}

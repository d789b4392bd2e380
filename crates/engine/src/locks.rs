//! Locks on files: I/Os of several workers on one file keep each other out (`lockfile`).
//!
//! Data in: what a worker wants to send, what was completed. Data out: whether it may. A worker that may not looks again; nobody
//! is put to sleep. It must not know when.

use fathom_core::backend::Op;
use fathom_core::workload::FileLocks;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Held by one alone.
const ALONE: u32 = u32::MAX;

/// All files of a run that are locked.
#[derive(Debug, Default)]
pub(crate) struct LockedFiles {
    all: BTreeMap<PathBuf, Arc<AtomicU32>>,
}

/// The locks on the files of one worker.
#[derive(Debug)]
pub(crate) struct Locks {
    /// Those that read share.
    shares: bool,
    files: Box<[Held]>,
}

/// One of them.
#[derive(Debug)]
struct Held {
    /// [`ALONE`], or how many workers share it.
    lock: Arc<AtomicU32>,
    /// I/Os of this worker under it.
    ios: u32,
    alone: bool,
}

impl LockedFiles {
    /// Those of a worker with these files; `None`: none is locked.
    pub(crate) fn of<'p>(&mut self, how: FileLocks, paths: impl Iterator<Item = &'p Path>) -> Option<Locks> {
        if how == FileLocks::None {
            return None;
        }
        let held = |path: &Path| Held {
            lock: Arc::clone(self.all.entry(path.to_owned()).or_default()),
            ios: 0,
            alone: false,
        };
        Some(Locks {
            shares: how == FileLocks::ReadWrite,
            files: paths.map(held).collect(),
        })
    }
}

impl Locks {
    /// Takes the lock for an I/O on a file; `false`: somebody else has it, or this worker itself for reads alone.
    pub(crate) fn take(&mut self, op: Op, file: u32) -> bool {
        let alone = !(self.shares && op == Op::Read);
        let Some(held) = self.files.get_mut(file as usize) else {
            return true;
        };
        if held.ios > 0 {
            let may = held.alone || !alone;
            held.ios += u32::from(may);
            return may;
        }
        let took = held
            .lock
            .fetch_update(Ordering::Acquire, Ordering::Relaxed, |now| match (now, alone) {
                (0, true) => Some(ALONE),
                (ALONE, _) | (_, true) => None,
                (readers, false) => Some(readers + 1),
            });
        if took.is_ok() {
            (held.ios, held.alone) = (1, alone);
        }
        took.is_ok()
    }

    /// An I/O on a file has ended.
    pub(crate) fn give_back(&mut self, file: u32) {
        let Some(held) = self.files.get_mut(file as usize).filter(|held| held.ios > 0) else {
            return;
        };
        held.ios -= 1;
        if held.ios == 0 {
            held.release();
        }
    }
}

impl Held {
    fn release(&self) {
        if self.alone {
            self.lock.store(0, Ordering::Release);
        } else {
            self.lock.fetch_sub(1, Ordering::Release);
        }
    }
}

impl Drop for Held {
    /// A worker that ended in the middle lets the others go on.
    fn drop(&mut self) {
        if self.ios > 0 {
            self.release();
        }
    }
}

#[cfg(test)]
mod tests;

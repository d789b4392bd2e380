//! Every I/O, on its way from the workers to who keeps it.
//!
//! Data in: I/Os as they complete, from the measured threads. Data out: the same, taken from outside of them. In real
//! time each worker has a ring that neither locks nor allocates: what does not fit is dropped and counted. In virtual
//! time nothing is lost: there the run waits. It must not know where the rows go.

use crate::interval::Stamps;
use fathom_core::backend::{Outcome, Request};
use fathom_core::record::IoRecord;
use rtrb::{Consumer, Producer, PushError, RingBuffer};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Memory of all rings together: 0.4 s at 300,000 I/Os a second.
const RINGS_BYTES: usize = 8 << 20;
/// No ring has fewer rows than this, however many workers there are.
const RING_ROWS_MIN: usize = 1024;
/// In virtual time: rows handed over together.
const BATCH_ROWS: usize = 16 << 10;

/// The way of all I/Os of one run.
#[derive(Debug)]
pub struct IoRecording {
    ring_rows: usize,
    /// A worker whose ring is full waits.
    waits: bool,
    batches: Option<SyncSender<Vec<IoRecord>>>,
    dropped: Arc<AtomicU64>,
    /// The reading ends of the rings.
    sources: Mutex<Vec<Consumer<IoRecord>>>,
    tasks: Mutex<Vec<WorkerTask>>,
}

/// Which task of the system a worker is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkerTask {
    /// Its job section.
    pub job: u32,
    /// Its number within the section.
    pub worker: u32,
    /// Its thread's number.
    pub tid: u32,
}

impl IoRecording {
    /// For a run in real time of so many workers in all.
    pub fn rings(workers: usize) -> Self {
        let rows = RINGS_BYTES / size_of::<IoRecord>() / workers.max(1);
        Self {
            ring_rows: rows.max(RING_ROWS_MIN),
            waits: false,
            batches: None,
            dropped: Arc::default(),
            sources: Mutex::default(),
            tasks: Mutex::default(),
        }
    }

    /// The same where every I/O is kept: a worker whose ring is full waits until there is room. That costs the load its
    /// pace, and is asked for by those who want each I/O more than that.
    #[must_use]
    pub fn waiting(mut self) -> Self {
        self.waits = true;
        self
    }

    /// For a run in virtual time, which waits where the receiver of `batches` is behind.
    pub fn lossless(batches: SyncSender<Vec<IoRecord>>) -> Self {
        Self {
            batches: Some(batches),
            ring_rows: 0,
            ..Self::rings(0)
        }
    }

    /// What a worker records with, made before its first I/O.
    pub(crate) fn recorder(&self, job: u32, worker: u32) -> IoRecorder {
        let way = if let Some(batches) = &self.batches {
            Way::Batches {
                batch: Vec::new(),
                batches: batches.clone(),
            }
        } else {
            let (ring, rows) = RingBuffer::new(self.ring_rows);
            lock(&self.sources).push(rows);
            Way::Ring {
                ring,
                dropped: Arc::clone(&self.dropped),
                waits: self.waits,
            }
        };
        IoRecorder { job, worker, way }
    }

    /// Notes the task that a worker is.
    pub(crate) fn runs_as(&self, task: WorkerTask) {
        lock(&self.tasks).push(task);
    }

    /// Gives all that has come since the last call to `take`, a worker after the other, and says how many rows.
    pub fn drain(&self, take: &mut dyn FnMut(&[IoRecord])) -> u64 {
        let mut drained = 0;
        // Taking may wait for a disk; a worker that begins meanwhile does not wait with it.
        let mut sources = std::mem::take(&mut *lock(&self.sources));
        sources.retain_mut(|source| {
            // Asked before what is there: nothing comes after it.
            let ended = source.is_abandoned();
            // As many as there are, so that there is no error.
            let Ok(rows) = source.read_chunk(source.slots()) else {
                return true;
            };
            let (first, second) = rows.as_slices();
            for part in [first, second] {
                if !part.is_empty() {
                    take(part);
                }
            }
            drained += rows.len() as u64;
            rows.commit_all();
            !ended
        });
        lock(&self.sources).append(&mut sources);
        drained
    }

    /// I/Os that found their ring full, and were not recorded.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// The tasks of the workers that have begun so far.
    pub fn tasks(&self) -> Vec<WorkerTask> {
        lock(&self.tasks).clone()
    }
}

/// What a panic elsewhere left is whole: all changes are of one step.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What one worker records with.
#[derive(Debug)]
pub(crate) struct IoRecorder {
    job: u32,
    worker: u32,
    way: Way,
}

#[derive(Debug)]
enum Way {
    Ring {
        ring: Producer<IoRecord>,
        dropped: Arc<AtomicU64>,
        waits: bool,
    },
    Batches {
        batch: Vec<IoRecord>,
        batches: SyncSender<Vec<IoRecord>>,
    },
}

impl IoRecorder {
    /// Records an I/O that is complete.
    #[inline]
    pub(crate) fn record(
        &mut self,
        request: &Request,
        stamps: &Stamps,
        (depth, priority): (u32, u8),
        errno: u16,
    ) {
        let row = IoRecord {
            intended_ns: stamps.intended,
            created_ns: stamps.created,
            submitted_ns: stamps.submitted,
            completed_ns: stamps.completed,
            offset_bytes: request.offset,
            len_bytes: request.len,
            file: request.file,
            job: self.job,
            worker: self.worker,
            depth,
            errno,
            op: request.op,
            priority,
        };
        match &mut self.way {
            Way::Ring { ring, dropped, waits } => {
                if let Err(PushError::Full(row)) = ring.push(row)
                    && !(*waits && push_surely(ring, row))
                {
                    drop_one(dropped);
                }
            }
            Way::Batches { batch, .. } => {
                batch.push(row);
                if batch.len() >= BATCH_ROWS {
                    self.hand_over();
                }
            }
        }
    }

    /// Hands over what is kept back: in virtual time once a second, so that the rows of all workers lie close.
    #[cold]
    pub(crate) fn hand_over(&mut self) {
        if let Way::Batches { batch, batches } = &mut self.way
            && !batch.is_empty()
        {
            let full = std::mem::replace(batch, Vec::with_capacity(BATCH_ROWS));
            // The receiver is gone only when nothing is kept any more, which it has reported.
            drop(batches.send(full));
        }
    }
}

/// Waits for room; `false`: nobody takes anything any more.
#[cold]
#[inline(never)]
fn push_surely(ring: &mut Producer<IoRecord>, row: IoRecord) -> bool {
    while !ring.is_abandoned() {
        std::thread::yield_now();
        if ring.push(row).is_ok() {
            return true;
        }
    }
    false
}

#[cold]
fn drop_one(dropped: &AtomicU64) {
    dropped.fetch_add(1, Ordering::Relaxed);
}

/// The `errno` of an outcome; 0 where there is none, or it does not fit.
#[inline]
pub(crate) fn errno_of(outcome: Outcome) -> u16 {
    outcome
        .err()
        .map_or(0, |errno| u16::try_from(errno.0).unwrap_or(u16::MAX))
}

#[cfg(test)]
mod tests;

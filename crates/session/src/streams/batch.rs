//! Rows on their way to the disk, and those that did not fit.

use fathom_core::record::{
    BlockRequest, CounterRow, CpuShare, IoRecord, KernelSpan, ProcessRow, SchedSlice, StreamKind,
};
use std::sync::atomic::{AtomicU64, Ordering};

/// Rows on their way to the disk.
#[derive(Debug)]
pub(super) enum Batch {
    Io(Vec<IoRecord>),
    Block(Vec<BlockRequest>),
    Counters(Vec<CounterRow>),
    Processes(Vec<ProcessRow>),
    Sched(Vec<SchedSlice>),
    Cpus(Vec<CpuShare>),
    Kernel(Vec<KernelSpan>),
}

impl Batch {
    /// Its stream, and how many rows it has.
    pub(super) fn size(&self) -> (StreamKind, usize) {
        match self {
            Self::Io(rows) => (StreamKind::Io, rows.len()),
            Self::Block(rows) => (StreamKind::Block, rows.len()),
            Self::Counters(rows) => (StreamKind::Counters, rows.len()),
            Self::Processes(rows) => (StreamKind::Processes, rows.len()),
            Self::Sched(rows) => (StreamKind::Sched, rows.len()),
            Self::Cpus(rows) => (StreamKind::Cpus, rows.len()),
            Self::Kernel(rows) => (StreamKind::Kernel, rows.len()),
        }
    }
}

/// What was lost of each kind of stream: rows that did not fit into the queue, and events that the kernel could not keep.
#[derive(Debug, Default)]
pub(super) struct Dropped {
    rows: [AtomicU64; StreamKind::ALL.len()],
    events: [AtomicU64; StreamKind::ALL.len()],
}

impl Dropped {
    pub(super) fn rows(&self, kind: StreamKind) -> u64 {
        self.rows[kind as usize].load(Ordering::Relaxed)
    }

    pub(super) fn add(&self, kind: StreamKind, rows: usize) {
        self.rows[kind as usize].fetch_add(rows as u64, Ordering::Relaxed);
    }

    /// By now the kernel has lost so many events of it.
    pub(super) fn set_events(&self, kind: StreamKind, events: u64) {
        self.events[kind as usize].store(events, Ordering::Relaxed);
    }

    /// All that is lost by now.
    pub(super) fn total(&self, kind: StreamKind) -> u64 {
        self.rows(kind) + self.events[kind as usize].load(Ordering::Relaxed)
    }
}

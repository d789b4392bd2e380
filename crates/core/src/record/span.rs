//! What the kernel did for a while that may hold others up.

use super::Comm;

/// What a [`KernelSpan`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum SpanKind {
    /// A journal committed a transaction: `about` is its number, `by` the task whose sync or wait asked for it.
    JournalCommit = 0,
    /// A task reclaimed memory, for its cgroup or for all: `about` is how many nanoseconds of it it was made to wait.
    Reclaim = 1,
    /// A task was made to wait because too much was dirty: `by` is who made most of the pages of the device dirty lately.
    DirtyThrottle = 2,
    /// A kernel worker wrote pages of an inode (`about`) back: `by` is who made most of them dirty.
    Writeback = 3,
    /// A task was in `fsync` or `fdatasync` of an inode (`about`).
    Sync = 4,
    /// A task was stopped by a signal (`about`) that `by` sent.
    Stopped = 5,
    /// A control group of version 2 was frozen by `by`: `comm` is the last part of its path, `about` its number, and there is no
    /// task.
    Frozen = 6,
    /// A CPU (`about`) did not run: its timers came late by that long. A machine that its hypervisor does not run, or interrupts
    /// that were held off; there is no task.
    Standstill = 7,
}

impl SpanKind {
    /// All, in the order of their numbers.
    pub const ALL: [Self; 8] = [
        Self::JournalCommit,
        Self::Reclaim,
        Self::DirtyThrottle,
        Self::Writeback,
        Self::Sync,
        Self::Stopped,
        Self::Frozen,
        Self::Standstill,
    ];

    /// As a column has it.
    pub const fn name(self) -> &'static str {
        [
            "journal_commit",
            "reclaim",
            "dirty_throttle",
            "writeback",
            "sync",
            "stopped",
            "frozen",
            "standstill",
        ][self as usize]
    }
}

/// Something that the kernel did for a while.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KernelSpan {
    pub kind: SpanKind,
    pub start_ns: u64,
    pub end_ns: u64,
    /// The device that it concerns, `major << 20 | minor`; 0 where there is none.
    pub device: u32,
    /// The task that did it or that it was done to.
    pub tid: u32,
    /// That task's name.
    pub comm: Comm,
    /// Inode, transaction, signal, CPU or what else, by its kind.
    pub about: u64,
    /// On whose behalf; 0 where that is not known.
    pub by_tid: u32,
    /// That task's name; empty where it is not known.
    pub by_comm: Comm,
}

//! One I/O of the load.

use crate::backend::Op;

/// One I/O of the load, from its schedule to its end. 64 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IoRecord {
    /// When its schedule wanted it sent; its creation in a closed loop.
    pub intended_ns: u64,
    /// When it was made.
    pub created_ns: u64,
    /// When the system had it; its creation where the engine is synchronous.
    pub submitted_ns: u64,
    /// When its completion was seen.
    pub completed_ns: u64,
    /// Where, in bytes from the start of the file.
    pub offset_bytes: u64,
    /// How much was asked for, in bytes; 0 for a sync.
    pub len_bytes: u32,
    /// Which of the job's files, counted from 0.
    pub file: u32,
    /// Which job section, in the order of the workload.
    pub job: u32,
    /// Which worker of that section, counted from 0.
    pub worker: u32,
    /// I/Os of this worker in flight right after it was sent, itself among them.
    pub depth: u32,
    /// The positive `errno` with which it failed; 0 where it did not.
    pub errno: u16,
    /// What it did.
    pub op: Op,
    /// Its own priority, class times 8 and level; 0: that of its thread. Logs tell it, the stream does not keep it.
    pub priority: u8,
}

impl IoRecord {
    /// Created to completed, in nanoseconds.
    #[inline]
    pub const fn lat_ns(&self) -> u64 {
        self.completed_ns.saturating_sub(self.created_ns)
    }
}

//! I/Os of a recording, to be asked for again: when each was due, where, and whom it waited for.
//!
//! Data in: what was recorded, whatever it was recorded by. Data out: [`Arrival`]s in the order of their start, made by
//! [`Arrivals`] alone: the planner and the replay see the same load. It must not know files, nor what is asked for again.

mod order;

pub use order::{Arrivals, HELD_NS, Sent, WORKERS, Waits};

use crate::backend::Op;

/// One I/O of a recording, to be asked for again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// When it was to be sent, on the recording's clock.
    pub due_ns: u64,
    /// Of its volume.
    pub offset_bytes: u64,
    pub len_bytes: u32,
    pub op: Op,
    /// The number of the file that it is for, among those of the job that plays it.
    pub file: u16,
    /// Who sent it: a number below [`WORKERS`].
    pub worker: u32,
    /// It was sent when an earlier one was complete, to have so many in flight, itself among them; 0: it waited for none.
    pub depth: u32,
    /// How long after that one's end.
    pub think_ns: u32,
    /// How long it took, from when it was due (of those that waited: from when it was sent).
    pub took_ns: u64,
}

//! From what was recorded to I/Os in the order in which they were sent, and who waited for whom.
//!
//! Data in: I/Os in about the order of their ends, as records have them. Data out: [`Arrival`]s in the order of their start.
//! What says that somebody waited: of a load's own I/Os that they had no schedule (in a closed loop an I/O is intended when it is
//! made); of a device's requests it is concluded: a task that is waited for (`S`) and sends within a millisecond of the end of an earlier
//! one of its own is taken to have waited for that. It must not know files, nor what is asked for again.

use super::Arrival;
use crate::backend::Op;
use crate::record::{BlockFlags, BlockOp, BlockRequest, IoRecord};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// Who sends is told apart so far: tasks and workers beyond it share a number.
pub const WORKERS: u32 = 4_096;
/// What is complete is held back so long before it counts as sent in order: rows of several workers come second by second.
pub const HELD_NS: u64 = 3_000_000_000;
/// Held back, at most.
const HELD_MAX: usize = 4_000_000;
/// A task that sends so soon after the end of an earlier I/O of its own waited for it.
const AT_ONCE_NS: u64 = 1_000_000;
/// Bytes of a sector of the kernel's.
const SECTOR_BYTES: u64 = 512;

/// One I/O as it was recorded, by whatever recorded it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sent {
    pub start_ns: u64,
    /// When it was complete; its start where that is not known.
    pub end_ns: u64,
    /// Of its volume.
    pub offset_bytes: u64,
    /// 0 for a flush.
    pub len_bytes: u32,
    /// Who sent it, by any number.
    pub worker: u32,
    pub op: Op,
    pub waits: Waits,
}

/// Whether somebody waited for an earlier I/O before this one was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waits {
    /// It was sent when it was due.
    No,
    /// It was sent to have so many in flight.
    For(u32),
    /// If an earlier one of its task ended right before.
    Perhaps,
}

/// One that is held back: by its start, and of one start in the order in which they came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Held {
    number: u64,
    sent: Sent,
}

impl Ord for Held {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.sent.start_ns, self.number).cmp(&(other.sent.start_ns, other.number))
    }
}

impl PartialOrd for Held {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Puts I/Os into the order of their start.
#[derive(Debug)]
pub struct Arrivals {
    held: BinaryHeap<Reverse<Held>>,
    /// How many have come.
    number: u64,
    latest_ns: u64,
    sent_to_ns: u64,
    workers: Vec<Worker>,
    ready: Vec<Arrival>,
    /// I/Os whose start was known too late to be put in order: they count from when it was.
    pub late: u64,
}

/// What a worker has in flight, by when it ended.
#[derive(Debug, Clone, Default)]
struct Worker {
    ends: BinaryHeap<Reverse<u64>>,
    last_end_ns: u64,
}

impl Default for Arrivals {
    fn default() -> Self {
        Self {
            held: BinaryHeap::new(),
            number: 0,
            latest_ns: 0,
            sent_to_ns: 0,
            workers: vec![Worker::default(); WORKERS as usize],
            ready: Vec::new(),
            late: 0,
        }
    }
}

impl Arrivals {
    /// Takes requests of one volume, which begins at `base_bytes` of all that was recorded.
    pub fn request(&mut self, row: &BlockRequest, base_bytes: u64) {
        let waited_for = row.flags.has(BlockFlags::SYNC) && !row.flags.has(BlockFlags::READ_AHEAD);
        let flush = row.op == BlockOp::Flush || row.sector == u64::MAX;
        let op = match row.op {
            BlockOp::Other => return,
            _ if flush && row.len_bytes == 0 => Op::Sync,
            _ if row.len_bytes == 0 => return,
            BlockOp::Read => Op::Read,
            BlockOp::Write => Op::Write,
            BlockOp::Discard => Op::Trim,
            BlockOp::Flush => Op::Sync,
        };
        self.sent(Sent {
            start_ns: row.begun_ns(),
            end_ns: row.completed_ns,
            offset_bytes: if flush {
                0
            } else {
                base_bytes.saturating_add(row.sector.saturating_mul(SECTOR_BYTES))
            },
            len_bytes: row.len_bytes,
            worker: row.pid,
            op,
            waits: if waited_for { Waits::Perhaps } else { Waits::No },
        });
    }

    /// Takes an I/O of a load, whose file begins at `base_bytes` of all that was recorded; `paced`: it had a schedule.
    pub fn io(&mut self, row: &IoRecord, base_bytes: u64, paced: bool) {
        let closed = !paced && row.intended_ns == row.created_ns;
        let flush = matches!(row.op, Op::Sync | Op::DataSync);
        if row.errno != 0 || (row.len_bytes == 0 && !flush) {
            return;
        }
        self.sent(Sent {
            start_ns: row.intended_ns.min(row.created_ns),
            end_ns: row.completed_ns,
            offset_bytes: base_bytes.saturating_add(row.offset_bytes),
            len_bytes: row.len_bytes,
            worker: row.job.wrapping_mul(61).wrapping_add(row.worker),
            op: row.op,
            waits: if closed {
                Waits::For(row.depth.max(1))
            } else {
                Waits::No
            },
        });
    }

    /// Takes an I/O of any recording, in about the order of their ends.
    pub fn sent(&mut self, sent: Sent) {
        self.latest_ns = self.latest_ns.max(sent.end_ns);
        self.number += 1;
        self.held.push(Reverse(Held {
            number: self.number,
            sent: Sent {
                worker: sent.worker % WORKERS,
                ..sent
            },
        }));
    }

    /// The I/Os that are in order by now; those of before are gone.
    pub fn ready(&mut self) -> &[Arrival] {
        let until_ns = self.latest_ns.saturating_sub(HELD_NS);
        self.go_on(until_ns);
        &self.ready
    }

    /// All the others, at the end. `false`: there are none.
    pub fn rest(&mut self) -> Option<&[Arrival]> {
        if self.held.is_empty() {
            return None;
        }
        self.go_on(u64::MAX);
        Some(&self.ready)
    }

    fn go_on(&mut self, until_ns: u64) {
        /// At a time, so that memory stays flat.
        const READY: usize = 1 << 16;
        self.ready.clear();
        while let Some(Reverse(first)) = self.held.peek()
            && (first.sent.start_ns <= until_ns || self.held.len() > HELD_MAX)
            && (until_ns != u64::MAX || self.ready.len() < READY)
        {
            let Some(Reverse(Held { sent, .. })) = self.held.pop() else {
                break;
            };
            let arrival = self.arrival(&sent);
            self.ready.push(arrival);
        }
    }

    fn arrival(&mut self, sent: &Sent) -> Arrival {
        self.late += u64::from(sent.start_ns < self.sent_to_ns);
        let due_ns = sent.start_ns.max(self.sent_to_ns);
        self.sent_to_ns = due_ns;
        let worker = &mut self.workers[sent.worker as usize];
        while let Some(&Reverse(end_ns)) = worker.ends.peek()
            && end_ns <= due_ns
        {
            worker.last_end_ns = worker.last_end_ns.max(end_ns);
            worker.ends.pop();
        }
        let since_ns = due_ns.saturating_sub(worker.last_end_ns);
        let in_flight = worker.ends.len() as u32;
        worker.ends.push(Reverse(sent.end_ns.max(due_ns)));
        let depth = match sent.waits {
            Waits::For(depth) => depth,
            Waits::Perhaps if worker.last_end_ns > 0 && since_ns <= AT_ONCE_NS => in_flight + 1,
            Waits::No | Waits::Perhaps => 0,
        };
        Arrival {
            due_ns,
            offset_bytes: sent.offset_bytes,
            len_bytes: sent.len_bytes,
            op: sent.op,
            file: 0,
            worker: sent.worker,
            depth,
            think_ns: match (depth, worker.last_end_ns) {
                (0, _) | (_, 0) => 0,
                _ => u32::try_from(since_ns).unwrap_or(u32::MAX),
            },
            took_ns: sent.end_ns.saturating_sub(due_ns),
        }
    }
}

#[cfg(test)]
mod tests;

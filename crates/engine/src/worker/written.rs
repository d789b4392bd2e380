//! How far the writes of a worker came, for a later run that verifies them.
//!
//! Data in: completions. Data out: their number, and where the last ones were. Its memory is laid out at the start.

use super::Worker;
use crate::pattern::Draw;
use fathom_core::backend::{Outcome, Request};
use fathom_core::workload::{LastWrites, WrittenSoFar};

/// The writes of one worker so far.
#[derive(Debug)]
pub(super) struct Written {
    writes: u64,
    depth: u32,
    /// The last ones that were completed: the number of the file, the offset.
    last: Box<[(u32, u64)]>,
    completed: u64,
}

impl Written {
    /// With so many in flight at most.
    pub(super) fn new(depth: u32) -> Self {
        // Of the last `depth` that were sent, one may be completed before as many that were sent earlier and later.
        let kept = 2 * depth.max(1) as usize;
        Self {
            writes: 0,
            depth: depth.max(1),
            last: vec![(0, 0); kept].into_boxed_slice(),
            completed: 0,
        }
    }

    /// A write has ended.
    #[inline]
    pub(super) fn completed(&mut self, request: &Request, outcome: Outcome) {
        self.writes += 1;
        if outcome == Ok(request.len) {
            let at = self.completed % self.last.len() as u64;
            self.last[at as usize] = (request.file, request.offset);
            self.completed += 1;
        }
    }

    /// All of it, once nothing is in flight.
    pub(super) fn so_far(&self) -> WrittenSoFar {
        let kept = self.last.len() as u64;
        let known = self.completed.min(kept);
        let newest_first = (0..known).map(|back| (self.completed - 1 - back) % kept);
        let last = newest_first.map(|at| self.last[at as usize]);
        WrittenSoFar {
            writes: self.writes,
            depth: self.depth,
            last: LastWrites::Completed(last.collect()),
        }
    }
}

impl Worker {
    /// Whether a block that was drawn to be read back was written, as far as an earlier run came.
    #[inline]
    pub(super) fn was_written(&mut self, draw: &Draw) -> bool {
        let Some(written) = &self.plan.written else {
            return true;
        };
        let index = self.drawn_back;
        self.drawn_back += 1;
        written.holds(index, draw.file, draw.offset)
    }
}

#[cfg(test)]
mod tests;

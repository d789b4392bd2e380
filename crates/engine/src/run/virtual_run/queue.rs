//! The event queues of a run in virtual time.
//!
//! Data in: a time for each slot and each worker. Data out: what comes first.

pub(super) use crate::queue::NEVER;
use crate::queue::Queue;

/// The two queues of a run. Wakes are rare where I/O is dense: they would only make the way up longer.
#[derive(Debug)]
pub(super) struct Queues {
    /// When the I/O in each slot is complete.
    pub(super) slots: Queue,
    wakes: Queue,
    /// The earliest wake and its place; [`NEVER`] without one.
    first_wake: (u64, u32),
}

impl Queues {
    /// Queues for so many slots and workers, that start at `base`.
    pub(super) fn new(slots: usize, workers: usize, base: u64) -> Self {
        Self {
            slots: Queue::new(slots, base),
            wakes: Queue::new(workers, base),
            first_wake: (NEVER, 0),
        }
    }

    /// When the worker at `place` wants to be woken; [`NEVER`]: not of itself.
    pub(super) fn set_wake(&mut self, place: u32, time: u64) {
        self.wakes.set(place, time);
        self.first_wake = self.wakes.earliest().unwrap_or((NEVER, 0));
    }

    /// The earliest wake and its place; [`NEVER`] without one.
    #[inline]
    pub(super) fn first_wake(&self) -> (u64, u32) {
        self.first_wake
    }
}

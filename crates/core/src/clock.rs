//! The clock: the only place that time comes from.
//!
//! Data out: [`MonoTime`]. The real clock lives in `sys`, virtual time in the model; this module must not
//! know either.

use crate::units::{MonoTime, Nanos};
use std::cell::Cell;

/// A source of monotonic time.
pub trait Clock {
    /// Now. Never goes back.
    fn now(&self) -> MonoTime;

    /// Called about once a second from outside the per-I/O path: a clock that drifts against its reference
    /// (the processor's counter against `CLOCK_MONOTONIC`) corrects itself here. Others need do nothing.
    fn discipline(&mut self) {}
}

/// A clock that stands still until told to move: for tests and for virtual time.
#[derive(Debug, Default)]
pub struct ManualClock {
    now: Cell<MonoTime>,
}

impl ManualClock {
    /// A clock that shows `start`.
    pub fn new(start: MonoTime) -> Self {
        Self {
            now: Cell::new(start),
        }
    }
    /// Moves on by `duration`.
    pub fn advance(&self, duration: Nanos) {
        self.now.set(self.now.get().after(duration));
    }
}

impl Clock for ManualClock {
    #[inline]
    fn now(&self) -> MonoTime {
        self.now.get()
    }
}

impl<C: Clock> Clock for &C {
    #[inline]
    fn now(&self) -> MonoTime {
        (**self).now()
    }
}

//! A worker's time: its intervals, its ramp, its counted time, its cooldown.
//!
//! Data in: when it began, and what its plan says. Data out: where a moment lies. It must not know what is counted.

use super::{SECOND, WorkerPlan};
use crate::interval::Phase;
use fathom_core::units::MonoTime;

/// Where the edges are, in nanoseconds of the monotonic clock.
#[derive(Debug, Clone, Copy)]
pub(super) struct Times {
    /// Intervals are counted from here: the start of the run.
    epoch: u64,
    /// How long one is.
    interval: u64,
    /// Counting begins.
    pub(super) ramp_end: u64,
    /// Counting ends while the load goes on; [`u64::MAX`] where it does not go on.
    pub(super) count_end: u64,
}

impl Times {
    /// Of a worker that has not begun.
    pub(super) fn new(plan: &WorkerPlan) -> Self {
        Self {
            epoch: 0,
            interval: plan.interval.0.max(1),
            ramp_end: 0,
            count_end: u64::MAX,
        }
    }

    /// The worker begins at `now` in a run that began at `epoch`. Returns when it ends.
    pub(super) fn start(&mut self, plan: &WorkerPlan, now: MonoTime, epoch: MonoTime) -> u64 {
        self.epoch = epoch.0;
        self.ramp_end = now.after(plan.ramp).0;
        let Some(runtime) = plan.runtime else {
            return u64::MAX;
        };
        self.end_counting(plan, self.ramp_end.saturating_add(runtime.0))
    }

    /// The counted time is over at `end`. Returns when the worker ends.
    pub(super) fn end_counting(&mut self, plan: &WorkerPlan, end: u64) -> u64 {
        if !plan.cooldown.is_zero() {
            self.count_end = end;
        }
        end.saturating_add(plan.cooldown.0)
    }

    /// Where `now` lies.
    pub(super) fn phase(&self, now: u64) -> Phase {
        if now < self.ramp_end {
            Phase::Ramp
        } else if now < self.count_end {
            Phase::Counted
        } else {
            Phase::Cooldown
        }
    }

    /// When a phase began; 0 for the ramp.
    pub(super) fn start_of(&self, phase: Phase) -> u64 {
        match phase {
            Phase::Ramp => 0,
            Phase::Counted => self.ramp_end,
            Phase::Cooldown => self.count_end,
        }
    }

    /// The whole interval that holds `now`, cut into pieces of a second where it is longer: a worker hands something over
    /// each second at least. Its beginning and its end.
    fn piece(&self, now: u64) -> (u64, u64) {
        let since = now.saturating_sub(self.epoch);
        let within = since % self.interval;
        let start = self.epoch + since - within;
        let piece = within / SECOND * SECOND;
        (start + piece, start + self.interval.min(piece + SECOND))
    }

    /// The beginning of the piece that holds `now`.
    pub(super) fn piece_start(&self, now: u64) -> u64 {
        self.piece(now).0
    }

    /// The next moment after `now` at which the worker hands over what it has counted.
    pub(super) fn boundary(&self, now: u64) -> u64 {
        let (_, end) = self.piece(now);
        match self.phase(now) {
            Phase::Ramp => end.min(self.ramp_end),
            Phase::Counted => end.min(self.count_end),
            Phase::Cooldown => end,
        }
    }
}

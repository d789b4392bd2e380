//! A completion and the next I/O in one step, for the loads that are no more than that.
//!
//! Data in: a slot whose I/O is complete. Data out: the next I/O in the same slot. It does what
//! [`Worker::complete`] and [`Worker::next`] do one after the other, without giving the slot back in between; where
//! anything else may have to happen it does nothing, and those two are to be asked. In virtual time this is a tenth of
//! the whole cost of an I/O.

use super::{Arrivals, Watch, Worker, WorkerPlan};
use crate::pattern::Draw;
use fathom_core::backend::{Op, Request};
use fathom_core::units::MonoTime;
use fathom_core::workload::Mix;
use std::sync::atomic::Ordering;

/// Whether a worker of this plan only ever sends the next I/O of its pattern when one is complete.
pub(super) fn is_plain(plan: &WorkerPlan) -> bool {
    let flushes = plan.sync.fsync_every > 0 || plan.sync.fdatasync_every > 0 || plan.sync.range.every > 0;
    plan.schedules.iter().all(Option::is_none)
        && plan.think.is_none()
        && !plan.by_slot
        && !plan.count_files
        && !plan.count_depths
        && plan.limits.is_none()
        && !flushes
        && !plan.verifies
        && !plan.read_back
        && !plan.verify_only
        && matches!(plan.mix, Mix::Read | Mix::Write | Mix::ReadWrite { .. })
}

impl Worker {
    /// The I/O in `slot` moved all its bytes by `now`, and all other slots are taken: counts it and puts the next one
    /// into the same slot. `false`: nothing was done.
    #[inline]
    pub fn turn(&mut self, slot: u32, now: MonoTime) -> bool {
        let may = self.arrivals == Arrivals::Plain
            && self.free.is_empty()
            && !self.stage.is_over()
            && now.0 < self.deadline.min(self.boundary)
            && self.ios_left > 0
            && !self.ends.stop.load(Ordering::Relaxed);
        if !may {
            return false;
        }
        if let Some(draw) = self.plan.generator.draw_here() {
            self.take_turn(slot, draw, now);
            return true;
        }
        self.turn_far(slot, now)
    }

    /// [`Worker::turn`] where the next I/O is not at hand.
    #[inline(never)]
    fn turn_far(&mut self, slot: u32, now: MonoTime) -> bool {
        // Over as many passes as there are, as `next` does: asking twice at the end of one would draw twice.
        let draw = self.draw();
        if let Some(draw) = draw {
            self.take_turn(slot, draw, now);
        }
        draw.is_some()
    }

    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "as of `Generator::draw_here`: so that `draw` stays in registers"
    )]
    fn take_turn(&mut self, slot: u32, draw: Draw, now: MonoTime) {
        let place = &mut self.slots[slot as usize];
        place.stamps.completed = now.0;
        let Request { op, len, .. } = place.request;
        self.current.record(op, len, &place.stamps, self.plan.metrics);
        if let Some(Watch {
            recorder: Some(recorder),
            ..
        }) = &mut self.watch
        {
            recorder.record(&place.request, &place.stamps, (place.depth, 0), 0);
        }
        place.begin(draw, self.in_flight, now, now);
        debug_assert!(
            matches!(draw.op, Op::Read | Op::Write),
            "a plain load has no others"
        );
        self.ios_left -= 1;
        self.issued += 1;
        self.issued_in_pass += 1;
    }
}

//! What is sent next: passes, schedules, flushes, pauses.

use super::{Arrivals, Step, Worker};
use crate::pace::Schedule;
use crate::pattern::Draw;
use fathom_core::backend::Op;
use fathom_core::units::MonoTime;
use fathom_core::workload::{Mix, ThinkTime, ThinkTimeBasis};
use std::sync::atomic::Ordering;

impl Worker {
    /// Issuing is over; what is left is to flush each file, where that is asked for.
    #[cold]
    pub(super) fn end(&mut self, now: MonoTime) -> Step {
        self.stage = self.stage.over();
        if self.end_syncs == 0 || self.failed || self.ends.stop.load(Ordering::Relaxed) {
            return Step::Finished;
        }
        if self.in_flight > 0 {
            return Step::Full;
        }
        self.end_syncs -= 1;
        self.issue(
            Draw {
                op: Op::Sync,
                file: self.end_syncs,
                offset: 0,
                len: 0,
            },
            now,
            now,
        )
    }

    /// Sends the flush that is due; behind the last I/O there is none, as with fio.
    #[cold]
    pub(super) fn next_flush(&mut self, now: MonoTime) -> Step {
        // Where each slot has a sequence of its own, nothing is drawn for one that is not known yet.
        let looks_ahead = self.arrivals != Arrivals::Recorded && !self.plan.by_slot;
        if self.pending.is_none() && looks_ahead && !self.stage.reads_back() {
            self.pending = if self.is_open_loop() {
                self.draw_scheduled(now)
            } else {
                self.draw()
            };
            if self.pending.is_none() {
                self.sync_due = None;
                return self.end(now);
            }
        }
        match self.sync_due.take() {
            Some(flush) => self.issue(flush, now, now),
            None => Step::Full,
        }
    }

    /// The next I/O of the pattern, over as many passes as there are.
    #[inline]
    pub(super) fn draw(&mut self) -> Option<Draw> {
        if let Some(draw) = self.pending.take() {
            return Some(draw);
        }
        if self.stage.reads_back() {
            let drawn = match &mut self.backlog {
                Some(backlog) => backlog.draw(),
                None => self.draw_written(),
            };
            if let (Some(trims), Some(_)) = (&mut self.trims, &drawn) {
                trims.reads();
            }
            return drawn.filter(|draw| self.was_written(draw));
        }
        if self.ios_left > 0
            && let Some(draw) = self.plan.generator.draw()
        {
            return Some(draw).filter(|draw| !self.checks || self.was_written(draw));
        }
        self.next_pass()?;
        self.plan.generator.draw()
    }

    /// Reading back: the writes of all passes once more; their reads changed nothing.
    fn draw_written(&mut self) -> Option<Draw> {
        loop {
            while self.ios_left > 0
                && let Some(draw) = self.plan.generator.draw()
            {
                if self.plan.verify_only {
                    self.leave_out(&draw);
                }
                if draw.op == Op::Write {
                    return Some(Draw { op: Op::Read, ..draw });
                }
                self.ios_left -= 1;
            }
            if self.plan.verify_only {
                // Each pass is checked as one.
                self.loops_left = self.loops_left.checked_sub(1)?;
                self.plan.generator.restart();
                self.ios_left = self.plan.number_ios.unwrap_or(u64::MAX);
                continue;
            }
            self.passes = self.passes.checked_sub(1)?;
            self.plan.generator.restart();
            self.ios_left = self.ios_of_pass();
        }
    }

    fn leave_out(&mut self, draw: &Draw) {
        if let Some(left_out) = self.left_out.get_mut(draw.op.index()) {
            left_out.ios += 1;
            left_out.bytes += u64::from(draw.len);
        }
    }

    /// Where only checking ended before its pattern did, the rest of that was left out as well.
    pub(super) fn count_rest_left_out(&mut self) {
        if !self.plan.verify_only {
            return;
        }
        while !self.ends.stop.load(Ordering::Relaxed) && self.draw_written().is_some() {
            self.ios_left -= 1;
        }
    }

    /// How many I/Os of the pass that begins now are to be read back.
    pub(super) fn ios_of_pass(&self) -> u64 {
        if self.passes > 0 {
            self.plan.number_ios.unwrap_or(u64::MAX)
        } else {
            self.last_pass_ios
        }
    }

    #[cold]
    pub(super) fn next_pass(&mut self) -> Option<()> {
        // What one pass wrote is read back before the next.
        if self.plan.read_back && !self.plan.time_based {
            return None;
        }
        if !self.plan.time_based {
            self.loops_left = self.loops_left.checked_sub(1)?;
        }
        self.ios_left = self.plan.number_ios.unwrap_or(u64::MAX);
        self.plan.generator.restart();
        if let Some(zones) = self.guards.as_mut().and_then(|guards| guards.zones.as_mut()) {
            zones.restart();
        }
        self.issued_in_pass = 0;
        self.passes += 1;
        self.new_files_due = self.plan.new_files_each_pass;
        Some(())
    }

    /// Open loop: the direction that is due first, once it is due.
    pub(super) fn next_scheduled(&mut self, now: MonoTime) -> Step {
        let Some(draw) = self.pending.take().or_else(|| self.draw_scheduled(now)) else {
            // Nothing is left to draw: what the schedules have due is not for this worker any more.
            self.plan.schedules = Default::default();
            return self.end(now);
        };
        if self.new_files_due {
            return self.wait_for_new_files(draw);
        }
        if self.is_held_up(&draw) {
            self.pending = Some(draw);
            return Step::Full;
        }
        let Some(schedule) = &self.plan.schedules[draw.op.index()] else {
            return self.next_hindered(draw, now);
        };
        let due = schedule.due();
        if due > now {
            self.pending = Some(draw);
            return if due.0 >= self.deadline {
                self.wait_for_deadline()
            } else {
                Step::Wait(due)
            };
        }
        let draw = match self.cleared(draw, now) {
            Ok(draw) => draw,
            Err(step) => return step,
        };
        let Some(schedule) = &mut self.plan.schedules[draw.op.index()] else {
            return self.issue(draw, now, now);
        };
        let backlog = schedule.backlog(now);
        schedule.advance(draw.len);
        self.current.backlog_max = self.current.backlog_max.max(backlog - 1);
        self.current.lateness_max_ns = self.current.lateness_max_ns.max(now.0 - due.0);
        self.issue(draw, due, now)
    }

    pub(super) fn wait_for_deadline(&self) -> Step {
        Step::Wait(MonoTime(self.deadline))
    }

    pub(super) fn draw_scheduled(&mut self, now: MonoTime) -> Option<Draw> {
        if self.plan.read_back || !matches!(self.plan.mix, Mix::ReadWrite { .. }) {
            // The order of directions must be that of the pattern, to be found again when it is read back.
            return self.draw();
        }
        let due = |schedule: &Option<Schedule>| schedule.as_ref().map_or(now, Schedule::due);
        let [read, write, _] = &self.plan.schedules;
        let op = if due(read) <= due(write) {
            Op::Read
        } else {
            Op::Write
        };
        if self.ios_left > 0
            && let Some(draw) = self.plan.generator.draw_op(op)
        {
            return Some(draw);
        }
        self.next_pass()?;
        self.plan.generator.draw_op(op)
    }

    #[inline]
    pub(super) fn issue(&mut self, draw: Draw, intended: MonoTime, now: MonoTime) -> Step {
        // `free` was found non-empty.
        let Some(index) = self.free.pop() else {
            return Step::Full;
        };
        self.in_flight += 1;
        self.slots[index as usize].begin(draw, self.in_flight, intended, now);
        if let Some(trims) = &mut self.trims {
            trims.sent_in(index);
        }
        if let Some(guards) = &mut self.guards {
            guards.sent(&self.slots[index as usize].request);
        }
        if draw.len > 0 {
            self.ios_left -= 1;
            self.issued += 1;
            self.issued_in_pass += 1;
            if draw.op != Op::Read {
                if let (Some(backlog), Op::Write) = (&mut self.backlog, draw.op) {
                    backlog.unread += 1;
                }
                if let (Some(trims), Op::Write) = (&mut self.trims, draw.op) {
                    trims.wrote();
                }
                self.after_write(&draw);
            }
            if let Some(think) = self.plan.think {
                self.count_thinking(think, ThinkTimeBasis::Issue, now);
            }
        }
        Step::Issue(index)
    }

    pub(super) fn after_write(&mut self, draw: &Draw) {
        let file = draw.file;
        if draw.op == Op::Trim {
            self.trim_in_flight = self.plan.mix == Mix::TrimWrite;
            return;
        }
        let every = |count: &mut u32, every: u32| {
            *count += 1;
            let due = every > 0 && *count >= every;
            if due {
                *count = 0;
            }
            due
        };
        if every(&mut self.writes_undatasynced, self.plan.sync.fdatasync_every) {
            self.sync_due = Some(flush(Op::DataSync, file, 0));
        }
        if every(&mut self.writes_unsynced, self.plan.sync.fsync_every) {
            self.sync_due = Some(flush(Op::Sync, file, 0));
        }
        if let Some(parts) = &mut self.parts
            && let Some(offset) = parts.wrote(file, draw.offset, draw.len)
        {
            if self.sync_due.is_none() {
                self.sync_due = Some(flush(Op::DataSync, file, offset));
            } else {
                // All of it is flushed anyway.
                parts.drop_next();
            }
        }
    }

    pub(super) fn count_thinking(&mut self, think: ThinkTime, basis: ThinkTimeBasis, now: MonoTime) {
        if think.basis != basis {
            return;
        }
        self.think_count += 1;
        let long_enough = think
            .after_run
            .is_some_and(|limit| now.0.saturating_sub(self.run_since) >= limit.0);
        if self.think_count >= think.blocks.max(1) || long_enough {
            self.think_count = 0;
            self.think_until = now.after(think.pause).0;
            self.run_since = self.think_until;
            if think.puts_off {
                for schedule in self.plan.schedules.iter_mut().flatten() {
                    schedule.put_off(think.pause);
                }
            }
        }
    }
}

/// A flush of a file.
fn flush(op: Op, file: u32, offset: u64) -> Draw {
    Draw {
        op,
        file,
        offset,
        len: 0,
    }
}

//! The worker's account: intervals, errors, verification, and what it leaves.

use super::times::Times;
use super::{FileTally, Kept, Playing, Priorities, Rolled, Stage, Worker};
use crate::errors::ErrorLog;
use crate::interval::{Interval, Phase, Stamps};
use fathom_core::backend::{Errno, Op, Outcome, Request};
use fathom_core::run::{Depths, LeftOut, PriorityAccount};
use fathom_core::units::MonoTime;
use fathom_core::workload::WrittenSoFar;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// What a worker leaves.
#[derive(Debug)]
pub struct WorkerEnd {
    /// Its last, unfinished interval.
    pub last: Box<Interval>,
    /// Due and not sent when it ended.
    pub backlog: u64,
    /// I/Os sent.
    pub issued: u64,
    pub errors: ErrorLog,
    /// Whether it ended because of one.
    pub failed: bool,
    /// When counting began: its start or the end of its ramp.
    pub start: MonoTime,
    /// When counting ended: when its last I/O had ended, or its cooldown began.
    pub end: MonoTime,
    /// When it went from writing to reading back.
    pub read_back_start: Option<MonoTime>,
    /// How the times of the record that it played were kept; `None`: it played none.
    pub kept: Option<Kept>,
    /// How many I/Os were in flight, sent and taken together, where that was counted.
    pub depths: Option<Box<Depths>>,
    /// What was counted of each of its files, where that was asked for; else empty.
    pub files: Box<[FileTally]>,
    /// The depth that keeps the latency, where one was looked for.
    pub depth_found: Option<u32>,
    /// Zones that it emptied.
    pub zone_resets: u64,
    /// I/Os by the priorities that they had, where some have their own; else empty.
    pub priorities: Vec<PriorityAccount>,
    /// Reads and writes of its pattern that it left out, since it only checks.
    pub left_out: [LeftOut; 2],
    /// How far its writes came, where that is kept.
    pub written: Option<WrittenSoFar>,
}

impl Worker {
    /// The contents read into `slot` were checked.
    pub fn verified(&mut self, slot: u32, good: bool) {
        self.current.verified += 1;
        if !good {
            let request = self.slots[slot as usize].request;
            self.current.ops[Op::Read.index()].errors += 1;
            self.errors.add_mismatch(&request);
            self.failed |= self.plan.verify_fatal || !self.plan.on_error.verify;
            // Without `verify_fatal` the whole of what was written is checked before the job is called failed.
            if self.plan.verify_fatal {
                self.stage = self.stage.over();
            }
        }
        self.give_back(slot);
    }

    /// So many I/Os were handed to the system together.
    #[inline]
    pub fn sent_together(&mut self, count: u32) {
        if let Some(depths) = self.counted_depths() {
            depths.submit[Depths::batch(count)] += 1;
        }
    }

    /// So many completions were taken together.
    #[inline]
    pub fn taken_together(&mut self, count: u32) {
        if let Some(depths) = self.counted_depths() {
            depths.complete[Depths::batch(count)] += 1;
        }
    }

    #[inline]
    fn counted_depths(&mut self) -> Option<&mut Depths> {
        let counted = self.current.phase == Phase::Counted;
        let watch = self.watch.as_mut().filter(|_| counted)?;
        watch.depths.as_deref_mut()
    }

    /// A short or a failed I/O.
    #[cold]
    pub(super) fn imperfect(&mut self, request: &Request, stamps: &Stamps, outcome: Outcome) {
        let counts = &mut self.current.ops[request.op.index()];
        match outcome {
            // The ring reports 0 for a trim that succeeded.
            Ok(_) if request.op == Op::Trim => {
                self.current
                    .record(request.op, request.len, stamps, self.plan.metrics);
                return;
            }
            Ok(bytes) if bytes > 0 && self.checks => {
                // What was written there is not all there.
                counts.errors += 1;
                self.errors.add_mismatch(request);
                self.failed = true;
                return;
            }
            Ok(bytes) if bytes > 0 => {
                counts.short += 1;
                self.current.record(request.op, bytes, stamps, self.plan.metrics);
                return;
            }
            Ok(_) => {
                counts.errors += 1;
                self.errors.add_end_of_file(request);
            }
            Err(errno) if self.plan.ignored[usize::from(request.op != Op::Read)].contains(&errno.0) => return,
            // All that there was to move was moved.
            Err(errno) if self.plan.ends_by == Some(errno.0) => {
                self.stage = self.stage.over();
                return;
            }
            Err(errno) => {
                counts.errors += 1;
                self.errors.add(request, errno);
            }
        }
        let tolerated = if request.op == Op::Read {
            self.plan.on_error.read
        } else {
            self.plan.on_error.write
        };
        if !tolerated {
            self.failed = true;
            self.stage = self.stage.over();
        }
    }

    /// So many blocks were sent to it and have not come.
    pub fn lost(&mut self, blocks: u64) {
        self.current.ops[Op::Read.index()].lost += blocks;
    }

    /// Ends the worker because of a failure outside of any I/O.
    pub fn fail(&mut self, what: &'static str, errno: Errno) {
        self.errors.add_other(what, errno);
        self.failed = true;
        self.stage = self.stage.over();
    }

    /// Goes from writing to reading back what was written, once nothing is in flight. `false`: there is
    /// nothing to read back, the worker is done.
    pub fn begin_read_back(&mut self, now: MonoTime) -> bool {
        if !self.plan.read_back || self.failed || self.ends.stop.load(Ordering::Relaxed) {
            return false;
        }
        if self.stage.reads_back() {
            return self.begin_next_pass(now);
        }
        if let Some(backlog) = &self.backlog {
            // What is left of it comes from the generator that trails.
            if backlog.unread == 0 {
                self.stage = Stage::ReadBackOver;
                return self.begin_next_pass(now);
            }
            self.turn_to_reading(now);
            return true;
        }
        // What was written is found by drawing it again, all passes from the first on: no memory grows with it.
        // The same place has the same content whatever the pass, so where one whole pass wrote all that there is
        // to write, it is enough to read one.
        self.plan.generator.rewind();
        if self.plan.generator.writes_same_blocks() {
            // Also where a pass went round more than once: all places, as they were left by the last time round.
            self.plan.generator.once_round();
        }
        self.last_pass_ios = self.issued_in_pass;
        if self.passes > 0 && self.plan.number_ios.is_none() && self.plan.generator.writes_same_blocks() {
            (self.passes, self.last_pass_ios) = (0, u64::MAX);
        }
        self.ios_left = self.ios_of_pass();
        self.turn_to_reading(now);
        true
    }
    fn turn_to_reading(&mut self, now: MonoTime) {
        self.stage = Stage::ReadBack;
        // Several passes have no one moment of turning.
        self.read_back_start = Some(now).filter(|_| self.plan.loops <= 1 && self.backlog.is_none());
        self.checks = true;
        self.pending = None;
        self.sync_due = None;
        self.think_until = 0;
    }
    /// All that a pass wrote was read back: the next one begins. `false`: there is none.
    fn begin_next_pass(&mut self, now: MonoTime) -> bool {
        if self.plan.time_based || now.0 >= self.deadline || self.loops_left == 0 {
            return false;
        }
        self.loops_left -= 1;
        self.ios_left = self.plan.number_ios.unwrap_or(u64::MAX);
        self.plan.generator.begin_pass();
        if let Some(backlog) = &mut self.backlog {
            backlog.follow(&self.plan.generator);
        }
        if let Some(trims) = &mut self.trims {
            trims.follow(&self.plan.generator);
        }
        self.issued_in_pass = 0;
        self.new_files_due = self.plan.new_files_each_pass;
        self.stage = Stage::Load;
        self.checks = false;
        self.pending = None;
        true
    }

    /// Hands the interval over when its end has come.
    pub fn roll_if_due(&mut self, now: MonoTime) {
        if now.0 >= self.boundary {
            self.roll(now);
        }
    }

    /// Enough is known: what is counted ends at `now`, as if that had been the runtime's end.
    #[cold]
    pub(super) fn take_enough(&mut self, now: MonoTime) {
        // Heard once.
        self.ends.enough = Arc::default();
        let over = self.deadline.min(self.times.count_end) <= now.0;
        if over || self.stage.reads_back() {
            return;
        }
        self.deadline = self.times.end_counting(&self.plan, now.0);
        if self.times.count_end == now.0 {
            self.boundary = now.0;
            self.roll(now);
        }
    }

    /// As the flag of [`super::Ends`] does, where it is known to be set: for a caller that does not wait until the worker
    /// looks.
    pub fn notice_enough(&mut self, now: MonoTime) {
        self.take_enough(now);
    }

    #[cold]
    pub(super) fn roll(&mut self, now: MonoTime) {
        self.note_backlog(MonoTime(self.boundary));
        self.current.end = MonoTime(self.boundary);
        let (before, after) = (self.current.phase, self.times.phase(now.0));
        let leaves_counted = before == Phase::Counted && after == Phase::Cooldown;
        if leaves_counted {
            self.backlog_counted = Some(self.current.backlog);
        }
        let swapped = match self.spare.take_if(|_| leaves_counted) {
            Some(spare) => self.exchange.swap_for(&mut self.current, spare),
            None => self.exchange.swap(&mut self.current),
        };
        if swapped {
            // Whole seconds without a completion lie between two intervals, not within one.
            let start = self.boundary.max(self.times.piece_start(now.0));
            self.begin_interval(start, after);
        } else if before != after {
            // The collector is behind: what the ramp counted is dropped here, so that what follows counts.
            self.current.clear();
            self.begin_interval(0, after);
        }
        self.boundary = self.times.boundary(now.0);
        let from = self.rolled.map_or(before, |rolled| rolled.from);
        self.rolled = Some(Rolled { from, to: after });
        self.hand_records_over();
    }

    /// The interval begins at `start`, or with its phase where that is later: after a silence across the end of the ramp,
    /// counting begins at once.
    fn begin_interval(&mut self, start: u64, phase: Phase) {
        self.current.start = MonoTime(start.max(self.times.start_of(phase)));
        self.current.phase = phase;
        if phase == Phase::Cooldown {
            self.current.counted_until = MonoTime(self.times.count_end);
        }
    }

    /// Counts what was due before `end` and is not sent.
    fn note_backlog(&mut self, end: MonoTime) {
        // What is due at the end itself belongs to the next interval, or to none.
        let now = MonoTime(end.0.min(self.deadline).saturating_sub(1));
        let schedules = self.plan.schedules.iter().flatten();
        let mut backlog = schedules.map(|schedule| schedule.backlog(now)).sum();
        if let Some(playing) = self.playing() {
            backlog += playing.backlog(now);
        }
        self.current.backlog = backlog;
        self.current.backlog_max = self.current.backlog_max.max(backlog);
    }

    /// What was handed over since the last call: time to discipline the clock.
    #[inline]
    pub(crate) fn take_rolled(&mut self) -> Option<Rolled> {
        self.rolled.take()
    }

    fn take_priorities(&mut self) -> Vec<PriorityAccount> {
        let priorities = self.guards.as_mut().and_then(|guards| guards.priorities.take());
        priorities.map(Priorities::into_accounts).unwrap_or_default()
    }

    fn hand_records_over(&mut self) {
        if let Some(recorder) = self.watch.as_mut().and_then(|watch| watch.recorder.as_mut()) {
            recorder.hand_over();
        }
    }

    /// Hands the last interval over and gives the worker's account. `now` is the end.
    pub fn finish(mut self, now: MonoTime) -> WorkerEnd {
        self.leave(now)
    }

    /// As [`Worker::finish`], where the worker itself goes later: it must not be asked anything any more.
    pub(crate) fn leave(&mut self, now: MonoTime) -> WorkerEnd {
        self.roll_if_due(now);
        self.count_rest_left_out();
        self.note_backlog(now);
        self.current.end = now;
        self.hand_records_over();
        let backlog = self.backlog_counted.unwrap_or(self.current.backlog);
        let Times {
            ramp_end, count_end, ..
        } = self.times;
        let watch = self.watch.take().unwrap_or_default();
        // What a record needs to begin at one moment for all is no part of its time.
        let begins = watch.playing.as_ref().map_or(0, |playing| playing.begins_ns());
        let start = ramp_end.max(begins);
        WorkerEnd {
            written: watch.written.as_deref().map(super::Written::so_far),
            kept: watch.playing.map(|playing| Playing::into_kept(*playing)),
            last: std::mem::take(&mut self.current),
            backlog,
            issued: self.issued,
            errors: std::mem::take(&mut self.errors),
            failed: self.failed,
            start: MonoTime(start),
            end: MonoTime(now.0.min(count_end).max(start)),
            read_back_start: self.read_back_start,
            depths: watch.depths,
            files: watch.files.unwrap_or_default(),
            depth_found: self.depth_found(),
            zone_resets: self.zone_resets(),
            priorities: self.take_priorities(),
            left_out: self.left_out,
        }
    }
}

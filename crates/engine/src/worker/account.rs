//! The worker's account: intervals, errors, verification, and what it leaves.

use super::{SECOND, Worker};
use crate::errors::ErrorLog;
use crate::interval::{Interval, Stamps};
use fathom_core::backend::{Errno, Op, Outcome, Request};
use fathom_core::units::MonoTime;
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
    /// Its errors.
    pub errors: ErrorLog,
    /// Whether it ended because of one.
    pub failed: bool,
    /// When counting began: its start or the end of its ramp.
    pub start: MonoTime,
    /// When its last I/O had ended.
    pub end: MonoTime,
    /// When it went from writing to reading back.
    pub read_back_start: Option<MonoTime>,
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
            self.finished |= self.plan.verify_fatal;
        }
        self.free.push(slot);
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
            Err(errno) => {
                counts.errors += 1;
                self.errors.add(request, errno);
            }
        }
        let borne = if request.op == Op::Read {
            self.plan.on_error.read
        } else {
            self.plan.on_error.write
        };
        if !borne {
            self.failed = true;
            self.finished = true;
        }
    }

    /// Ends the worker because of a failure outside of any I/O.
    pub fn fail(&mut self, what: &'static str, errno: Errno) {
        self.errors.add_other(what, errno);
        self.failed = true;
        self.finished = true;
    }

    /// Goes from writing to reading back what was written, once nothing is in flight. `false`: there is
    /// nothing to read back, the worker is done.
    pub fn begin_read_back(&mut self, now: MonoTime) -> bool {
        let due = std::mem::take(&mut self.read_back_due);
        if !due || self.failed || self.stop.load(Ordering::Relaxed) {
            return false;
        }
        // What was written is found by drawing it again, all passes from the first on: no memory grows with it.
        // The same place has the same content whatever the pass, so where one whole pass wrote all that there is
        // to write, it is enough to read one.
        self.plan.generator.rewind();
        self.last_pass_ios = self.issued_in_pass;
        if self.passes > 0 && self.plan.number_ios.is_none() && self.plan.generator.writes_same_blocks() {
            (self.passes, self.last_pass_ios) = (0, u64::MAX);
        }
        self.ios_left = self.ios_of_pass();
        self.reading_back = true;
        self.read_back_start = Some(now);
        self.checks = true;
        self.finished = false;
        self.pending = None;
        self.sync_due = None;
        self.think_until = 0;
        true
    }

    /// Hands the interval over when its end has come.
    pub fn roll_if_due(&mut self, now: MonoTime) {
        if now.0 >= self.boundary {
            self.roll(now);
        }
    }

    #[cold]
    pub(super) fn roll(&mut self, now: MonoTime) {
        self.note_backlog(MonoTime(self.boundary));
        self.current.end = MonoTime(self.boundary);
        let ramping = self.current.ramp;
        if self.exchange.swap(&mut self.current) {
            // Whole seconds without a completion lie between two intervals, not within one.
            let since = now.0.saturating_sub(self.epoch);
            let second = self.epoch + since / SECOND * SECOND;
            let start = self.boundary.max(second);
            // After a silence across the end of the ramp, counting begins at once.
            let start = if now.0 < self.ramp_end {
                start
            } else {
                start.max(self.ramp_end)
            };
            self.current.start = MonoTime(start);
            self.current.ramp = self.current.start.0 < self.ramp_end;
            self.counting_began |= ramping && !self.current.ramp;
        } else if ramping && now.0 >= self.ramp_end {
            // The collector is behind: what the ramp counted is dropped here, so that what follows counts.
            self.current.clear();
            self.current.start = MonoTime(self.ramp_end);
            self.counting_began = true;
        }
        self.set_boundary(now.0);
        self.rolled = true;
        if let Some(recorder) = &mut self.recorder {
            recorder.hand_over();
        }
    }

    /// Counts what was due before `end` and is not sent.
    fn note_backlog(&mut self, end: MonoTime) {
        let backlog = if self.exhausted {
            0
        } else {
            // What is due at the end itself belongs to the next interval, or to none.
            let now = MonoTime(end.0.min(self.deadline).saturating_sub(1));
            let schedules = self.plan.schedules.iter().flatten();
            schedules.map(|schedule| schedule.backlog(now)).sum()
        };
        self.current.backlog = backlog;
        self.current.backlog_max = self.current.backlog_max.max(backlog);
    }

    /// The end of the interval that holds `now`: the next whole second, or the end of the ramp.
    pub(super) fn set_boundary(&mut self, now: u64) {
        let second = self.epoch + ((now.saturating_sub(self.epoch)) / SECOND + 1) * SECOND;
        self.boundary = if now < self.ramp_end {
            second.min(self.ramp_end)
        } else {
            second
        };
    }

    /// Whether an interval was handed over since the last call: time to discipline the clock.
    #[inline]
    pub fn take_rolled(&mut self) -> bool {
        std::mem::take(&mut self.rolled)
    }

    /// Whether the ramp has ended since the last call: what was used until then does not count.
    pub fn take_counting_began(&mut self) -> bool {
        std::mem::take(&mut self.counting_began)
    }

    /// Hands the last interval over and gives the worker's account. `now` is the end.
    pub fn finish(mut self, now: MonoTime) -> WorkerEnd {
        self.roll_if_due(now);
        self.note_backlog(now);
        self.current.end = now;
        if let Some(recorder) = &mut self.recorder {
            recorder.hand_over();
        }
        let backlog = self.current.backlog;
        WorkerEnd {
            last: self.current,
            backlog,
            issued: self.issued,
            errors: self.errors,
            failed: self.failed,
            start: MonoTime(self.first_counted),
            end: MonoTime(now.0.max(self.first_counted)),
            read_back_start: self.read_back_start,
        }
    }
}

//! The worker: the state machine that decides what is sent when, and counts what came back.
//!
//! Data in: the time, completions. Data out: the next I/O, or how long to wait. The same worker runs under
//! the real driver and in virtual time. It must not know the backend, the clock, or who else runs.

use crate::errors::ErrorLog;
use crate::interval::{Exchange, Interval, Metrics, Stamps};
use crate::pace::Schedule;
use crate::pattern::{Draw, Generator};
use fathom_core::backend::{Errno, Op, Outcome, Request};
use fathom_core::units::{MonoTime, Nanos};
use fathom_core::workload::{ErrorRule, Mix, SyncRules, ThinkTime, ThinkTimeBasis};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const SECOND: u64 = 1_000_000_000;

/// What the worker wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Send the I/O in this slot.
    Issue(u32),
    /// Nothing is due before then; completions may come earlier.
    Wait(MonoTime),
    /// A completion has to come first.
    Full,
    /// Nothing more will be sent; what is in flight is still to come.
    Finished,
}

/// What is known of an I/O in flight.
#[derive(Debug, Clone, Copy)]
struct Slot {
    stamps: Stamps,
    request: Request,
}

/// How a worker is set up: everything frozen before the loop.
#[derive(Debug, Clone)]
pub struct WorkerPlan {
    /// Slots: the most I/Os in flight.
    pub depth: u32,
    /// The access pattern.
    pub generator: Generator,
    /// Passes over the pattern.
    pub loops: u64,
    /// Stop after this many I/Os a pass.
    pub number_ios: Option<u64>,
    /// The runtime after the ramp.
    pub runtime: Option<Nanos>,
    /// Go on until the runtime is over.
    pub time_based: bool,
    /// Run this long before anything counts.
    pub ramp: Nanos,
    /// Read, write, trim.
    pub schedules: [Option<Schedule>; 3],
    /// How directions are mixed.
    pub mix: Mix,
    /// Pauses.
    pub think: Option<ThinkTime>,
    /// Flushes.
    pub sync: SyncRules,
    /// How many files there are: each is flushed at the end, where that is asked for.
    pub file_count: u32,
    /// Which errors are borne.
    pub on_error: ErrorRule,
    /// Which latencies are kept apart.
    pub metrics: Metrics,
    /// Whether what was written is read back and checked at the end.
    pub read_back: bool,
    /// Whether reads are checked.
    pub verifies: bool,
    /// Only check, never write.
    pub verify_only: bool,
    /// End at the first mismatch.
    pub verify_fatal: bool,
}

/// One worker under way.
#[derive(Debug)]
pub struct Worker {
    plan: WorkerPlan,
    slots: Vec<Slot>,
    free: Vec<u32>,
    in_flight: u32,
    /// Issuing is over.
    finished: bool,
    /// What was written is being read back.
    reading_back: bool,
    /// Reads are checked now.
    checks: bool,
    loops_left: u64,
    ios_left: u64,
    issued: u64,
    issued_in_pass: u64,
    /// The generator at the beginning of the pass, for reading back.
    pass: Option<Box<Generator>>,
    /// Drawn, but not due yet.
    pending: Option<Draw>,
    /// A trim whose block is written next, once the trim is done.
    trim_in_flight: bool,
    open_loop: bool,
    deadline: u64,
    ramp_end: u64,
    boundary: u64,
    epoch: u64,
    rolled: bool,
    think_until: u64,
    think_count: u32,
    run_since: u64,
    writes_unsynced: u32,
    writes_undatasynced: u32,
    /// A flush that is due, and of which file.
    sync_due: Option<(Op, u32)>,
    /// Files still to flush at the end.
    end_syncs: u32,
    current: Box<Interval>,
    exchange: Arc<Exchange>,
    stop: Arc<AtomicBool>,
    errors: ErrorLog,
    failed: bool,
    first_counted: u64,
    last_counted: u64,
}

impl Worker {
    /// A worker that has not started. `stop` ends it from outside.
    pub fn new(plan: WorkerPlan, exchange: Arc<Exchange>, stop: Arc<AtomicBool>) -> Self {
        let depth = plan.depth.max(1);
        let none = Request {
            slot: 0,
            op: Op::Read,
            file: 0,
            offset: 0,
            len: 0,
        };
        let slot = |slot| Slot {
            stamps: Stamps::default(),
            request: Request { slot, ..none },
        };
        Self {
            slots: (0..depth).map(slot).collect(),
            free: (0..depth).rev().collect(),
            in_flight: 0,
            finished: false,
            reading_back: plan.verify_only,
            checks: plan.verifies && (plan.verify_only || plan.mix == Mix::Read),
            loops_left: plan.loops.max(1) - 1,
            ios_left: plan.number_ios.unwrap_or(u64::MAX),
            issued: 0,
            issued_in_pass: 0,
            pass: (plan.read_back && !plan.verify_only).then(|| Box::new(plan.generator.clone())),
            pending: None,
            trim_in_flight: false,
            open_loop: plan.schedules.iter().any(Option::is_some),
            deadline: u64::MAX,
            ramp_end: 0,
            boundary: u64::MAX,
            epoch: 0,
            rolled: false,
            think_until: 0,
            think_count: 0,
            run_since: 0,
            writes_unsynced: 0,
            writes_undatasynced: 0,
            sync_due: None,
            end_syncs: if plan.sync.fsync_at_end || plan.sync.fsync_on_close {
                plan.file_count
            } else {
                0
            },
            current: Box::default(),
            exchange,
            stop,
            errors: ErrorLog::default(),
            failed: false,
            first_counted: 0,
            last_counted: 0,
            plan,
        }
    }

    /// Begins at `now`. Intervals end at whole seconds after `epoch`, the start of the run.
    pub fn start(&mut self, now: MonoTime, epoch: MonoTime) {
        self.epoch = epoch.0;
        self.ramp_end = now.after(self.plan.ramp).0;
        self.deadline = self
            .plan
            .runtime
            .map_or(u64::MAX, |runtime| self.ramp_end.saturating_add(runtime.0));
        self.run_since = now.0;
        self.first_counted = self.ramp_end;
        self.last_counted = self.ramp_end;
        self.current.start = now;
        self.current.ramp = now.0 < self.ramp_end;
        self.set_boundary(now.0);
        for schedule in self.plan.schedules.iter_mut().flatten() {
            schedule.start(now);
        }
    }

    /// What to do at `now`.
    #[inline]
    pub fn next(&mut self, now: MonoTime) -> Step {
        if self.finished || now.0 >= self.deadline && !self.reading_back || self.stop.load(Ordering::Relaxed)
        {
            return self.end(now);
        }
        if self.free.is_empty() {
            return Step::Full;
        }
        if now.0 < self.think_until {
            return Step::Wait(MonoTime(self.think_until));
        }
        if let Some((op, file)) = self.sync_due.take() {
            return self.issue(
                Draw {
                    op,
                    file,
                    offset: 0,
                    len: 0,
                },
                now,
                now,
            );
        }
        if self.open_loop && !self.reading_back {
            return self.next_scheduled(now);
        }
        match self.draw() {
            Some(draw) if draw.op == Op::Write && self.trim_in_flight => {
                self.pending = Some(draw);
                Step::Full
            }
            Some(draw) => self.issue(draw, now, now),
            None => self.end(now),
        }
    }

    /// Issuing is over; what is left is to flush each file, where that is asked for.
    #[cold]
    fn end(&mut self, now: MonoTime) -> Step {
        self.finished = true;
        if self.end_syncs == 0 || self.failed || self.stop.load(Ordering::Relaxed) {
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

    /// The next I/O of the pattern, over as many passes as there are.
    #[inline]
    fn draw(&mut self) -> Option<Draw> {
        if let Some(draw) = self.pending.take() {
            return Some(draw);
        }
        if self.reading_back {
            return self.draw_written();
        }
        if self.ios_left > 0
            && let Some(draw) = self.plan.generator.draw()
        {
            return Some(draw);
        }
        self.next_pass()?;
        self.plan.generator.draw()
    }

    /// Reading back: the writes of the pass once more; its reads changed nothing.
    fn draw_written(&mut self) -> Option<Draw> {
        while self.ios_left > 0 {
            let draw = self.plan.generator.draw()?;
            if draw.op == Op::Write {
                return Some(Draw { op: Op::Read, ..draw });
            }
            self.ios_left -= 1;
        }
        None
    }

    #[cold]
    fn next_pass(&mut self) -> Option<()> {
        if !self.plan.time_based {
            self.loops_left = self.loops_left.checked_sub(1)?;
        }
        self.ios_left = self.plan.number_ios.unwrap_or(u64::MAX);
        self.plan.generator.restart();
        self.issued_in_pass = 0;
        if let Some(pass) = &mut self.pass {
            // The same content at the same place whatever the pass: the last one is what is read back.
            (**pass).clone_from(&self.plan.generator);
        }
        Some(())
    }

    /// Open loop: the direction that is due first, once it is due.
    fn next_scheduled(&mut self, now: MonoTime) -> Step {
        let Some(draw) = self.pending.take().or_else(|| self.draw_scheduled(now)) else {
            return self.end(now);
        };
        if draw.op == Op::Write && self.trim_in_flight {
            self.pending = Some(draw);
            return Step::Full;
        }
        let Some(schedule) = &mut self.plan.schedules[draw.op.index()] else {
            return self.issue(draw, now, now);
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
        let backlog = schedule.backlog(now);
        schedule.advance(draw.len);
        self.current.backlog_max = self.current.backlog_max.max(backlog - 1);
        self.current.lateness_max_ns = self.current.lateness_max_ns.max(now.0 - due.0);
        self.issue(draw, due, now)
    }

    fn wait_for_deadline(&self) -> Step {
        Step::Wait(MonoTime(self.deadline))
    }

    fn draw_scheduled(&mut self, now: MonoTime) -> Option<Draw> {
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
    fn issue(&mut self, draw: Draw, intended: MonoTime, now: MonoTime) -> Step {
        // `free` was found non-empty.
        let Some(index) = self.free.pop() else {
            return Step::Full;
        };
        let slot = &mut self.slots[index as usize];
        slot.stamps = Stamps {
            intended: intended.0,
            created: now.0,
            submitted: now.0,
            completed: 0,
        };
        slot.request = Request {
            slot: index,
            op: draw.op,
            file: draw.file,
            offset: draw.offset,
            len: draw.len,
        };
        self.in_flight += 1;
        if draw.len > 0 {
            self.ios_left -= 1;
            self.issued += 1;
            self.issued_in_pass += 1;
            if draw.op != Op::Read {
                self.after_write(draw.op, draw.file);
            }
            if let Some(think) = self.plan.think {
                self.count_thinking(think, ThinkTimeBasis::Issue, now);
            }
        }
        Step::Issue(index)
    }

    fn after_write(&mut self, op: Op, file: u32) {
        if op == Op::Trim {
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
            self.sync_due = Some((Op::DataSync, file));
        }
        if every(&mut self.writes_unsynced, self.plan.sync.fsync_every) {
            self.sync_due = Some((Op::Sync, file));
        }
    }

    fn count_thinking(&mut self, think: ThinkTime, basis: ThinkTimeBasis, now: MonoTime) {
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
        }
    }

    /// The I/O in a slot, as the backend wants it.
    #[inline]
    pub fn request(&self, slot: u32) -> Request {
        self.slots[slot as usize].request
    }

    /// Moves the creation of the I/O in `slot` to `now`: its buffer took time to fill, which is not I/O.
    #[inline]
    pub fn created(&mut self, slot: u32, now: MonoTime) {
        let stamps = &mut self.slots[slot as usize].stamps;
        if stamps.intended == stamps.created {
            stamps.intended = now.0;
        }
        stamps.created = now.0;
        stamps.submitted = now.0;
    }

    /// The system had the I/O in `slot` at `now`.
    #[inline]
    pub fn submitted(&mut self, slot: u32, now: MonoTime) {
        self.slots[slot as usize].stamps.submitted = now.0;
    }

    /// The I/O in `slot` ended at `now`. Returns whether its contents have to be verified: the slot is then
    /// still taken, until [`Worker::verified`].
    #[inline]
    pub fn complete(&mut self, slot: u32, outcome: Outcome, now: MonoTime) -> bool {
        if now.0 >= self.boundary {
            self.roll(now);
        }
        self.in_flight -= 1;
        let Slot { stamps, request } = &mut self.slots[slot as usize];
        stamps.completed = now.0;
        match outcome {
            Ok(bytes) if bytes == request.len => {
                self.current.record(request.op, bytes, stamps, self.plan.metrics);
            }
            other => {
                let (stamps, request) = (*stamps, *request);
                self.imperfect(&request, &stamps, other);
            }
        }
        let request = self.slots[slot as usize].request;
        if request.op == Op::Trim {
            self.trim_in_flight = false;
        }
        if let Some(think) = self.plan.think
            && request.len > 0
        {
            self.count_thinking(think, ThinkTimeBasis::Complete, now);
        }
        if self.checks && request.op == Op::Read && outcome == Ok(request.len) {
            return true;
        }
        self.free.push(slot);
        false
    }

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
    fn imperfect(&mut self, request: &Request, stamps: &Stamps, outcome: Outcome) {
        let counts = &mut self.current.ops[request.op.index()];
        match outcome {
            // The ring reports 0 for a trim that succeeded.
            Ok(_) if request.op == Op::Trim => {
                self.current
                    .record(request.op, request.len, stamps, self.plan.metrics);
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
    pub fn begin_read_back(&mut self) -> bool {
        let Some(pass) = self.pass.take() else {
            return false;
        };
        if self.failed || self.stop.load(Ordering::Relaxed) {
            return false;
        }
        self.plan.generator = *pass;
        self.reading_back = true;
        self.checks = true;
        self.finished = false;
        self.pending = None;
        self.sync_due = None;
        self.think_until = 0;
        self.ios_left = self.issued_in_pass;
        true
    }

    /// Hands the interval over when its end has come.
    pub fn roll_if_due(&mut self, now: MonoTime) {
        if now.0 >= self.boundary {
            self.roll(now);
        }
    }

    #[cold]
    fn roll(&mut self, now: MonoTime) {
        self.note_backlog(MonoTime(self.boundary));
        self.current.end = MonoTime(self.boundary);
        if self.exchange.swap(&mut self.current) {
            // Whole seconds without a completion lie between two intervals, not within one.
            let since = now.0.saturating_sub(self.epoch);
            let second = self.epoch + since / SECOND * SECOND;
            self.current.start = MonoTime(self.boundary.max(second));
            self.current.ramp = self.current.start.0 < self.ramp_end;
        }
        self.set_boundary(now.0);
        self.rolled = true;
    }

    fn note_backlog(&mut self, now: MonoTime) {
        let schedules = self.plan.schedules.iter().flatten();
        let backlog = schedules.map(|schedule| schedule.backlog(now)).sum();
        self.current.backlog = backlog;
        self.current.backlog_max = self.current.backlog_max.max(backlog);
    }

    /// The end of the interval that holds `now`: the next whole second, or the end of the ramp.
    fn set_boundary(&mut self, now: u64) {
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

    /// I/Os sent and not completed.
    #[inline]
    pub fn in_flight(&self) -> u32 {
        self.in_flight
    }
    /// The next moment at which something has to be done even if nothing completes.
    #[inline]
    pub fn next_event(&self) -> MonoTime {
        MonoTime(if self.reading_back {
            self.boundary
        } else {
            self.deadline.min(self.boundary)
        })
    }
    /// Slots in all.
    pub fn depth(&self) -> u32 {
        self.slots.len() as u32
    }
    /// Whether it ended because of an error.
    pub fn has_failed(&self) -> bool {
        self.failed
    }
    /// How pauses are spent: the part that spins.
    pub fn think_spin(&self) -> Nanos {
        self.plan.think.map_or(Nanos::ZERO, |think| think.spin)
    }

    /// Hands the last interval over and gives the worker's account. `now` is the end.
    pub fn finish(mut self, now: MonoTime) -> WorkerEnd {
        self.roll_if_due(now);
        self.note_backlog(now.min(MonoTime(self.deadline)));
        self.current.end = now;
        let backlog = self.current.backlog;
        WorkerEnd {
            last: self.current,
            backlog,
            issued: self.issued,
            errors: self.errors,
            failed: self.failed,
            start: MonoTime(self.first_counted),
            end: MonoTime(now.0.max(self.first_counted)),
        }
    }
}

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
}

#[cfg(test)]
mod tests;

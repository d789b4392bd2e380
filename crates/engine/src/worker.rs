//! The worker: the state machine that decides what is sent when, and counts what came back.
//!
//! Data in: the time, completions. Data out: the next I/O, or how long to wait. The same worker runs under
//! the real driver and in virtual time. It must not know the backend, the clock, or who else runs.

mod account;
mod backlog;
mod guards;
mod issue;
mod limits;
mod parts;
mod plan;
mod priorities;
mod rare;
mod recorded;
mod tally;
mod times;
mod trims;
mod turn;
mod written;

pub use account::WorkerEnd;
use backlog::Backlog;
pub use guards::{Guards, Target};
pub use limits::Limits;
use parts::Parts;
pub use plan::WorkerPlan;
pub use priorities::Priorities;
use recorded::Playing;
pub use recorded::{Kept, LATE};
use tally::Clocked;
pub use tally::FileTally;
use written::Written;

use crate::errors::ErrorLog;
use crate::interval::{Exchange, Interval, Phase, Stamps};
use crate::pattern::Draw;
use crate::recording::{IoRecorder, errno_of};
use crate::zones::ZoneCommand;
use fathom_core::backend::{Errno, Op, Outcome, Request};
use fathom_core::run::{Depths, LeftOut};
use fathom_core::units::{MonoTime, Nanos};
use fathom_core::workload::{Mix, ThinkTimeBasis, Verify};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use times::Times;
use trims::Trims;

const SECOND: u64 = 1_000_000_000;
/// `ETIMEDOUT`: what a broken limit is reported as.
const TIMED_OUT: i32 = rustix::io::Errno::TIMEDOUT.raw_os_error();

/// What the worker wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Send the I/O in this slot.
    Issue(u32),
    /// Nothing is due before then; completions may come earlier.
    Wait(MonoTime),
    /// A completion has to come first.
    Full,
    /// A pass begins that wants new files; nothing is in flight.
    NewFiles,
    /// Do this to a zone, and say how it went ([`Worker::zone_done`]).
    Zone(ZoneCommand),
    /// Nothing more will be sent; what is in flight is still to come.
    Finished,
}

/// What is known of an I/O in flight. One cache line: with many in flight, each completion finds its slot far from the
/// processor, and two lines would be twice the wait.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct Slot {
    stamps: Stamps,
    request: Request,
    /// In flight right after it was sent.
    depth: u32,
}

impl Slot {
    /// Takes the I/O of `draw` in, made at `now`. Its own number stays.
    #[inline]
    fn begin(&mut self, draw: Draw, depth: u32, intended: MonoTime, now: MonoTime) {
        self.depth = depth;
        self.stamps = Stamps {
            intended: intended.0,
            created: now.0,
            submitted: now.0,
            completed: 0,
        };
        self.request = Request {
            slot: self.request.slot,
            op: draw.op,
            file: draw.file,
            offset: draw.offset,
            len: draw.len,
        };
    }
}

/// What ends a worker from outside.
#[derive(Debug, Clone, Default)]
pub struct Ends {
    /// At once.
    pub stop: Arc<AtomicBool>,
    /// The counted time; what comes after it (cooldown, last flushes, reading back) still comes.
    pub enough: Arc<AtomicBool>,
}

/// What a worker is at. What is in flight may outlast a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Sends its pattern.
    Load,
    /// Has sent all of it.
    LoadOver,
    /// Reads back what was written.
    ReadBack,
    /// Has sent all reads of it.
    ReadBackOver,
}

impl Stage {
    #[inline]
    fn is_over(self) -> bool {
        matches!(self, Self::LoadOver | Self::ReadBackOver)
    }

    #[inline]
    fn reads_back(self) -> bool {
        matches!(self, Self::ReadBack | Self::ReadBackOver)
    }

    fn over(self) -> Self {
        if self.reads_back() {
            Self::ReadBackOver
        } else {
            Self::LoadOver
        }
    }
}

/// What decides when an I/O is sent, and which.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Arrivals {
    /// A completion: data alone, the next of the pattern, with nothing between.
    Plain,
    /// A completion, with pauses, flushes or checks between.
    Closed,
    /// A completion; which one depends on the slot that it left.
    BySlot,
    /// A schedule: an open loop.
    Scheduled,
    /// A record: an open loop as well.
    Recorded,
}

impl Arrivals {
    fn from_plan(plan: &WorkerPlan) -> Self {
        if plan.schedules.iter().any(Option::is_some) {
            Self::Scheduled
        } else if plan.by_slot {
            Self::BySlot
        } else if turn::is_plain(plan) {
            Self::Plain
        } else {
            Self::Closed
        }
    }
}

/// An interval was handed over, or several were.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rolled {
    /// The phase of the first.
    from: Phase,
    /// The phase after the last.
    to: Phase,
}

impl Rolled {
    /// The ramp is over: what was used until then does not count.
    pub(crate) fn counting_began(self) -> bool {
        self.from == Phase::Ramp && self.to != Phase::Ramp
    }

    /// The load goes on: what is used from here on does not count.
    pub(crate) fn counting_ended(self) -> bool {
        self.from != Phase::Cooldown && self.to == Phase::Cooldown
    }
}

/// What is noted of each completion beside its interval.
#[derive(Debug, Default)]
struct Watch {
    recorder: Option<IoRecorder>,
    /// What was done on each file, where that is asked for.
    files: Option<Box<[FileTally]>>,
    /// How many I/Os were in flight, sent and taken together, where that is asked for.
    depths: Option<Box<Depths>>,
    /// The record that it plays.
    playing: Option<Box<Playing>>,
    /// What it must keep.
    limits: Option<Box<Limits>>,
    /// How far its writes came.
    written: Option<Box<Written>>,
}

/// One worker under way.
#[derive(Debug)]
pub struct Worker {
    plan: WorkerPlan,
    slots: Vec<Slot>,
    free: Vec<u32>,
    in_flight: u32,
    stage: Stage,
    /// Reads are checked now.
    checks: bool,
    /// Blocks that were written, drawn to be read back.
    drawn_back: u64,
    /// What only checking leaves out: I/Os and bytes of reads, of writes.
    left_out: [LeftOut; 2],
    loops_left: u64,
    ios_left: u64,
    issued: u64,
    issued_in_pass: u64,
    /// Whole passes before this one; reading back: those still to be read before the last, partial one.
    passes: u64,
    /// Reading back: how many I/Os of the last pass were sent.
    last_pass_ios: u64,
    /// Drawn, but not due yet.
    pending: Option<Draw>,
    /// A trim whose block is written next, once the trim is done.
    trim_in_flight: bool,
    arrivals: Arrivals,
    deadline: u64,
    boundary: u64,
    times: Times,
    rolled: Option<Rolled>,
    read_back_start: Option<MonoTime>,
    think_until: u64,
    think_count: u32,
    run_since: u64,
    writes_unsynced: u32,
    writes_undatasynced: u32,
    /// A flush that is due.
    sync_due: Option<Draw>,
    /// The pass that begins wants new files.
    new_files_due: bool,
    /// What is written back in parts; `None`: nothing is.
    parts: Option<Box<Parts>>,
    /// Files still to flush at the end.
    end_syncs: u32,
    current: Box<Interval>,
    /// For what comes after the counted time.
    spare: Option<Box<Interval>>,
    /// Due and not sent when the counted time ended, where the load went on.
    backlog_counted: Option<u64>,
    exchange: Arc<Exchange>,
    /// `None`: completions are neither recorded nor counted for their files.
    watch: Option<Watch>,
    /// Writes that are read back while the load goes on; `None`: none is.
    backlog: Option<Box<Backlog>>,
    /// Writes that are trimmed while the load goes on; `None`: none is.
    trims: Option<Box<Trims>>,
    /// What holds I/Os back; `None`: nothing.
    guards: Option<Box<Guards>>,
    ends: Ends,
    errors: ErrorLog,
    failed: bool,
}

impl Worker {
    /// A worker that has not started. `ends` end it from outside.
    pub fn new(plan: WorkerPlan, exchange: Arc<Exchange>, ends: Ends) -> Self {
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
            depth: 0,
        };
        Self {
            slots: (0..depth).map(slot).collect(),
            free: (0..depth).rev().collect(),
            in_flight: 0,
            stage: if plan.verify_only {
                Stage::ReadBack
            } else {
                Stage::Load
            },
            checks: plan.verifies && (plan.verify_only || plan.mix == Mix::Read),
            drawn_back: 0,
            left_out: Default::default(),
            loops_left: plan.loops.max(1) - 1,
            ios_left: plan.number_ios.unwrap_or(u64::MAX),
            issued: 0,
            issued_in_pass: 0,
            passes: 0,
            last_pass_ios: 0,
            pending: None,
            trim_in_flight: false,
            arrivals: Arrivals::from_plan(&plan),
            deadline: u64::MAX,
            boundary: u64::MAX,
            times: Times::new(&plan),
            rolled: None,
            read_back_start: None,
            think_until: 0,
            think_count: 0,
            run_since: 0,
            writes_unsynced: 0,
            writes_undatasynced: 0,
            sync_due: None,
            new_files_due: false,
            parts: Parts::new(plan.sync.range, plan.file_count),
            end_syncs: if plan.sync.fsync_at_end || plan.sync.fsync_on_close {
                plan.file_count
            } else {
                0
            },
            current: exchange.own(),
            spare: (!plan.cooldown.is_zero()).then(|| exchange.own()),
            backlog_counted: None,
            exchange,
            watch: Watch::from_plan(&plan),
            backlog: plan.read_back.then_some(plan.backlog).and_then(|(every, batch)| {
                (every > 0).then(|| Backlog::new(plan.generator.clone(), plan.number_ios, every, batch))
            }),
            trims: None,
            guards: None,
            ends,
            errors: ErrorLog::default(),
            failed: false,
            plan,
        }
    }

    /// Records each I/O from now on.
    pub(crate) fn record_with(&mut self, recorder: IoRecorder) {
        self.watch.get_or_insert_default().recorder = Some(recorder);
    }

    /// Trims what `verify` says of what is written.
    pub(crate) fn trim_behind(&mut self, verify: Option<&Verify>, seed: u64) {
        self.trims = Trims::new(verify, &self.plan.generator, self.plan.depth, seed);
    }

    /// Lets `guards` hold I/Os back.
    pub(crate) fn guard_with(&mut self, guards: Option<Box<Guards>>) {
        self.guards = guards;
        if self.guards.is_some() && self.arrivals == Arrivals::Plain {
            self.arrivals = Arrivals::Closed;
        }
    }

    /// Begins at `now`. Intervals are counted from `epoch`, the start of the run.
    pub fn start(&mut self, now: MonoTime, epoch: MonoTime) {
        self.deadline = self.times.start(&self.plan, now, epoch);
        self.start_rare(now);
        self.run_since = now.0;
        self.current.start = now;
        self.current.phase = self.times.phase(now.0);
        self.boundary = self.times.boundary(now.0);
        for schedule in self.plan.schedules.iter_mut().flatten() {
            schedule.start(now);
        }
        if let Some(playing) = self.playing() {
            playing.start(now, epoch);
        }
    }

    /// What to do at `now`.
    #[inline]
    pub fn next(&mut self, now: MonoTime) -> Step {
        if self.ends.enough.load(Ordering::Relaxed) {
            self.take_enough(now);
        }
        if self.stage.is_over()
            || now.0 >= self.deadline && !self.stage.reads_back()
            || self.ends.stop.load(Ordering::Relaxed)
        {
            return self.end(now);
        }
        if self.free.is_empty() {
            return Step::Full;
        }
        if now.0 < self.think_until {
            return Step::Wait(MonoTime(self.think_until));
        }
        if let Some(guards) = &mut self.guards
            && let Some(until) = guards.waits(now)
        {
            return Step::Wait(until);
        }
        if self.guards.is_some()
            && let Some(command) = self.zone_due()
        {
            return Step::Zone(command);
        }
        if self.sync_due.is_some() {
            return self.next_flush(now);
        }
        if self.backlog.is_some()
            && let Some(step) = self.step_of_backlog(now)
        {
            return step;
        }
        if self.trims.is_some()
            && let Some(step) = self.step_of_trims(now)
        {
            return step;
        }
        if let Arrivals::BySlot | Arrivals::Scheduled | Arrivals::Recorded = self.arrivals {
            if self.arrivals == Arrivals::Recorded {
                return self.next_recorded(now);
            }
            if self.plan.by_slot
                && let Some(&slot) = self.free.last()
            {
                self.plan.generator.turn_to(slot);
            }
            if self.is_open_loop() && !self.stage.reads_back() {
                return self.next_scheduled(now);
            }
        }
        match self.draw() {
            Some(draw) if self.is_unhindered() => self.issue(draw, now, now),
            Some(draw) => self.next_hindered(draw, now),
            None => self.end(now),
        }
    }

    /// The I/O in a slot, as the backend wants it.
    #[inline]
    pub fn request(&self, slot: u32) -> Request {
        self.slots[slot as usize].request
    }

    /// The I/O in a slot, where it is: its fields were written one by one, and copying all of it at once right after
    /// that would wait for the stores.
    #[inline]
    pub fn request_in_place(&self, slot: u32) -> &Request {
        &self.slots[slot as usize].request
    }

    /// Moves the creation of the I/O in `slot` to `now`: its buffer took time to fill, which is not I/O.
    #[inline]
    pub fn created(&mut self, slot: u32, now: MonoTime) {
        let Slot { stamps, request, .. } = &mut self.slots[slot as usize];
        let has_time = match self.arrivals {
            Arrivals::Plain | Arrivals::Closed | Arrivals::BySlot => false,
            Arrivals::Scheduled => matches!(self.plan.schedules.get(request.op.index()), Some(Some(_))),
            Arrivals::Recorded => true,
        };
        if !has_time {
            stamps.intended = now.0;
        }
        stamps.created = now.0;
        stamps.submitted = now.0;
    }

    /// The priority that the system is told of the I/O in `slot`; `None`: no I/O of this worker has one of its own.
    #[inline]
    pub fn priority(&self, slot: u32) -> Option<u16> {
        let priorities = self.guards.as_ref()?.priorities.as_ref()?;
        Some(priorities.number_of_slot(slot))
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
        let Slot {
            stamps,
            request,
            depth,
        } = &mut self.slots[slot as usize];
        stamps.completed = now.0;
        if let Some(Watch {
            recorder,
            files,
            depths,
            playing,
            limits,
            written,
        }) = &mut self.watch
        {
            if let (Some(written), Op::Write) = (written, request.op) {
                written.completed(request, outcome);
            }
            if let Some(depths) = depths
                && self.current.phase == Phase::Counted
            {
                depths.sent(*depth);
            }
            if let Some(limits) = limits
                && !self.failed
                && !self.stage.reads_back()
            {
                let lat_ns = now.0.saturating_sub(stamps.created);
                let broken = limits.completed(request, lat_ns, now.0);
                if let Some(broken) = broken {
                    self.errors.add_other(broken, Errno(TIMED_OUT));
                    self.failed = true;
                    self.stage = self.stage.over();
                }
            }
            if let Some(playing) = playing {
                playing.completed(slot, stamps.intended, stamps.created, now.0);
            }
            if let Some(recorder) = recorder {
                let priorities = self.guards.as_ref().and_then(|guards| guards.priorities.as_ref());
                let priority = priorities.map_or(0, |priorities| priorities.of_slot(slot));
                recorder.record(request, stamps, (*depth, priority), errno_of(outcome));
            }
            if let Some(files) = files
                && self.current.phase == Phase::Counted
            {
                let at = Clocked {
                    since_ns: now.0.saturating_sub(self.times.ramp_end),
                    interval_ns: self.plan.interval.0,
                };
                tally::count(files, request, outcome, (stamps, at), self.checks);
            }
        }
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
        if self.guards.is_some() {
            self.completed_guarded(slot, outcome, now);
        }
        if self.checks && request.op == Op::Read && outcome == Ok(request.len) {
            return true;
        }
        self.give_back(slot);
        false
    }

    /// I/Os sent and not completed.
    #[inline]
    pub fn in_flight(&self) -> u32 {
        self.in_flight
    }
    /// The next moment at which something has to be done even if nothing completes.
    #[inline]
    pub fn next_event(&self) -> MonoTime {
        MonoTime(if self.stage.reads_back() {
            self.boundary
        } else {
            self.deadline.min(self.boundary)
        })
    }
    /// Whether issuing is over.
    pub fn is_finished(&self) -> bool {
        self.stage.is_over()
    }
    /// Whether arrivals follow a schedule.
    pub fn is_open_loop(&self) -> bool {
        matches!(self.arrivals, Arrivals::Scheduled | Arrivals::Recorded)
    }
    /// Slots in all.
    pub fn depth(&self) -> u32 {
        self.slots.len() as u32
    }
    /// How pauses are spent: the part that spins.
    pub fn think_spin(&self) -> Nanos {
        self.plan.think.map_or(Nanos::ZERO, |think| think.spin)
    }
}

#[cfg(test)]
mod tests;

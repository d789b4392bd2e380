//! The measured loop in real time: one worker, one backend, one clock.
//!
//! Data in: a worker ready to start. Data out: nothing; the worker keeps the account. Between start and stop
//! nothing is allocated, locked, logged or formatted. Every backend runs through this one loop; it must not
//! know which.

use crate::content::Content;
use crate::wait::sleep_until;
use crate::worker::{Rolled, Step, Worker};
use crate::zones::ZoneCommand;
use fathom_core::backend::{Backend, BackendError, Errno, Op, Submit};
use fathom_core::clock::Clock;
use fathom_core::run::CpuUsage;
use fathom_core::units::{MonoTime, Nanos};
use fathom_core::workload::Depth;
use fathom_sys::process::resource_usage_thread;
use fathom_sys::zoned::Zone;
use std::os::fd::OwnedFd;

/// How long before a due time waiting turns into spinning: timers wake up late, those of
/// virtual machines most of all.
pub const SPIN: Nanos = Nanos::from_micros(60);

/// Does to a zone what a command says; what the zone is, where that was asked for.
pub type ChangeZone<'a> = dyn FnMut(&ZoneCommand) -> std::io::Result<Option<Zone>> + 'a;

/// The loop of one worker.
#[expect(missing_debug_implementations, reason = "what gives it files has none")]
pub struct Driver<'a, B, C> {
    /// Decides and counts.
    pub worker: &'a mut Worker,
    /// Carries out.
    pub backend: &'a mut B,
    /// Tells the time.
    pub clock: &'a mut C,
    /// Fills and checks buffers.
    pub content: &'a mut Content,
    depth: Depth,
    fills: bool,
    /// What is read back has to be announced to the contents.
    expects: bool,
    /// Some of what is read back was trimmed.
    trims: bool,
    queued: Vec<u32>,
    to_check: Vec<u32>,
    held: Option<u32>,
    /// Gives files in place of those of the pass before, where each pass has its own.
    pub new_files: Option<&'a mut dyn FnMut() -> std::io::Result<Vec<OwnedFd>>>,
    /// Does to a zone what has to be done before a write, where zones are heeded.
    pub zones: Option<&'a mut ChangeZone<'a>>,
    /// What the thread had used when counting began, where that was at the end of a ramp.
    pub usage_before: Option<CpuUsage>,
    /// What the thread had used when counting ended, where the load went on.
    pub usage_after: Option<CpuUsage>,
}

impl<'a, B: Backend, C: Clock> Driver<'a, B, C> {
    /// Allocates all that the loop needs.
    pub fn new(
        worker: &'a mut Worker,
        backend: &'a mut B,
        clock: &'a mut C,
        content: &'a mut Content,
        depth: Depth,
    ) -> Self {
        let slots = worker.depth() as usize;
        let fills = backend.capabilities().has_buffers && content.fills_each();
        let expects = fills && content.expects();
        let trims = fills && worker.trims_behind();
        let (queued, to_check) = (Vec::with_capacity(slots), Vec::with_capacity(slots));
        Self {
            worker,
            backend,
            clock,
            content,
            depth,
            fills,
            expects,
            trims,
            queued,
            to_check,
            held: None,
            new_files: None,
            zones: None,
            usage_before: None,
            usage_after: None,
        }
    }

    /// Runs until the worker has finished and nothing is in flight.
    ///
    /// # Errors
    /// The backend failed as a whole.
    pub fn run(&mut self) -> Result<(), BackendError> {
        loop {
            let step = self.send()?;
            // What the backend had no room for is not on its way.
            let in_flight = self.worker.in_flight() - u32::from(self.held.is_some());
            match step {
                Step::Issue(_) => {}
                // In a closed loop there is no limit to the wait: until something completes nothing can be sent,
                // and a second without a completion needs no interval of its own. In an open one the backlog
                // grows meanwhile, and each second says so.
                Step::Full => {
                    let above_low = in_flight.saturating_sub(self.depth.low);
                    let fewest = self
                        .depth
                        .batch_complete_min
                        .max(above_low)
                        .clamp(1, in_flight.max(1));
                    let open_loop = self.worker.is_open_loop() && !self.worker.is_finished();
                    let until = if open_loop {
                        self.worker.next_event()
                    } else {
                        MonoTime::NEVER
                    };
                    self.reap(fewest, until)?;
                }
                Step::Wait(until) => self.wait(until)?,
                Step::NewFiles => self.renew()?,
                Step::Zone(command) => self.change_zone(&command),
                Step::Finished if in_flight > 0 => self.reap(1, MonoTime::NEVER)?,
                Step::Finished => {
                    if !self.worker.begin_read_back(self.clock.now()) {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Sends what there is to send. What stopped it is returned, never `Issue`.
    #[inline]
    fn send(&mut self) -> Result<Step, BackendError> {
        let mut now = self.clock.now();
        let step = loop {
            let held = self.held.take();
            let step = match held {
                Some(slot) => Step::Issue(slot),
                None => self.worker.next(now),
            };
            let Step::Issue(slot) = step else { break step };
            let request = self.worker.request(slot);
            // What there was no room for is filled already.
            if self.fills && held.is_none() {
                if request.op == Op::Write {
                    self.fill(slot);
                    now = self.clock.now();
                    self.worker.created(slot, now);
                } else if self.expects && self.worker.reads_back() {
                    self.content.expect(slot);
                }
                if self.trims && request.op == Op::Read && self.worker.reads_trimmed(slot) {
                    self.content.expect_trimmed(slot);
                }
            }
            if request.op.index() > Op::Write.index() && !self.queued.is_empty() {
                // Some backends do these at once: what came before them must be with the system by then.
                now = self.commit()?;
            }
            if request.op == Op::DataSync
                && let Some(part) = self.worker.take_part()
            {
                self.backend.sync_part(part);
            }
            if let Some(priority) = self.worker.priority(slot) {
                self.backend.prioritise(priority);
            }
            match self.backend.submit(request, now) {
                Submit::Done(outcome) => {
                    now = self.clock.now();
                    if self.worker.complete(slot, outcome, now) {
                        self.check(slot);
                        // The time of the check is not that of the next I/O.
                        now = self.clock.now();
                    }
                    if let Some(rolled) = self.worker.take_rolled() {
                        self.interval_over(rolled);
                        now = self.clock.now();
                    }
                }
                Submit::Queued => {
                    self.queued.push(slot);
                    now = if self.queued.len() as u32 == self.depth.batch_submit {
                        self.commit()?
                    } else {
                        self.clock.now()
                    };
                }
                Submit::Busy => {
                    self.held = Some(slot);
                    break Step::Full;
                }
            }
        };
        if !self.queued.is_empty() {
            self.commit()?;
        }
        Ok(step)
    }

    /// Hands over what is queued. The moment when the system had it is also the next creation, where one follows.
    #[inline]
    fn commit(&mut self) -> Result<MonoTime, BackendError> {
        self.backend.commit()?;
        let now = self.clock.now();
        self.worker.sent_together(self.queued.len() as u32);
        for slot in self.queued.drain(..) {
            self.worker.submitted(slot, now);
        }
        Ok(now)
    }

    /// After each interval, and at both ends of the counted time.
    #[cold]
    fn interval_over(&mut self, rolled: Rolled) {
        self.clock.discipline();
        if rolled.counting_began() {
            self.usage_before = resource_usage_thread().ok();
        }
        if rolled.counting_ended() {
            self.usage_after = resource_usage_thread().ok();
        }
    }

    /// Takes completions: at least `fewest`, unless `until` comes first.
    #[inline]
    fn reap(&mut self, fewest: u32, until: MonoTime) -> Result<(), BackendError> {
        let Self {
            worker,
            backend,
            clock,
            to_check,
            depth,
            ..
        } = self;
        let most = if depth.batch_complete_max == 0 {
            u32::MAX
        } else {
            depth.batch_complete_max.max(fewest)
        };
        let taken = backend.reap(fewest, most, until, &mut |slot, outcome| {
            if worker.complete(slot, outcome, clock.now()) {
                to_check.push(slot);
            }
        })?;
        worker.taken_together(taken);
        while let Some(slot) = self.to_check.pop() {
            self.check(slot);
        }
        let now = self.clock.now();
        self.worker.roll_if_due(now);
        if let Some(rolled) = self.worker.take_rolled() {
            self.interval_over(rolled);
        }
        Ok(())
    }

    /// Waits for `until`, taking completions meanwhile.
    fn wait(&mut self, until: MonoTime) -> Result<(), BackendError> {
        let spin = SPIN.max(self.worker.think_spin());
        let event = self.worker.next_event();
        let sleep_end = MonoTime(until.0.saturating_sub(spin.0)).min(event);
        if self.worker.in_flight() > 0 {
            // Close to the due time: look without waiting, so that it is not missed.
            let fewest = u32::from(self.clock.now() < sleep_end);
            return self.reap(fewest, sleep_end);
        }
        sleep_until(&*self.clock, sleep_end);
        let now = self.clock.now();
        self.worker.roll_if_due(now);
        if let Some(rolled) = self.worker.take_rolled() {
            self.interval_over(rolled);
        }
        std::hint::spin_loop();
        Ok(())
    }

    /// The files of the next pass.
    #[cold]
    fn renew(&mut self) -> Result<(), BackendError> {
        let Some(new_files) = &mut self.new_files else {
            return Ok(());
        };
        let taken = new_files().and_then(|files| self.backend.take_files(files));
        taken.map_err(|source| BackendError {
            call: "unlink_each_loop",
            source,
        })
    }

    /// What a zone needs before it is written. I/Os in flight are not taken meanwhile.
    #[cold]
    fn change_zone(&mut self, command: &ZoneCommand) {
        let outcome = match &mut self.zones {
            Some(carry_out) => carry_out(command),
            None => Ok(None),
        };
        let errno = |error: std::io::Error| Errno(error.raw_os_error().unwrap_or(0));
        self.worker.zone_done(command, outcome.map_err(errno));
    }

    /// Kept apart, so that the loop's own copy of a request stays in registers: its fields are written one by
    /// one just before, and reading them together would wait for the stores.
    #[inline(never)]
    fn fill(&mut self, slot: u32) {
        let request = self.worker.request(slot);
        self.content
            .fill(&mut self.backend.buffer(slot)[..request.len as usize], &request);
    }

    #[inline(never)]
    fn check(&mut self, slot: u32) {
        let request = self.worker.request(slot);
        let good = !self.backend.capabilities().has_buffers
            || self
                .content
                .check(&mut self.backend.buffer(slot)[..request.len as usize], &request);
        self.worker.verified(slot, good);
    }
}

#[cfg(test)]
mod tests;

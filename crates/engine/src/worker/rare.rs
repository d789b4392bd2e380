//! What few workers do beside the loop: guards and limits at their start and at completions, ends of their own kind.

use super::guards::{LOOK_AGAIN, Verdict};
use super::written::Written;
use super::{Limits, Slot, Step, Watch, Worker, WorkerPlan};
use crate::interval::Phase;
use crate::pattern::Draw;
use crate::worker::FileTally;
use crate::zones::{Place, WorkerZones, ZoneCommand};
use fathom_core::backend::{Errno, Op, Outcome};
use fathom_core::units::MonoTime;
use fathom_sys::zoned::Zone;

impl Watch {
    /// What a plan asks for; `None`: nothing.
    pub(super) fn from_plan(plan: &WorkerPlan) -> Option<Self> {
        let tallies = || (0..plan.file_count).map(|_| FileTally::from_plan(plan)).collect();
        let limits = plan.limits.clone();
        let any = plan.count_files || plan.count_depths || plan.keeps_state || limits.is_some();
        any.then(|| Self {
            recorder: None,
            playing: None,
            files: plan.count_files.then(tallies),
            depths: plan.count_depths.then(Box::default),
            limits,
            written: plan.keeps_state.then(|| Box::new(Written::new(plan.depth))),
        })
    }
}

impl Worker {
    /// Begins what few workers have.
    pub(super) fn start_rare(&mut self, now: MonoTime) {
        let limits = self.watch.as_mut().and_then(|watch| watch.limits.as_deref_mut());
        if let Some(limits) = limits {
            Limits::start(limits, now.0);
        }
        let Some(target) = self.guards.as_mut().and_then(|guards| guards.target.as_mut()) else {
            return;
        };
        target.start(now, &mut self.free);
        if target.counts_only_found() {
            // All before is a ramp.
            self.times.ramp_end = u64::MAX;
        }
    }

    /// Whether nothing can stand before the next I/O: what most workers have, told by three plain tests.
    #[inline]
    pub(super) fn is_unhindered(&self) -> bool {
        self.guards.is_none() && !self.trim_in_flight && !self.new_files_due
    }

    /// The next step of a closed loop that has drawn an I/O before which something may stand.
    #[inline(never)]
    pub(super) fn next_hindered(&mut self, draw: Draw, now: MonoTime) -> Step {
        if self.new_files_due {
            return self.wait_for_new_files(draw);
        }
        if self.is_held_up(&draw) {
            self.pending = Some(draw);
            return Step::Full;
        }
        match self.cleared(draw, now) {
            Ok(draw) => self.issue(draw, now, now),
            Err(step) => step,
        }
    }

    /// Whether the next I/O has to wait for a completion.
    #[inline]
    pub(super) fn is_held_up(&self, draw: &Draw) -> bool {
        let waits_for_trim = draw.op == Op::Write && self.trim_in_flight;
        waits_for_trim || self.guards.as_ref().is_some_and(|guards| guards.overlaps(draw))
    }

    /// The next I/O with the lock on its file, and where its zone has it; `Err`: what comes before it.
    #[inline]
    pub(super) fn cleared(&mut self, draw: Draw, now: MonoTime) -> Result<Draw, Step> {
        let Some(guards) = &mut self.guards else {
            return Ok(draw);
        };
        if let Some(locks) = &mut guards.locks
            && !locks.take(draw.op, draw.file)
        {
            return Err(self.look_again(draw, now));
        }
        if guards.zones.is_some() {
            return self.placed_by_zone(draw, now);
        }
        Ok(draw)
    }

    /// An I/O has to wait for others, of this worker or of another one.
    fn look_again(&mut self, draw: Draw, now: MonoTime) -> Step {
        self.pending = Some(draw);
        if self.in_flight > 0 {
            Step::Full
        } else {
            Step::Wait(now.after(LOOK_AGAIN))
        }
    }

    #[cold]
    fn placed_by_zone(&mut self, draw: Draw, now: MonoTime) -> Result<Draw, Step> {
        let Some(guards) = &mut self.guards else {
            return Ok(draw);
        };
        let Some(zones) = &mut guards.zones else {
            return Ok(draw);
        };
        let place = zones.place(draw);
        if let Place::Send(draw) = place {
            return Ok(draw);
        }
        if let Some(locks) = guards.locks.as_mut() {
            locks.give_back(draw.file);
        }
        Err(match place {
            Place::First(command) => {
                self.pending = Some(draw);
                Step::Zone(command)
            }
            Place::Nothing => {
                self.stage = self.stage.over();
                self.end(now)
            }
            Place::PassOver => {
                // What is drawn next is of the next pass, where there is one.
                self.ios_left = 0;
                Step::Wait(now)
            }
            Place::Skip => Step::Wait(now),
            Place::Busy | Place::Send(_) => self.look_again(draw, now),
        })
    }

    /// What has to be done to a zone before anything else is sent.
    #[inline]
    pub(super) fn zone_due(&mut self) -> Option<ZoneCommand> {
        self.guards.as_mut()?.zones.as_mut()?.take_due()
    }

    /// A command to a zone was carried out; it gave what the zone was found to be, where that was asked for.
    #[cold]
    pub fn zone_done(&mut self, command: &ZoneCommand, outcome: Result<Option<Zone>, Errno>) {
        let Some(zones) = self.guards.as_mut().and_then(|guards| guards.zones.as_mut()) else {
            return;
        };
        let look = outcome.as_ref().ok().and_then(Option::as_ref);
        zones.done(command, outcome.is_ok(), look);
        if let Err(errno) = outcome {
            self.fail(command.action.call(), errno);
        }
    }

    /// New files come once nothing is in flight.
    #[cold]
    pub(super) fn wait_for_new_files(&mut self, draw: Draw) -> Step {
        self.pending = Some(draw);
        if self.in_flight > 0 {
            return Step::Full;
        }
        self.new_files_due = false;
        Step::NewFiles
    }

    /// The slot may be used again.
    #[inline]
    pub(super) fn give_back(&mut self, slot: u32) {
        match &mut self.guards {
            None => self.free.push(slot),
            Some(guards) => match &mut guards.target {
                None => self.free.push(slot),
                Some(target) => target.give_back(slot, self.in_flight, &mut self.free),
            },
        }
    }

    /// An I/O was completed, where there are guards.
    #[cold]
    pub(super) fn completed_guarded(&mut self, slot: u32, outcome: Outcome, now: MonoTime) {
        let Slot { stamps, request, .. } = &self.slots[slot as usize];
        let created = stamps.created;
        let Some(guards) = &mut self.guards else { return };
        if let Some(priorities) = &mut guards.priorities
            && outcome == Ok(request.len)
            && self.current.phase == Phase::Counted
        {
            priorities.completed(request.op, slot, stamps);
        }
        guards.completed(slot);
        if let Some(zones) = &mut guards.zones {
            zones.completed(slot, request.len, outcome);
        }
        if let Some(locks) = guards.locks.as_mut().filter(|_| request.len > 0) {
            locks.give_back(request.file);
        }
        let Some(target) = &mut guards.target else { return };
        if self.stage.is_over() || self.stage.reads_back() {
            return;
        }
        let last_chance = now.after(target.window()).0 >= self.deadline;
        let before = target.depth();
        let verdict = target.completed(now, now.0.saturating_sub(created), last_chance);
        if target.depth() > before {
            target.release(self.in_flight, &mut self.free);
        } else if target.depth() < before {
            while self.in_flight + self.free.len() as u32 > target.depth() {
                match self.free.pop() {
                    Some(slot) => target.hold(slot),
                    None => break,
                }
            }
        }
        if verdict == Verdict::Found && target.counts_only_found() {
            // One more window, which counts.
            self.times.ramp_end = now.0;
            self.deadline = self.deadline.min(now.after(target.window()).0);
            self.boundary = now.0;
            self.roll(now);
        }
    }

    /// Zones that were emptied.
    pub(super) fn zone_resets(&self) -> u64 {
        let zones = self.guards.as_ref().and_then(|guards| guards.zones.as_ref());
        zones.map_or(0, WorkerZones::resets)
    }

    /// The depth that keeps the latency, where one was looked for.
    pub(super) fn depth_found(&self) -> Option<u32> {
        Some(self.guards.as_ref()?.target.as_ref()?.depth())
    }
}

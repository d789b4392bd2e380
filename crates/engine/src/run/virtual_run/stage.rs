//! One worker in virtual time: what the driver is to a worker in real time.
//!
//! Data in: events at its places of the queue (completions of its slots, and its own wake). Data out: I/Os to the disk,
//! times to the queue. It must not know the other workers.

use super::queue::{NEVER, Queues};
use crate::interval::{Derived, Exchange};
use crate::recording::IoRecorder;
use crate::replay::Feed;
use crate::thread;
use crate::worker::{Ends, Guards, Step, Worker, WorkerEnd, WorkerPlan};
use fathom_core::units::{MonoTime, Nanos};
use fathom_core::virtual_disk::{Submitter, VirtualDisk};
use fathom_core::workload::{Depth, EngineKind, Job, SyncMode};
use std::sync::Arc;

/// A slot number that no worker has.
const NO_SLOT: u32 = u32::MAX;

/// What the disk has to know of a worker of `job` whose files begin at `file_base_bytes`.
pub(super) fn submitter(job: &Job, file_base_bytes: Vec<u64>) -> Submitter {
    Submitter {
        direct: is_direct(job),
        // A store to a mapping does not know how the file was opened.
        sync_writes: job.sync.mode != SyncMode::None && job.engine.kind != EngineKind::Mmap,
        file_base_bytes,
    }
}

/// Whether the page cache is bypassed: by a mapping it never is.
fn is_direct(job: &Job) -> bool {
    job.direct && job.engine.kind != EngineKind::Mmap
}

/// How slat and clat of `job` follow from lat on a disk whose submissions take so long.
pub(super) fn derived(job: &Job, submission: Nanos) -> Option<Derived> {
    if !thread::metrics_of(job).split {
        return None;
    }
    match submission {
        _ if !is_direct(job) => Some(Derived::Blocking),
        Nanos::ZERO => Some(Derived::AtOnce),
        _ => None,
    }
}

/// A worker under way.
#[derive(Debug)]
pub(super) struct Stage {
    /// Its job and its number within it.
    pub(super) of: (usize, usize),
    worker: Worker,
    exchange: Arc<Exchange>,
    depth: Depth,
    slots: u32,
    /// Its number at the disk.
    submitter: u32,
    /// Its tickets are this and the following ones, one a slot.
    first_ticket: u32,
    /// Its places among the slots are this and the following ones.
    first_place: u32,
    /// Whether it has places.
    placed: bool,
    /// Its place among the wakes.
    wake_place: u32,
    wake: u64,
    /// Completions still to come before it looks for something to send.
    awaiting: u32,
    /// Its processor is busy with a submission until then.
    busy_until: u64,
    /// Calls return when the I/O is complete (buffered I/O, whatever the engine).
    blocking: bool,
    begun: bool,
    ended: bool,
    /// It was told that enough is known of its job.
    pub(super) had_enough: bool,
}

impl Stage {
    /// A worker that begins at `start`.
    pub(super) fn new(
        of: (usize, usize),
        job: &Job,
        mut plan: WorkerPlan,
        derived: Option<Derived>,
        (submitter, first_ticket): (u32, u32),
        start: MonoTime,
        ends: Ends,
    ) -> Self {
        // A modelled disk keeps no data: there is nothing to verify.
        plan.verifies = false;
        plan.read_back = false;
        plan.metrics.split &= derived.is_none();
        let exchange = Arc::new(Exchange::new());
        let worker = Worker::new(plan, Arc::clone(&exchange), ends);
        Self {
            of,
            slots: worker.depth(),
            worker,
            exchange,
            depth: job.depth,
            submitter,
            first_ticket,
            first_place: 0,
            placed: false,
            wake_place: 0,
            wake: start.0,
            awaiting: 0,
            busy_until: 0,
            blocking: !is_direct(job),
            begun: false,
            ended: false,
            had_enough: false,
        }
    }

    /// Records each I/O from now on.
    pub(super) fn record_with(&mut self, recorder: IoRecorder) {
        self.worker.record_with(recorder);
    }

    /// Lets `guards` hold its I/Os back.
    pub(super) fn guard_with(&mut self, guards: Option<Box<Guards>>) {
        self.worker.guard_with(guards);
    }

    /// Plays a record.
    pub(super) fn play(&mut self, feed: Feed) {
        self.worker.play(feed);
    }

    /// Where its intervals come out.
    pub(super) fn exchange(&self) -> Arc<Exchange> {
        Arc::clone(&self.exchange)
    }

    /// Its slots, and so its tickets and its places.
    pub(super) fn slots(&self) -> u32 {
        self.slots
    }

    pub(super) fn first_ticket(&self) -> u32 {
        self.first_ticket
    }

    /// Takes its places in new queues: among the slots from `first` on, among the wakes `wake`.
    pub(super) fn move_to(&mut self, (first, wake): (u32, u32), old: &Queues, new: &mut Queues) {
        for slot in 0..self.slots {
            let time = if self.placed {
                old.slots.time(self.place(slot))
            } else {
                NEVER
            };
            new.slots.set(first + slot, time);
        }
        new.set_wake(wake, self.wake);
        self.first_place = first;
        self.placed = true;
        self.wake_place = wake;
    }

    fn place(&self, slot: u32) -> u32 {
        self.first_place + slot
    }

    /// Its wake has come. The end of the worker, where that was it.
    pub(super) fn wake(
        &mut self,
        now: MonoTime,
        queues: &mut Queues,
        disk: &mut dyn VirtualDisk,
    ) -> Option<MonoTime> {
        self.set_wake(NEVER, queues);
        if !self.begun {
            self.begun = true;
            self.worker.start(now, super::EPOCH);
        }
        self.worker.roll_if_due(now);
        self.send(NO_SLOT, now, queues, disk)
    }

    /// Enough is known: who waits for something to be due looks at once.
    pub(super) fn notice_enough(&mut self, now: MonoTime, queues: &mut Queues) {
        if self.ended {
            return;
        }
        if self.begun {
            self.worker.notice_enough(now);
        }
        if self.wake != NEVER {
            // A processor that is busy with a submission looks when it is free.
            self.set_wake(now.0.max(self.busy_until), queues);
        }
    }

    /// The I/O at `place` is complete. The end of the worker, where that was it.
    #[inline]
    pub(super) fn complete(
        &mut self,
        place: u32,
        now: MonoTime,
        queues: &mut Queues,
        disk: &mut dyn VirtualDisk,
    ) -> Option<MonoTime> {
        let slot = place - self.place(0);
        if now.0 < self.busy_until {
            // It is seen when the processor is free to look.
            queues.slots.set(place, self.busy_until);
            return None;
        }
        if self.awaiting <= 1 && !self.blocking && self.worker.turn(slot, now) {
            self.go_on(slot, now, queues, disk);
            return None;
        }
        let len = self.worker.request_in_place(slot).len;
        self.worker.complete(slot, Ok(len), now);
        self.awaiting = self.awaiting.saturating_sub(1);
        if self.awaiting == 0 {
            return self.send(slot, now, queues, disk);
        }
        queues.slots.set(place, NEVER);
        None
    }

    /// Sends the I/O that has taken the place of a complete one; all slots are taken then.
    #[inline]
    fn go_on(&mut self, slot: u32, now: MonoTime, queues: &mut Queues, disk: &mut dyn VirtualDisk) {
        match self.submit(slot, now, queues, disk) {
            Some(wake) => self.set_wake(wake, queues),
            None => self.awaiting = self.fewest(),
        }
    }

    /// Gives the I/O in `slot` to the disk. `Some`: its processor has to do with that, until then or (forever) until
    /// the I/O is complete.
    #[inline]
    fn submit(
        &mut self,
        slot: u32,
        now: MonoTime,
        queues: &mut Queues,
        disk: &mut dyn VirtualDisk,
    ) -> Option<u64> {
        let request = self.worker.request_in_place(slot);
        let accepted = disk.submit(self.submitter, self.first_ticket + slot, request, now);
        queues.slots.set(self.place(slot), accepted.completed.0);
        if self.blocking {
            self.worker.submitted(slot, accepted.completed);
            self.awaiting = 1;
            return Some(NEVER);
        }
        if accepted.submitted > now {
            self.worker.submitted(slot, accepted.submitted);
            self.busy_until = accepted.submitted.0;
            return Some(self.busy_until);
        }
        None
    }

    /// The fewest completions to wait for, with no room for more.
    #[inline]
    fn fewest(&self) -> u32 {
        let in_flight = self.worker.in_flight();
        let above_low = in_flight.saturating_sub(self.depth.low);
        let fewest = self.depth.batch_complete_min.max(above_low);
        fewest.clamp(1, in_flight.max(1))
    }

    /// Sends what there is to send. `freed`: a slot that has just ended and is still in the queue.
    #[inline]
    fn send(
        &mut self,
        freed: u32,
        now: MonoTime,
        queues: &mut Queues,
        disk: &mut dyn VirtualDisk,
    ) -> Option<MonoTime> {
        let mut freed = freed;
        let (wake, ended) = loop {
            // With all slots taken there is nothing to ask in a closed loop: what may end the worker comes with the next
            // completion. An open one is woken at its end, and has to see it.
            let step = if self.worker.in_flight() == self.slots && !self.worker.is_open_loop() {
                Step::Full
            } else {
                self.worker.next(now)
            };
            match step {
                Step::Issue(slot) => {
                    if slot == freed {
                        freed = NO_SLOT;
                    }
                    if let Some(wake) = self.submit(slot, now, queues, disk) {
                        break (wake, false);
                    }
                }
                Step::Full => {
                    self.awaiting = self.fewest();
                    // In an open loop the backlog grows meanwhile, and each second says so.
                    let event = if self.worker.is_open_loop() && !self.worker.is_finished() {
                        self.worker.next_event().0
                    } else {
                        NEVER
                    };
                    break (event, false);
                }
                Step::Wait(until) => break (until.min(self.worker.next_event()).0, false),
                // The modelled disk has no files: the same places are written again.
                Step::NewFiles => {}
                // Its zones are made up: nobody has to be told.
                Step::Zone(command) => self.worker.zone_done(&command, Ok(None)),
                Step::Finished => break (NEVER, self.worker.in_flight() == 0),
            }
        };
        if freed != NO_SLOT {
            queues.slots.set(self.place(freed), NEVER);
        }
        self.set_wake(wake, queues);
        ended.then_some(now)
    }

    #[inline]
    fn set_wake(&mut self, time: u64, queues: &mut Queues) {
        if time != self.wake {
            self.wake = time;
            queues.set_wake(self.wake_place, time);
        }
    }

    /// The disk has settled when the I/O of `ticket` ends.
    pub(super) fn settled(&mut self, ticket: u32, completed: MonoTime, queues: &mut Queues) {
        let slot = ticket - self.first_ticket;
        if self.blocking {
            self.worker.submitted(slot, completed);
        }
        queues.slots.set(self.place(slot), completed.0);
    }

    /// Whether an interval was handed over since the last call.
    #[inline]
    pub(super) fn take_rolled(&mut self) -> bool {
        self.worker.take_rolled().is_some()
    }

    /// The worker's account; it ended at `end`. Its places stay, and nothing will be due there.
    pub(super) fn finish(&mut self, end: MonoTime, queues: &mut Queues) -> WorkerEnd {
        self.ended = true;
        for slot in 0..self.slots {
            queues.slots.set(self.place(slot), NEVER);
        }
        self.set_wake(NEVER, queues);
        let end = self.worker.leave(end);
        // Who waits for it in a balance waits no more.
        self.worker.guard_with(None);
        end
    }

    /// Whether its worker has ended.
    pub(super) fn has_ended(&self) -> bool {
        self.ended
    }

    /// Whether it has places in queues.
    pub(super) fn is_placed(&self) -> bool {
        self.placed
    }
}

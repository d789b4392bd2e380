//! The machine: its parts, its clock, its event queue.

use super::Window;
use super::block::{BlockLayer, Request};
use super::cpu::{Cpu, Task};
use super::device::Device;
use super::load::{Numbered, Worker};
use super::others::{Journal, Stream, Writeback};
use fathom_core::record::{BlockRequest, Comm, IoRecord, KernelSpan, SchedSlice};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// When the simulated machine's clock begins: not at 0, as no real one does.
pub(super) const BOOT_NS: u64 = 1_000_000_000_000;
pub(super) const MS: u64 = 1_000_000;
pub(super) const SECOND: u64 = 1_000_000_000;

/// What happens next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Event {
    /// The stay number `1` on CPU `0` is to be looked at.
    Tick(usize, u64),
    /// A task is woken.
    Wake(usize),
    /// A task is stopped or frozen.
    Hold(usize),
    /// The device has done what channel `0` had.
    Done(usize),
    /// The device may start something.
    Kick,
    /// The throttle's next slice.
    Slice,
    /// The queue may be run.
    Unfreeze,
    /// Stream `0` sends what it may.
    Stream(usize),
    /// The journal commits.
    Commit,
    /// Somebody asks for a commit of so many requests.
    Asked(u32),
    /// The kernel looks at dirty pages.
    Flusher,
}

/// Whose a request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    /// A worker of the load, its slot.
    Load(usize),
    Stream(usize),
    Journal,
    Flusher,
}

pub(super) struct Machine {
    pub now: u64,
    events: BinaryHeap<Reverse<(u64, u64, Event)>>,
    sequence: u64,
    pub seed: u64,
    pub cpus: Vec<Cpu>,
    pub tasks: Vec<Task>,
    pub workers: Vec<Worker>,
    pub block: BlockLayer,
    pub device: Device,
    pub streams: Vec<Stream>,
    pub journal: Journal,
    pub writeback: Writeback,
    pub ios: Vec<IoRecord>,
    /// Of each of these, its worker and which of that one's I/Os it is.
    pub io_numbers: Vec<Numbered>,
    pub requests: Vec<BlockRequest>,
    pub slices: Vec<SchedSlice>,
    pub kernel: Vec<KernelSpan>,
}

impl Machine {
    pub(super) fn new(seed: u64, cpus: usize, device: Device, block: BlockLayer) -> Self {
        Self {
            now: BOOT_NS,
            events: BinaryHeap::new(),
            sequence: 0,
            seed,
            cpus: (0..cpus).map(|_| Cpu::default()).collect(),
            tasks: Vec::new(),
            workers: Vec::new(),
            block,
            device,
            streams: Vec::new(),
            journal: Journal::default(),
            writeback: Writeback::default(),
            ios: Vec::new(),
            io_numbers: Vec::new(),
            requests: Vec::new(),
            slices: Vec::new(),
            kernel: Vec::new(),
        }
    }

    pub(super) fn at(&mut self, time: u64, event: Event) {
        self.sequence += 1;
        self.events
            .push(Reverse((time.max(self.now), self.sequence, event)));
    }

    /// Runs until `end`, and then until all that was sent is complete.
    pub(super) fn run(&mut self, end: u64) {
        self.at(BOOT_NS, Event::Slice);
        self.at(BOOT_NS + SECOND / 2, Event::Commit);
        self.at(BOOT_NS + SECOND / 3, Event::Flusher);
        while let Some(Reverse((time, _, event))) = self.events.pop() {
            let drained = || self.workers.iter().all(|worker| worker.in_flight == 0);
            if time > end + 20 * SECOND || (time > end && drained()) {
                break;
            }
            self.now = time;
            self.happen(event);
        }
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Tick(cpu, stay) => self.tick(cpu, stay),
            Event::Wake(task) => self.wake(task),
            Event::Done(channel) => self.device_done(channel),
            Event::Kick => self.device_start(),
            Event::Slice => self.throttle_slice(),
            Event::Unfreeze => self.run_queue(),
            Event::Stream(stream) => self.stream_send(stream),
            Event::Hold(task) => self.hold(task),
            Event::Commit => self.journal_commit(),
            Event::Asked(requests) => self.journal_asked(requests),
            Event::Flusher => self.flusher_look(),
        }
    }

    /// A request is complete: whoever waits for it goes on.
    pub(super) fn complete(&mut self, request: Request) {
        self.requests.push(request.record(self.now));
        self.block.tags_used -= 1;
        match request.owner {
            Owner::Load(worker) => self.load_completed(worker, request.slot),
            Owner::Stream(stream) => self.stream_completed(stream),
            Owner::Journal => self.journal_completed(),
            Owner::Flusher => self.flusher_completed(request.len),
        }
        self.give_tags();
        self.run_queue();
    }
}

/// Whether a moment lies in any of the windows, and where that one ends.
pub(super) fn inside(windows: &[Window], now: u64) -> Option<u64> {
    let window = windows
        .iter()
        .find(|window| window.start_ns <= now && now < window.end_ns)?;
    Some(window.end_ns)
}

pub(super) fn comm(name: &str) -> Comm {
    Comm::from(name)
}

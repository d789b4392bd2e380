//! The load: workers that keep I/Os in flight, or send them when they are due.

use super::Window;
use super::block::{REQUEST_BYTES, Request};
use super::draws::{Of, draws, exponential};
use super::machine::{BOOT_NS, Event, MS, Machine, Owner, SECOND};
use crate::make;
use fathom_core::backend::Op;
use fathom_core::record::{BlockOp, BlockedOn, Comm, IoRecord};
use fathom_core::rng::Rng;
use std::collections::VecDeque;

/// CPU time of one turn and of each I/O in it.
const TURN_NS: u64 = 2_000;
const IO_NS: u64 = 1_500;

/// How a worker paces itself.
#[derive(Debug, Clone)]
pub(super) enum Pace {
    /// As many as its depth allows.
    Closed,
    /// Poisson arrivals: mean rate, and times in which it is multiplied.
    Open { rate: f64, surges: Vec<(Window, f64)> },
}

/// An I/O: its worker, by its place among the machine's, and which of that one's it is.
pub(super) type Numbered = (usize, u64);

#[derive(Debug, Clone)]
pub(super) struct Worker {
    pub task: usize,
    pub job: u32,
    pub number: u32,
    pub size: u32,
    /// In a window, a larger one each so many nanoseconds.
    pub large: Option<(u32, u64, Window)>,
    next_large_ns: u64,
    pub op: Op,
    pub pace: Pace,
    pub starts_ns: u64,
    pub ends_ns: u64,
    /// Writes go to the page cache.
    pub buffered: bool,
    /// Its writes wait for a commit of the journal that is under way.
    pub commits: bool,
    /// What it waits for in the call that sends.
    blocked: Option<BlockedOn>,
    /// Where its file lies on the device, in bytes.
    pub file_at: u64,
    pub file_size: u64,
    pub sequential: bool,
    slots: Vec<Option<Flight>>,
    /// I/Os that were made.
    made: u64,
    /// Slots that are taken.
    pub in_flight: usize,
    done: VecDeque<usize>,
    next_due_ns: u64,
    position: u64,
    woken_for_ns: u64,
}

#[derive(Debug, Clone, Copy)]
struct Flight {
    io: IoRecord,
    /// Which of its worker's I/Os it is.
    number: u64,
    /// From its last request's end to when its worker is woken.
    delay_ns: u64,
    /// Requests that are not complete.
    parts: u32,
}

impl Worker {
    pub(super) fn new(task: usize, depth: usize, size: u32) -> Self {
        Self {
            task,
            job: 0,
            number: 0,
            size,
            large: None,
            next_large_ns: 0,
            op: Op::Read,
            pace: Pace::Closed,
            starts_ns: BOOT_NS,
            ends_ns: u64::MAX,
            buffered: false,
            commits: false,
            blocked: None,
            file_at: 1 << 30,
            file_size: 4 << 30,
            sequential: false,
            slots: vec![None; depth],
            made: 0,
            in_flight: 0,
            done: VecDeque::new(),
            next_due_ns: 0,
            position: 0,
            woken_for_ns: 0,
        }
    }

    fn is_full(&self) -> bool {
        self.in_flight == self.slots.len()
    }
}

impl Machine {
    /// The CPU time that the worker wants now; `None`: there is nothing to do.
    pub(super) fn load_work_ns(&mut self, index: usize) -> Option<u64> {
        let now = self.now;
        let held = self.writeback.holds_writers(now) && self.workers[index].buffered;
        let worker = &mut self.workers[index];
        if worker.blocked.is_some() {
            return None;
        }
        let free = !worker.is_full();
        let may_send = free && worker.starts_ns <= now && now < worker.ends_ns && !held;
        let sends = may_send
            && match worker.pace {
                Pace::Closed => true,
                Pace::Open { .. } => worker.next_due_ns.max(worker.starts_ns) <= now,
            };
        if worker.done.is_empty() && !sends {
            // A timer for the next one that is due.
            let wake_ns = worker.next_due_ns.max(worker.starts_ns);
            if free && wake_ns > now && wake_ns < worker.ends_ns && worker.woken_for_ns != wake_ns {
                worker.woken_for_ns = wake_ns;
                let task = worker.task;
                self.at(wake_ns, Event::Wake(task));
            }
            return None;
        }
        let copy_ns = if worker.buffered && sends {
            u64::from(worker.size) / 8
        } else {
            0
        };
        Some(TURN_NS + IO_NS * (worker.done.len() as u64).clamp(1, 16) + copy_ns)
    }

    /// The worker has the CPU: it takes what is complete and sends what it may.
    pub(super) fn load_turn(&mut self, index: usize) {
        for _ in 0..16 {
            let Some(slot) = self.workers[index].done.pop_front() else {
                break;
            };
            if let Some(flight) = self.workers[index].slots[slot].take() {
                self.workers[index].in_flight -= 1;
                self.ios.push(IoRecord {
                    completed_ns: self.now,
                    ..flight.io
                });
                self.io_numbers.push((index, flight.number));
            }
        }
        for _ in 0..64 {
            if !self.load_send(index) {
                break;
            }
        }
    }

    fn load_send(&mut self, index: usize) -> bool {
        let now = self.now;
        let held = self.writeback.holds_writers(now) && self.workers[index].buffered;
        let worker = &self.workers[index];
        if worker.is_full()
            || worker.starts_ns > now
            || now >= worker.ends_ns
            || held
            || worker.blocked.is_some()
        {
            return false;
        }
        let Some(slot) = worker.slots.iter().position(Option::is_none) else {
            return false;
        };
        let due_ns = match worker.pace {
            Pace::Closed => now,
            Pace::Open { .. } => {
                let due_ns = worker.next_due_ns.max(worker.starts_ns);
                if due_ns > now {
                    return false;
                }
                let gap = self.gap_ns(index, due_ns);
                self.workers[index].next_due_ns = due_ns + gap;
                due_ns
            }
        };
        self.load_make(index, slot, due_ns);
        true
    }

    fn gap_ns(&self, index: usize, due_ns: u64) -> u64 {
        let Pace::Open { rate, surges } = &self.workers[index].pace else {
            return 0;
        };
        let surge = surges.iter().find(|(window, _)| window.holds(due_ns));
        let mean = 1e9 / (rate * surge.map_or(1.0, |(_, factor)| *factor));
        let mut rng = draws(self.seed, Of::Arrival(index), self.workers[index].made);
        (exponential(&mut rng, mean) as u64).max(1)
    }

    fn load_make(&mut self, index: usize, slot: usize, due_ns: u64) {
        let now = self.now;
        let worker = &mut self.workers[index];
        let number = worker.made;
        worker.made += 1;
        let mut rng = draws(self.seed, Of::Io(index), number);
        let large = worker
            .large
            .filter(|(_, _, window)| window.holds(now) && worker.next_large_ns <= now);
        if let Some((_, every_ns, _)) = large {
            worker.next_large_ns = now + every_ns;
        }
        let len = large.map_or(worker.size, |(size, _, _)| size);
        let places = worker.file_size / u64::from(len);
        let offset = if worker.sequential {
            worker.position % worker.file_size
        } else {
            rng.below(places) * u64::from(len)
        };
        worker.position += u64::from(len);
        let op = worker.op;
        worker.in_flight += 1;
        let depth = worker.in_flight as u32;
        let io = IoRecord {
            intended_ns: due_ns,
            submitted_ns: now + 800,
            offset_bytes: offset,
            len_bytes: len,
            job: worker.job,
            worker: worker.number,
            depth,
            op,
            ..make::io(now, 0)
        };
        let parts = len.div_ceil(REQUEST_BYTES);
        worker.slots[slot] = Some(Flight {
            io,
            number,
            // The interrupt and the wake-up.
            delay_ns: 2_000 + rng.below(3_000),
            parts,
        });
        if worker.buffered {
            self.load_buffered(index, slot, len);
            return;
        }
        self.load_requests(index, slot, (offset, len), rng);
    }

    fn load_requests(&mut self, index: usize, slot: usize, (offset, len): (u64, u32), mut rng: Rng) {
        let task = &self.tasks[self.workers[index].task];
        let who = (task.tid, task.comm);
        let op = match self.workers[index].op {
            Op::Write => BlockOp::Write,
            _ => BlockOp::Read,
        };
        let begin = self.workers[index].file_at + offset;
        let mut sent = 0;
        while sent < len {
            let part = (len - sent).min(REQUEST_BYTES);
            let sector = (begin + u64::from(sent)) / 512;
            let mut request = Request::new(Owner::Load(index), who, op, (sector, part), rng.next_u64());
            request.slot = slot as u32;
            if self.workers[index].commits && self.journal.commits() {
                self.workers[index].blocked = Some(BlockedOn::Journal);
                self.journal.held.push(request);
            } else {
                self.submit_throttled(request);
            }
            sent += part;
        }
    }

    /// The journal has committed: what waited for that is sent, and its worker goes on.
    pub(super) fn load_let_go(&mut self, request: Request, by: (u32, Comm)) {
        let now = self.now;
        if let Owner::Load(index) = request.owner {
            let worker = &mut self.workers[index];
            worker.blocked = None;
            if let Some(flight) = &mut worker.slots[request.slot as usize] {
                flight.io.submitted_ns = now;
            }
            let task = worker.task;
            self.tasks[task].waker = Some(by);
            self.at(now, Event::Wake(task));
        }
        self.submit_throttled(request);
    }

    /// What a worker that sleeps is blocked on; `None`: it waits for its own I/Os.
    pub(super) fn load_blocked_on(&self, index: usize) -> Option<BlockedOn> {
        let worker = &self.workers[index];
        let held = worker.buffered && self.writeback.holds_writers(self.now);
        worker.blocked.or(held.then_some(BlockedOn::DirtyLimit))
    }

    /// Into the page cache: done at once, unless too much is dirty.
    fn load_buffered(&mut self, index: usize, slot: usize, len: u32) {
        self.writeback.dirty += u64::from(len);
        if self.writeback.dirty > self.writeback.limit {
            let now = self.now;
            self.writeback.held.push((index, slot, now));
            self.at(now, Event::Flusher);
        } else {
            self.load_completed(index, slot as u32);
        }
    }

    /// One of the I/O's requests is complete.
    pub(super) fn load_completed(&mut self, index: usize, slot: u32) {
        let worker = &mut self.workers[index];
        let Some(flight) = &mut worker.slots[slot as usize] else {
            return;
        };
        let delay_ns = flight.delay_ns;
        flight.parts -= if worker.buffered { flight.parts } else { 1 };
        if flight.parts == 0 {
            worker.done.push_back(slot as usize);
            let task = worker.task;
            self.at(self.now + delay_ns, Event::Wake(task));
        }
    }
}

/// About a turn of the recorder: rows come worker by worker, a second at a time.
pub(super) fn as_recorded(mut ios: Vec<IoRecord>) -> Vec<IoRecord> {
    ios.sort_by_key(|io| (io.completed_ns / SECOND, io.job, io.worker, io.completed_ns));
    ios
}

/// A length of time that is not worth a slice of the record.
pub(super) const RING_BEFORE_NS: u64 = 50 * MS;

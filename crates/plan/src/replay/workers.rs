//! Who waits for whom in a replay: workers with what they have in flight and what they have still to send.
//!
//! Data in: I/Os that waited when they were recorded, ends of those in flight. Data out: what a worker sends next, and when. It
//! must not know the machine.

use crate::seen::Arrival;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// A worker.
#[derive(Debug, Clone, Default)]
pub(super) struct Worker {
    queue: VecDeque<Arrival>,
    /// When each of those in flight ends, as far as that is known.
    ends: BinaryHeap<Reverse<u64>>,
    /// In flight with an end that is not known.
    pub(super) unknown: u32,
    last_end_ns: u64,
    /// When it is to be looked at again.
    wakes_ns: Option<u64>,
}

/// What a worker sends next.
#[derive(Debug, Clone, Copy)]
pub(super) struct Next {
    pub(super) arrival: Arrival,
    pub(super) at_ns: u64,
}

/// All workers.
#[derive(Debug, Default)]
pub(super) struct Workers {
    all: Vec<Worker>,
    wakes: BinaryHeap<Reverse<(u64, u32)>>,
    /// Tickets of those that somebody waits for.
    tracked: Vec<bool>,
    /// I/Os that wait to be sent.
    pub(super) queued: usize,
}

impl Workers {
    pub(super) fn new(count: u64) -> Self {
        Self {
            all: vec![Worker::default(); count as usize],
            ..Self::default()
        }
    }

    pub(super) fn of(&mut self, worker: u32) -> &mut Worker {
        &mut self.all[worker as usize]
    }

    /// Puts an I/O behind the others of its worker. Whether it is the first.
    pub(super) fn queue(&mut self, arrival: Arrival) -> bool {
        self.queued += 1;
        let queue = &mut self.all[arrival.worker as usize].queue;
        queue.push_back(arrival);
        queue.len() == 1
    }

    /// The first of a worker's I/Os is sent.
    pub(super) fn sent(&mut self, worker: u32) {
        self.queued -= 1;
        self.of(worker).queue.pop_front();
    }

    pub(super) fn ends(&mut self, worker: u32, at_ns: u64) {
        self.of(worker).ends.push(Reverse(at_ns));
    }

    /// Looks at a worker again then, or before.
    pub(super) fn wake(&mut self, worker: u32, at_ns: u64) {
        let before = &mut self.all[worker as usize].wakes_ns;
        if before.is_none_or(|before| at_ns < before) {
            *before = Some(at_ns);
            self.wakes.push(Reverse((at_ns, worker)));
        }
    }

    pub(super) fn next_wake_ns(&self) -> u64 {
        self.wakes.peek().map_or(u64::MAX, |Reverse((at_ns, _))| *at_ns)
    }

    pub(super) fn pop_wake(&mut self) -> Option<u32> {
        let Reverse((_, worker)) = self.wakes.pop()?;
        self.of(worker).wakes_ns = None;
        Some(worker)
    }

    pub(super) fn tracked(&mut self, ticket: u32, tracked: bool) {
        let ticket = ticket as usize;
        if self.tracked.len() <= ticket {
            self.tracked.resize(ticket + 1, false);
        }
        self.tracked[ticket] = tracked;
    }

    pub(super) fn is_tracked(&self, ticket: u32) -> bool {
        self.tracked.get(ticket as usize).copied().unwrap_or(false)
    }
}

/// What a worker sends next and when, as far as that is known: the time may be only when it is to be looked at again.
pub(super) fn next_of(worker: &mut Worker, now_ns: u64) -> Option<Next> {
    let arrival = *worker.queue.front()?;
    while let Some(&Reverse(end_ns)) = worker.ends.peek()
        && end_ns <= now_ns
    {
        worker.last_end_ns = worker.last_end_ns.max(end_ns);
        worker.ends.pop();
    }
    let in_flight = worker.ends.len() as u32 + worker.unknown;
    let next = |at_ns| Some(Next { arrival, at_ns });
    if in_flight + 1 > arrival.depth {
        // When one more is complete; if none of those ends is known, the machine will say.
        return worker.ends.peek().and_then(|&Reverse(end_ns)| next(end_ns));
    }
    if in_flight + 1 == arrival.depth {
        return next((worker.last_end_ns + u64::from(arrival.think_ns)).max(now_ns));
    }
    next(now_ns)
}

//! A recorded load, on its way to the workers that play it.
//!
//! Data in: arrivals in order, from whoever reads the record. Data out: the same, to workers. Each worker has a ring that
//! neither locks nor allocates: in real time a worker that finds it empty looks again a little later and says so; in virtual
//! time it waits, so that how fast the record is read changes nothing. Memory is that of the rings, however long the record. It
//! must not know where arrivals come from.

use fathom_core::arrival::Arrival;
use fathom_core::units::Nanos;
use fathom_core::workload::ReplayOrder;
use rtrb::{Consumer, Producer, RingBuffer};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Arrivals that a worker has before it, at most.
pub const AHEAD: usize = 1 << 14;
/// What a worker that plays a record takes beside its buffers: the ring, and what waits in order.
pub(crate) const WORKER_BYTES: u64 = 2 << 20;
/// In real time the first I/O is due so long after the start of its job, so that all workers wait for it.
const LEAD: Nanos = Nanos::from_millis(20);
/// In virtual time: how long a worker that finds nothing looks without sleeping, in looks, and how long it sleeps.
const LOOKS: u32 = 200;
const NAP: Duration = Duration::from_micros(20);

/// The rings of a run, until each worker has taken its own.
#[derive(Debug)]
pub struct Playback {
    feeds: Mutex<BTreeMap<(u32, u32), Feed>>,
}

/// The writing ends, a worker's each, in the order of their numbers. A worker whose end is dropped has all it will get.
#[derive(Debug)]
pub struct Inlets {
    pub rings: Vec<Producer<Arrival>>,
}

/// What a worker plays from.
#[derive(Debug)]
pub struct Feed {
    ring: Consumer<Arrival>,
    pub(crate) order: ReplayOrder,
    /// Whether to wait for what is not there yet.
    waits: bool,
    stop: Arc<AtomicBool>,
    pub(crate) lead: Nanos,
}

/// What comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fed {
    Next(Arrival),
    /// It has not been read yet.
    Behind,
    /// Nothing any more.
    Ended,
}

impl Playback {
    /// For job section `job` with so many workers; in virtual time where `waits`. `stop` ends what waits.
    pub fn new(
        job: u32,
        workers: u32,
        order: ReplayOrder,
        waits: bool,
        stop: &Arc<AtomicBool>,
    ) -> (Self, Inlets) {
        let mut rings = Vec::new();
        let mut feeds = BTreeMap::new();
        for worker in 0..workers {
            let (inlet, ring) = RingBuffer::new(AHEAD);
            rings.push(inlet);
            let feed = Feed {
                ring,
                order,
                waits,
                stop: Arc::clone(stop),
                lead: if waits { Nanos::ZERO } else { LEAD },
            };
            feeds.insert((job, worker), feed);
        }
        let feeds = Mutex::new(feeds);
        (Self { feeds }, Inlets { rings })
    }

    /// With the rings of `other`, of another job.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let own = |feeds: Mutex<BTreeMap<_, _>>| feeds.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut feeds = own(self.feeds);
        feeds.extend(own(other.feeds));
        Self {
            feeds: Mutex::new(feeds),
        }
    }

    /// What that worker plays from; `None`: it plays nothing.
    pub(crate) fn feed(&self, job: u32, worker: u32) -> Option<Feed> {
        // What a panic elsewhere left is whole: all changes are of one step.
        let mut feeds = self.feeds.lock().unwrap_or_else(PoisonError::into_inner);
        feeds.remove(&(job, worker))
    }
}

impl Feed {
    /// Takes the next arrival.
    #[inline]
    pub(crate) fn take(&mut self) -> Fed {
        match self.ring.pop() {
            Ok(arrival) => Fed::Next(arrival),
            Err(_) => self.look(),
        }
    }

    #[cold]
    fn look(&mut self) -> Fed {
        let mut looks = 0;
        loop {
            // Asked before what is there: nothing comes after it.
            let ended = self.ring.is_abandoned();
            if let Ok(arrival) = self.ring.pop() {
                return Fed::Next(arrival);
            }
            if ended || self.waits && self.stop.load(Ordering::Relaxed) {
                return Fed::Ended;
            }
            if !self.waits {
                return Fed::Behind;
            }
            looks += 1;
            if looks < LOOKS {
                std::hint::spin_loop();
            } else {
                std::thread::sleep(NAP);
            }
        }
    }

    /// How many of those that are there are due at `due_ns` of the record.
    pub(crate) fn due_by(&mut self, due_ns: u64) -> u64 {
        let there = self.ring.slots();
        let Ok(chunk) = self.ring.read_chunk(there) else {
            return 0;
        };
        let (first, second) = chunk.as_slices();
        let due = |part: &[Arrival]| part.partition_point(|arrival| arrival.due_ns <= due_ns);
        (due(first) + due(second)) as u64
    }
}

#[cfg(test)]
mod tests;

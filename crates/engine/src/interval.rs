//! What one worker counted in one interval, and how intervals change hands.
//!
//! Data in: completions. Data out: whole intervals, about one a second, through a queue that neither locks
//! nor allocates. It must not know what is made of them.

use crossbeam_queue::ArrayQueue;
use fathom_core::backend::Op;
use fathom_core::histogram::Histogram;
use fathom_core::units::{MonoTime, Nanos};

/// Boxes a worker has: one that it fills, the others on their way to the collector and back. More where intervals are
/// shorter than the collector looks around.
const BOXES: usize = 4;
const BOXES_MOST: u64 = 16;
/// Of more workers than this each has two boxes: what waits in the others would be memory a worker.
const WORKERS_WITH_SLACK: usize = 256;
/// The slack that boxes give a collector which is behind.
const SLACK: Nanos = Nanos::from_millis(250);

/// Which latencies are kept apart; the others would be equal to `lat` or do not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metrics {
    /// Submission and completion latency, apart from their sum (asynchronous engines).
    pub split: bool,
    /// Response time (open loop).
    pub response: bool,
}

/// What the intervals of a worker count: memory is reserved for no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Read, write, trim, sync.
    pub ops: [bool; 4],
    /// Which latencies.
    pub metrics: Metrics,
    /// The load goes on after the counted time: that takes one box more.
    pub cooldown: bool,
}

/// Which part of a job's time an interval lies in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Phase {
    /// Before the end of the ramp: nothing counts.
    Ramp,
    /// What is measured.
    #[default]
    Counted,
    /// After the runtime: nothing counts any more.
    Cooldown,
}

/// How slat and clat follow from lat, where they do: they are then not counted apart, I/O by I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Derived {
    /// Submissions take no time: slat is 0, clat is lat.
    AtOnce,
    /// Submissions return when the I/O is complete: slat is lat, clat is 0.
    Blocking,
}

/// The four stamps of one completed I/O, in nanoseconds of the monotonic clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stamps {
    /// When the schedule wanted it sent; the creation in a closed loop.
    pub intended: u64,
    /// When it was made.
    pub created: u64,
    /// When the system had it.
    pub submitted: u64,
    /// When its completion was seen.
    pub completed: u64,
}

/// One direction's counts.
#[derive(Debug, Clone)]
pub struct OpCounts {
    /// Bytes moved.
    pub bytes: u64,
    /// I/Os that failed.
    pub errors: u64,
    /// I/Os that moved fewer bytes than asked.
    pub short: u64,
    /// Blocks that were sent to it and have not come.
    pub lost: u64,
    /// Created to submitted (only with [`Metrics::split`]).
    pub slat: Histogram,
    /// Submitted to completed (only with [`Metrics::split`]).
    pub clat: Histogram,
    /// Created to completed.
    pub lat: Histogram,
    /// Intended to completed (only with [`Metrics::response`]).
    pub response: Histogram,
}

impl OpCounts {
    fn new() -> Self {
        Self {
            bytes: 0,
            errors: 0,
            short: 0,
            lost: 0,
            slat: Histogram::new(),
            clat: Histogram::new(),
            lat: Histogram::new(),
            response: Histogram::new(),
        }
    }

    fn reserved(metrics: Metrics) -> Self {
        let reserved = |kept: bool| {
            if kept {
                Histogram::reserved()
            } else {
                Histogram::new()
            }
        };
        Self {
            slat: reserved(metrics.split),
            clat: reserved(metrics.split),
            lat: Histogram::reserved(),
            response: reserved(metrics.response),
            ..Self::new()
        }
    }

    /// Adds all counts of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.bytes += other.bytes;
        self.errors += other.errors;
        self.short += other.short;
        self.lost += other.lost;
        self.slat.merge(&other.slat);
        self.clat.merge(&other.clat);
        self.lat.merge(&other.lat);
        self.response.merge(&other.response);
    }

    /// Fills in slat and clat of all that was counted without them. To be called once, at the end.
    pub(crate) fn derive(&mut self, derived: Derived) {
        let (zero, whole) = match derived {
            Derived::AtOnce => (&mut self.slat, &mut self.clat),
            Derived::Blocking => (&mut self.clat, &mut self.slat),
        };
        zero.record_many(0, self.lat.n());
        whole.merge(&self.lat);
    }

    fn clear(&mut self) {
        self.bytes = 0;
        self.errors = 0;
        self.short = 0;
        self.lost = 0;
        self.slat.clear();
        self.clat.clear();
        self.lat.clear();
        self.response.clear();
    }
}

/// One interval of one worker.
#[derive(Debug, Clone)]
pub struct Interval {
    /// Its beginning.
    pub start: MonoTime,
    pub end: MonoTime,
    /// Whether it counts.
    pub phase: Phase,
    /// In the cooldown: when that began.
    pub counted_until: MonoTime,
    /// How late the latest I/O was sent, against its schedule, in nanoseconds.
    pub lateness_max_ns: u64,
    /// I/Os due and not sent at its end.
    pub backlog: u64,
    /// The most I/Os due and not sent at any time in it.
    pub backlog_max: u64,
    /// Blocks that verification checked.
    pub verified: u64,
    /// Read, write, trim, sync.
    pub ops: [OpCounts; 4],
}

impl Default for Interval {
    fn default() -> Self {
        Self::new()
    }
}

impl Interval {
    /// An empty interval, which takes memory as it needs it.
    pub fn new() -> Self {
        Self {
            start: MonoTime(0),
            end: MonoTime(0),
            phase: Phase::Counted,
            counted_until: MonoTime(0),
            lateness_max_ns: 0,
            backlog: 0,
            backlog_max: 0,
            verified: 0,
            ops: [OpCounts::new(), OpCounts::new(), OpCounts::new(), OpCounts::new()],
        }
    }

    /// An empty interval that counts what is of `shape` without allocating. Reserves address space; only what is touched
    /// becomes memory.
    pub fn reserved(shape: &Shape) -> Self {
        let counts = shape.ops.map(|used| {
            if used {
                OpCounts::reserved(shape.metrics)
            } else {
                OpCounts::new()
            }
        });
        Self {
            ops: counts,
            ..Self::new()
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.lateness_max_ns = 0;
        self.backlog = 0;
        self.backlog_max = 0;
        self.verified = 0;
        self.phase = Phase::Counted;
        self.counted_until = MonoTime(0);
        self.ops.iter_mut().for_each(OpCounts::clear);
    }

    /// Counts one I/O that moved `bytes`.
    #[inline]
    pub fn record(&mut self, op: Op, bytes: u32, stamps: &Stamps, metrics: Metrics) {
        let counts = &mut self.ops[op.index()];
        counts.bytes += u64::from(bytes);
        counts.lat.record(stamps.completed.saturating_sub(stamps.created));
        if metrics.split {
            counts
                .slat
                .record(stamps.submitted.saturating_sub(stamps.created));
            counts
                .clat
                .record(stamps.completed.saturating_sub(stamps.submitted));
        }
        if metrics.response {
            counts
                .response
                .record(stamps.completed.saturating_sub(stamps.intended));
        }
    }
}

/// The boxes of a worker that is one of so many.
pub(crate) fn boxes_of(interval: Nanos, workers: usize) -> usize {
    let least = if workers > WORKERS_WITH_SLACK { 2 } else { BOXES };
    let slack = (SLACK.0 / interval.0.max(1)).min(BOXES_MOST) as usize;
    slack.max(least)
}

/// The way of intervals from a worker to the collector and back.
#[derive(Debug)]
pub struct Exchange {
    full: ArrayQueue<Box<Interval>>,
    empty: ArrayQueue<Box<Interval>>,
    /// Those that the worker begins with: the one that it fills, and one for after the counted time.
    own: ArrayQueue<Box<Interval>>,
}

impl Default for Exchange {
    fn default() -> Self {
        Self::new()
    }
}

impl Exchange {
    /// An exchange with its spare boxes, for intervals of a second or more, or taken as soon as they are handed over. The
    /// boxes take memory as they need it.
    pub fn new() -> Self {
        Self::with_boxes(BOXES, Box::default)
    }

    /// An exchange for intervals of this length, that a collector takes several at a time; its worker is one of so many. All
    /// boxes that the worker will ever fill are made here, so that it need not allocate.
    pub fn reserved(shape: &Shape, interval: Nanos, workers: usize) -> Self {
        let exchange = Self::with_boxes(boxes_of(interval, workers), || {
            Box::new(Interval::reserved(shape))
        });
        for _ in 0..=usize::from(shape.cooldown) {
            // There are two places.
            drop(exchange.own.push(Box::new(Interval::reserved(shape))));
        }
        exchange
    }

    fn with_boxes(boxes: usize, make: impl Fn() -> Box<Interval>) -> Self {
        let exchange = Self {
            full: ArrayQueue::new(boxes),
            empty: ArrayQueue::new(boxes),
            own: ArrayQueue::new(2),
        };
        for _ in 1..boxes {
            exchange.give_back(make());
        }
        exchange
    }

    /// A box that the worker begins with.
    pub(crate) fn own(&self) -> Box<Interval> {
        self.own.pop().unwrap_or_default()
    }

    /// Hands over `current` and puts an empty one in its place. `false` where the collector is behind and
    /// there is none: the worker then goes on in the same one, and that interval is longer.
    pub fn swap(&self, current: &mut Box<Interval>) -> bool {
        let Some(empty) = self.empty.pop() else {
            return false;
        };
        let full = std::mem::replace(current, empty);
        // There are as many places as boxes.
        self.full.push(full).is_ok()
    }

    /// Hands over `current` for `fresh`, a box of the worker's own: for what must not be mixed with what follows, however
    /// far behind the collector is.
    pub fn swap_for(&self, current: &mut Box<Interval>, fresh: Box<Interval>) -> bool {
        let full = std::mem::replace(current, fresh);
        // One place is always free: that of the box which the worker holds.
        self.full.push(full).is_ok()
    }

    /// The oldest interval that was handed over.
    pub fn take(&self) -> Option<Box<Interval>> {
        self.full.pop()
    }

    /// Returns an interval for use.
    pub fn give_back(&self, mut interval: Box<Interval>) {
        interval.clear();
        // There are as many places as boxes; a surplus box is dropped.
        drop(self.empty.push(interval));
    }
}

//! One stream in the order of time from one stream a CPU.
//!
//! Duty: merge. Data in: events of each CPU, in the order of that CPU, and up to when each CPU has been read. Data out:
//! events in the order of time. It must not know what an event is.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// What has a time.
pub trait Timed {
    /// When, in nanoseconds of the monotonic clock.
    fn time_ns(&self) -> u64;
}

/// Merges the streams of all CPUs. Nothing is allocated once the queues have grown to what lies between two calls.
#[derive(Debug)]
pub struct Merge<E> {
    queues: Vec<VecDeque<E>>,
    read_to_ns: Vec<u64>,
    /// The CPUs that have something, by the time of it.
    heads: BinaryHeap<Reverse<(u64, usize)>>,
    hold_back_ns: u64,
    handed_over_to_ns: u64,
    late: u64,
}

impl<E: Timed> Merge<E> {
    /// For `cpus` streams. Events are held back until all CPUs have been read `hold_back_ns` further: what interrupts a
    /// CPU between taking the time and writing the record must not make it late.
    pub fn new(cpus: usize, hold_back_ns: u64) -> Self {
        Self {
            queues: (0..cpus).map(|_| VecDeque::new()).collect(),
            read_to_ns: vec![0; cpus],
            heads: BinaryHeap::with_capacity(cpus),
            hold_back_ns,
            handed_over_to_ns: 0,
            late: 0,
        }
    }

    /// One more event of the stream `index`. Of a stream that does not exist, nothing is kept.
    #[inline]
    pub fn push(&mut self, index: usize, event: E) {
        let time_ns = event.time_ns();
        if let (Some(queue), Some(read_to_ns)) = (self.queues.get_mut(index), self.read_to_ns.get_mut(index))
        {
            self.late += u64::from(time_ns < self.handed_over_to_ns);
            *read_to_ns = time_ns.max(*read_to_ns);
            queue.push_back(event);
        }
    }

    /// The stream `index` holds nothing more that happened before `at_ns`.
    pub fn read_to(&mut self, index: usize, at_ns: u64) {
        if let Some(read_to_ns) = self.read_to_ns.get_mut(index) {
            *read_to_ns = at_ns.max(*read_to_ns);
        }
    }

    /// Up to when all streams have been read, less what is held back.
    pub fn complete_to_ns(&self) -> u64 {
        let all = self.read_to_ns.iter().min().copied().unwrap_or(0);
        all.saturating_sub(self.hold_back_ns)
    }

    /// Gives `f` all events up to [`Self::complete_to_ns`], in the order of time.
    pub fn take(&mut self, f: impl FnMut(&E)) {
        self.take_to(self.complete_to_ns(), f);
    }

    /// Gives `f` all that there is. For the end, when nothing more will come.
    pub fn take_all(&mut self, f: impl FnMut(&E)) {
        self.take_to(u64::MAX, f);
    }

    /// Events that came after others of a later time had been given: the hold-back was too short for them.
    pub fn late(&self) -> u64 {
        self.late
    }

    fn take_to(&mut self, to_ns: u64, mut f: impl FnMut(&E)) {
        self.heads.clear();
        for (index, queue) in self.queues.iter().enumerate() {
            self.heads
                .extend(queue.front().map(|event| Reverse((event.time_ns(), index))));
        }
        while let Some(Reverse((time_ns, index))) = self.heads.pop() {
            if time_ns > to_ns {
                break;
            }
            // All that this CPU has before the next one's first.
            let other = self.heads.peek().map_or(u64::MAX, |head| head.0.0);
            let run_to_ns = other.min(to_ns);
            let queue = &mut self.queues[index];
            while let Some(event) = queue.pop_front_if(|event| event.time_ns() <= run_to_ns) {
                self.handed_over_to_ns = self.handed_over_to_ns.max(event.time_ns());
                f(&event);
            }
            self.heads
                .extend(queue.front().map(|event| Reverse((event.time_ns(), index))));
        }
    }
}

#[cfg(test)]
mod tests;

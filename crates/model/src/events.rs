//! What the machine does of itself, in the order of time: ends of writeback and of cache flushes, periodic wakes.
//!
//! Data in: events with their times. Data out: the earliest; equal times in the order in which they were put in. It
//! must not know what they mean.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Something that happens at a time of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Event {
    /// A writeback request of so many pages has reached the disk.
    Written { pages: u32, number: u64 },
    /// The page cache looks for old pages.
    Wake,
    /// The host's cache may send the next flush.
    FlushNext,
    /// A flush of so many bytes has reached the disk.
    Flushed { bytes: u32, number: u64 },
}

/// Events to come.
#[derive(Debug, Clone, Default)]
pub(crate) struct Events {
    heap: BinaryHeap<Reverse<(u64, u64, Event)>>,
    count: u64,
}

impl Events {
    /// Puts `event` in at `time_ns`.
    pub(crate) fn push(&mut self, time_ns: u64, event: Event) {
        self.heap.push(Reverse((time_ns, self.count, event)));
        self.count += 1;
    }

    /// The time of the earliest; `u64::MAX` when there is none.
    #[inline]
    pub(crate) fn next_ns(&self) -> u64 {
        self.heap
            .peek()
            .map_or(u64::MAX, |Reverse((time_ns, ..))| *time_ns)
    }

    /// Takes the earliest, if it is not later than `time_ns`.
    pub(crate) fn pop_to(&mut self, time_ns: u64) -> Option<(u64, Event)> {
        if self.next_ns() > time_ns {
            return None;
        }
        self.heap.pop().map(|Reverse((at_ns, _, event))| (at_ns, event))
    }
}

#[cfg(test)]
mod tests;

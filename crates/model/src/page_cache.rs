//! The guest's page cache: what `direct=0` writes into, and how it reaches the disk.
//!
//! Data in: buffered I/Os in the order of their times. Data out: when each is complete, or that it waits. The rules are
//! those of Linux (Documentation/admin-guide/sysctl/vm.rst), simplified: above the background threshold writeback runs;
//! at the throttle point writers wait for it; pages older than the expiry are written in any case; fsync waits
//! for what is dirty. Writeback goes through the volume in the order of pages, round and round, and merges
//! neighbours. It must not know the disks.

use crate::below::Below;
use crate::events::Event;
use crate::in_flight::InFlight;
use crate::pages::{PAGE_BYTES, Pages};
use crate::spec::PageCacheSpec;
use crate::waiter::Waiter;
use fathom_core::backend::Op;
use std::collections::VecDeque;

/// What a sequential reader is read ahead to (the kernel's `read_ahead_kb`, 128).
const READ_AHEAD_BYTES: u64 = 128 << 10;

#[derive(Debug, Clone)]
pub(crate) struct PageCache {
    spec: PageCacheSpec,
    pages: Pages,
    /// Pages on their way to the disk.
    writing: u64,
    under_way: InFlight,
    /// Where writeback goes on: its round, and the page.
    cursor: (u64, u64),
    /// Pages still to write because they are old.
    old_left: u64,
    /// Since when there have been dirty pages, as the last [`Event::Wake`] saw it; `None`: none is under way.
    dirty_since_ns: Option<u64>,
    /// Writers that wait for room, each with the time at which it has copied what it writes.
    throttled: VecDeque<(u32, u64)>,
    /// Flushes that wait, first come first.
    syncs: VecDeque<Flush>,
    /// Where the last read of each worker ended.
    read_ends: Vec<u64>,
    /// The most that was dirty or on its way, in bytes.
    pub(crate) dirty_peak_bytes: u64,
}

/// A flush that waits for all that was dirty when it was asked for.
#[derive(Debug, Clone, Copy)]
struct Flush {
    ticket: u32,
    op: Op,
    /// One round after where writeback stood: once it has come by there, all of that has been sent.
    to: (u64, u64),
    /// Once all has been sent: the first request that need not be over.
    number: Option<u64>,
}

impl PageCache {
    /// An empty page cache.
    pub(crate) fn new(spec: PageCacheSpec) -> Self {
        Self {
            spec,
            pages: Pages::default(),
            writing: 0,
            under_way: InFlight::default(),
            cursor: (0, 0),
            old_left: 0,
            dirty_since_ns: None,
            throttled: VecDeque::new(),
            syncs: VecDeque::new(),
            read_ends: Vec::new(),
            dirty_peak_bytes: 0,
        }
    }

    /// What is dirty or on its way to the disk.
    pub(crate) fn unwritten_bytes(&self) -> u64 {
        (self.pages.dirty() + self.writing) * PAGE_BYTES
    }

    /// What is dirty, and what is on its way to the disk.
    pub(crate) fn dirty_and_writing_bytes(&self) -> (u64, u64) {
        (self.pages.dirty() * PAGE_BYTES, self.writing * PAGE_BYTES)
    }

    /// Takes a range in, in place of others where there is no room.
    fn hold(&mut self, offset: u64, len: u64, dirty: bool) {
        self.pages.mark(offset, len, dirty);
        self.pages.shrink(self.spec.capacity_bytes / PAGE_BYTES);
    }

    /// Processor time of a call that moves `len` bytes from or to memory.
    fn copy_ns(&self, len: u32) -> u64 {
        self.spec.call_ns + ((u64::from(len) * self.spec.copy_ns_per_kib) >> 10)
    }

    /// When a read is complete.
    pub(crate) fn read(
        &mut self,
        now_ns: u64,
        worker: u32,
        ticket: u32,
        offset: u64,
        len: u32,
        below: &mut Below,
    ) -> u64 {
        let worker = worker as usize;
        if self.read_ends.len() <= worker {
            self.read_ends.resize(worker + 1, u64::MAX);
        }
        let sequential = self.read_ends[worker] == offset;
        self.read_ends[worker] = offset + u64::from(len);
        let Some((start, missing)) = self.pages.missing(offset, u64::from(len)) else {
            return now_ns + self.copy_ns(len);
        };
        let ahead = if sequential { READ_AHEAD_BYTES } else { 0 };
        let end = below.volume.size_bytes();
        let fetched = missing.max(ahead).min(end - start);
        self.hold(start, fetched, false);
        // Reads never wait for room in a cache.
        let due = below.admit(now_ns, Waiter::Ticket(ticket), (Op::Read, start, fetched as u32));
        due.unwrap_or(now_ns) + self.copy_ns(len)
    }

    /// When a write is complete; `None`: it waits for writeback.
    pub(crate) fn write(
        &mut self,
        now_ns: u64,
        ticket: u32,
        offset: u64,
        len: u32,
        below: &mut Below,
    ) -> Option<u64> {
        let was_clean = self.unwritten_bytes() == 0;
        self.hold(offset, u64::from(len), true);
        self.dirty_peak_bytes = self.dirty_peak_bytes.max(self.unwritten_bytes());
        if self.dirty_since_ns.is_none() {
            below
                .events
                .push((now_ns / self.spec.wake_ns + 1) * self.spec.wake_ns, Event::Wake);
        }
        if was_clean {
            self.dirty_since_ns = Some(now_ns);
        }
        self.write_back(now_ns, below);
        let copied = now_ns + self.copy_ns(len);
        if self.unwritten_bytes() > self.spec.throttle_bytes {
            self.throttled.push_back((ticket, copied));
            return None;
        }
        Some(copied)
    }

    /// A write that has to be on the medium before it is complete (`O_SYNC`): page and disk at once.
    pub(crate) fn write_through(
        &mut self,
        now_ns: u64,
        ticket: u32,
        offset: u64,
        len: u32,
        below: &mut Below,
    ) -> Option<u64> {
        self.hold(offset, u64::from(len), false);
        let copied = now_ns + self.copy_ns(len);
        below.admit(copied, Waiter::Ticket(ticket), (Op::Write, offset, len))
    }

    /// When a flush is complete; `None`: it waits for writeback.
    pub(crate) fn sync(&mut self, now_ns: u64, ticket: u32, op: Op, below: &mut Below) -> Option<u64> {
        if self.unwritten_bytes() == 0 {
            return below.admit(now_ns, Waiter::Ticket(ticket), (op, 0, 0));
        }
        let (round, page) = self.cursor;
        self.syncs.push_back(Flush {
            ticket,
            op,
            to: (round + 1, page),
            number: None,
        });
        self.note_sent();
        self.write_back(now_ns, below);
        None
    }

    /// Time to look for old pages.
    pub(crate) fn wake(&mut self, now_ns: u64, below: &mut Below) {
        let Some(since) = self.dirty_since_ns else { return };
        if self.pages.dirty() == 0 && self.writing == 0 {
            self.dirty_since_ns = None;
            return;
        }
        if now_ns.saturating_sub(since) >= self.spec.expire_ns {
            self.old_left = self.pages.dirty();
            self.dirty_since_ns = Some(now_ns);
        }
        below.events.push(now_ns + self.spec.wake_ns, Event::Wake);
        self.write_back(now_ns, below);
    }

    /// Writeback request `number`, of so many pages, has reached the disk. Who may go on is told to `done`, with the time.
    pub(crate) fn written(
        &mut self,
        now_ns: u64,
        (pages, number): (u32, u64),
        below: &mut Below,
        done: &mut dyn FnMut(u32, u64),
    ) {
        self.writing -= u64::from(pages);
        self.under_way.end(number);
        while let Some(flush) = self.syncs.front()
            && flush.number.is_some_and(|number| self.under_way.done_to(number))
        {
            let (ticket, op) = (flush.ticket, flush.op);
            self.syncs.pop_front();
            if let Some(due) = below.admit(now_ns, Waiter::Ticket(ticket), (op, 0, 0)) {
                done(ticket, due);
            }
        }
        self.write_back(now_ns, below);
        if self.unwritten_bytes() <= self.spec.throttle_bytes {
            // All at once: each has already dirtied what it waited for.
            for (ticket, copied) in self.throttled.drain(..) {
                done(ticket, now_ns.max(copied));
            }
        }
    }

    /// Sends writeback as far as it has reason and room to.
    fn write_back(&mut self, now_ns: u64, below: &mut Below) {
        let most = (self.spec.merge_bytes / PAGE_BYTES).max(1) as u32;
        while self.under_way.count() < self.spec.in_flight && self.has_reason() {
            let Some((page, count)) = self.take_run(most) else {
                return;
            };
            self.old_left = self.old_left.saturating_sub(u64::from(count));
            self.writing += u64::from(count);
            let number = self.under_way.begin();
            self.note_sent();
            let waiter = Waiter::Writeback { pages: count, number };
            let request = (Op::Write, page * PAGE_BYTES, count * PAGE_BYTES as u32);
            if let Some(due) = below.admit(now_ns, waiter, request) {
                below.events.push(due, Event::Written { pages: count, number });
            }
        }
    }

    /// The next pages to write, in order, round and round.
    fn take_run(&mut self, most: u32) -> Option<(u64, u32)> {
        let (round, from) = self.cursor;
        let run = self.pages.take_run(from, most).map(|run| (round, run));
        let (round, (page, count)) =
            run.or_else(|| self.pages.take_run(0, most).map(|run| (round + 1, run)))?;
        self.cursor = (round, page + u64::from(count));
        Some((page, count))
    }

    /// Flushes all of whose pages have been sent learn which requests they wait for.
    fn note_sent(&mut self) {
        let (all, next) = (self.pages.dirty() == 0, self.under_way.next());
        for flush in self.syncs.iter_mut().filter(|flush| flush.number.is_none()) {
            if all || flush.to <= self.cursor {
                flush.number = Some(next);
            }
        }
    }

    fn has_reason(&self) -> bool {
        let dirty = self.pages.dirty();
        dirty > 0
            && (dirty * PAGE_BYTES > self.spec.background_bytes
                || self.old_left > 0
                || self.syncs.back().is_some_and(|flush| flush.number.is_none()))
    }
}

#[cfg(test)]
mod tests;

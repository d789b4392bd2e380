//! The host's cache between the virtual machine and its disks: hits, fills, write-through or write-back, and the
//! stall when it is full of what still has to be written.
//!
//! Data in: I/Os in the order of their times. Data out: when each is complete, or that it waits. Rules (documented
//! by Azure): a read hit counts against the machine's cached limits only; a miss also against the uncached limits and
//! the disk; a write with read-only caching goes to both before it is complete; with read-write caching it is complete in
//! the cache and counts against uncached limits and disk when it is flushed. It must not know who sends I/O.
//!
//! Simplified: what the cached limits hold takes its place in the queue of the uncached ones at once, so that a flush
//! meanwhile comes after it.

use crate::device::Units;
use crate::events::{Event, Events};
use crate::in_flight::InFlight;
use crate::path::Path;
use crate::sampler::Sampler;
use crate::slices::Limiter;
use crate::spec::{CacheMode, HostCacheSpec, Spec};
use crate::volume::Volume;
use crate::waiter::Waiter;
use fathom_core::backend::Op;
use fathom_core::rng::Rng;
use std::collections::VecDeque;

/// Places a block may be in, at most; which one goes is settled by age among these.
const WAYS: u64 = 8;
/// The largest flush: neighbours are put together up to this.
const FLUSH_BYTES: u32 = 256 << 10;
/// Flushes under way at a time.
const FLUSHES: u32 = 32;

/// The host's cache.
#[derive(Debug, Clone)]
pub(crate) struct HostCache {
    spec: HostCacheSpec,
    limits: Path,
    units: Units,
    read_hit: Sampler,
    write_hit: Sampler,
    rng: Rng,
    blocks: Blocks,
    /// What was written and is not on the disk, oldest first: offset and length.
    dirty: VecDeque<(u64, u32)>,
    dirty_bytes: u64,
    /// Full: writes wait until enough is flushed.
    stalled: bool,
    waiting: VecDeque<Waiting>,
    under_way: InFlight,
    flush_pace: Option<Limiter>,
    /// What the pace lets through at the [`Event::FlushNext`] that is under way.
    paced: Option<(u64, u32)>,
    /// Flushes asked for by the guest: who, and the first number that need not be on the disk by then.
    syncs: VecDeque<(Waiter, u64)>,
    /// Reads served from it, and not.
    pub(crate) hits: u64,
    /// Reads that had to go to the disk.
    pub(crate) misses: u64,
    /// The most that waited to be written.
    pub(crate) dirty_peak_bytes: u64,
}

/// A write that waits for room.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    waiter: Waiter,
    offset: u64,
    len: u32,
}

/// Which blocks the cache holds: sets of a few ways, each kept in the order of use.
#[derive(Debug, Clone)]
struct Blocks {
    tags: Vec<u64>,
    sets: u64,
    ways: u64,
    block_bytes: u64,
}

impl HostCache {
    /// The cache of `spec`, if it has one.
    pub(crate) fn new(spec: &Spec, units: Units) -> Option<Self> {
        let cache = spec.host_cache.as_ref()?;
        let limits = spec
            .vm
            .as_ref()
            .map_or_else(Path::default, |vm| Path::new(&vm.cached, spec.slices));
        Some(Self {
            limits,
            units,
            read_hit: Sampler::new(&cache.read_hit),
            write_hit: Sampler::new(&cache.write_hit),
            rng: Rng::stream(spec.seed, 0xcac4e),
            blocks: Blocks::new(cache.capacity_bytes, cache.block_bytes),
            dirty: VecDeque::new(),
            dirty_bytes: 0,
            stalled: false,
            waiting: VecDeque::new(),
            under_way: InFlight::default(),
            flush_pace: cache
                .flush_bytes_per_second
                .rate()
                .map(|rate| Limiter::new(rate, spec.slices)),
            paced: None,
            syncs: VecDeque::new(),
            hits: 0,
            misses: 0,
            dirty_peak_bytes: 0,
            spec: cache.clone(),
        })
    }

    /// When an I/O sent at `now_ns` is complete; `None`: it waits.
    pub(crate) fn admit(
        &mut self,
        now_ns: u64,
        waiter: Waiter,
        (op, offset, len): (Op, u64, u32),
        volume: &mut Volume,
        events: &mut Events,
    ) -> Option<u64> {
        match op {
            Op::Read => Some(self.read(now_ns, offset, len, volume)),
            Op::Write if self.spec.mode == CacheMode::ReadOnly => {
                let passed = self.pass(now_ns, len);
                self.blocks.fill(offset, len);
                Some(volume.admit(passed, op, offset, len))
            }
            Op::Write => self.write(now_ns, waiter, offset, len, volume, events),
            Op::Trim => Some(volume.admit(now_ns, op, offset, len)),
            Op::Sync | Op::DataSync if self.dirty_bytes > 0 => {
                // Flushes are numbered in the order of writing.
                let unsent = self.dirty.len() as u64 + u64::from(self.paced.is_some());
                self.syncs.push_back((waiter, self.under_way.next() + unsent));
                None
            }
            Op::Sync | Op::DataSync => Some(volume.admit(now_ns, op, 0, 0)),
        }
    }

    fn pass(&mut self, now_ns: u64, len: u32) -> u64 {
        self.limits.take(now_ns, self.units.of(len), u64::from(len))
    }

    fn read(&mut self, now_ns: u64, offset: u64, len: u32, volume: &mut Volume) -> u64 {
        let passed = self.pass(now_ns, len);
        if self.blocks.hit(offset, len) {
            self.hits += 1;
            return passed + self.read_hit.draw(len, &mut self.rng);
        }
        self.misses += 1;
        self.blocks.fill(offset, len);
        volume.admit(passed, Op::Read, offset, len)
    }

    fn write(
        &mut self,
        now_ns: u64,
        waiter: Waiter,
        offset: u64,
        len: u32,
        volume: &mut Volume,
        events: &mut Events,
    ) -> Option<u64> {
        // One write always fits, however large.
        let full = self.dirty_bytes > 0 && self.dirty_bytes + u64::from(len) > self.spec.dirty_limit_bytes;
        self.stalled |= full;
        if self.stalled {
            self.waiting.push_back(Waiting { waiter, offset, len });
            return None;
        }
        let passed = self.pass(now_ns, len);
        self.blocks.fill(offset, len);
        self.dirty_bytes += u64::from(len);
        self.dirty_peak_bytes = self.dirty_peak_bytes.max(self.dirty_bytes);
        match self.dirty.back_mut() {
            Some((start, last)) if *start + u64::from(*last) == offset && *last + len <= FLUSH_BYTES => {
                *last += len;
            }
            _ => self.dirty.push_back((offset, len)),
        }
        self.flush(now_ns, volume, events);
        Some(passed + self.write_hit.draw(len, &mut self.rng))
    }

    /// Sends what may be sent to the disk.
    fn flush(&mut self, now_ns: u64, volume: &mut Volume, events: &mut Events) {
        while self.under_way.count() < FLUSHES && self.paced.is_none() {
            // Taken out before it is paid for: it must not grow afterwards.
            let Some((offset, len)) = self.dirty.pop_front() else {
                return;
            };
            if let Some(pace) = &mut self.flush_pace {
                let release = pace.take(now_ns, u64::from(len));
                self.paced = Some((offset, len));
                events.push(release, Event::FlushNext);
                return;
            }
            self.send(now_ns, (offset, len), volume, events);
        }
    }

    fn send(&mut self, now_ns: u64, (offset, len): (u64, u32), volume: &mut Volume, events: &mut Events) {
        let number = self.under_way.begin();
        let due = volume.admit(now_ns, Op::Write, offset, len);
        events.push(due, Event::Flushed { bytes: len, number });
    }

    /// The pace of flushing allows the next one.
    pub(crate) fn flush_next(&mut self, now_ns: u64, volume: &mut Volume, events: &mut Events) {
        if let Some(paced) = self.paced.take() {
            self.send(now_ns, paced, volume, events);
        }
        self.flush(now_ns, volume, events);
    }

    /// Flush number `number`, of `bytes`, is on the disk. Who waited for it and may now go on is told to `done`, with the time.
    pub(crate) fn flushed(
        &mut self,
        now_ns: u64,
        (bytes, number): (u32, u64),
        volume: &mut Volume,
        events: &mut Events,
        done: &mut impl FnMut(Waiter, u64, &mut Events),
    ) {
        self.dirty_bytes -= u64::from(bytes);
        self.under_way.end(number);
        while let Some(&(waiter, target)) = self.syncs.front()
            && self.under_way.done_to(target)
        {
            self.syncs.pop_front();
            done(waiter, volume.admit(now_ns, Op::Sync, 0, 0), events);
        }
        if self.stalled && self.dirty_bytes <= self.spec.dirty_resume_bytes {
            self.stalled = false;
            for _ in 0..self.waiting.len() {
                let Some(Waiting { waiter, offset, len }) = self.waiting.pop_front() else {
                    break;
                };
                if let Some(due) = self.write(now_ns, waiter, offset, len, volume, events) {
                    done(waiter, due, events);
                }
            }
        }
        self.flush(now_ns, volume, events);
    }

    /// What is not on the disk yet.
    pub(crate) fn dirty_bytes(&self) -> u64 {
        self.dirty_bytes
    }
    /// The machine's limits for cached I/O.
    pub(crate) fn limits(&self) -> &Path {
        &self.limits
    }

    /// Takes these limits in place of those that it had, or gives them back.
    pub(crate) fn exchange(&mut self, limits: &mut Path) {
        std::mem::swap(&mut self.limits, limits);
    }
}

impl Blocks {
    fn new(capacity_bytes: u64, block_bytes: u64) -> Self {
        let blocks = (capacity_bytes / block_bytes).max(1);
        let ways = blocks.min(WAYS);
        let sets = blocks / ways;
        Self {
            // 0 is "empty": blocks are numbered from 1.
            tags: vec![0; (sets * ways) as usize],
            sets,
            ways,
            block_bytes,
        }
    }

    fn numbers(&self, offset: u64, len: u32) -> std::ops::RangeInclusive<u64> {
        let last = (offset + u64::from(len).max(1) - 1) / self.block_bytes;
        offset / self.block_bytes + 1..=last + 1
    }

    fn set(&mut self, number: u64) -> &mut [u64] {
        let at = (number % self.sets * self.ways) as usize;
        &mut self.tags[at..at + self.ways as usize]
    }

    /// Whether all of it is there; each block found is the youngest of its set then.
    fn hit(&mut self, offset: u64, len: u32) -> bool {
        let mut all = true;
        for number in self.numbers(offset, len) {
            let set = self.set(number);
            match set.iter().position(|&tag| tag == number) {
                Some(at) => set[..=at].rotate_right(1),
                None => all = false,
            }
        }
        all
    }

    /// Puts all of it in, in place of the oldest of each set.
    fn fill(&mut self, offset: u64, len: u32) {
        for number in self.numbers(offset, len) {
            let set = self.set(number);
            let at = set.iter().position(|&tag| tag == number).unwrap_or(set.len() - 1);
            set[..=at].rotate_right(1);
            set[0] = number;
        }
    }
}

#[cfg(test)]
mod tests;

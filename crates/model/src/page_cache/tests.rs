use super::{PAGE_BYTES, PageCache};
use crate::below::Below;
use crate::events::Event;
use crate::spec::{CacheMode, Limit, PathLimits, Spec};
use crate::testing::{MS, SECOND, between, host_cache, seed, spec};
use fathom_core::backend::Op;
use fathom_core::rng::Rng;
use std::collections::{BTreeMap, BTreeSet};

const KIB: u64 = 1024;
const MIB: u64 = 1 << 20;

/// A page cache over a disk, driven by hand.
struct Rig {
    cache: PageCache,
    below: Below,
    now: u64,
    tickets: u32,
    /// When each ticket that waited was told to end.
    told: BTreeMap<u32, u64>,
    /// The requests under way by number: their pages, as a plain model of writeback has them.
    requests: BTreeMap<u64, Vec<u64>>,
    /// Which pages are dirty, and where writeback stands, in that model.
    dirty: BTreeSet<u64>,
    cursor: u64,
    most: usize,
    requests_sent: u64,
}

impl Rig {
    fn new(spec: &Spec) -> Self {
        Self {
            cache: PageCache::new(spec.guest.page_cache.clone()),
            below: Below::new(spec),
            now: 0,
            tickets: 0,
            told: BTreeMap::new(),
            requests: BTreeMap::new(),
            dirty: BTreeSet::new(),
            cursor: 0,
            most: (spec.guest.page_cache.merge_bytes / PAGE_BYTES) as usize,
            requests_sent: 0,
        }
    }

    /// What was sent since the last look, in the plain model: run by run, round and round.
    fn follow(&mut self) {
        while self.requests_sent < self.cache.under_way.next() {
            let next = self.dirty.range(self.cursor..).next().or(self.dirty.first());
            let first = *next.expect("a request without a dirty page");
            let run: Vec<u64> = (first..)
                .take_while(|page| self.dirty.contains(page))
                .take(self.most)
                .collect();
            self.dirty.retain(|page| !run.contains(page));
            self.cursor = first + run.len() as u64;
            self.requests.insert(self.requests_sent, run);
            self.requests_sent += 1;
        }
        assert_eq!(
            self.cache.pages.dirty(),
            self.dirty.len() as u64,
            "the same pages are left"
        );
        let writing: usize = self.requests.values().map(Vec::len).sum();
        assert_eq!(self.cache.writing, writing as u64);
    }

    fn write(&mut self, offset: u64, len: u64) -> (u32, Option<u64>) {
        self.tickets += 1;
        let due = self
            .cache
            .write(self.now, self.tickets, offset, len as u32, &mut self.below);
        self.dirty
            .extend(offset / PAGE_BYTES..(offset + len).div_ceil(PAGE_BYTES));
        self.follow();
        (self.tickets, due)
    }

    fn sync(&mut self) -> (u32, Option<u64>) {
        self.tickets += 1;
        let due = self.cache.sync(self.now, self.tickets, Op::Sync, &mut self.below);
        self.follow();
        (self.tickets, due)
    }

    /// How long it takes.
    fn read(&mut self, worker: u32, offset: u64, len: u64) -> u64 {
        let due = self
            .cache
            .read(self.now, worker, 0, offset, len as u32, &mut self.below);
        due - self.now
    }

    fn run_to(&mut self, time: u64) {
        while let Some((at, event)) = self.below.events.pop_to(time) {
            self.now = at;
            self.happen(event);
        }
        self.now = self.now.max(time);
    }

    fn happen(&mut self, event: Event) {
        let told = &mut self.told;
        let mut done = |ticket, due| assert_eq!(told.insert(ticket, due), None, "told once");
        match event {
            Event::Written { pages, number } => {
                let run = self.requests.remove(&number).expect("under way");
                assert_eq!(run.len(), pages as usize, "merged as far as they are neighbours");
                self.cache
                    .written(self.now, (pages, number), &mut self.below, &mut done);
            }
            Event::Wake => self.cache.wake(self.now, &mut self.below),
            Event::FlushNext | Event::Flushed { .. } => self.below.cache_event(self.now, event, &mut done),
        }
        self.follow();
    }

    /// Runs on until nothing is left to be written.
    fn drain(&mut self) {
        while self.cache.unwritten_bytes() > 0 {
            let (at, event) = self.below.events.pop_to(u64::MAX).expect("it goes on by itself");
            self.now = at;
            self.happen(event);
        }
    }

    fn disk(&self) -> fathom_core::run::DiskSummary {
        self.below.volume.counters(0)[0].clone()
    }
}

#[test]
fn a_write_takes_a_call_and_a_copy() {
    let mut rig = Rig::new(&spec(1));
    assert_eq!(rig.write(0, 8192).1, Some(1000 + 8 * 250));
    assert_eq!(rig.read(0, 0, 8192), 1000 + 8 * 250, "what was written is there");
    assert_eq!(rig.disk().read_ios, 0);
    let (ticket, due) = rig.sync();
    assert_eq!(due, None);
    rig.run_to(SECOND);
    assert_eq!(rig.told, BTreeMap::from([(ticket, 2 * MS)]));
    assert_eq!(
        rig.sync().1,
        Some(SECOND + MS),
        "nothing to wait for but the disk"
    );
}

#[test]
fn reads_miss_hit_and_run_ahead() {
    let mut rig = Rig::new(&spec(1));
    assert_eq!(rig.read(0, 1 << 20, 4096), MS + 2000, "a miss");
    assert_eq!(rig.read(0, 1 << 20, 4096), 2000, "a hit");
    // Random reads fetch what they ask for, sequential ones 128 KiB at a time.
    rig.read(0, 5 << 20, 4096);
    rig.read(0, 9 << 20, 4096);
    assert_eq!((rig.disk().read_ios, rig.disk().read_bytes), (3, 3 * 4096));
    for block in 0..65 {
        rig.read(0, (16 << 20) + block * 4096, 4096);
    }
    let disk = rig.disk();
    assert_eq!((disk.read_ios, disk.read_bytes), (6, 4 * 4096 + 2 * 128 * KIB));
    // Each worker is a reader of its own.
    for block in 0..8 {
        for worker in [0, 1] {
            rig.read(
                worker,
                (u64::from(worker) << 26) + (100 << 20) + block * 4096,
                4096,
            );
        }
    }
    assert_eq!(rig.disk().read_ios, 10);
}

#[test]
fn clean_pages_make_room() {
    let mut small = spec(1);
    small.guest.page_cache.capacity_bytes = 8 * MIB;
    let mut rig = Rig::new(&small);
    for block in 0..8192 {
        rig.read(0, block * 32 * KIB, 4096);
        assert!(rig.cache.pages.cached() * PAGE_BYTES <= 8 * MIB);
    }
}

/// Up to the background threshold nothing is written; above it writeback runs until it is reached again.
#[test]
fn writeback_begins_at_its_threshold() {
    let mut rig = Rig::new(&spec(1));
    for block in 0..1024 {
        rig.write(block * 8192, 4096);
    }
    assert_eq!((rig.cache.unwritten_bytes(), rig.disk().write_ios), (4 * MIB, 0));
    rig.run_to(4 * SECOND);
    assert_eq!(rig.disk().write_ios, 0);
    rig.write(1024 * 8192, 4096);
    assert_eq!(rig.disk().write_ios, 1, "one above");
    rig.run_to(4 * SECOND + 10 * MS);
    assert_eq!((rig.disk().write_ios, rig.cache.unwritten_bytes()), (1, 4 * MIB));
}

#[test]
fn old_pages_are_written_in_any_case() {
    let mut rig = Rig::new(&spec(1));
    rig.run_to(2 * SECOND);
    rig.write(0, 4096);
    rig.run_to(6 * SECOND);
    let (sync, _) = rig.sync();
    rig.run_to(8 * SECOND);
    assert!(rig.told.contains_key(&sync));
    // Clean from 6 s on; dirty again, and so only as old as this.
    rig.write(MIB, 4096);
    rig.run_to(40 * SECOND - 1);
    assert_eq!(rig.disk().write_ios, 1, "not at 35 s, when it was 27 s old");
    rig.run_to(40 * SECOND + MS);
    assert_eq!(rig.disk().write_ios, 2, "at the next look after 30 s");
    assert_eq!(rig.cache.unwritten_bytes(), 0);
    // Then there is nothing to look for.
    rig.run_to(3600 * SECOND);
    assert_eq!(rig.below.events.next_ns(), u64::MAX);
    rig.write(2 * MIB, 4096);
    rig.drain();
    assert_eq!(rig.now, 3630 * SECOND + MS);
}

/// A writer that is too fast goes on at the disk's rate, and never has more than the throttle point and its write
/// unwritten.
#[test]
fn a_fast_writer_is_held_at_the_throttle_point() {
    let mut slow = spec(1);
    slow.disks[0].limits.bytes_per_second = Limit::At(10 * MIB);
    let mut rig = Rig::new(&slow);
    let mut offset = 0;
    while rig.now < 20 * SECOND {
        let (ticket, due) = rig.write(offset % (512 * MIB), 64 * KIB);
        offset += 64 * KIB;
        match due {
            Some(due) => rig.run_to(due),
            None => {
                while !rig.told.contains_key(&ticket) {
                    let next = rig.below.events.next_ns();
                    rig.run_to(next);
                }
            }
        }
        assert!(rig.cache.unwritten_bytes() <= 8 * MIB + 64 * KIB);
    }
    let expected = 8.0 + 20.0 * 10.0;
    let written = offset as f64 / MIB as f64;
    assert!(
        (written / expected - 1.0).abs() < 0.02,
        "{written} MiB, not {expected}"
    );
    assert_eq!(rig.cache.dirty_peak_bytes, 8 * MIB + 64 * KIB);
    // Neighbours were merged: 512 KiB a request.
    let disk = rig.disk();
    assert!(disk.write_bytes / disk.write_ios > 500 * KIB, "{disk:?}");
}

/// A write that may not wait in memory goes through, and is there to be read.
#[test]
fn a_synchronous_write_is_on_the_disk() {
    let mut rig = Rig::new(&spec(1));
    let due = rig.cache.write_through(0, 1, 0, 4096, &mut rig.below);
    assert_eq!(due, Some(2000 + MS));
    assert_eq!((rig.cache.unwritten_bytes(), rig.disk().write_ios), (0, 1));
    assert_eq!(rig.read(0, 0, 4096), 2000);
}

/// A flush, and what has to be written before it ends.
struct Pending {
    ticket: u32,
    /// Dirty when it was asked for.
    dirty: BTreeSet<u64>,
    /// Requests that it waits for.
    requests: BTreeSet<u64>,
}

impl Pending {
    /// After something happened.
    fn follow(&mut self, rig: &Rig, sent_before: u64, seed: u64) {
        for (&number, run) in rig.requests.range(sent_before..) {
            if run.iter().filter(|page| self.dirty.remove(page)).count() > 0 {
                self.requests.insert(number);
            }
        }
        self.requests.retain(|number| rig.requests.contains_key(number));
        if rig.told.contains_key(&self.ticket) {
            let open = (self.dirty.len(), self.requests.len());
            assert_eq!(open, (0, 0), "seed {seed}: ended too early");
        }
    }
}

/// Lets time pass event by event, so that what each did can be followed.
fn step_to(rig: &mut Rig, until: u64, flushes: &mut [Pending], seed: u64) {
    loop {
        let sent = rig.requests_sent;
        let Some((at, event)) = rig.below.events.pop_to(until) else {
            break;
        };
        rig.now = at;
        rig.happen(event);
        for flush in &mut *flushes {
            flush.follow(rig, sent, seed);
        }
    }
    rig.now = until;
}

/// Asks for a flush; one that ends at once had nothing to wait for.
fn flush(rig: &mut Rig, flushes: &mut Vec<Pending>) -> (u32, Option<u64>) {
    let (dirty, requests) = (rig.dirty.clone(), rig.requests.keys().copied().collect());
    let (ticket, due) = rig.sync();
    let pending = Pending {
        ticket,
        dirty,
        requests,
    };
    if due.is_none() {
        flushes.push(pending);
    } else {
        assert!(pending.dirty.is_empty() && pending.requests.is_empty());
    }
    (ticket, due)
}

/// Four writers at random places: dirty pages stay below the throttle point and one write each; flushes end after
/// what was dirty before them, and not never; all that waits is told once; in the end nothing is left.
fn random_writers(seed: u64, spec: &Spec) {
    let mut rng = Rng::new(seed);
    let mut rig = Rig::new(spec);
    let throttle = spec.guest.page_cache.throttle_bytes;
    let mut waiting: [Option<u32>; 4] = [None; 4];
    let mut flushes: Vec<Pending> = Vec::new();
    for _ in 0..1500 {
        let until = rig.now + rng.below(4 * MS);
        step_to(&mut rig, until, &mut flushes, seed);
        for slot in &mut waiting {
            if slot.is_some_and(|ticket| rig.told.contains_key(&ticket)) {
                *slot = None;
            }
        }
        let Some(free) = waiting.iter().position(Option::is_none) else {
            continue;
        };
        let sent = rig.requests_sent;
        let (ticket, due) = if rng.percent(10) {
            flush(&mut rig, &mut flushes)
        } else {
            let page = rng.below(3000);
            rig.write(page * PAGE_BYTES, (1 + rng.below(16)) * PAGE_BYTES)
        };
        for flush in &mut flushes {
            flush.follow(&rig, sent, seed);
        }
        waiting[free] = due.is_none().then_some(ticket);
        assert!(
            rig.cache.unwritten_bytes() <= throttle + 4 * 16 * PAGE_BYTES,
            "seed {seed}"
        );
    }
    rig.drain();
    rig.run_to(rig.now + 3600 * SECOND);
    let flushed = flushes.iter().all(|flush| rig.told.contains_key(&flush.ticket));
    let all = waiting
        .iter()
        .flatten()
        .all(|ticket| rig.told.contains_key(ticket));
    assert!(all && flushed, "seed {seed}: somebody still waits");
    assert!(flushes.len() >= 5, "seed {seed}: {}", flushes.len());
    assert_eq!((rig.cache.unwritten_bytes(), rig.requests.len()), (0, 0));
}

#[test]
fn flushes_wait_for_all_that_was_dirty() {
    let seed = seed();
    for case in 0..20 {
        let mut spec = spec(1);
        spec.disks[0].write = between(200.0, 9000.0);
        spec.disks[0].limits = PathLimits {
            iops: Limit::At(1000),
            ..PathLimits::default()
        };
        let cache = &mut spec.guest.page_cache;
        (cache.throttle_bytes, cache.background_bytes) = (2 * MIB, MIB);
        (cache.expire_ns, cache.wake_ns) = (SECOND, SECOND / 10);
        cache.in_flight = 1 + case as u32 % 8;
        cache.merge_bytes = PAGE_BYTES << (case % 5);
        random_writers(seed ^ case, &spec);
    }
}

#[test]
fn and_above_a_host_cache_that_stalls() {
    let seed = seed();
    for case in 0..10 {
        let mut spec = spec(1);
        spec.disks[0].write = between(200.0, 9000.0);
        let mut below = host_cache(CacheMode::ReadWrite);
        below.flush_bytes_per_second = Limit::At(20 * MIB);
        spec.host_cache = Some(below);
        let cache = &mut spec.guest.page_cache;
        (cache.throttle_bytes, cache.background_bytes) = (2 * MIB, MIB);
        cache.in_flight = 8;
        random_writers(seed ^ case, &spec);
    }
}

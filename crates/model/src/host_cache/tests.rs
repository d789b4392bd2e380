use super::HostCache;
use crate::below::Below;
use crate::spec::{CacheMode, Limit, Spec, VmSpec};
use crate::testing::{MS, SECOND, between, host_cache, limits, seed, spec};
use crate::waiter::Waiter;
use fathom_core::backend::Op;
use fathom_core::rng::Rng;
use std::collections::BTreeMap;

const KIB: u64 = 1024;
/// What a hit takes, on the disks of the tests 1 ms.
const HIT: u64 = MS / 10;

fn cached(mode: CacheMode) -> Spec {
    Spec {
        host_cache: Some(host_cache(mode)),
        ..spec(1)
    }
}

/// A cache over a disk, driven by hand.
struct Rig {
    below: Below,
    now: u64,
    tickets: u32,
    /// When each ticket that waited was told to end.
    told: BTreeMap<u32, u64>,
    /// When each flush was on the disk.
    flushed: BTreeMap<u64, u64>,
}

impl Rig {
    fn new(spec: &Spec) -> Self {
        Self {
            below: Below::new(spec),
            now: 0,
            tickets: 0,
            told: BTreeMap::new(),
            flushed: BTreeMap::new(),
        }
    }

    fn cache(&self) -> &HostCache {
        self.below.cache.as_ref().expect("a cache")
    }

    /// Its ticket, and when it ends, if that is known.
    fn io(&mut self, op: Op, offset: u64, len: u64) -> (u32, Option<u64>) {
        self.tickets += 1;
        let io = (op, offset, len as u32);
        let due = self.below.admit(self.now, Waiter::Ticket(self.tickets), io);
        (self.tickets, due)
    }

    /// How long it takes.
    fn time(&mut self, op: Op, offset: u64, len: u64) -> u64 {
        let (_, due) = self.io(op, offset, len);
        due.expect("it does not wait") - self.now
    }

    fn run_to(&mut self, time: u64) {
        while let Some((at, event)) = self.below.events.pop_to(time) {
            assert!(at >= self.now, "time goes on");
            self.now = at;
            if let super::Event::Flushed { number, .. } = event {
                assert_eq!(self.flushed.insert(number, at), None, "flushed once");
            }
            let told = &mut self.told;
            self.below.cache_event(at, event, &mut |ticket, due| {
                assert!(due >= at);
                assert_eq!(told.insert(ticket, due), None, "told once");
            });
        }
        self.now = self.now.max(if time == u64::MAX { 0 } else { time });
    }

    fn disk_writes(&self) -> (u64, u64) {
        let disk = &self.below.volume.counters(0)[0];
        (disk.write_ios, disk.write_bytes)
    }
}

#[test]
fn reads_miss_once_and_hit_until_pushed_out() {
    let mut rig = Rig::new(&cached(CacheMode::ReadOnly));
    assert_eq!(rig.time(Op::Read, 0, 4096), MS);
    assert_eq!(rig.time(Op::Read, 0, 4096), HIT);
    assert_eq!(rig.time(Op::Read, 512, 512), HIT, "part of a block");
    assert_eq!(rig.time(Op::Read, 0, 8192), MS, "part of it is not there");
    assert_eq!(rig.time(Op::Read, 4096, 4096), HIT);
    assert_eq!((rig.cache().hits, rig.cache().misses), (3, 2));
    // All that fits stays: 256 blocks.
    for block in 0..256 {
        rig.io(Op::Read, block * 4096, 4096);
    }
    for block in 0..256 {
        assert_eq!(rig.time(Op::Read, block * 4096, 4096), HIT, "block {block}");
    }
    // One more pushes out the oldest of its set, and that one only.
    assert_eq!(rig.time(Op::Read, 256 * 4096, 4096), MS);
    assert_eq!(rig.time(Op::Read, 0, 4096), MS, "the oldest is gone");
    let hits = (33..256).filter(|block| rig.time(Op::Read, block * 4096, 4096) == HIT);
    assert!(hits.count() >= 255 - 33, "at most one more had to go");
}

#[test]
fn use_keeps_a_block_young() {
    let mut rig = Rig::new(&cached(CacheMode::ReadOnly));
    rig.io(Op::Read, 0, 4096);
    for block in 1..10_000 {
        rig.io(Op::Read, block * 4096, 4096);
        assert_eq!(rig.time(Op::Read, 0, 4096), HIT, "after block {block}");
    }
}

#[test]
fn a_cache_of_few_blocks_holds_no_more() {
    let mut small = cached(CacheMode::ReadOnly);
    if let Some(cache) = &mut small.host_cache {
        cache.block_bytes = 1 << 19;
    }
    let mut rig = Rig::new(&small);
    for block in [0, 1, 2, 0] {
        assert_eq!(rig.time(Op::Read, block << 20, 4096), MS, "two blocks fit");
    }
}

#[test]
fn read_only_writes_go_to_the_disk_and_are_kept() {
    let mut rig = Rig::new(&cached(CacheMode::ReadOnly));
    assert_eq!(rig.time(Op::Write, 0, 4096), MS);
    assert_eq!(rig.time(Op::Read, 0, 4096), HIT);
    assert_eq!(rig.time(Op::Sync, 0, 0), MS);
    assert_eq!((rig.disk_writes(), rig.cache().dirty_bytes()), ((1, 4096), 0));
}

/// A hit counts against the cached limits only, a miss against both.
#[test]
fn hits_pass_the_uncached_limits() {
    let mut both = cached(CacheMode::ReadOnly);
    both.vm = Some(VmSpec {
        name: String::new(),
        vcpus: None,
        uncached: limits(20, 1 << 40),
        cached: limits(2000, 1 << 40),
        cards: 1,
    });
    let mut rig = Rig::new(&both);
    rig.io(Op::Read, 0, 4096);
    let ends: Vec<u64> = (0..2000).map(|_| rig.time(Op::Read, 0, 4096)).collect();
    assert!((950 * MS..=SECOND + HIT).contains(&ends[1999]), "{}", ends[1999]);
    let mut rig = Rig::new(&both);
    let ends: Vec<u64> = (0..41)
        .map(|block| rig.time(Op::Read, block * 4096, 4096))
        .collect();
    assert_eq!(ends[40], 2 * SECOND + MS, "20 a second");
}

#[test]
fn read_write_writes_end_in_the_cache() {
    let mut rig = Rig::new(&cached(CacheMode::ReadWrite));
    assert_eq!(rig.time(Op::Write, 0, 4096), HIT);
    assert_eq!(rig.cache().dirty_bytes(), 4096);
    let (sync, due) = rig.io(Op::Sync, 0, 0);
    assert_eq!(due, None, "it waits for the write");
    rig.run_to(MS);
    assert_eq!(
        rig.told,
        BTreeMap::from([(sync, 2 * MS)]),
        "written, then flushed"
    );
    assert_eq!((rig.cache().dirty_bytes(), rig.disk_writes()), (0, (1, 4096)));
    assert_eq!(rig.time(Op::Sync, 0, 0), MS);
}

/// Bytes on the disk never run ahead of the pace, however writes arrive.
#[test]
fn flushing_keeps_its_pace() {
    let seed = seed();
    for case in 0..30 {
        let mut rng = Rng::stream(seed, case);
        let mut paced = cached(CacheMode::ReadWrite);
        let cache = paced.host_cache.as_mut().expect("a cache");
        cache.flush_bytes_per_second = Limit::At(1 << 20);
        (cache.dirty_limit_bytes, cache.dirty_resume_bytes) = (1 << 20, 1 << 19);
        let mut rig = Rig::new(&paced);
        let (len, mut offset) = (512 << rng.below(6), 0);
        while rig.now < 20 * SECOND {
            rig.run_to(rig.now + rng.below(40 * MS));
            for _ in 0..rng.below(60) {
                rig.io(Op::Write, offset, len);
                offset += len;
            }
            let (_, bytes) = rig.disk_writes();
            let most = (rig.now / (50 * MS) + 1) * (1 << 20) / 20;
            assert!(
                bytes <= most,
                "seed {seed}, case {case}: {bytes} of {most} at {} ms",
                rig.now / MS
            );
        }
        rig.run_to(u64::MAX);
        assert_eq!((rig.disk_writes().1, rig.cache().dirty_bytes()), (offset, 0));
    }
}

/// Full, it stands still until no more than the low mark waits; then all go on, each told once.
#[test]
fn it_stalls_when_full_and_resumes_at_the_low_mark() {
    let mut spec = cached(CacheMode::ReadWrite);
    if let Some(cache) = &mut spec.host_cache {
        cache.flush_bytes_per_second = Limit::At(1_280_000);
    }
    let mut rig = Rig::new(&spec);
    let writes: Vec<(u32, Option<u64>)> = (0..80).map(|at| rig.io(Op::Write, at * 8192, 4096)).collect();
    assert!(
        writes[..64].iter().all(|(_, due)| *due == Some(HIT)),
        "256 KiB fit"
    );
    assert!(
        writes[64..].iter().all(|(_, due)| due.is_none()),
        "the rest waits"
    );
    // 128 KiB have to go at 1.28 MB/s: two slices' shares of 64 000 bytes, and a bit of the third.
    let stalled_to = (0..1000).map(|step| step * MS).find(|&time| {
        rig.run_to(time);
        let dirty = rig.cache().dirty_bytes();
        assert!(rig.told.is_empty() || dirty <= 256 * KIB);
        assert!(!rig.told.is_empty() || dirty > 128 * KIB);
        !rig.told.is_empty()
    });
    assert!(
        (50 * MS..=105 * MS).contains(&stalled_to.expect("it resumes")),
        "{stalled_to:?}"
    );
    let waited: Vec<u32> = rig.told.keys().copied().collect();
    let expected: Vec<u32> = writes[64..].iter().map(|(ticket, _)| *ticket).collect();
    assert_eq!(waited, expected);
    rig.run_to(u64::MAX);
    assert_eq!(rig.disk_writes().1, 80 * 4096);
    assert_eq!(rig.cache().dirty_peak_bytes, 256 * KIB);
}

/// Random writes and flushes: none is lost, each waiter is told once, and a flush ends after all that was written
/// before it, though flushes to the disk overtake each other.
#[test]
fn nothing_is_lost_and_a_flush_waits_for_what_was_written() {
    let seed = seed();
    for case in 0..60 {
        let mut rng = Rng::stream(seed, case);
        let mut spec = cached(CacheMode::ReadWrite);
        spec.disks[0].write = between(100.0, 20_000.0);
        if let Some(cache) = spec.host_cache.as_mut().filter(|_| rng.percent(50)) {
            cache.flush_bytes_per_second = Limit::At(2_000_000);
        }
        let mut rig = Rig::new(&spec);
        // What is accepted is numbered: no two are neighbours, so each is a flush of its own.
        let (mut place, mut bytes) = (0, 0);
        let mut waiting: Vec<u32> = Vec::new();
        let mut syncs: Vec<(u32, usize)> = Vec::new();
        let mut accepted = 0;
        for _ in 0..400 {
            let told_before = rig.told.len();
            rig.run_to(rig.now + rng.below(3 * MS));
            if rig.told.len() > told_before {
                accepted += waiting
                    .extract_if(.., |ticket| rig.told.contains_key(ticket))
                    .count();
            }
            if rng.percent(10) {
                let before = accepted;
                if let (ticket, None) = rig.io(Op::Sync, 0, 0) {
                    syncs.push((ticket, before));
                }
                continue;
            }
            let len = 512 * (1 + rng.below(60));
            place += 1 << 20;
            bytes += len;
            match rig.io(Op::Write, place % (1 << 30), len) {
                (_, Some(_)) => accepted += 1,
                (ticket, None) => waiting.push(ticket),
            }
            assert!(rig.cache().dirty_bytes() <= 256 * KIB, "seed {seed}, case {case}");
        }
        rig.run_to(u64::MAX);
        assert!(
            waiting.iter().all(|ticket| rig.told.contains_key(ticket)),
            "seed {seed}, case {case}"
        );
        assert_eq!(rig.disk_writes().1, bytes, "seed {seed}, case {case}");
        let told_syncs = syncs.iter().filter(|(ticket, _)| rig.told.contains_key(ticket));
        assert_eq!(told_syncs.count(), syncs.len());
        for (ticket, before) in syncs {
            let written = (0..before as u64).map(|number| rig.flushed[&number]).max();
            let end = rig.told[&ticket];
            assert!(
                Some(end) >= written,
                "seed {seed}, case {case}: told {end}, written {written:?}"
            );
        }
    }
}

/// However large, one write at a time fits.
#[test]
fn a_write_above_the_limit_passes_alone() {
    let mut rig = Rig::new(&cached(CacheMode::ReadWrite));
    assert_eq!(rig.time(Op::Write, 0, 4 << 20), HIT);
    let (ticket, due) = rig.io(Op::Write, 4 << 20, 4 << 20);
    assert_eq!(due, None);
    rig.run_to(u64::MAX);
    assert_eq!(rig.told.len(), 1);
    assert!(rig.told.contains_key(&ticket));
    assert_eq!(rig.disk_writes().1, 8 << 20);
}

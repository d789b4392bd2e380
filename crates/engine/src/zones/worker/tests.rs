//! Workers of the real kind, over seeds, on a device that panics at what a zoned device refuses.

mod device;

use super::{OfFile, Place};
use crate::interval::Exchange;
use crate::pattern::{Draw, Span};
use crate::plan::{FilePlan, Kind, WorkerFiles};
use crate::testing::{EPOCH, depth, job, random_job, seed};
use crate::thread::{worker_plan, zones_of};
use crate::worker::{Ends, Guards, Step, Worker};
use crate::zones::ZoneTable;
use device::Device;
use fathom_core::backend::{Errno, Op, Request};
use fathom_core::rng::Rng;
use fathom_core::units::MonoTime;
use fathom_core::workload::{Amount, EngineKind, ErrorRule, Job, Mix, ZoneRules};
use fathom_sys::zoned::{Zone, ZoneCondition, ZoneKind};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

const BLOCK: u64 = 4096;
const ZONE: u64 = 64 << 10;

/// When, in which order, to which worker, and whether it is the end of the I/O in a slot.
type Due = (u64, u64, usize, Option<u32>);

/// What a scene has.
struct Scene {
    capacity: u64,
    zones: u64,
    /// Zones that may be written in part; 0: any number.
    limit: usize,
    /// Of a hundred writes so many fail.
    failing: u64,
    jobs: Vec<(Job, Span)>,
}

impl Scene {
    /// Zones that are writable as a whole, and no write fails.
    fn sound(zones: u64, limit: usize, jobs: Vec<(Job, Span)>) -> Self {
        Self {
            capacity: ZONE,
            zones,
            limit,
            failing: 0,
            jobs,
        }
    }
}

/// What came of it.
struct Done {
    device: Device,
    table: Arc<ZoneTable>,
    /// Of each worker: reads, writes, as they were sent.
    ios: Vec<[Vec<(u64, u32)>; 2]>,
    found: Vec<fathom_sys::zoned::Zone>,
}

fn zoned(mut job: Job, rules: ZoneRules, iodepth: u32) -> Job {
    job.pattern.zones = Some(rules);
    job.engine.kind = EngineKind::IoUring;
    job.depth = depth(iodepth);
    job.direct = true;
    job
}

/// Runs all workers side by side, each I/O taking as long as it happens to.
fn run(scene: &Scene, seed: u64) -> Done {
    let mut rng = Rng::new(seed);
    let mut device = Device::new(&mut rng, (ZONE, scene.capacity), scene.zones, scene.limit);
    device.reads_beyond = scene
        .jobs
        .iter()
        .any(|(job, _)| job.pattern.zones.is_some_and(|z| z.reads_beyond));
    let found = device.report();
    let claim = |span: &Span| {
        (
            (span.start / ZONE) as u32,
            ((span.start + span.bytes) / ZONE) as u32,
        )
    };
    let claims: Vec<(u32, u32)> = scene.jobs.iter().map(|(_, span)| claim(span)).collect();
    let table = Arc::new(ZoneTable::new(&found, true, scene.limit as u32, &claims));
    let mut workers: Vec<Worker> = (0..)
        .zip(&scene.jobs)
        .map(|(at, (job, span))| {
            let files = WorkerFiles {
                files: vec![FilePlan {
                    path: "device".into(),
                    kind: Kind::Block,
                    span: *span,
                }],
                amount: match job.region.io_size {
                    Some(Amount::Bytes(bytes)) => bytes,
                    _ => span.bytes,
                },
            };
            let plan = worker_plan(job, &files, at);
            let mut worker = Worker::new(plan, Arc::new(Exchange::new()), Ends::default());
            let of = OfFile {
                table: Arc::clone(&table),
                claim: at as usize,
                span: *span,
            };
            worker.guard_with(Guards::with_zones(None, zones_of(job, vec![of], at)));
            worker.start(EPOCH, EPOCH);
            worker
        })
        .collect();
    let mut ios = vec![[Vec::new(), Vec::new()]; workers.len()];
    let mut device_rng = rng.clone();
    let mut now = EPOCH.0;
    let mut due: BinaryHeap<Reverse<Due>> = BinaryHeap::new();
    let mut number = 0;
    let mut running: Vec<bool> = vec![true; workers.len()];
    for at in 0..workers.len() {
        due.push(Reverse((now, number, at, None)));
        number += 1;
    }
    let mut events = 0u64;
    while let Some(Reverse((time, _, at, slot))) = due.pop() {
        events += 1;
        assert!(events < 4_000_000, "seed {seed}: it does not end");
        now = now.max(time);
        if let Some(slot) = slot {
            let request: Request = workers[at].request(slot);
            let fails = request.op == Op::Write && device_rng.below(100) < scene.failing;
            let whole = u64::from(request.len);
            // What of a write that failed is there nobody knows.
            let moved = if fails {
                device_rng.below(whole / 512) * 512
            } else {
                whole
            };
            let moved = moved / BLOCK * BLOCK;
            device.complete(&request, moved);
            let outcome = if fails { Err(Errno(5)) } else { Ok(request.len) };
            workers[at].complete(slot, outcome, MonoTime(now));
        }
        while running[at] {
            match workers[at].next(MonoTime(now)) {
                Step::Issue(slot) => {
                    let request = workers[at].request(slot);
                    device.submit(&request);
                    ios[at][request.op.index()].push((request.offset, request.len));
                    due.push(Reverse((
                        now + 1 + device_rng.below(300_000),
                        number,
                        at,
                        Some(slot),
                    )));
                }
                Step::Wait(until) => {
                    due.push(Reverse((until.0.max(now + 1), number, at, None)));
                    number += 1;
                    break;
                }
                Step::Full => {
                    assert!(workers[at].in_flight() > 0, "seed {seed}: full of nothing");
                    break;
                }
                Step::Zone(command) => {
                    let look = device.command(&command);
                    workers[at].zone_done(&command, Ok(look));
                }
                Step::NewFiles => unreachable!("nobody asked for new files"),
                Step::Finished => {
                    // Once all of its I/Os are back, its zones are others'.
                    if workers[at].in_flight() == 0 {
                        running[at] = false;
                        workers[at].guard_with(None);
                    }
                    break;
                }
            }
            number += 1;
        }
    }
    assert!(
        running.iter().all(|running| !running),
        "seed {seed}: somebody waits for ever"
    );
    Done {
        device,
        table,
        ios,
        found,
    }
}

/// What the table says at the end is what the device says.
fn agrees(done: &Done) {
    for (number, zone) in (0..).zip(done.device.report()) {
        if done.table.is_conventional(number) {
            continue;
        }
        let word = done
            .table
            .zone(number)
            .word
            .load(std::sync::atomic::Ordering::Relaxed);
        assert_eq!(word & super::super::READERS, 0, "zone {number}");
        assert_eq!(word & super::super::WRITING, 0, "zone {number}");
        if word & super::super::STALE == 0 {
            assert_eq!(word & super::super::WRITTEN, zone.written_bytes, "zone {number}");
        }
    }
    let written: u64 = (0..)
        .zip(done.device.report())
        .filter(|&(number, _)| !done.table.is_conventional(number))
        .map(|(number, _)| {
            done.table
                .zone(number)
                .word
                .load(std::sync::atomic::Ordering::Relaxed)
                & super::super::WRITTEN
        })
        .sum();
    assert_eq!(done.table.written_bytes(), written);
}

fn span(first: u64, zones: u64) -> Span {
    Span {
        start: first * ZONE,
        bytes: zones * ZONE,
    }
}

fn bytes(ios: &[(u64, u32)]) -> u64 {
    ios.iter().map(|io| u64::from(io.1)).sum()
}

/// All patterns, limits and depths, several workers on parts that overlap or not, with and without failures.
#[test]
fn nothing_is_sent_that_a_zoned_device_refuses() {
    let first = seed();
    for at in 0..300 {
        let seed = first.wrapping_add(at);
        let mut rng = Rng::new(seed ^ 0x5eed);
        let zones = 4 + rng.below(12);
        let capacity = ZONE - BLOCK * rng.below(8);
        let limit = [0, 0, 1, 2, 3][rng.below(5) as usize];
        let failing = [0, 0, 5][rng.below(3) as usize];
        let jobs = (0..=rng.below(3)).map(|_| {
            let mix = [Mix::Write, Mix::Read, Mix::ReadWrite { read_percent: 40 }][rng.below(3) as usize];
            let block = BLOCK * (1 + rng.below(5));
            let mut job = if rng.below(2) == 0 {
                job(mix, block)
            } else {
                random_job(mix, block)
            };
            if rng.below(3) == 0 {
                job.block_size[1] = fathom_core::workload::BlockSize::Range {
                    min: BLOCK,
                    max: 4 * BLOCK,
                    unaligned: false,
                };
            }
            job.on_error = ErrorRule {
                read: true,
                write: true,
                verify: true,
            };
            job.region.io_size =
                (rng.below(2) == 0).then(|| Amount::Bytes(zones * ZONE * (1 + rng.below(3))));
            job.region.loops = 1 + rng.below(2) as u32;
            let rules = ZoneRules {
                max_open_per_worker: [0, 0, 1, 2][rng.below(4) as usize],
                reset_above_share: [0.0, 0.2][rng.below(2) as usize],
                reset_share: [0.0, 0.1][rng.below(2) as usize],
                ..ZoneRules::default()
            };
            let first = rng.below(zones - 1);
            let part = if rng.below(2) == 0 {
                span(0, zones)
            } else {
                span(first, 1 + rng.below(zones - first))
            };
            (zoned(job, rules, 1 + rng.below(6) as u32), part)
        });
        // Others have begun zones as well: those outside of all parts count too, and here there are none.
        let mut jobs: Vec<(Job, Span)> = jobs.collect();
        jobs[0].1 = span(0, zones);
        let scene = Scene {
            capacity,
            zones,
            limit,
            failing,
            jobs,
        };
        println!(
            "seed {seed}: {zones} zones of {capacity}, limit {limit}, failing {failing}, {} jobs",
            scene.jobs.len()
        );
        let done = run(&scene, seed);
        agrees(&done);
    }
}

/// A sequence goes on where each zone's pointer is, empties those that are full, and ends behind the last zone.
#[test]
fn a_sequence_fills_zone_after_zone() {
    for at in 0..50 {
        let seed = seed().wrapping_add(at);
        let capacity = ZONE - 4 * BLOCK;
        let jobs = vec![(zoned(job(Mix::Write, BLOCK), ZoneRules::default(), 4), span(0, 8))];
        let done = run(
            &Scene {
                capacity,
                zones: 8,
                limit: 0,
                failing: 0,
                jobs,
            },
            seed,
        );
        agrees(&done);
        let mut expected = Vec::new();
        for zone in &done.found {
            let from = if zone.written_bytes == zone.capacity_bytes {
                0
            } else {
                zone.written_bytes
            };
            let places = (from..zone.capacity_bytes).step_by(BLOCK as usize);
            expected.extend(places.map(|within| (zone.start_bytes + within, BLOCK as u32)));
        }
        assert_eq!(done.ios[0][1], expected, "seed {seed}");
        let full = done
            .found
            .iter()
            .filter(|zone| zone.written_bytes == zone.capacity_bytes);
        let full = full
            .filter(|zone| zone.kind == fathom_sys::zoned::ZoneKind::Sequential)
            .count() as u64;
        assert_eq!(done.device.resets, full, "seed {seed}");
    }
}

/// Reads in sequence are all that is written, once, and nothing else.
#[test]
fn reads_end_at_write_pointers() {
    for at in 0..50 {
        let seed = seed().wrapping_add(at);
        let jobs = vec![(zoned(job(Mix::Read, BLOCK), ZoneRules::default(), 4), span(0, 8))];
        let done = run(&Scene::sound(8, 0, jobs), seed);
        let mut expected = Vec::new();
        for zone in &done.found {
            let until = match zone.kind {
                fathom_sys::zoned::ZoneKind::Conventional => ZONE,
                fathom_sys::zoned::ZoneKind::Sequential => zone.written_bytes,
            };
            expected.extend(
                (0..until)
                    .step_by(BLOCK as usize)
                    .map(|at| (zone.start_bytes + at, BLOCK as u32)),
            );
        }
        assert_eq!(done.ios[0][0], expected, "seed {seed}");
    }
}

/// With more than the pointers allow, the device is asked for what was drawn.
#[test]
fn reads_go_beyond_where_they_may() {
    let rules = ZoneRules {
        reads_beyond: true,
        ..ZoneRules::default()
    };
    let jobs = vec![(zoned(job(Mix::Read, BLOCK), rules, 4), span(0, 8))];
    let done = run(&Scene::sound(8, 0, jobs), seed());
    assert_eq!(bytes(&done.ios[0][0]), 8 * ZONE);
}

/// A random load writes as much as it is asked for, over all zones, and to no more at a time than it may.
#[test]
fn random_writes_keep_to_the_limit_and_reach_all_zones() {
    for limit in [1, 2, 5] {
        let mut job = random_job(Mix::Write, BLOCK);
        job.region.io_size = Some(Amount::Bytes(200 * ZONE));
        let jobs = vec![(zoned(job, ZoneRules::default(), 8), span(0, 16))];
        let done = run(&Scene::sound(16, limit, jobs), seed());
        agrees(&done);
        assert_eq!(bytes(&done.ios[0][1]), 200 * ZONE);
        assert_eq!(done.device.most_open, limit);
        let mut seen: Vec<u64> = done.ios[0][1].iter().map(|io| io.0 / ZONE).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 16, "limit {limit}");
    }
}

/// A worker that may write to one zone at a time does so until it is full.
#[test]
fn a_worker_keeps_to_its_own_zones() {
    let rules = ZoneRules {
        max_open_per_worker: 1,
        ..ZoneRules::default()
    };
    let mut job = random_job(Mix::Write, BLOCK);
    job.region.io_size = Some(Amount::Bytes(20 * ZONE));
    let jobs = vec![(zoned(job, rules, 4), span(4, 12))];
    let done = run(&Scene::sound(16, 0, jobs), seed());
    let zones: Vec<u64> = done.ios[0][1].iter().map(|io| io.0 / ZONE).collect();
    let changes = zones.windows(2).filter(|pair| pair[0] != pair[1]).count();
    let resets_of_the_same = done.ios[0][1]
        .windows(2)
        .filter(|pair| pair[1].0 % ZONE == 0 && pair[0].0 / ZONE == pair[1].0 / ZONE)
        .count();
    // As many as zones were filled, about: those that were written in part before are filled up, too.
    assert!(changes + resets_of_the_same >= 19, "{changes}");
    for pair in done.ios[0][1].windows(2) {
        let (before, next) = (pair[0].0 + u64::from(pair[0].1), pair[1].0);
        assert!(next == before || before % ZONE == 0, "{pair:?}");
    }
}

/// One of the writes in ten empties its zone, once a fifth of the region is written.
#[test]
fn zones_are_emptied_as_often_as_asked() {
    let rules = ZoneRules {
        reset_above_share: 0.2,
        reset_share: 0.1,
        ..ZoneRules::default()
    };
    let mut job = random_job(Mix::Write, BLOCK);
    job.region.io_size = Some(Amount::Bytes(100 * ZONE));
    let jobs = vec![(zoned(job, rules, 1), span(4, 12))];
    let done = run(&Scene::sound(16, 0, jobs), seed());
    agrees(&done);
    // One in ten, but of zones that are empty; and those that are full.
    let (resets, writes) = (done.device.resets, done.device.writes);
    assert_eq!(writes, 1600);
    assert!((120..=260).contains(&resets), "{resets}");
}

/// A worker that ended with a zone in part does not keep the others from their own, where only one may be open.
#[test]
fn who_has_ended_leaves_room() {
    let mut first = random_job(Mix::Write, BLOCK);
    first.region.io_size = Some(Amount::Bytes(3 * BLOCK));
    let second = job(Mix::Write, BLOCK);
    let jobs = vec![
        (zoned(first, ZoneRules::default(), 1), span(0, 8)),
        (zoned(second, ZoneRules::default(), 1), span(8, 8)),
    ];
    for at in 0..20 {
        let scene = Scene::sound(16, 1, jobs.clone());
        let done = run(&scene, seed().wrapping_add(at));
        agrees(&done);
        assert_eq!(done.ios[0][1].len(), 3);
        assert!(bytes(&done.ios[1][1]) > 0);
    }
}

/// Zones that can be neither read nor written are passed by, and a load that has no others ends.
#[test]
fn lost_zones_are_passed_by() {
    let zone = |number: u64, condition| Zone {
        start_bytes: number * ZONE,
        len_bytes: ZONE,
        capacity_bytes: ZONE,
        written_bytes: if condition == ZoneCondition::Full { ZONE } else { 0 },
        kind: ZoneKind::Sequential,
        condition,
    };
    let place = |whole: Option<u64>, mix: Mix, random: bool| {
        let mut found: Vec<Zone> = (0..8)
            .map(|number| zone(number, ZoneCondition::Offline))
            .collect();
        if let Some(whole) = whole {
            found[whole as usize] = zone(whole, ZoneCondition::Full);
        }
        let mut job = if random {
            random_job(mix, BLOCK)
        } else {
            job(mix, BLOCK)
        };
        job = zoned(job, ZoneRules::default(), 1);
        let of = OfFile {
            table: Arc::new(ZoneTable::new(&found, true, 0, &[(0, 8)])),
            claim: 0,
            span: span(0, 8),
        };
        let op = if matches!(mix, Mix::Read) {
            Op::Read
        } else {
            Op::Write
        };
        zones_of(&job, vec![of], 0)
            .expect("it goes by zones")
            .place(Draw {
                op,
                file: 0,
                offset: 2 * ZONE,
                len: BLOCK as u32,
            })
    };
    for random in [false, true] {
        let read = place(Some(5), Mix::Read, random);
        assert!(
            matches!(read, Place::Send(draw) if draw.offset / ZONE == 5),
            "random {random}: {read:?}"
        );
        let written = place(Some(5), Mix::Write, random);
        assert!(
            matches!(written, Place::First(command) if command.zone == 5),
            "random {random}: {written:?}"
        );
        let end = if random { Place::Nothing } else { Place::PassOver };
        for mix in [Mix::Read, Mix::Write] {
            assert_eq!(place(None, mix, random), end, "random {random}");
        }
    }
}

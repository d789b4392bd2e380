//! Sequences that are shared or one a slot, and what is counted of each file.

use super::{BLOCK, MS, SECOND, run_with, takes};
use crate::testing::{Answer, EPOCH, Sim, asynchronous, job, seed, worker_plan};
use crate::worker::FileTally;
use fathom_core::backend::Errno;
use fathom_core::rng::Rng;
use fathom_core::units::Nanos;
use fathom_core::workload::{BlockSize, ErrorRule, Mix};
use std::collections::BTreeMap;

/// With a sequence for each I/O in flight, each offset is visited as often as there are slots, and at once.
#[test]
fn each_slot_has_its_own_sequence() {
    let mut job = asynchronous(job(Mix::Write, BLOCK), 4);
    job.pattern.same_offset = true;
    let run = run_with(worker_plan(&job, 10 * BLOCK), MS);
    assert_eq!(run.seen.len(), 40);
    for (round, ios) in run.seen.chunks(4).enumerate() {
        assert!(ios.iter().all(|seen| seen.request.offset == round as u64 * BLOCK));
    }
    assert_eq!(run.end.end.since(EPOCH), Nanos(10 * MS));
}

/// A slow I/O holds up its own slot's sequence and no other.
#[test]
fn a_slow_slot_stays_behind() {
    let mut job = asynchronous(job(Mix::Read, BLOCK), 3);
    job.pattern.same_offset = true;
    job.limit.runtime = Some(Nanos(SECOND));
    job.limit.time_based = true;
    let mut rng = Rng::new(seed());
    let sim = Sim::new(worker_plan(&job, 1000 * BLOCK), |request, now| {
        let slow = if request.slot == 1 { 5 } else { 1 };
        takes(slow * MS + rng.below(MS / 10))(request, now)
    });
    let run = sim.run();
    let mut next: BTreeMap<u32, u64> = BTreeMap::new();
    for request in run.requests() {
        let next = next.entry(request.slot).or_default();
        assert_eq!(request.offset, *next, "slot {}", request.slot);
        *next += BLOCK;
    }
    assert!(next[&1] * 4 < next[&0] && next[&1] * 4 < next[&2], "{next:?}");
}

/// Two workers with one pointer read the file once between them.
#[test]
fn workers_that_share_a_sequence_read_a_file_once() {
    let mut job = asynchronous(job(Mix::Read, BLOCK), 4);
    job.pattern.shared_sequence = true;
    let pointers = [std::sync::Arc::default()];
    let mut sims = [1, 3].map(|ms| {
        let mut plan = worker_plan(&job, 100 * BLOCK);
        plan.generator.share(&pointers);
        Sim::new(plan, takes(ms * MS))
    });
    let mut going = [true, true];
    while going.contains(&true) {
        // Who is behind in time comes first.
        let at = usize::from(!going[0] || going[1] && sims[1].now < sims[0].now);
        going[at] = sims[at].step();
    }
    let mut blocks: Vec<u64> = Vec::new();
    for sim in &sims {
        let own: Vec<u64> = sim.seen.iter().map(|seen| seen.request.offset / BLOCK).collect();
        assert!(own.is_sorted() && own.len() > 20, "{}", own.len());
        blocks.extend(own);
    }
    blocks.sort_unstable();
    assert_eq!(blocks, (0..100).collect::<Vec<_>>());
}

/// An interval's I/Os are those that completed in it, and each is in a bucket.
fn parts_add_up(found: &fathom_core::run::FileCount) {
    let used = found.intervals.iter().filter(|interval| interval.ios > 0);
    let of_intervals: u64 = used.clone().map(|interval| interval.ios).sum();
    assert_eq!(of_intervals, found.ios);
    let shortest = used.map(|interval| interval.lat_ns_min).min();
    assert_eq!(shortest, Some(found.lat_ns.min));
    let of_buckets: u64 = found.lat_buckets.iter().map(|&(_, _, count)| count).sum();
    assert_eq!(of_buckets, found.ios);
}

/// Of each file what was done in the counted time, exactly, with mean and deviation; errors are not counted.
#[test]
fn files_are_counted_apart() {
    let mut job = asynchronous(job(Mix::ReadWrite { read_percent: 60 }, BLOCK), 3);
    job.pattern.random = true;
    job.block_size[1] = BlockSize::Range {
        min: BLOCK,
        max: 4 * BLOCK,
        unaligned: false,
    };
    job.count_files = true;
    job.limit.ramp_time = Nanos(300 * MS);
    job.limit.runtime = Some(Nanos(SECOND));
    job.limit.cooldown_time = Nanos(200 * MS);
    job.limit.time_based = true;
    job.on_error = ErrorRule {
        read: true,
        write: true,
        verify: false,
    };
    let mut rng = Rng::new(seed());
    let mut plan = worker_plan(&job, 1000 * BLOCK);
    let spans = [crate::testing::whole(1000 * BLOCK)[0]; 3];
    plan.generator = crate::pattern::Generator::new(&job, &spans, u64::MAX, true, 7);
    plan.file_count = 3;
    let sim = Sim::new(plan, |request, _| Answer {
        slat: Nanos(rng.below(MS)),
        clat: Nanos(MS + rng.below(9 * MS)),
        outcome: match rng.below(20) {
            0 => Err(Errno(5)),
            1 => Ok(request.len / 2),
            _ => Ok(request.len),
        },
    });
    let run = sim.run();
    for (file, tally) in run.end.files.iter().enumerate() {
        for (op, found) in [&tally.read, &tally.write].into_iter().enumerate() {
            let found = found.count();
            let counted = (EPOCH.0 + 300 * MS)..(EPOCH.0 + 1300 * MS);
            let ours = run.seen.iter().filter(|seen| {
                let is_ours = seen.request.file == file as u32 && seen.request.op.index() == op;
                is_ours && seen.outcome.is_ok() && counted.contains(&seen.completed)
            });
            let clats: Vec<f64> = ours
                .clone()
                .map(|seen| (seen.completed - seen.created - seen.slat) as f64)
                .collect();
            let n = clats.len() as f64;
            let mean = clats.iter().sum::<f64>() / n;
            let variance = clats.iter().map(|clat| (clat - mean).powi(2)).sum::<f64>() / n;
            assert!(clats.len() > 20);
            assert_eq!(found.ios, clats.len() as u64);
            let lats: Vec<f64> = ours
                .clone()
                .map(|seen| (seen.completed - seen.created) as f64)
                .collect();
            assert!((found.lat_ns.mean / (lats.iter().sum::<f64>() / n) - 1.0).abs() < 1e-12);
            parts_add_up(&found);
            let bytes: u64 = ours.map(|seen| u64::from(seen.outcome.unwrap_or(0))).sum();
            assert_eq!(found.bytes, bytes);
            assert!((found.clat_ns_mean / mean - 1.0).abs() < 1e-12);
            assert!((found.clat_ns_stddev / variance.sqrt() - 1.0).abs() < 1e-9);
        }
    }
    let mut sum = FileTally::default();
    run.end.files.iter().for_each(|file| sum.merge(file));
    let counted = run
        .intervals
        .iter()
        .filter(|interval| interval.phase == crate::interval::Phase::Counted);
    let reads: u64 = counted.map(|interval| interval.ops[0].lat.n()).sum();
    assert_eq!(sum.read.count().ios, reads);
}

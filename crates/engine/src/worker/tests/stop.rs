//! When a worker stops.

use super::{BLOCK, MS, SECOND, run_with, takes};
use crate::interval::Phase;
use crate::testing::{EPOCH, Sim, asynchronous, job, random_job, worker_plan};
use fathom_core::backend::Op;
use fathom_core::units::Nanos;
use fathom_core::workload::{Amount, Mix};
use std::sync::atomic::Ordering;

#[test]
fn it_stops_with_its_size() {
    let job = job(Mix::Write, BLOCK);
    let run = run_with(worker_plan(&job, 10 * BLOCK), MS);
    let offsets: Vec<u64> = run.requests().map(|request| request.offset).collect();
    assert_eq!(offsets, (0..10).map(|block| block * BLOCK).collect::<Vec<_>>());
    assert_eq!(run.end.issued, 10);
    assert_eq!(run.sum().ops[Op::Write.index()].bytes, 10 * BLOCK);
    // One after the other.
    assert_eq!(run.end.end.since(run.end.start), Nanos(10 * MS));
    assert!(!run.end.failed);
}

#[test]
fn it_keeps_its_depth() {
    for iodepth in [1, 2, 7, 64] {
        let job = asynchronous(random_job(Mix::Read, BLOCK), iodepth);
        let run = run_with(worker_plan(&job, 1000 * BLOCK), MS);
        assert_eq!(run.deepest, iodepth);
        let rounds = 1000u64.div_ceil(u64::from(iodepth));
        assert_eq!(run.end.end.since(run.end.start), Nanos(rounds * MS));
    }
}

#[test]
fn it_stops_after_a_number_of_ios() {
    let mut job = job(Mix::Read, BLOCK);
    job.region.number_ios = Some(7);
    assert_eq!(run_with(worker_plan(&job, 10 * BLOCK), MS).seen.len(), 7);
    job.region.number_ios = Some(70);
    assert_eq!(run_with(worker_plan(&job, 10 * BLOCK), MS).seen.len(), 10);
}

#[test]
fn it_loops() {
    let mut job = job(Mix::Read, BLOCK);
    job.region.loops = 3;
    let run = run_with(worker_plan(&job, 10 * BLOCK), MS);
    assert_eq!(run.seen.len(), 30);
    assert!(
        run.requests()
            .skip(10)
            .take(10)
            .map(|r| r.offset)
            .eq((0..10).map(|b| b * BLOCK))
    );
    job.region.number_ios = Some(4);
    assert_eq!(run_with(worker_plan(&job, 10 * BLOCK), MS).seen.len(), 12);
}

#[test]
fn io_size_is_the_amount() {
    let mut job = random_job(Mix::Read, BLOCK);
    job.region.io_size = Some(Amount::Bytes(25 * BLOCK));
    let run = run_with(worker_plan(&job, 10 * BLOCK), MS);
    assert_eq!(run.seen.len(), 25);
    for round in run.seen.chunks(10) {
        let mut offsets: Vec<u64> = round.iter().map(|seen| seen.request.offset).collect();
        offsets.sort_unstable();
        offsets.dedup();
        assert_eq!(offsets.len(), round.len());
    }
}

/// The runtime is a limit, not a promise; what is in flight at its end is still counted.
#[test]
fn it_stops_with_its_runtime() {
    let mut job = asynchronous(random_job(Mix::Read, BLOCK), 4);
    job.limit.runtime = Some(Nanos(10 * MS));
    let run = run_with(worker_plan(&job, 1 << 30), 3 * MS);
    // Rounds of four at 0, 3, 6 and 9 ms.
    assert_eq!(run.seen.len(), 16);
    assert_eq!(run.sum().ops[0].lat.n(), 16);
    assert_eq!(run.end.end.since(EPOCH), Nanos(12 * MS));
    job.region.number_ios = Some(5);
    assert_eq!(run_with(worker_plan(&job, 1 << 30), 3 * MS).seen.len(), 5);
}

#[test]
fn time_based_goes_on_until_the_runtime_is_over() {
    for random in [false, true] {
        let mut job = job(Mix::Read, BLOCK);
        job.pattern.random = random;
        job.limit.runtime = Some(Nanos(95 * MS));
        job.limit.time_based = true;
        let run = run_with(worker_plan(&job, 10 * BLOCK), MS);
        assert_eq!(run.seen.len(), 95);
        for round in run.seen.chunks_exact(10) {
            let mut offsets: Vec<u64> = round.iter().map(|seen| seen.request.offset).collect();
            offsets.sort_unstable();
            assert!(offsets.into_iter().eq((0..10).map(|block| block * BLOCK)));
        }
    }
}

/// Nothing in the ramp is counted, and the runtime begins after it.
#[test]
fn the_ramp_comes_on_top_and_does_not_count() {
    let mut job = random_job(Mix::Read, BLOCK);
    job.limit.runtime = Some(Nanos(2 * SECOND));
    job.limit.time_based = true;
    job.limit.ramp_time = Nanos(1500 * MS);
    let run = run_with(worker_plan(&job, 100 * BLOCK), 10 * MS);
    assert_eq!(run.seen.len(), 350);
    let counted = |ramp: bool| -> u64 {
        let ours = run
            .intervals
            .iter()
            .filter(|interval| (interval.phase == Phase::Ramp) == ramp);
        ours.map(|interval| interval.ops[0].lat.n()).sum()
    };
    // What ends exactly at the end of the ramp is after it.
    assert_eq!((counted(true), counted(false)), (149, 201));
    assert_eq!(run.end.start, EPOCH.after(Nanos(1500 * MS)));
    assert_eq!(run.end.end.since(run.end.start), Nanos(2 * SECOND));
    let ends: Vec<u64> = run.intervals.iter().map(|i| i.end.since(EPOCH).0 / MS).collect();
    assert_eq!(ends, [1000, 1500, 2000, 3000, 3500]);
}

/// A stall over the end of the ramp does not make a part of the measured time a part of the ramp.
#[test]
fn counting_begins_after_a_stall_over_the_end_of_the_ramp() {
    let mut job = random_job(Mix::Read, BLOCK);
    job.limit.runtime = Some(Nanos(3 * SECOND));
    job.limit.time_based = true;
    job.limit.ramp_time = Nanos(1500 * MS);
    let sim = Sim::new(worker_plan(&job, 100 * BLOCK), |request, now| {
        let stalled = now.since(EPOCH).0 == 900 * MS;
        let ns = if stalled { 800 * MS } else { 10 * MS };
        takes(ns)(request, now)
    });
    let run = sim.run();
    let counted: u64 = (run
        .intervals
        .iter()
        .filter(|interval| interval.phase == Phase::Counted))
    .map(|interval| interval.ops[0].lat.n())
    .sum();
    // One at 1.7 s, then one each 10 ms to 4.5 s.
    assert_eq!(counted, 281);
    for interval in run
        .intervals
        .iter()
        .filter(|interval| interval.phase == Phase::Counted)
    {
        assert!(interval.start >= run.end.start, "{:?}", interval.start);
    }
}

#[test]
fn a_job_that_ends_in_its_ramp_has_no_negative_time() {
    let mut job = job(Mix::Read, BLOCK);
    job.limit.ramp_time = Nanos(SECOND);
    let run = run_with(worker_plan(&job, 10 * BLOCK), MS);
    assert_eq!(run.end.start, run.end.end);
    assert!(run.intervals.iter().all(|interval| interval.phase == Phase::Ramp));
}

#[test]
fn a_stop_from_outside_ends_it_at_once() {
    let mut job = asynchronous(random_job(Mix::Write, BLOCK), 8);
    job.sync.fsync_at_end = true;
    let mut sim = Sim::new(worker_plan(&job, 1 << 30), takes(MS));
    while sim.seen.len() < 100 {
        assert!(sim.step());
    }
    sim.ends.stop.store(true, Ordering::Relaxed);
    let run = sim.run();
    assert_eq!(run.seen.len(), 100);
    assert_eq!(run.sum().ops[1].lat.n(), 100);
    assert!(!run.end.failed);
}

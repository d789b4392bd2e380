//! Reading back what was written.

use super::{BLOCK, MS, takes};
use crate::errors::What;
use crate::testing::{Answer, EPOCH, Run, Sim, asynchronous, job, random_job, seed, worker_plan};
use fathom_core::backend::{Op, Request};
use fathom_core::rng::Rng;
use fathom_core::units::Nanos;
use fathom_core::workload::{BlockSize, Job, Mix, RandomMap, Rate, Verify, VerifyAlgorithm};
use std::collections::HashMap;

fn verifying(mut job: Job) -> Job {
    job.verify = Some(Verify {
        algorithm: VerifyAlgorithm::Crc32c,
        interval_bytes: 0,
        pattern: Vec::new(),
        only: false,
        read_back: true,
        fatal: false,
    });
    job
}

/// Runs on a disk with random latencies, good contents.
fn run(job: &Job, bytes: u64, seed: u64) -> Run {
    let mut rng = Rng::new(seed);
    let sim = Sim::new(worker_plan(job, bytes), |request, _| Answer {
        slat: Nanos(0),
        clat: Nanos(1 + rng.below(3 * MS)),
        outcome: Ok(request.len),
    });
    sim.run()
}

type Counts = HashMap<(u32, u64, u32), u32>;

fn count<'a>(requests: impl Iterator<Item = &'a Request>) -> Counts {
    let mut counts = Counts::new();
    for request in requests {
        *counts
            .entry((request.file, request.offset, request.len))
            .or_insert(0) += 1;
    }
    counts
}

/// The last pass read back: exactly its writes, once all of them are done.
fn check_read_back(run: &Run, passes: usize) {
    let requests: Vec<Request> = run.requests().collect();
    let last_write = requests
        .iter()
        .rposition(|r| r.op == Op::Write)
        .expect("it writes");
    let (first, back) = requests.split_at(last_write + 1);
    let writes: Vec<&Request> = first.iter().filter(|r| r.op == Op::Write).collect();
    let own = writes.len() / passes;
    // Reads of the mix may come after the last write: the read back is what is left behind them.
    let reads = &back[back.len() - own..];
    assert!(reads.iter().all(|request| request.op == Op::Read));
    assert_eq!(
        count(reads.iter()),
        count(writes[writes.len() - own..].iter().copied())
    );
    assert_eq!(run.sum().verified as usize, own);
    let written = run.seen[..=last_write].iter().map(|seen| seen.completed).max();
    let begun = run.seen[requests.len() - own].created;
    assert!(Some(begun) >= written, "read back before all was written");
    assert!(!run.end.failed);
}

#[test]
fn what_was_written_is_read_back() {
    let seed = seed();
    for iodepth in [1, 8] {
        for mix in [Mix::Write, Mix::ReadWrite { read_percent: 40 }, Mix::TrimWrite] {
            for random in [false, true] {
                for map in [RandomMap::EachOnce, RandomMap::Independent] {
                    let mut job = asynchronous(verifying(job(mix, BLOCK)), iodepth);
                    job.pattern.random = random;
                    job.pattern.random_map = map;
                    check_read_back(&run(&job, 100 * BLOCK, seed), 1);
                }
            }
        }
    }
}

#[test]
fn mixed_sizes_are_read_back_as_they_were_written() {
    let mut job = asynchronous(verifying(random_job(Mix::Write, BLOCK)), 8);
    job.block_size[1] = BlockSize::Range {
        min: BLOCK,
        max: 16 * BLOCK,
        unaligned: false,
    };
    check_read_back(&run(&job, 500 * BLOCK, seed()), 1);
}

#[test]
fn the_last_of_several_passes_is_read_back() {
    let mut job = asynchronous(verifying(random_job(Mix::Write, BLOCK)), 8);
    job.region.loops = 3;
    let run = run(&job, 50 * BLOCK, seed());
    assert_eq!(run.seen.len(), 200);
    check_read_back(&run, 3);
}

#[test]
fn a_number_of_ios_limits_what_is_read_back() {
    let mut job = verifying(random_job(Mix::Write, BLOCK));
    job.region.number_ios = Some(13);
    let run = run(&job, 50 * BLOCK, seed());
    assert_eq!(run.seen.len(), 26);
    check_read_back(&run, 1);
}

/// Cut short by its runtime, it reads back what it had written of the pass under way, however long that takes.
#[test]
fn a_runtime_ends_writing_not_reading_back() {
    let mut job = asynchronous(verifying(random_job(Mix::Write, BLOCK)), 4);
    job.limit.runtime = Some(Nanos(20 * MS));
    let run = run(&job, 1 << 30, seed());
    assert!(run.seen.len() > 20);
    check_read_back(&run, 1);
    // With no end to its passes, the last one is what counts.
    job.limit.time_based = true;
    let run = super::run_with(worker_plan(&job, 7 * BLOCK), MS);
    let writes = run.requests().filter(|request| request.op == Op::Write).count();
    assert_eq!(writes, 80);
    // 80 writes are eleven passes of 7 and 3 more.
    assert_eq!(run.sum().verified, 3);
}

#[test]
fn a_schedule_paces_writing_only() {
    let mut job = asynchronous(verifying(random_job(Mix::Write, BLOCK)), 4);
    job.pace.rate[1] = Some(Rate::Iops(100));
    let run = super::run_with(worker_plan(&job, 50 * BLOCK), MS);
    check_read_back(&run, 1);
    // 50 writes at 100 a second, then 50 reads four at a time of 1 ms.
    assert_eq!(run.end.end.since(EPOCH), Nanos(490 * MS + MS + 13 * MS));
    assert_eq!(run.end.backlog, 0);
}

#[test]
fn mismatches_are_counted_and_fail_the_job() {
    let bad: fn(&Request) -> bool = |request| request.offset / BLOCK % 10 != 3;
    let mut job = verifying(job(Mix::Write, BLOCK));
    for (borne, fatal) in [(false, false), (true, false), (false, true)] {
        job.on_error.verify = borne;
        if let Some(verify) = &mut job.verify {
            verify.fatal = fatal;
        }
        let mut sim = Sim::new(worker_plan(&job, 30 * BLOCK), takes(MS));
        sim.good = bad;
        let run = sim.run();
        assert_eq!(run.end.failed, !borne);
        let entry = run.end.errors.entries().next().expect("a mismatch");
        assert_eq!((entry.what, entry.offset), (What::Mismatch, 3 * BLOCK));
        // At the first mismatch only where that is fatal: else all is checked.
        let (verified, count) = if fatal { (4, 1) } else { (30, 3) };
        assert_eq!((run.sum().verified, entry.count), (verified, count));
        assert_eq!(run.sum().ops[0].errors, count);
    }
}

#[test]
fn a_failed_job_is_not_read_back() {
    let job = verifying(job(Mix::Write, BLOCK));
    let sim = Sim::new(worker_plan(&job, 30 * BLOCK), |request, _| Answer {
        slat: Nanos(0),
        clat: Nanos(MS),
        outcome: if request.offset == 7 * BLOCK {
            Err(fathom_core::backend::Errno(5))
        } else {
            Ok(request.len)
        },
    });
    let run = sim.run();
    assert_eq!(run.seen.len(), 8);
    assert_eq!(run.sum().verified, 0);
}

#[test]
fn only_checking_writes_nothing() {
    let mut written = asynchronous(verifying(random_job(Mix::Write, BLOCK)), 4);
    let first = run(&written, 60 * BLOCK, seed());
    if let Some(verify) = &mut written.verify {
        verify.only = true;
    }
    // Its runtime neither holds it up nor makes it go on.
    written.limit.runtime = Some(Nanos(MS));
    written.limit.time_based = true;
    let only = run(&written, 60 * BLOCK, seed());
    assert!(only.requests().all(|request| request.op == Op::Read));
    let writes: Vec<Request> = first.requests().filter(|r| r.op == Op::Write).collect();
    let reads: Vec<Request> = only.requests().collect();
    assert_eq!(count(reads.iter()), count(writes.iter()));
    assert_eq!(only.sum().verified, 60);
}

#[test]
fn reads_alone_are_checked_as_they_come() {
    let run = run(&verifying(random_job(Mix::Read, BLOCK)), 60 * BLOCK, seed());
    assert_eq!((run.seen.len(), run.sum().verified), (60, 60));
}

/// It is flushed before it is read back.
#[test]
fn a_flush_at_the_end_comes_before_reading_back() {
    let mut job = verifying(job(Mix::Write, BLOCK));
    job.sync.fsync_at_end = true;
    let run = run(&job, 5 * BLOCK, seed());
    let ops: Vec<Op> = run.requests().map(|request| request.op).collect();
    assert_eq!(ops[..5], [Op::Write; 5]);
    assert_eq!(ops[5], Op::Sync);
    assert_eq!(ops[6..], [Op::Read; 5]);
}

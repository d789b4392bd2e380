//! Reading back what was written.

use super::{BLOCK, MS, takes};
use crate::errors::What;
use crate::testing::{Answer, EPOCH, Run, Sim, asynchronous, job, random_job, seed, worker_plan};
use fathom_core::backend::{Op, Request};
use fathom_core::rng::Rng;
use fathom_core::run::LeftOut;
use fathom_core::units::Nanos;
use fathom_core::workload::{BlockSize, Job, Mix, RandomMap, Rate, Verify, VerifyAlgorithm};
use std::collections::{BTreeSet, HashMap};

fn verifying(mut job: Job) -> Job {
    job.verify = Some(Verify {
        algorithm: VerifyAlgorithm::Crc32c,
        interval_bytes: 0,
        pattern: Vec::new(),
        only: false,
        read_back: true,
        fatal: false,
        ..Verify::default()
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

/// One pass read back: exactly its writes, once all of them are done.
fn check_read_back(run: &Run) {
    let requests: Vec<Request> = run.requests().collect();
    let last_write = requests
        .iter()
        .rposition(|r| r.op == Op::Write)
        .expect("it writes");
    let (first, back) = requests.split_at(last_write + 1);
    let writes: Vec<&Request> = first.iter().filter(|r| r.op == Op::Write).collect();
    let own = writes.len();
    // Reads of the mix may come after the last write: the read back is what is left behind them.
    let reads = &back[back.len() - own..];
    assert!(reads.iter().all(|request| request.op == Op::Read));
    assert_eq!(count(reads.iter()), count(writes.iter().copied()));
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
                for map in [RandomMap::EachOnce, RandomMap::NextFree, RandomMap::Independent] {
                    let mut job = asynchronous(verifying(job(mix, BLOCK)), iodepth);
                    job.pattern.random = random;
                    job.pattern.random_map = map;
                    check_read_back(&run(&job, 100 * BLOCK, seed));
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
    check_read_back(&run(&job, 500 * BLOCK, seed()));
}

/// All that was written, each place at least once; `reads` reads in all.
fn check_all_read_back(run: &Run, reads: usize) {
    let requests: Vec<Request> = run.requests().collect();
    let (first, back) = requests.split_at(requests.len() - reads);
    assert!(back.iter().all(|request| request.op == Op::Read));
    let places = |requests: &[Request], op: Op| -> BTreeSet<(u32, u64)> {
        let blocks = requests.iter().filter(|request| request.op == op).flat_map(|r| {
            let offsets = (r.offset..r.offset + u64::from(r.len)).step_by(BLOCK as usize);
            offsets.map(|offset| (r.file, offset))
        });
        blocks.collect()
    };
    assert_eq!(places(first, Op::Write), places(back, Op::Read));
    assert_eq!(run.sum().verified as usize, reads);
    assert!(!run.end.failed);
}

/// Each pass is read back before the next begins.
#[test]
fn each_pass_is_read_back() {
    let seed = seed();
    let mixed = job(Mix::ReadWrite { read_percent: 60 }, BLOCK);
    let mut independent = random_job(Mix::Write, BLOCK);
    independent.pattern.random_map = RandomMap::Independent;
    let mut few = random_job(Mix::Write, BLOCK);
    few.region.number_ios = Some(13);
    let mut sizes = job(Mix::Write, BLOCK);
    sizes.block_size[1] = BlockSize::Range {
        min: BLOCK,
        max: 7 * BLOCK,
        unaligned: false,
    };
    let plain = [Mix::Write, Mix::TrimWrite].map(|mix| random_job(mix, BLOCK));
    for job in [mixed, independent, few, sizes].into_iter().chain(plain) {
        let pure = matches!(job.pattern.mix, Mix::Write);
        let mut job = asynchronous(verifying(job), 8);
        job.region.loops = 3;
        let run = run(&job, 50 * BLOCK, seed);
        let requests: Vec<Request> = run.requests().collect();
        let writes = requests.iter().filter(|request| request.op == Op::Write);
        let writes: Vec<&Request> = writes.collect();
        assert_eq!(run.sum().verified as usize, writes.len());
        if pure {
            let passes = requests.chunk_by(|one, next| !(one.op == Op::Read && next.op == Op::Write));
            let mut number = 0;
            for pass in passes {
                let (written, read): (Vec<&Request>, _) = pass.iter().partition(|r| r.op == Op::Write);
                assert_eq!(count(written.into_iter()), count(read.into_iter()));
                number += 1;
            }
            assert_eq!(number, 3);
        }
        assert!(!run.end.failed);
    }
}

/// After so many writes so many of them are read back, and at the end the rest, each once.
#[test]
fn a_backlog_is_read_back_while_the_load_goes_on() {
    let seed = seed();
    for (every, batch) in [(8, 0), (8, 3), (1, 1), (100, 10), (7, 100)] {
        for loops in [1, 3] {
            for mix in [Mix::Write, Mix::ReadWrite { read_percent: 40 }] {
                let mut job = asynchronous(verifying(random_job(mix, BLOCK)), 4);
                job.region.loops = loops;
                if let Some(verify) = &mut job.verify {
                    (verify.backlog_ios, verify.backlog_batch_ios) = (every, batch);
                }
                let run = run(&job, 50 * BLOCK, seed);
                let requests: Vec<Request> = run.requests().collect();
                let writes = requests.iter().filter(|request| request.op == Op::Write).count();
                assert_eq!(
                    run.sum().verified as usize,
                    writes,
                    "{every} {batch} {loops} {mix:?}"
                );
                let mut unread = 0i64;
                if mix == Mix::Write {
                    for request in &requests {
                        unread += if request.op == Op::Write { 1 } else { -1 };
                        assert!(unread >= 0, "nothing is read before it was written");
                        let most = i64::from(every) * if batch == 0 || batch >= every { 1 } else { 60 };
                        assert!(unread <= most, "{every} {batch}: {unread} unread");
                    }
                    assert_eq!(requests.len(), 100 * loops as usize);
                }
                assert!(!run.end.failed);
            }
        }
    }
}

/// Wherever its time ends, what it wrote is read back: of the first pass a part, later all.
#[test]
fn a_run_without_end_is_read_back_wherever_it_ends() {
    let mut job = asynchronous(verifying(random_job(Mix::Write, BLOCK)), 4);
    job.limit.time_based = true;
    for (ms, reads) in [(1, 4), (2, 7), (3, 7), (20, 7)] {
        job.limit.runtime = Some(Nanos(ms * MS));
        let run = super::run_with(worker_plan(&job, 7 * BLOCK), MS);
        check_all_read_back(&run, reads);
    }
    // Of a mix, the writes of all passes, however many.
    let mut job = asynchronous(
        verifying(random_job(Mix::ReadWrite { read_percent: 50 }, BLOCK)),
        4,
    );
    job.limit.time_based = true;
    for ms in 1..30 {
        job.limit.runtime = Some(Nanos(ms * MS));
        let run = super::run_with(worker_plan(&job, 7 * BLOCK), MS);
        let writes = run.requests().filter(|request| request.op == Op::Write).count();
        check_all_read_back(&run, writes);
    }
}

/// A block that changed since is found, whether the last pass came to it again or not.
#[test]
fn a_corrupted_block_is_found_in_a_run_without_end() {
    for ms in [3, 7, 8, 9, 21] {
        let mut job = verifying(random_job(Mix::Write, BLOCK));
        job.limit.time_based = true;
        job.limit.runtime = Some(Nanos(ms * MS));
        let mut sim = Sim::new(worker_plan(&job, 7 * BLOCK), takes(MS));
        sim.good = |request| request.offset != 5 * BLOCK;
        let run = sim.run();
        let written = run
            .requests()
            .any(|request| request.op == Op::Write && request.offset == 5 * BLOCK);
        assert_eq!(run.end.failed, written, "{ms} ms");
        assert!(written || ms < 7);
    }
}

#[test]
fn a_number_of_ios_limits_what_is_read_back() {
    let mut job = verifying(random_job(Mix::Write, BLOCK));
    job.region.number_ios = Some(13);
    let run = run(&job, 50 * BLOCK, seed());
    assert_eq!(run.seen.len(), 26);
    check_read_back(&run);
}

/// Cut short by its runtime, it reads back what it had written of the pass under way, however long that takes.
#[test]
fn a_runtime_ends_writing_not_reading_back() {
    let mut job = asynchronous(verifying(random_job(Mix::Write, BLOCK)), 4);
    job.limit.runtime = Some(Nanos(20 * MS));
    let run = run(&job, 1 << 30, seed());
    assert!(run.seen.len() > 20);
    check_read_back(&run);
}

#[test]
fn a_schedule_paces_writing_only() {
    let mut job = asynchronous(verifying(random_job(Mix::Write, BLOCK)), 4);
    job.pace.rate[1] = Some(Rate::Iops(100));
    let run = super::run_with(worker_plan(&job, 50 * BLOCK), MS);
    check_read_back(&run);
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

/// What only checking leaves out is what writing would have sent, all passes of it, wherever checking ended.
#[test]
fn what_only_checking_leaves_out_is_counted() {
    let mix = Mix::ReadWrite { read_percent: 40 };
    let plain = random_job(Mix::Write, BLOCK);
    let mut passes = random_job(mix, BLOCK);
    passes.region.loops = 3;
    let mut few = job(mix, BLOCK);
    few.region.number_ios = Some(13);
    for job in [plain, passes, few] {
        let sent = run(&job, 60 * BLOCK, seed());
        let count = |run: &Run, op: Op| {
            let lengths = run.requests().filter(|request| request.op == op);
            let (ios, bytes) = lengths.fold((0, 0), |(ios, bytes), r| (ios + 1, bytes + u64::from(r.len)));
            LeftOut { ios, bytes }
        };
        let expected = [count(&sent, Op::Read), count(&sent, Op::Write)];
        assert_eq!(sent.end.left_out, [LeftOut::default(); 2]);
        let mut only = asynchronous(verifying(job), 4);
        if let Some(verify) = &mut only.verify {
            (verify.only, verify.fatal) = (true, true);
        }
        let checked = run(&only, 60 * BLOCK, seed());
        assert_eq!(checked.end.left_out, expected);
        assert_eq!(checked.requests().count() as u64, expected[1].ios);
        let mut sim = Sim::new(worker_plan(&only, 60 * BLOCK), takes(MS));
        sim.good = |_| false;
        let ended = sim.run();
        assert!(ended.requests().count() < 10);
        assert_eq!(ended.end.left_out, expected);
    }
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

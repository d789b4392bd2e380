//! Errors, short I/Os, the end of a file.

use super::{BLOCK, MS};
use crate::errors::{ErrorEntry, What};
use crate::testing::{Answer, Run, Sim, asynchronous, job, worker_plan};
use fathom_core::backend::{Errno, Op, Outcome, Request};
use fathom_core::units::Nanos;
use fathom_core::workload::{Job, Mix};

const EIO: Errno = Errno(5);
const ENOSPC: Errno = Errno(28);

/// Ten blocks on a disk that answers as `outcome` says.
fn run(job: &Job, mut outcome: impl FnMut(&Request) -> Outcome) -> Run {
    let sim = Sim::new(worker_plan(job, 10 * BLOCK), |request, _| Answer {
        slat: Nanos(0),
        clat: Nanos(MS),
        outcome: outcome(request),
    });
    sim.run()
}

fn failing_at(block: u64, errno: Errno) -> impl FnMut(&Request) -> Outcome {
    move |request| {
        if request.offset == block * BLOCK {
            Err(errno)
        } else {
            Ok(request.len)
        }
    }
}

fn entries(run: &Run) -> Vec<ErrorEntry> {
    run.end.errors.entries().copied().collect()
}

#[test]
fn an_error_ends_the_worker_and_keeps_its_place() {
    for mix in [Mix::Read, Mix::Write, Mix::Trim] {
        let run = run(&job(mix, BLOCK), failing_at(3, EIO));
        let op = run.seen[0].request.op;
        assert_eq!(run.seen.len(), 4);
        assert!(run.end.failed);
        assert_eq!(
            entries(&run),
            [ErrorEntry {
                what: What::Io(op),
                errno: EIO,
                count: 1,
                file: 0,
                offset: 3 * BLOCK,
                len: BLOCK as u32,
            }]
        );
        let counts = &run.sum().ops[op.index()];
        // A failed I/O has no latency and moved nothing.
        assert_eq!((counts.errors, counts.lat.n(), counts.bytes), (1, 3, 3 * BLOCK));
    }
}

#[test]
fn what_is_in_flight_after_an_error_is_still_counted() {
    let job = asynchronous(job(Mix::Read, BLOCK), 4);
    let run = run(&job, failing_at(0, EIO));
    assert_eq!(run.seen.len(), 4);
    assert_eq!(run.sum().ops[0].lat.n(), 3);
}

#[test]
fn errors_that_are_borne_are_counted() {
    let mut job = job(Mix::ReadWrite { read_percent: 50 }, BLOCK);
    job.on_error.read = true;
    job.on_error.write = true;
    let run = run(&job, |request| match request.offset / BLOCK % 2 {
        0 => Ok(request.len),
        _ if request.op == Op::Read => Err(EIO),
        _ => Err(ENOSPC),
    });
    assert_eq!(run.seen.len(), 10);
    assert!(!run.end.failed);
    let entries = entries(&run);
    let failed: u64 = entries.iter().map(|entry| entry.count).sum();
    assert_eq!(failed, run.sum().ops.iter().map(|op| op.errors).sum::<u64>());
    assert_eq!(
        failed + run.sum().ops.iter().map(|op| op.lat.n()).sum::<u64>(),
        10
    );
    for entry in entries {
        // The first of each kind, not the last.
        assert_eq!(entry.offset, BLOCK);
    }
}

#[test]
fn the_rule_for_reads_is_not_that_for_writes() {
    let mut job = job(Mix::Write, BLOCK);
    job.on_error.read = true;
    assert!(run(&job, failing_at(3, EIO)).end.failed);
    job.on_error.write = true;
    assert!(!run(&job, failing_at(3, EIO)).end.failed);
}

#[test]
fn a_flush_that_fails_counts_as_a_write() {
    let mut job = job(Mix::Write, BLOCK);
    job.sync.fsync_every = 2;
    let fails = |request: &Request| {
        if request.op == Op::Sync {
            Err(EIO)
        } else {
            Ok(request.len)
        }
    };
    let failed = run(&job, fails);
    assert!(failed.end.failed);
    assert_eq!(entries(&failed)[0].what, What::Io(Op::Sync));
    assert_eq!(failed.seen.len(), 3);
    job.on_error.write = true;
    let borne = run(&job, fails);
    assert_eq!((borne.seen.len(), borne.sum().ops[3].errors), (14, 4));
}

#[test]
fn short_ios_count_what_they_moved() {
    let run = run(&job(Mix::Read, BLOCK), |request| {
        Ok(if request.offset == 5 * BLOCK {
            512
        } else {
            request.len
        })
    });
    let counts = &run.sum().ops[0];
    assert_eq!(
        (counts.short, counts.lat.n(), counts.bytes),
        (1, 10, 9 * BLOCK + 512)
    );
    assert!(!run.end.failed && run.end.errors.is_empty());
}

#[test]
fn a_read_that_gets_nothing_is_an_error() {
    let beyond = |request: &Request| {
        Ok(if request.offset >= 6 * BLOCK {
            0
        } else {
            request.len
        })
    };
    let mut job = job(Mix::Read, BLOCK);
    let failed = run(&job, beyond);
    assert!(failed.end.failed);
    let entry = entries(&failed)[0];
    assert_eq!((entry.what, entry.offset), (What::EndOfFile(Op::Read), 6 * BLOCK));
    job.on_error.read = true;
    let borne = run(&job, beyond);
    assert_eq!((borne.seen.len(), entries(&borne)[0].count), (10, 4));
    assert_eq!(borne.sum().ops[0].lat.n(), 6);
}

#[test]
fn an_endless_row_of_kinds_is_counted_together() {
    let mut job = job(Mix::Read, BLOCK);
    job.on_error.read = true;
    job.region.loops = 3;
    let mut errno = 0;
    let run = run(&job, |_| {
        errno += 1;
        Err(Errno(errno))
    });
    assert_eq!(run.end.errors.entries().count(), 16);
    assert_eq!(run.end.errors.others, 14);
}

#[test]
fn a_failed_backend_ends_it() {
    let mut sim = Sim::new(worker_plan(&job(Mix::Read, BLOCK), BLOCK), super::takes(MS));
    sim.worker.fail("io_uring_enter", EIO);
    assert_eq!(sim.worker.next(sim.now), crate::worker::Step::Finished);
    let run = sim.run();
    assert!(run.end.failed && run.seen.is_empty());
    assert_eq!(entries(&run)[0].what, What::Other("io_uring_enter"));
}

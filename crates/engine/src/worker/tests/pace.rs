//! Schedules, pauses, flushes, and the order of trims and writes.

use super::{BLOCK, MS, SECOND, run_with, takes};
use crate::testing::{Answer, EPOCH, Run, Sim, asynchronous, job, random_job, seed, worker_plan};
use fathom_core::backend::Op;
use fathom_core::rng::Rng;
use fathom_core::units::Nanos;
use fathom_core::workload::{Arrival, Mix, Rate, ThinkTime, ThinkTimeBasis};

fn created_ms(run: &Run) -> Vec<u64> {
    run.seen
        .iter()
        .map(|seen| (seen.created - EPOCH.0) / MS)
        .collect()
}

#[test]
fn a_schedule_is_kept_to_the_nanosecond() {
    let mut job = asynchronous(random_job(Mix::Read, BLOCK), 4);
    job.pace.rate[0] = Some(Rate::Iops(300));
    job.region.number_ios = Some(900);
    let run = run_with(worker_plan(&job, 1 << 30), 5 * MS);
    for (k, seen) in run.seen.iter().enumerate() {
        assert_eq!(seen.created - EPOCH.0, k as u64 * SECOND / 300);
    }
    assert_eq!(run.sum().ops[0].response.max(), Some(5 * MS));
    let backlogs = run.intervals.iter().map(|interval| interval.backlog_max);
    assert_eq!(backlogs.max(), Some(0));
}

/// A stalled disk shifts no later arrival: after a second's stall the worker catches up.
#[test]
fn a_stall_is_caught_up() {
    let mut job = asynchronous(random_job(Mix::Read, BLOCK), 1);
    job.pace.rate[0] = Some(Rate::Iops(100));
    job.limit.runtime = Some(Nanos(5 * SECOND));
    let sim = Sim::new(worker_plan(&job, 1 << 30), |request, now| {
        let stalled = now.since(EPOCH).0 == 1_500 * MS;
        takes(if stalled { SECOND } else { MS })(request, now)
    });
    let run = sim.run();
    assert_eq!(run.seen.len(), 500);
    let sum = run.sum();
    // Closed-loop latency sees one slow I/O, the response time all that had to wait.
    let slow = |histogram: &fathom_core::histogram::Histogram| -> u64 {
        let over = histogram.occupied().filter(|(low, _, _)| *low > 10 * MS);
        over.map(|(_, _, count)| count).sum()
    };
    assert_eq!(slow(&sum.ops[0].lat), 1);
    // 100 arrive in the stall; 110 more are caught up with at one a millisecond, the last ten nearly at once.
    let slow = slow(&sum.ops[0].response);
    assert!((109..=111).contains(&slow), "{slow}");
    let backlog = run.intervals.iter().map(|i| i.backlog_max).max();
    assert_eq!(backlog, Some(99));
    let late = run.intervals.iter().map(|i| i.lateness_max_ns).max();
    assert_eq!(late, Some(990 * MS));
    assert_eq!(run.end.backlog, 0);
    let last = run.seen.last().map(|seen| seen.created - EPOCH.0);
    assert_eq!(last, Some(4_990 * MS));
}

/// Too slow a disk: what is due and not sent is reported, second by second and at the end.
#[test]
fn a_backlog_grows_and_is_reported() {
    let mut job = asynchronous(random_job(Mix::Write, BLOCK), 2);
    job.pace.rate[1] = Some(Rate::Iops(1000));
    job.limit.runtime = Some(Nanos(3 * SECOND));
    // 200 a second.
    let run = run_with(worker_plan(&job, 1 << 30), 10 * MS);
    let ends: Vec<u64> = run.intervals.iter().map(|interval| interval.backlog).collect();
    assert_eq!(ends[..2], [1000 - 200, 2000 - 400]);
    assert_eq!(run.end.backlog, 3000 - 600);
    assert_eq!(run.seen.len(), 600);
}

/// When all is done that was asked for, the schedule owes nothing any more.
#[test]
fn a_finished_amount_leaves_no_backlog() {
    let mut job = asynchronous(random_job(Mix::Write, BLOCK), 1);
    job.pace.rate[1] = Some(Rate::Iops(1000));
    job.region.number_ios = Some(20);
    let run = run_with(worker_plan(&job, 1 << 30), 100 * MS);
    assert_eq!(run.end.backlog, 0);
    assert_eq!(run.seen.len(), 20);
}

#[test]
fn two_directions_each_keep_their_schedule() {
    let mut job = asynchronous(random_job(Mix::ReadWrite { read_percent: 50 }, BLOCK), 16);
    job.pace.rate = [Some(Rate::Iops(300)), Some(Rate::Iops(70)), None];
    job.limit.runtime = Some(Nanos(2 * SECOND));
    let run = run_with(worker_plan(&job, 1 << 30), MS);
    for (op, rate) in [(Op::Read, 300), (Op::Write, 70)] {
        let own = run.seen.iter().filter(|seen| seen.request.op == op);
        let times: Vec<u64> = own.map(|seen| seen.created - EPOCH.0).collect();
        let expected: Vec<u64> = (0..2 * rate).map(|k| k * SECOND / rate).collect();
        assert_eq!(times, expected, "{op:?}");
    }
}

#[test]
fn poisson_arrivals_keep_their_rate_and_are_never_early() {
    let mut job = asynchronous(random_job(Mix::Read, BLOCK), 64);
    job.pace.rate[0] = Some(Rate::Iops(5000));
    job.pace.arrival = Arrival::Poisson;
    job.random_seed = seed();
    job.limit.runtime = Some(Nanos(4 * SECOND));
    let run = run_with(worker_plan(&job, 1 << 30), MS);
    let deviation = f64::sqrt(20_000.0);
    assert!((run.seen.len() as f64 - 20_000.0).abs() < 5.0 * deviation);
    assert_eq!(run.sum().ops[0].response.min(), Some(MS));
}

#[test]
fn a_rate_whose_next_io_is_beyond_the_end_waits_for_the_end() {
    let mut job = asynchronous(random_job(Mix::Read, BLOCK), 4);
    job.pace.rate[0] = Some(Rate::Iops(1));
    job.limit.runtime = Some(Nanos(2_500 * MS));
    let run = run_with(worker_plan(&job, 1 << 30), MS);
    assert_eq!(created_ms(&run), [0, 1000, 2000]);
    assert_eq!(run.end.end.since(EPOCH), Nanos(2_500 * MS));
}

fn think(pause_ms: u64, blocks: u32, basis: ThinkTimeBasis) -> ThinkTime {
    ThinkTime {
        pause: Nanos(pause_ms * MS),
        spin: Nanos(0),
        blocks,
        basis,
        puts_off: false,
        after_run: None,
    }
}

#[test]
fn it_thinks_after_each_few_ios() {
    let mut job = job(Mix::Read, BLOCK);
    job.pace.think = Some(think(10, 2, ThinkTimeBasis::Complete));
    let run = run_with(worker_plan(&job, 6 * BLOCK), MS);
    assert_eq!(created_ms(&run), [0, 1, 12, 13, 24, 25]);
    job.pace.think = Some(think(10, 2, ThinkTimeBasis::Issue));
    // The pause begins when the second is sent, at 1 ms.
    let run = run_with(worker_plan(&job, 6 * BLOCK), MS);
    assert_eq!(created_ms(&run), [0, 1, 11, 12, 22, 23]);
}

#[test]
fn it_thinks_after_a_while() {
    let mut job = job(Mix::Read, BLOCK);
    job.pace.think = Some(ThinkTime {
        puts_off: false,
        after_run: Some(Nanos(3 * MS)),
        ..think(10, 1000, ThinkTimeBasis::Complete)
    });
    let run = run_with(worker_plan(&job, 7 * BLOCK), MS);
    assert_eq!(created_ms(&run), [0, 1, 2, 13, 14, 15, 26]);
}

#[test]
fn the_end_does_not_wait_for_a_pause() {
    let mut job = job(Mix::Read, BLOCK);
    job.pace.think = Some(think(60_000, 1, ThinkTimeBasis::Complete));
    job.limit.runtime = Some(Nanos(100 * MS));
    let run = run_with(worker_plan(&job, 1 << 30), MS);
    assert_eq!(run.seen.len(), 1);
    assert_eq!(run.end.end.since(EPOCH), Nanos(100 * MS));
}

fn ops(run: &Run) -> String {
    let letter = |op| match op {
        Op::Read => 'r',
        Op::Write => 'w',
        Op::Trim => 't',
        Op::Sync => 'S',
        Op::DataSync => 'D',
    };
    run.requests().map(|request| letter(request.op)).collect()
}

#[test]
fn it_flushes_after_each_few_writes() {
    let mut job = job(Mix::Write, BLOCK);
    job.sync.fsync_every = 3;
    assert_eq!(ops(&run_with(worker_plan(&job, 7 * BLOCK), MS)), "wwwSwwwSw");
    job.sync.fsync_every = 0;
    job.sync.fdatasync_every = 1;
    assert_eq!(ops(&run_with(worker_plan(&job, 3 * BLOCK), MS)), "wDwDw");
    let run = run_with(worker_plan(&job, 3 * BLOCK), MS);
    assert_eq!((run.sum().ops[1].lat.n(), run.sum().ops[3].lat.n()), (3, 2));
    assert_eq!((run.end.issued, run.sum().ops[3].bytes), (3, 0));
}

#[test]
fn reads_do_not_count_towards_a_flush() {
    let mut job = job(Mix::ReadWrite { read_percent: 50 }, BLOCK);
    job.sync.fsync_every = 2;
    let run = run_with(worker_plan(&job, 1000 * BLOCK), MS);
    let all = ops(&run);
    let writes = all.replace('r', "");
    assert!(writes.starts_with("wwSwwSwwS"), "{writes}");
    let syncs = all.matches('S').count();
    assert_eq!(syncs, all.matches('w').count() / 2);
}

/// The last flush comes when all writes are done, once a file.
#[test]
fn each_file_is_flushed_at_the_end() {
    for on_close in [false, true] {
        let mut job = asynchronous(job(Mix::Write, BLOCK), 4);
        job.sync.fsync_at_end = true;
        job.sync.fsync_on_close = on_close;
        let mut plan = worker_plan(&job, 10 * BLOCK);
        plan.file_count = 3;
        let run = run_with(plan, MS);
        assert_eq!(ops(&run), "wwwwwwwwwwSSS");
        let mut files: Vec<u32> = run.seen[10..].iter().map(|seen| seen.request.file).collect();
        files.sort_unstable();
        assert_eq!(files, [0, 1, 2]);
        let written = run.seen[..10].iter().map(|seen| seen.completed).max();
        assert!(run.seen[10..].iter().all(|seen| Some(seen.created) >= written));
    }
}

/// A block is never written before its trim is done, however deep the queue and whatever the latencies.
#[test]
fn a_write_waits_for_its_trim() {
    let mut rng = Rng::new(seed());
    for random in [false, true] {
        let mut job = asynchronous(job(Mix::TrimWrite, BLOCK), 8);
        job.pattern.random = random;
        let sim = Sim::new(worker_plan(&job, 200 * BLOCK), |request, _| Answer {
            slat: Nanos(0),
            clat: Nanos(1 + rng.below(5 * MS)),
            outcome: Ok(if request.op == Op::Trim { 0 } else { request.len }),
        });
        let run = sim.run();
        assert_eq!(run.seen.len(), 400);
        for pair in run.seen.chunks(2) {
            assert_eq!([pair[0].request.op, pair[1].request.op], [Op::Trim, Op::Write]);
            assert_eq!(pair[0].request.offset, pair[1].request.offset);
            assert!(pair[1].created >= pair[0].completed);
        }
        let sum = run.sum();
        // A ring answers 0 to a trim: it is whole all the same.
        assert_eq!(sum.ops[2].bytes, 200 * BLOCK);
        assert_eq!((sum.ops[2].short, sum.ops[2].errors), (0, 0));
    }
}

#[test]
fn a_scheduled_write_waits_for_its_trim_too() {
    let mut job = asynchronous(job(Mix::TrimWrite, BLOCK), 8);
    job.pace.rate = [None, Some(Rate::Iops(1000)), Some(Rate::Iops(1000))];
    let run = run_with(worker_plan(&job, 20 * BLOCK), 5 * MS);
    assert_eq!(run.seen.len(), 40);
    for pair in run.seen.chunks(2) {
        assert!(pair[1].created >= pair[0].completed);
    }
}

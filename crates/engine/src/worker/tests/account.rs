//! What a worker counts.

use super::{BLOCK, MS, SECOND, run_with, takes};
use crate::testing::{ALL_METRICS, Answer, EPOCH, Sim, asynchronous, depth, random_job, seed, worker_plan};
use crate::worker::{Ends, Worker};
use fathom_core::backend::Op;
use fathom_core::rng::Rng;
use fathom_core::units::Nanos;
use fathom_core::workload::{Mix, Rate};

/// Every latency of every I/O is right to the nanosecond: the sums, the least and the most are exact, and each
/// completion has its own stamp.
#[test]
fn lat_is_slat_and_clat() {
    let mut rng = Rng::new(seed());
    let mut job = asynchronous(random_job(Mix::ReadWrite { read_percent: 50 }, BLOCK), 16);
    job.pace.rate = [Some(Rate::Iops(20_000)), Some(Rate::Iops(10_000)), None];
    let mut plan = worker_plan(&job, 5000 * BLOCK);
    assert_eq!(plan.metrics, ALL_METRICS);
    plan.depth = 16;
    let sim = Sim::new(plan, |request, _| Answer {
        slat: Nanos(rng.below(3_000)),
        clat: Nanos(100 + rng.below(900_000)),
        outcome: Ok(request.len),
    });
    let run = sim.run();
    let sum = run.sum();
    assert_eq!(run.seen.len(), 5000);
    for op in [Op::Read, Op::Write] {
        let own: Vec<_> = run.seen.iter().filter(|seen| seen.request.op == op).collect();
        let counts = &sum.ops[op.index()];
        let total =
            |of: fn(&crate::testing::Seen) -> u64| own.iter().map(|seen| u128::from(of(seen))).sum::<u128>();
        assert_eq!(counts.lat.n(), own.len() as u64);
        assert_eq!(counts.slat.sum(), total(|seen| seen.slat));
        assert_eq!(counts.lat.sum(), total(|seen| seen.completed - seen.created));
        assert_eq!(counts.lat.sum(), counts.slat.sum() + counts.clat.sum());
        let lats = || own.iter().map(|seen| seen.completed - seen.created);
        assert_eq!(counts.lat.min(), lats().min());
        assert_eq!(counts.lat.max(), lats().max());
        assert_eq!(counts.bytes, own.len() as u64 * BLOCK);
    }
}

/// From the intended start: arrival k of the schedule, whenever it was sent.
#[test]
fn response_counts_from_the_schedule() {
    let mut job = asynchronous(random_job(Mix::Write, BLOCK), 2);
    job.pace.rate[1] = Some(Rate::Iops(1000));
    job.region.number_ios = Some(500);
    // Two at a time of 4 ms each: 500 a second, half of what is due.
    let run = run_with(worker_plan(&job, 1 << 30), 4 * MS);
    let sum = run.sum();
    let expected: u128 = (run.seen.iter().enumerate())
        .map(|(k, seen)| u128::from(seen.completed - EPOCH.0) - k as u128 * u128::from(MS))
        .sum();
    assert_eq!(sum.ops[1].response.sum(), expected);
    assert_eq!(sum.ops[1].lat.min(), sum.ops[1].lat.max());
    assert_eq!(sum.ops[1].lat.max(), Some(4 * MS));
    // The last was due at 499 ms and sent at 996.
    assert_eq!(sum.ops[1].response.max(), Some((996 - 498 + 4) * MS));
}

#[test]
fn a_buffer_that_is_filled_late_moves_the_creation_not_the_intention() {
    let mut job = asynchronous(random_job(Mix::ReadWrite { read_percent: 0 }, BLOCK), 1);
    for (scheduled, lat, response) in [(true, 3, 10), (false, 3, 3)] {
        job.pace.rate = [Some(Rate::Iops(1)), scheduled.then_some(Rate::Iops(1)), None];
        let plan = worker_plan(&job, 1 << 30);
        let mut sim = Sim::new(plan, takes(MS));
        let step = loop {
            match sim.worker.next(sim.now) {
                crate::worker::Step::Issue(slot) if sim.worker.request(slot).op == Op::Write => break slot,
                crate::worker::Step::Issue(slot) => {
                    sim.worker.complete(slot, Ok(BLOCK as u32), sim.now);
                }
                _ => panic!("a write is due at once"),
            }
        };
        sim.worker.created(step, EPOCH.after(Nanos(7)));
        sim.worker.submitted(step, EPOCH.after(Nanos(8)));
        sim.worker
            .complete(step, Ok(BLOCK as u32), EPOCH.after(Nanos(10)));
        let end = sim.worker.finish(EPOCH.after(Nanos(20)));
        let counts = &end.last.ops[1];
        assert_eq!(counts.slat.max(), Some(1));
        assert_eq!(counts.clat.max(), Some(2));
        assert_eq!(counts.lat.max(), Some(lat));
        assert_eq!(counts.response.max(), Some(response), "scheduled {scheduled}");
    }
}

/// Intervals end at whole seconds of the run, and a second without a completion has none.
#[test]
fn intervals_end_at_whole_seconds() {
    let mut job = random_job(Mix::Read, BLOCK);
    job.limit.runtime = Some(Nanos(9_500 * MS));
    job.limit.time_based = true;
    let sim = Sim::new(worker_plan(&job, 1 << 30), |request, now| {
        let stalled = now.since(EPOCH).0 == 2_500 * MS;
        takes(if stalled { 5 * SECOND } else { 10 * MS })(request, now)
    });
    let run = sim.run();
    let spans: Vec<(u64, u64, u64)> = (run.intervals.iter())
        .map(|interval| {
            let ms = |time: fathom_core::units::MonoTime| time.since(EPOCH).0 / MS;
            (ms(interval.start), ms(interval.end), interval.ops[0].lat.n())
        })
        .collect();
    // What completes exactly at a whole second is in the next one.
    let expected = [
        (0, 1000, 99),
        (1000, 2000, 100),
        (2000, 3000, 51),
        (7000, 8000, 50),
        (8000, 9000, 100),
        (9000, 9500, 51),
    ];
    assert_eq!(spans, expected);
}

/// Where the collector is behind, nothing is lost: the interval is longer.
#[test]
fn a_collector_that_is_behind_loses_nothing() {
    let mut job = random_job(Mix::Read, BLOCK);
    job.limit.runtime = Some(Nanos(8 * SECOND));
    job.limit.time_based = true;
    let plan = worker_plan(&job, 1 << 30);
    let exchange = std::sync::Arc::new(crate::interval::Exchange::new());
    let mut worker = Worker::new(plan, std::sync::Arc::clone(&exchange), Ends::default());
    worker.start(EPOCH, EPOCH);
    let mut now = EPOCH;
    let mut sent = 0;
    while let crate::worker::Step::Issue(slot) = worker.next(now) {
        now = now.after(Nanos(10 * MS));
        worker.complete(slot, Ok(BLOCK as u32), now);
        sent += 1;
    }
    assert_eq!(sent, 800);
    let end = worker.finish(now);
    let mut kept = end.last.ops[0].lat.n();
    let mut last_end = EPOCH;
    while let Some(interval) = exchange.take() {
        assert_eq!(interval.start, last_end);
        last_end = interval.end;
        kept += interval.ops[0].lat.n();
    }
    assert_eq!(end.last.start, last_end);
    assert_eq!(kept, 800);
}

#[test]
fn low_water_is_the_drivers_business_and_the_worker_fills_up() {
    let mut job = asynchronous(random_job(Mix::Read, BLOCK), 8);
    job.depth = fathom_core::workload::Depth { low: 2, ..depth(8) };
    let run = run_with(worker_plan(&job, 100 * BLOCK), MS);
    assert_eq!(run.deepest, 8);
}

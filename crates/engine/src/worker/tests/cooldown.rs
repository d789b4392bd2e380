//! What ends the counted time: the runtime with a cooldown after it, and enough being known.

use super::{BLOCK, MS, SECOND, run_with, takes};
use crate::interval::Phase;
use crate::testing::{EPOCH, Run, Sim, asynchronous, random_job, worker_plan};
use fathom_core::units::Nanos;
use fathom_core::workload::{Job, Mix, Rate};
use std::sync::atomic::Ordering;

/// Random reads for 2 s after a ramp of 1.5 s, then 0.7 s that do not count.
fn cooled() -> Job {
    let mut job = random_job(Mix::Read, BLOCK);
    job.limit.runtime = Some(Nanos(2 * SECOND));
    job.limit.time_based = true;
    job.limit.ramp_time = Nanos(1500 * MS);
    job.limit.cooldown_time = Nanos(700 * MS);
    job
}

fn counted(run: &Run, phase: Phase) -> u64 {
    let ours = run.intervals.iter().filter(|interval| interval.phase == phase);
    ours.map(|interval| interval.ops[0].lat.n()).sum()
}

/// Starts and ends in milliseconds, and what they count as.
fn spans(run: &Run) -> Vec<(u64, u64, Phase)> {
    let ms = |at: fathom_core::units::MonoTime| at.since(EPOCH).0 / MS;
    let span = |interval: &crate::interval::Interval| (ms(interval.start), ms(interval.end), interval.phase);
    run.intervals.iter().map(span).collect()
}

#[test]
fn the_load_goes_on_after_the_runtime_and_does_not_count() {
    let run = run_with(worker_plan(&cooled(), 100 * BLOCK), 10 * MS);
    assert_eq!(run.seen.len(), 420);
    // What ends exactly at an edge lies after it.
    assert_eq!(counted(&run, Phase::Ramp), 149);
    assert_eq!(counted(&run, Phase::Counted), 200);
    assert_eq!(counted(&run, Phase::Cooldown), 71);
    assert_eq!(run.end.start, EPOCH.after(Nanos(1500 * MS)));
    assert_eq!(run.end.end.since(run.end.start), Nanos(2 * SECOND));
    assert_eq!(run.now, EPOCH.after(Nanos(4200 * MS)));
    assert_eq!(
        spans(&run),
        [
            (0, 1000, Phase::Ramp),
            (1000, 1500, Phase::Ramp),
            (1500, 2000, Phase::Counted),
            (2000, 3000, Phase::Counted),
            (3000, 3500, Phase::Counted),
            (3500, 4000, Phase::Cooldown),
            (4000, 4200, Phase::Cooldown),
        ]
    );
}

/// A disk that hangs over the end of the counted time: what it held back is not counted, and the counted time is not longer.
#[test]
fn a_stall_over_the_end_of_the_counted_time_is_cut_there() {
    let sim = Sim::new(worker_plan(&cooled(), 100 * BLOCK), |request, now| {
        let stalled = now.since(EPOCH).0 == 1800 * MS;
        takes(if stalled { 1900 * MS } else { 10 * MS })(request, now)
    });
    let run = sim.run();
    assert_eq!(counted(&run, Phase::Counted), 31, "1.5 to 1.8 s");
    assert_eq!(run.end.end.since(EPOCH), Nanos(3500 * MS));
    let last = run.intervals.last().expect("a last one");
    assert_eq!((last.phase, last.counted_until), (Phase::Cooldown, run.end.end));
}

/// An amount that is used up ends the job: there is no runtime for the cooldown to come after.
#[test]
fn an_amount_has_no_cooldown() {
    let mut job = random_job(Mix::Read, BLOCK);
    job.limit.cooldown_time = Nanos(SECOND);
    let run = run_with(worker_plan(&job, 10 * BLOCK), MS);
    assert_eq!((run.seen.len(), counted(&run, Phase::Counted)), (10, 10));
    assert_eq!(run.end.end.since(EPOCH), Nanos(10 * MS));
}

/// A collector that takes nothing: what counts stays apart from what follows it.
#[test]
fn counts_stay_apart_when_the_collector_is_behind() {
    let plan = worker_plan(&cooled(), 100 * BLOCK);
    let exchange = std::sync::Arc::new(crate::interval::Exchange::new());
    let ends = crate::worker::Ends::default();
    let mut worker = crate::worker::Worker::new(plan, std::sync::Arc::clone(&exchange), ends);
    worker.start(EPOCH, EPOCH);
    let mut now = EPOCH;
    while let crate::worker::Step::Issue(slot) = worker.next(now) {
        now = now.after(Nanos(10 * MS));
        worker.complete(slot, Ok(BLOCK as u32), now);
    }
    let end = worker.finish(now);
    let mut taken = Vec::new();
    while let Some(interval) = exchange.take() {
        taken.push((interval.phase, interval.ops[0].lat.n()));
    }
    taken.push((end.last.phase, end.last.ops[0].lat.n()));
    let of = |phase| -> u64 {
        taken
            .iter()
            .filter(|(of, _)| *of == phase)
            .map(|(_, ios)| ios)
            .sum()
    };
    assert_eq!((of(Phase::Counted), of(Phase::Cooldown)), (200, 71), "{taken:?}");
    assert_eq!(
        (of(Phase::Ramp), end.end.since(end.start)),
        (149, Nanos(2 * SECOND))
    );
}

/// The backlog of an open loop is that at the end of the counted time.
#[test]
fn the_backlog_is_that_of_the_counted_time() {
    let mut job = asynchronous(random_job(Mix::Read, BLOCK), 1);
    job.pace.rate[0] = Some(Rate::Iops(1000));
    job.limit.runtime = Some(Nanos(SECOND));
    job.limit.time_based = true;
    job.limit.cooldown_time = Nanos(SECOND);
    let run = run_with(worker_plan(&job, 1 << 30), 2 * MS);
    // Half of what was due by then could be sent.
    assert!((500..=501).contains(&run.end.backlog), "{}", run.end.backlog);
    assert!(run.intervals.last().expect("a last one").backlog > 990);
}

#[test]
fn enough_ends_the_counted_time() {
    for cooldown_ms in [0, 700] {
        let mut job = cooled();
        job.limit.cooldown_time = Nanos(cooldown_ms * MS);
        let mut sim = Sim::new(worker_plan(&job, 100 * BLOCK), takes(10 * MS));
        while sim.now < EPOCH.after(Nanos(2200 * MS)) {
            assert!(sim.step());
        }
        sim.ends.enough.store(true, Ordering::Relaxed);
        let run = sim.run();
        let counts = counted(&run, Phase::Counted);
        assert_eq!(run.end.end.since(run.end.start), Nanos(700 * MS));
        assert_eq!(run.now, EPOCH.after(Nanos((2200 + cooldown_ms) * MS)));
        // It looks once more when the next is to be sent: what ended then was counted.
        assert_eq!((counts, run.end.failed), (71, false));
        assert_eq!(counted(&run, Phase::Cooldown), cooldown_ms / 10);
    }
}

/// Enough before anything was counted: nothing was, for no time.
#[test]
fn enough_in_the_ramp_counts_nothing() {
    let mut sim = Sim::new(worker_plan(&cooled(), 100 * BLOCK), takes(10 * MS));
    sim.ends.enough.store(true, Ordering::Relaxed);
    assert!(sim.step());
    let run = sim.run();
    assert_eq!(counted(&run, Phase::Counted), 0);
    assert_eq!(run.end.start, run.end.end);
    assert_eq!(run.now, EPOCH.after(Nanos(700 * MS)));
}

/// What flushes at the end does so after enough as well; only a stop comes at once.
#[test]
fn enough_flushes() {
    let mut job = random_job(Mix::Write, BLOCK);
    job.sync.fsync_at_end = true;
    let mut sim = Sim::new(worker_plan(&job, 1 << 30), takes(MS));
    while sim.seen.len() < 100 {
        assert!(sim.step());
    }
    sim.ends.enough.store(true, Ordering::Relaxed);
    let run = sim.run();
    assert_eq!(run.seen.len(), 101);
    assert_eq!(run.sum().ops[3].lat.n(), 1);
}

/// Intervals of any length, each whole, and none longer than a second between two hand-overs.
#[test]
fn intervals_have_the_length_asked_for() {
    for (interval_ms, expected) in [
        (1000, vec![1000, 1500, 2000, 3000, 3500, 4000, 4200]),
        (2500, vec![1000, 1500, 2000, 2500, 3500, 4200]),
        (600, vec![600, 1200, 1500, 1800, 2400, 3000, 3500, 3600, 4200]),
    ] {
        let mut plan = worker_plan(&cooled(), 100 * BLOCK);
        plan.interval = Nanos(interval_ms * MS);
        let run = run_with(plan, 10 * MS);
        let mut ends: Vec<u64> = spans(&run).iter().map(|span| span.1).collect();
        ends.dedup();
        assert_eq!(ends, expected, "{interval_ms} ms");
        assert_eq!(counted(&run, Phase::Counted), 200);
    }
}

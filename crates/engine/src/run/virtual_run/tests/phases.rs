//! When jobs and I/Os begin and end: phases, delays, ramps, pauses, schedules, batches, stops.

use super::{GIB, Io, MS, Probe, SECOND, direct, for_ms, named, options, probed, service, spec};
use crate::plan::{Plan, PlanError};
use crate::run::{Hooks, run_virtual};
use fathom_core::backend::Op;
use fathom_core::run::{Latency, SeriesRow, Status};
use fathom_core::units::Nanos;
use fathom_core::workload::{
    Amount, Arrival, BlockSize, EngineKind, Job, Mix, Rate, SyncMode, ThinkTime, ThinkTimeBasis, Workload,
};
use fathom_model::spec::OutageSpec;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A job of a given length, one I/O of 1 ms at a time.
fn one_by_one(name: &str, ms: u64) -> Job {
    let mut job = named(for_ms(direct(Mix::Read, 1), ms), name);
    job.region.size = Some(Amount::Bytes(64 << 20));
    job
}

/// From when to when each worker had I/O.
fn spans(probe: &Probe, workers: u32) -> Vec<(u64, u64)> {
    let span = |worker| {
        let (starts, ends) = (
            probe.of(worker).map(|io| io.at),
            probe.of(worker).map(|io| io.end),
        );
        (starts.min().unwrap_or(u64::MAX), ends.max().unwrap_or(0))
    };
    (0..workers).map(span).collect()
}

#[test]
fn jobs_start_when_those_that_they_wait_for_have_ended() {
    let mut walled = one_by_one("walled", 300);
    walled.start.stonewall = true;
    let mut waits = one_by_one("waits", 100);
    waits.start.wait_for = Some(String::from("short"));
    let jobs = [one_by_one("long", 700), one_by_one("short", 200), waits, walled];
    let (results, _, probe) = probed(&jobs, &spec(1));
    assert_eq!(results.status, Status::Complete);
    let ms: Vec<(u64, u64)> = spans(&probe, 4)
        .iter()
        .map(|&(from, to)| (from / MS, to / MS))
        .collect();
    assert_eq!(ms, [(0, 700), (0, 200), (200, 300), (700, 1000)]);
    assert_eq!(results.end.0, 1000 * MS);
    assert!(
        results
            .jobs
            .iter()
            .zip([700, 200, 100, 300])
            .all(|(job, ios)| job.read.ios == ios)
    );
}

#[test]
fn workers_of_a_job_start_after_their_delays() {
    let mut delayed = one_by_one("delayed", 1000);
    delayed.numjobs = 8;
    delayed.start.delay = (Nanos::from_millis(500), Nanos::from_millis(1500));
    let (results, rows, probe) = probed(&[delayed.clone()], &spec(1));
    let starts: Vec<u64> = spans(&probe, 8).iter().map(|span| span.0).collect();
    assert!(
        starts.iter().all(|start| (500 * MS..=1500 * MS).contains(start)),
        "{starts:?}"
    );
    assert!(starts.iter().max() > starts.iter().min(), "each draws its own");
    assert_eq!(results.jobs[0].read.ios, probe.ios.len() as u64);
    assert_eq!(
        rows.iter().map(|row| row.ios).sum::<u64>(),
        results.jobs[0].read.ios
    );
    delayed.start.delay = (Nanos::from_millis(250), Nanos::from_millis(250));
    let (_, _, probe) = probed(&[delayed], &spec(1));
    assert!(spans(&probe, 8).iter().all(|span| *span == (250 * MS, 1250 * MS)));
}

#[test]
fn a_ramp_counts_in_no_summary() {
    let mut job = one_by_one("ramped", 3000);
    job.limit.ramp_time = Nanos::from_millis(1500);
    let (results, rows, probe) = probed(&[job], &spec(1));
    assert_eq!(probe.ios.len(), 4500);
    // One ends with the ramp: it is the first to count.
    assert_eq!(results.jobs[0].read.ios, 3001);
    assert_eq!(results.jobs[0].runtime_ns, 3 * SECOND);
    let ios_of = |ramp| {
        rows.iter()
            .filter(|row| row.ramp == ramp)
            .map(|row| row.ios)
            .sum::<u64>()
    };
    assert_eq!((ios_of(true), ios_of(false)), (1499, 3001));
    let seconds: Vec<(u32, u64)> = rows
        .iter()
        .map(|row| (row.second, row.duration_ns / MS))
        .collect();
    assert_eq!(
        seconds,
        [(0, 1000), (1, 500), (1, 500), (2, 1000), (3, 1000), (4, 500)]
    );
}

#[test]
fn pauses_come_after_each_few_ios() {
    for (basis, blocks, period_ms) in [
        (ThinkTimeBasis::Complete, 1, 11),
        (ThinkTimeBasis::Complete, 4, 14),
        (ThinkTimeBasis::Issue, 1, 10),
    ] {
        let mut job = one_by_one("thinks", 5000);
        job.pace.think = Some(ThinkTime {
            pause: Nanos::from_millis(10),
            spin: Nanos::ZERO,
            blocks,
            basis,
            puts_off: false,
            after_run: None,
        });
        let (results, ..) = probed(&[job], &spec(1));
        let expected = u64::from(blocks) * 5000 / period_ms;
        let ios = results.jobs[0].read.ios;
        assert!(
            ios.abs_diff(expected) <= u64::from(blocks),
            "{basis:?} {blocks}: {ios}, not {expected}"
        );
    }
}

/// 1000 I/Os a second, and a disk that answers nothing for one second.
fn with_stall(iodepth: u32) -> (Job, fathom_model::Spec) {
    let mut job = for_ms(direct(Mix::Read, iodepth), 6000);
    job.pace.rate[0] = Some(Rate::Iops(1000));
    let mut spec = spec(1);
    spec.disks[0].outages = vec![OutageSpec::Once {
        at_ns: 3 * SECOND,
        duration_ns: SECOND,
    }];
    (job, spec)
}

/// I/Os that took longer than `ns`, by the histogram of a metric.
fn slower(results: &crate::run::Results, metric: Latency, ns: u64) -> u64 {
    let rows = results
        .histograms
        .iter()
        .filter(|row| row.metric == metric && row.low_ns > ns);
    rows.map(|row| row.count).sum()
}

/// A second without an answer makes a second's worth of slow responses, however few of them were let into the queue.
#[test]
fn a_stall_hides_nothing_of_what_it_kept_from_being_sent() {
    for iodepth in [1, 4, 16, 2048] {
        let (job, mut spec) = with_stall(iodepth);
        // Fast enough to catch up at once.
        spec.disks[0].read = service(20.0, 20.0);
        let (results, rows, _) = probed(&[job], &spec);
        let slow = slower(&results, Latency::Response, MS);
        assert!(
            (995..=1030).contains(&slow),
            "depth {iodepth}: {slow} slow responses"
        );
        let held = slower(&results, Latency::Lat, MS);
        let expected = u64::from(iodepth).min(1000);
        assert!(
            held.abs_diff(expected) <= 3,
            "depth {iodepth}: {held} of them were in the queue"
        );
        assert_eq!(results.jobs[0].read.ios, 6000);
        let backlog = rows.iter().map(|row| row.backlog).max().unwrap_or(0);
        assert!(
            backlog.abs_diff(1000 - expected) <= 3,
            "depth {iodepth}: backlog {backlog}"
        );
        assert_eq!(results.jobs[0].backlog_end, 0);
    }
}

/// An open loop that the disk cannot follow ends on time, with its queue full, and says what was left.
#[test]
fn an_open_loop_that_falls_behind_ends_on_time() {
    for (iodepth, buffered) in [(1, false), (8, false), (8, true)] {
        let mut job = for_ms(direct(Mix::Read, iodepth), 4000);
        job.direct = !buffered;
        job.pace.rate[0] = Some(Rate::Iops(20_000));
        // Nothing ends at the end itself.
        let mut odd = spec(1);
        odd.disks[0].read = service(700.0, 700.0);
        let (results, _, probe) = probed(&[job], &odd);
        let at_a_time = if buffered { 1 } else { u64::from(iodepth) };
        let ios = results.jobs[0].read.ios;
        assert!(ios.abs_diff(40_000 * at_a_time / 7) <= 40, "{ios}");
        let left = results.jobs[0].backlog_end;
        assert!((left + ios).abs_diff(80_000) <= 2, "{ios} done, {left} left");
        assert!(probe.ios.iter().all(|io| io.at < 4 * SECOND));
        assert!(results.end.0 <= 4 * SECOND + 2 * MS);
    }
}

#[test]
fn poisson_arrivals_keep_their_mean() {
    let mut job = for_ms(direct(Mix::Read, 64), 100_000);
    job.pace.rate[0] = Some(Rate::Iops(500));
    job.pace.arrival = Arrival::Poisson;
    let (results, ..) = probed(&[job], &spec(1));
    // Five standard deviations.
    let five = 5.0 * (500.0f64 * 100.0).sqrt();
    assert!((results.jobs[0].read.ios as f64 - 50_000.0).abs() < five);
}

/// At how many moments how many I/Os were sent.
fn groups(ios: &[Io]) -> Vec<usize> {
    ios.chunk_by(|a, b| a.at == b.at).map(<[Io]>::len).collect()
}

#[test]
fn batches_wait_for_enough_completions() {
    let mut varied = spec(1);
    varied.disks[0].read = service(500.0, 2000.0);
    let mut job = for_ms(direct(Mix::Read, 16), 2000);
    let (_, _, probe) = probed(&[job.clone()], &varied);
    assert!(
        groups(&probe.ios)[1..].iter().all(|&sent| sent <= 2),
        "each as soon as it can be"
    );
    job.depth.batch_complete_min = 5;
    let (_, _, probe) = probed(&[job.clone()], &varied);
    assert!(groups(&probe.ios)[1..].iter().all(|&sent| sent >= 5));
    // Refilled only when no more than 4 are in flight.
    job.depth.batch_complete_min = 1;
    job.depth.low = 4;
    let (_, _, probe) = probed(&[job], &varied);
    assert!(groups(&probe.ios)[1..].iter().all(|&sent| sent >= 12));
}

#[test]
fn a_submission_takes_its_worker_time() {
    let mut spec = spec(1);
    spec.guest.submit_ns = 10_000;
    let (results, _, probe) = probed(&[for_ms(direct(Mix::Read, 200), 1000)], &spec);
    // One every 10 µs at most: 100 in flight within 1 ms.
    assert!(probe.ios.windows(2).all(|pair| pair[1].at - pair[0].at >= 10_000));
    let ios = results.jobs[0].read.ios;
    assert!(ios.abs_diff(100_000) < 300, "{ios}");
    let read = &results.jobs[0].read;
    assert_eq!((read.slat_ns.min, read.slat_ns.max), (10_000, 10_000));
    assert_eq!(read.clat_ns.min, MS);
}

/// A memory mapping goes through the page cache, whatever the job file says of `direct` and `sync`.
#[test]
fn a_mapping_is_never_direct() {
    let mut job = for_ms(direct(Mix::ReadWrite { read_percent: 50 }, 1), 500);
    job.engine.kind = EngineKind::Mmap;
    job.sync.fsync_every = 100;
    job.direct = false;
    let mut spec = spec(1);
    spec.guest.submit_ns = 10_000;
    let (buffered, _, seen) = probed(&[job.clone()], &spec);
    job.direct = true;
    job.sync.mode = SyncMode::Sync;
    let (mapped, _, probe) = probed(&[job.clone()], &spec);
    assert_eq!(probe.ios, seen.ios);
    assert_eq!(format!("{:?}", mapped.jobs), format!("{:?}", buffered.jobs));
    // A copy to memory; what is direct takes 1 ms.
    assert!(
        mapped.jobs[0].write.lat_ns.max < MS,
        "{:?}",
        mapped.jobs[0].write.lat_ns
    );
    job.engine.kind = EngineKind::Psync;
    let (direct, ..) = probed(&[job], &spec);
    assert!(direct.jobs[0].write.lat_ns.min >= MS);
}

/// Processor time of a submission is a matter of direct I/O: the cost of a buffered one is that of the page cache.
#[test]
fn a_buffered_submission_has_the_cost_of_the_page_cache() {
    let mut job = for_ms(direct(Mix::Write, 1), 100);
    job.direct = false;
    let free = probed(&[job.clone()], &spec(1)).2;
    let mut spec = spec(1);
    spec.guest.submit_ns = 10_000;
    let (results, _, probe) = probed(&[job], &spec);
    assert_eq!(probe.ios, free.ios);
    // A call of 1 µs, and 4 KiB at 250 ns each.
    assert_eq!(results.jobs[0].write.lat_ns.min, 2000);
}

/// Buffered I/O waits in the call, whatever the engine; flushes reach the disk.
#[test]
fn buffered_io_is_one_at_a_time() {
    let mut job = for_ms(direct(Mix::Write, 16), 2000);
    job.direct = false;
    job.sync.fsync_every = 10;
    let (results, _, probe) = probed(&[job.clone()], &spec(1));
    assert!(
        probe.ios.windows(2).all(|pair| pair[1].at >= pair[0].end),
        "one at a time"
    );
    let (written, flushed) = (results.jobs[0].write.ios, results.jobs[0].sync.ios);
    assert!(
        written > 5000 && flushed.abs_diff(written / 10) <= 1,
        "{written} {flushed}"
    );
    assert_eq!(probe.machine.disks(1)[0].flush_ios, flushed);
    job.sync.fsync_every = 0;
    job.sync.mode = SyncMode::Sync;
    let (results, _, probe) = probed(&[job], &spec(1));
    assert_eq!(
        probe.machine.disks(1)[0].write_ios,
        results.jobs[0].write.ios,
        "each at once"
    );
}

struct Stops(Arc<AtomicBool>, u32);

impl Hooks for Stops {
    fn rows(&mut self, _rows: &[SeriesRow]) {
        self.1 += 1;
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn a_stop_from_outside_interrupts() {
    let jobs = vec![for_ms(direct(Mix::Read, 4), 100_000_000), one_by_one("later", 10)];
    let mut jobs = jobs;
    jobs[1].start.stonewall = true;
    let plan = Plan::modelled(&Workload { jobs }, GIB).expect("a plan");
    let options = options();
    let mut hooks = Stops(Arc::clone(&options.stop), 0);
    let results = run_virtual(&plan, &mut Probe::new(&spec(1)), &options, &mut hooks);
    assert_eq!(results.status, Status::Interrupted);
    assert!(results.jobs[0].read.ios > 0 && results.jobs[1].read.ios == 0);
    assert!(hooks.1 >= 1 && results.end.0 < 10_000 * SECOND);
}

/// Files lie one after the other on the volume; what does not fit is refused.
#[test]
fn files_have_places_of_their_own() {
    let mut job = direct(Mix::Write, 1);
    job.pattern.random = false;
    job.block_size[1] = BlockSize::Fixed(1 << 20);
    (job.region.size, job.numjobs) = (Some(Amount::Bytes(64 << 20)), 4);
    let mut spec = spec(4);
    // Chunks of 64 MiB: a file a disk.
    spec.stripe_chunk_bytes = 64 << 20;
    let (_, _, probe) = probed(&[job.clone()], &spec);
    let disks = probe.machine.disks(1);
    assert!(disks.iter().all(|disk| disk.write_bytes == 64 << 20), "{disks:?}");
    assert!(
        probe
            .ios
            .iter()
            .all(|io| io.op == Op::Write && io.offset + io.len <= 64 << 20)
    );
    job.region.size = Some(Amount::Bytes((1 << 30) + 1));
    let refused = Plan::modelled(&Workload { jobs: vec![job] }, 4 << 30);
    assert!(
        matches!(refused, Err(PlanError::TooLargeForModel { .. })),
        "{refused:?}"
    );
}

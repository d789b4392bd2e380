//! Ends of the counted time in virtual time: cooldowns, and runs of which enough is known.

use super::{GIB, MS, Probe, SECOND, direct, for_ms, named, options, probed, service, spec};
use crate::plan::Plan;
use crate::run::{Hooks, Options, Results, run_virtual};
use fathom_core::backend::Op;
use fathom_core::histogram::Histogram;
use fathom_core::run::{IntervalLatency, Latency, SeriesRow, Status};
use fathom_core::units::Nanos;
use fathom_core::workload::{Amount, Job, Mix, Rate, Workload};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Has enough once so many counted seconds were handed over.
struct Patience {
    enough: Arc<AtomicBool>,
    seconds: usize,
    kept: Vec<SeriesRow>,
    /// How many rows came at a time.
    batches: Vec<usize>,
}

impl Hooks for Patience {
    fn rows(&mut self, rows: &[SeriesRow]) {
        self.batches.push(rows.len());
        self.kept.extend_from_slice(rows);
        let counted = self.kept.iter().filter(|row| !row.ramp && row.op == Op::Read);
        if counted.count() >= self.seconds {
            self.enough.store(true, Ordering::Relaxed);
        }
    }
}

/// Random direct I/O on 64 MiB, for much longer than anyone wants to wait.
fn endless(name: &str, mix: Mix, iodepth: u32) -> Job {
    let mut job = named(for_ms(direct(mix, iodepth), 600_000), name);
    job.region.size = Some(Amount::Bytes(64 << 20));
    job
}

fn until_enough(jobs: &[Job], seconds: usize) -> (Results, Patience, Probe) {
    let mut disk = spec(1);
    disk.disks[0].read = service(500.0, 5000.0);
    let mut probe = Probe::new(&disk);
    let plan = Plan::modelled(&Workload { jobs: jobs.to_vec() }, GIB).expect("a plan");
    let options = Options {
        rows_at_once: true,
        ..options()
    };
    let mut hooks = Patience {
        enough: Arc::clone(&options.enough),
        seconds,
        kept: Vec::new(),
        batches: Vec::new(),
    };
    let results = run_virtual(&plan, &mut probe, &options, &mut hooks);
    (results, hooks, probe)
}

/// The run ends in the second after the one that decided, complete, and the same each time.
#[test]
fn who_watches_the_rows_ends_the_run_at_the_same_moment_each_time() {
    let mut job = endless("all", Mix::Read, 4);
    job.numjobs = 3;
    let (first, hooks, probe) = until_enough(std::slice::from_ref(&job), 5);
    assert_eq!(first.status, Status::Complete);
    let summary = &first.jobs[0];
    assert!(
        (5 * SECOND..5 * SECOND + 20 * MS).contains(&summary.runtime_ns),
        "{}",
        summary.runtime_ns
    );
    assert!(hooks.batches.iter().all(|&rows| rows == 1), "{:?}", hooks.batches);
    assert_eq!(summary.read.ios, probe.ios.len() as u64);
    let rows: u64 = hooks.kept.iter().map(|row| row.ios).sum();
    assert_eq!(rows, summary.read.ios);
    let (second, again, _) = until_enough(&[job], 5);
    assert_eq!(first.jobs, second.jobs);
    assert_eq!(first.histograms, second.histograms);
    assert_eq!(hooks.kept, again.kept);
}

/// Those that wait for something to be due do not hold the end up, nor do those that have not begun.
#[test]
fn enough_wakes_who_waits() {
    let busy = endless("busy", Mix::Read, 4);
    let mut rare = endless("rare", Mix::Write, 1);
    rare.pace.rate[1] = Some(Rate::BytesPerSecond(1));
    let mut delayed = endless("delayed", Mix::Write, 1);
    delayed.start.delay = (Nanos::from_secs(400), Nanos::from_secs(400));
    let mut walled = endless("walled", Mix::Write, 1);
    walled.start.stonewall = true;
    let (results, _, _) = until_enough(&[busy, rare, delayed, walled], 3);
    assert_eq!(results.status, Status::Complete);
    assert!(results.end.0 < 14 * SECOND, "{:?}", results.end);
    let ios: Vec<u64> = results.jobs.iter().map(|job| job.write.ios).collect();
    assert_eq!(ios, [0, 1, 0, 0]);
}

#[test]
fn enough_is_followed_by_the_cooldown() {
    let mut job = endless("all", Mix::Read, 4);
    job.limit.ramp_time = Nanos::from_millis(1500);
    job.limit.cooldown_time = Nanos::from_millis(2500);
    let (results, hooks, _) = until_enough(&[job], 4);
    let summary = &results.jobs[0];
    // Half a second, then three whole ones.
    assert!(
        (3500 * MS..3520 * MS).contains(&summary.runtime_ns),
        "{}",
        summary.runtime_ns
    );
    let ios = |counted: bool| -> u64 {
        let ours = hooks.kept.iter().filter(|row| row.ramp != counted);
        ours.map(|row| row.ios).sum()
    };
    assert_eq!(ios(true), summary.read.ios);
    assert!(ios(false) > summary.read.ios * 9 / 10, "4 s of 3.5 s");
    let last = hooks.kept.last().expect("rows");
    assert!(last.ramp && last.end.0 >= 7500 * MS);
}

#[test]
fn a_cooldown_counts_in_no_summary() {
    let mut job = for_ms(direct(Mix::Read, 1), 3000);
    job.limit.ramp_time = Nanos::from_millis(500);
    job.limit.cooldown_time = Nanos::from_millis(1000);
    let (results, rows, probe) = probed(&[job], &spec(1));
    // One I/O of 1 ms at a time; what ends at an edge lies after it.
    assert_eq!(probe.ios.len(), 4500);
    assert_eq!(results.jobs[0].read.ios, 3000);
    assert_eq!(results.jobs[0].runtime_ns, 3 * SECOND);
    assert!((results.jobs[0].read.iops - 1000.0).abs() < 1e-9);
    assert_eq!(
        results
            .histograms
            .iter()
            .filter(|row| row.metric == Latency::Lat)
            .map(|row| row.count)
            .sum::<u64>(),
        3000
    );
    let found: Vec<(u32, u64, bool, u64)> = rows
        .iter()
        .map(|row| (row.second, row.duration_ns / MS, row.ramp, row.ios))
        .collect();
    assert_eq!(
        found,
        [
            (0, 500, true, 499),
            (0, 500, false, 500),
            (1, 1000, false, 1000),
            (2, 1000, false, 1000),
            (3, 500, false, 500),
            (3, 500, true, 500),
            (4, 500, true, 501),
        ]
    );
}

/// A disk that is silent from before the end of the counted time until after it: seconds of zeros that count, then some
/// that do not.
#[test]
fn silence_over_the_end_of_the_counted_time_is_split_there() {
    let mut disk = spec(1);
    disk.disks[0].outages = vec![fathom_model::spec::OutageSpec::Once {
        at_ns: 2500 * MS,
        duration_ns: 6000 * MS,
    }];
    let mut job = for_ms(direct(Mix::Read, 1), 5500);
    job.limit.cooldown_time = Nanos::from_millis(5000);
    let (results, rows, _) = probed(&[job], &disk);
    assert_eq!(results.jobs[0].runtime_ns, 5500 * MS);
    let found: Vec<(u32, bool, bool)> = rows
        .iter()
        .map(|row| (row.second, row.ramp, row.ios > 0))
        .collect();
    let expected: Vec<(u32, bool, bool)> = (0..11)
        .map(|second| (second, second >= 5, !(3..8).contains(&second)))
        .collect();
    assert_eq!(found, expected);
}

/// Rows of a tenth of a second add up to those of a second, and the results are the same.
#[test]
fn shorter_and_longer_intervals_hold_the_same() {
    let mut job = for_ms(direct(Mix::ReadWrite { read_percent: 70 }, 4), 7300);
    job.numjobs = 2;
    let plan = Plan::modelled(&Workload { jobs: vec![job] }, GIB).expect("a plan");
    let run_at = |interval_ms: u64| {
        let options = Options {
            interval: Nanos::from_millis(interval_ms),
            ..options()
        };
        let mut disk = spec(1);
        disk.disks[0].read = service(500.0, 5000.0);
        let mut probe = Probe::new(&disk);
        let mut hooks = super::Rows {
            keeps: true,
            ..super::Rows::default()
        };
        let results = run_virtual(&plan, &mut probe, &options, &mut hooks);
        (results, hooks.kept)
    };
    let (whole, seconds) = run_at(1000);
    for (interval_ms, rows_each) in [(10, 100), (100, 10), (250, 4)] {
        let (results, rows) = run_at(interval_ms);
        assert_eq!(results.jobs, whole.jobs, "{interval_ms} ms");
        for second in seconds.iter().filter(|row| row.second < 7) {
            let parts: Vec<&SeriesRow> = (rows.iter())
                .filter(|row| (row.second, row.op) == (second.second, second.op))
                .collect();
            assert_eq!(parts.len(), rows_each);
            assert_eq!(parts.iter().map(|row| row.ios).sum::<u64>(), second.ios);
            assert_eq!(parts.iter().map(|row| row.duration_ns).sum::<u64>(), SECOND);
            assert_eq!(parts[rows_each - 1].end, second.end);
        }
    }
    let (results, rows) = run_at(2500);
    assert_eq!(results.jobs, whole.jobs);
    let reads: Vec<(u32, u64, u64)> = (rows.iter())
        .filter(|row| row.op == Op::Read)
        .map(|row| (row.second, row.end.0 / MS, row.duration_ns / MS))
        .collect();
    assert_eq!(reads[..2], [(0, 2500, 2500), (2, 5000, 2500)]);
    assert_eq!((reads[2].0, reads[2].2 / 100, reads.len()), (5, 23, 3));
}

/// Workers that share a sequence read a file once between them, in the same order each time; files are counted apart.
#[test]
fn a_shared_sequence_is_the_same_each_time() {
    let mut job = direct(Mix::Read, 4);
    job.pattern.random = false;
    job.pattern.shared_sequence = true;
    job.count_files = true;
    job.numjobs = 3;
    job.files.names = vec!["one".into(), "two".into()];
    job.region.size = Some(Amount::Bytes(16 << 20));
    let mut disk = spec(1);
    disk.disks[0].read = service(500.0, 5000.0);
    let (results, _, probe) = probed(std::slice::from_ref(&job), &disk);
    let summary = &results.jobs[0];
    assert_eq!(summary.read.bytes, 16 << 20);
    let files: Vec<(&str, u64)> = (summary.files.iter())
        .map(|file| (file.path.as_str(), file.read.bytes))
        .collect();
    assert_eq!(files, [("one", 8 << 20), ("two", 8 << 20)]);
    // Both files of a worker are used at once, from their starts on.
    let mut seen: Vec<(u64, u64)> = probe.ios.iter().map(|io| (io.offset, io.len)).collect();
    seen.sort_unstable();
    let once: Vec<(u64, u64)> = (0..2048).flat_map(|block| [(block * 4096, 4096); 2]).collect();
    assert_eq!(seen, once);
    let mean = summary
        .files
        .iter()
        .map(|file| file.read.clat_ns_mean)
        .sum::<f64>()
        / 2.0;
    assert!((mean / summary.read.clat_ns.mean - 1.0).abs() < 1e-9);
    let (again, _, probe_again) = probed(&[job], &disk);
    assert_eq!(results.jobs, again.jobs);
    assert_eq!(probe.ios, probe_again.ios);
}

/// Keeps rows and latencies as they come.
#[derive(Default)]
struct Whole {
    rows: Vec<SeriesRow>,
    latencies: Vec<IntervalLatency>,
    /// Rows whose latencies had not come before them.
    early: usize,
}

impl Hooks for Whole {
    fn latencies(&mut self, latencies: &[IntervalLatency]) {
        self.latencies.extend_from_slice(latencies);
    }
    fn rows(&mut self, rows: &[SeriesRow]) {
        self.rows.extend_from_slice(rows);
        self.early += self.rows.len().saturating_sub(self.latencies.len());
    }
}

fn watched(latencies: bool) -> (Results, Whole) {
    let mut disk = spec(1);
    disk.disks[0].read = service(500.0, 5000.0);
    let mut job = named(
        for_ms(direct(Mix::ReadWrite { read_percent: 70 }, 4), 3_500),
        "mixed",
    );
    job.region.size = Some(Amount::Bytes(64 << 20));
    let plan = Plan::modelled(&Workload { jobs: vec![job] }, GIB).expect("a plan");
    let options = Options {
        latencies,
        rows_at_once: true,
        ..options()
    };
    let mut hooks = Whole::default();
    let results = run_virtual(&plan, &mut Probe::new(&disk), &options, &mut hooks);
    (results, hooks)
}

/// Whoever asks has every row's latencies, all of them, before the row; who does not ask has none.
#[test]
fn the_latencies_of_each_interval_come_before_its_rows() {
    let (results, seen) = watched(true);
    assert_eq!(seen.early, 0);
    let key = |row: &SeriesRow| (row.second, row.job, row.op, row.ios, row.lat.max);
    let of = |one: &IntervalLatency| {
        (
            one.second,
            one.job,
            one.op,
            one.lat.n(),
            one.lat.max().unwrap_or(0),
        )
    };
    let rows: Vec<_> = seen.rows.iter().map(key).collect();
    assert_eq!(rows, seen.latencies.iter().map(of).collect::<Vec<_>>());
    for op in [Op::Read, Op::Write] {
        let mut all = Histogram::new();
        let of_op = seen.latencies.iter().filter(|one| one.op == op);
        of_op.for_each(|one| all.merge(&one.lat));
        let summary = &results.jobs[0].op(op).lat_ns;
        assert!(all.n() > 100, "{op:?}");
        assert_eq!((all.n(), all.max()), (summary.n, Some(summary.max)));
        assert_eq!(all.percentile(99.0), summary.percentile(99.0).expect("p99"));
    }
    let (alike, unasked) = watched(false);
    assert_eq!(unasked.latencies, []);
    assert_eq!(unasked.rows, seen.rows);
    assert_eq!(alike.jobs, results.jobs);
}

//! Long runs: memory does not grow, time has no end that a run could reach.

use super::{MS, Rows, SECOND, direct, for_ms, limits, options, service, spec};
use crate::plan::Plan;
use crate::run::run_virtual;
use fathom_core::run::Status;
use fathom_core::units::Nanos;
use fathom_core::workload::{Amount, Job, Mix, Rate, ThinkTime, ThinkTimeBasis, Workload};
use fathom_model::Machine;
use fathom_model::spec::{CacheMode, CrowdingSpec, HostCacheSpec, Limit, OutageSpec, SeekSpec, Spec};

/// Everything that keeps something in memory, switched on.
fn everything() -> Spec {
    let mut spec = spec(2);
    for disk in &mut spec.disks {
        disk.read = service(100.0, 9000.0);
        disk.write = service(100.0, 9000.0);
        disk.limits = limits(500, 20 << 20);
        disk.crowding = Some(CrowdingSpec {
            ns_per_io: 1000,
            most: 32,
        });
        disk.seek = Some(SeekSpec {
            read_min_ns: 0,
            read_max_ns: MS,
            write_min_ns: 0,
            write_max_ns: MS,
            write_cost_bytes: 0,
            streams: 8,
        });
        disk.outages = vec![OutageSpec::Random {
            mean_gap_ns: SECOND,
            duration_min_ns: MS,
            duration_max_ns: 300 * MS,
        }];
    }
    spec.host_cache = Some(HostCacheSpec {
        mode: CacheMode::ReadWrite,
        capacity_bytes: 4 << 20,
        block_bytes: 4096,
        read_hit: service(50.0, 60.0),
        write_hit: service(50.0, 60.0),
        dirty_limit_bytes: 1 << 19,
        dirty_resume_bytes: 1 << 18,
        flush_bytes_per_second: Limit::At(2 << 20),
    });
    let cache = &mut spec.guest.page_cache;
    (cache.capacity_bytes, cache.throttle_bytes, cache.background_bytes) = (16 << 20, 4 << 20, 2 << 20);
    spec
}

/// A run of so long: the size of the machine afterwards in words, the most rows at a time, and all rows.
fn sizes(seconds: u64) -> (usize, usize, u64) {
    let mut buffered = for_ms(direct(Mix::ReadWrite { read_percent: 50 }, 1), seconds * 1000);
    buffered.direct = false;
    buffered.region.size = Some(Amount::Bytes(32 << 20));
    buffered.sync.fsync_every = 50;
    let jobs = vec![
        for_ms(direct(Mix::ReadWrite { read_percent: 50 }, 8), seconds * 1000),
        buffered,
    ];
    let spec = everything();
    let mut machine = Machine::new(&spec);
    let plan = Plan::modelled(&Workload { jobs }, 2 << 30).expect("a plan");
    let mut hooks = Rows::default();
    let mut counted = Counted(&mut hooks, 0);
    let results = run_virtual(&plan, &mut machine, &options(), &mut counted);
    let rows = counted.1;
    assert_eq!(results.status, Status::Complete);
    (format!("{machine:?}").len(), hooks.largest, rows)
}

struct Counted<'a>(&'a mut Rows, u64);

impl crate::run::Hooks for Counted<'_> {
    fn rows(&mut self, rows: &[fathom_core::run::SeriesRow]) {
        self.1 += rows.len() as u64;
        self.0.rows(rows);
    }
}

#[test]
fn memory_does_not_grow_with_time() {
    let (short, long) = (sizes(400), sizes(4000));
    let growth = long.0 as f64 / short.0 as f64;
    assert!(
        (0.9..1.1).contains(&growth),
        "the machine grew by {growth}: {short:?} {long:?}"
    );
    assert!(long.1 <= 1024 + 16, "rows are handed over: {} at a time", long.1);
    // Reads and writes of two jobs in each second, and flushes in some.
    for (seconds, (.., rows)) in [(400, short), (4000, long)] {
        assert!(
            (4 * seconds..=5 * seconds + 10).contains(&rows),
            "{rows} rows of {seconds} s"
        );
    }
}

/// A job that does something once an hour.
fn hourly(days: u64) -> Job {
    let mut job = for_ms(direct(Mix::Read, 4), days * 24 * 3600 * 1000);
    job.pace.think = Some(ThinkTime {
        pause: Nanos::from_millis(3600 * 1000),
        spin: Nanos::ZERO,
        blocks: 1,
        basis: ThinkTimeBasis::Issue,
        puts_off: false,
        after_run: None,
    });
    job
}

/// So many days of it, at a depth of 4096.
fn days_on_end(days: u64) {
    let spec = spec(1);
    let mut job = hourly(days);
    job.depth.iodepth = 4096;
    let plan = Plan::modelled(&Workload { jobs: vec![job] }, 1 << 30).expect("a plan");
    let mut hooks = Rows::default();
    let results = run_virtual(&plan, &mut Machine::new(&spec), &options(), &mut hooks);
    let read = &results.jobs[0].read;
    assert_eq!(read.ios, days * 24);
    assert_eq!((read.lat_ns.min, read.lat_ns.max), (MS, MS));
    let end = days * 24 * 3600 * SECOND;
    assert!(results.end.0.abs_diff(end) <= SECOND, "{:?}", results.end);
}

#[test]
fn a_day() {
    days_on_end(1);
}

/// Beyond what the keys of the queue hold at this depth: 26 days.
#[test]
fn sixty_days() {
    days_on_end(60);
}

/// A schedule keeps its rate however far from its start: after a day, to the I/O.
#[test]
fn a_day_of_a_schedule() {
    let mut job = for_ms(direct(Mix::Write, 4), 24 * 3600 * 1000);
    job.pace.rate[1] = Some(Rate::Iops(3));
    let plan = Plan::modelled(&Workload { jobs: vec![job] }, 1 << 30).expect("a plan");
    let results = run_virtual(
        &plan,
        &mut Machine::new(&spec(1)),
        &options(),
        &mut Rows::default(),
    );
    assert_eq!(results.jobs[0].write.ios, 3 * 24 * 3600);
    assert_eq!(results.jobs[0].write.response_ns.max, MS);
}

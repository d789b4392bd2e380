//! Ends before their time in virtual time: of jobs with others, and of those whose results are steady; balances between jobs.

use super::{direct, for_ms, named, probed, service, spec};
use fathom_core::backend::Op;
use fathom_core::units::Nanos;
use fathom_core::workload::{Amount, ExitWhat, Flow, Job, Mix, Steady, SteadyOf};

/// Random direct reads on 64 MiB, for so long.
fn reads(name: &str, ms: u64) -> Job {
    let mut job = named(for_ms(direct(Mix::Read, 4), ms), name);
    job.region.size = Some(Amount::Bytes(64 << 20));
    job
}

#[test]
fn the_end_of_one_is_the_end_of_all() {
    let mut short = reads("short", 2_000);
    short.stops.exit_all = true;
    short.stops.exit_what = ExitWhat::All;
    let long = reads("long", 600_000);
    let mut later = reads("later", 5_000);
    later.start.stonewall = true;
    let mut disk = spec(1);
    disk.disks[0].read = service(500.0, 1500.0);
    let (results, rows, _) = probed(&[short, long, later], &disk);
    let last = |job: u32| {
        rows.iter()
            .filter(|row| row.job == job)
            .map(|row| row.end.0)
            .max()
    };
    assert_eq!(last(0).map(|end| end / 1_000_000_000), Some(2));
    let end = last(1).expect("it ran");
    assert!((2_000_000_000..3_100_000_000).contains(&end), "{end}");
    assert_eq!(last(2), None, "it never began");
    assert_eq!(results.jobs.len(), 3);
}

#[test]
fn a_job_ends_once_its_results_are_steady() {
    let mut job = reads("steady", 600_000);
    job.stops.steady = Some(Steady {
        of: SteadyOf::Iops,
        slope: false,
        limit: 20.0,
        in_percent: true,
        duration: Nanos::from_secs(4),
        ramp: Nanos::from_secs(1),
    });
    let mut disk = spec(1);
    disk.disks[0].read = service(900.0, 1100.0);
    let (_, rows, _) = probed(&[job], &disk);
    let end = rows.iter().map(|row| row.end.0).max().expect("rows") / 1_000_000_000;
    assert!((5..=8).contains(&end), "{end}");
}

#[test]
fn jobs_keep_to_their_shares() {
    let flowing = |name: &str, weight: u32| {
        let mut job = reads(name, 4_000);
        job.flow = Some(Flow {
            id: 1,
            weight,
            sleep: Nanos::ZERO,
        });
        job
    };
    let mut disk = spec(1);
    disk.disks[0].read = service(500.0, 1500.0);
    let (_, rows, _) = probed(&[flowing("one", 1), flowing("three", 3)], &disk);
    let ios = |job: u32| -> f64 {
        let own = rows.iter().filter(|row| row.job == job && row.op == Op::Read);
        own.map(|row| row.ios as f64).sum()
    };
    let ratio = ios(1) / ios(0);
    assert!((2.7..3.3).contains(&ratio), "{ratio}: {} and {}", ios(0), ios(1));
}

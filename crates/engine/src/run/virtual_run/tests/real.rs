//! What does not depend on time is the same in virtual and in real time: how many I/Os, of which sizes.

use super::{Probe, direct, options, run_on, spec};
use crate::plan::Plan;
use crate::run::{NoHooks, Results, run};
use fathom_core::backend::Op;
use fathom_core::workload::{Amount, BlockSize, EngineKind, Job, Mix, SplitEntry, Workload};
use fathom_testkit::seed;

fn split() -> BlockSize {
    let entry = |bytes, percent| SplitEntry { bytes, percent };
    BlockSize::Split(vec![entry(4096, 50), entry(16_384, 30), entry(65_536, 20)])
}

/// Bounded by size or number, on the engine that does nothing.
fn some_job(mix: Mix, seed: u64, change: impl Fn(&mut Job)) -> Job {
    let mut job = direct(mix, 8);
    job.engine.kind = EngineKind::Null;
    job.region.size = Some(Amount::Bytes(8 << 20));
    job.random_seed = seed;
    change(&mut job);
    job
}

type Counts = Vec<(String, [u64; 4], [u64; 4])>;

fn counts(results: &Results) -> Counts {
    let ops = [Op::Read, Op::Write, Op::Trim, Op::Sync];
    let jobs = results.jobs.iter();
    jobs.map(|job| {
        let (ios, bytes) = (ops.map(|op| job.op(op).ios), ops.map(|op| job.op(op).bytes));
        (job.name.clone(), ios, bytes)
    })
    .collect()
}

#[test]
fn counts_are_those_of_a_real_run() {
    let seed = seed();
    let mixed = Mix::ReadWrite { read_percent: 70 };
    let jobs = vec![
        some_job(Mix::Read, seed, |_| {}),
        some_job(Mix::Write, seed, |job| job.pattern.random = false),
        some_job(mixed, seed, |job| job.block_size = [split(), split(), split()]),
        some_job(mixed, seed, |job| job.region.loops = 3),
        some_job(mixed, seed, |job| job.region.number_ios = Some(777)),
        some_job(Mix::Read, seed, |job| {
            (job.region.number_ios, job.region.loops) = (Some(100), 4);
        }),
        some_job(mixed, seed, |job| {
            job.region.io_size = Some(Amount::Bytes(20 << 20));
        }),
        some_job(mixed, seed, |job| {
            (job.sync.fsync_every, job.sync.fsync_at_end) = (7, true);
        }),
        some_job(Mix::TrimWrite, seed, |_| {}),
        some_job(mixed, seed, |job| (job.numjobs, job.files.nrfiles) = (3, 4)),
        some_job(mixed, seed, |job| job.depth.iodepth = 1),
        some_job(mixed, seed, |job| job.direct = false),
    ];
    for (at, job) in jobs.into_iter().enumerate() {
        let workload = Workload {
            jobs: vec![job.clone()],
        };
        let plan = Plan::new(&workload).expect("a plan");
        let real = run(&plan, &options(), &mut NoHooks).expect("a run");
        let mut probe = Probe::new(&spec(2));
        let (modelled, _) = run_on(&[job], &mut probe);
        assert_eq!(counts(&modelled), counts(&real), "seed {seed}, job {at}");
        assert_eq!(
            modelled.jobs[0].total_ios(),
            probe.ios.iter().filter(|io| io.len > 0).count() as u64
        );
        assert!(modelled.jobs[0].total_ios() >= 400, "job {at}");
    }
}

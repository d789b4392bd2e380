//! Made-up runs.

use fathom_core::run::{JobSummary, Run, Status, TargetFile};
use fathom_core::units::Nanos;
use fathom_core::workload::{BlockSize, EngineKind, Job, Mix};
use fathom_testkit::make;

/// A job of an asynchronous engine.
pub(super) fn job(name: &str, mix: Mix, random: bool, block: u64) -> Job {
    let mut job = Job {
        name: String::from(name),
        direct: true,
        block_size: [(); 3].map(|()| BlockSize::Fixed(block)),
        ..Job::default()
    };
    job.pattern.mix = mix;
    job.pattern.random = random;
    job.engine.kind = EngineKind::IoUring;
    job.depth.iodepth = 32;
    job.depth.low = 32;
    job.limit.runtime = Some(Nanos::from_secs(10));
    job.limit.time_based = true;
    job.files.names = vec!["data.bin".into()];
    job
}

/// A finished run of `jobs` on a file of 1 GiB.
pub(super) fn run(jobs: Vec<Job>, results: Vec<JobSummary>) -> Run {
    let mut run = make::run(jobs, results);
    run.summary.target.files = vec![TargetFile {
        size_bytes: 1 << 30,
        ..make::file("data.bin")
    }];
    run
}

/// Killed before it had results, on a modelled disk.
pub(super) fn killed() -> Run {
    let mut run = run(vec![job("randread", Mix::Read, true, 4096)], Vec::new());
    run.status = Status::Running;
    run.summary.target.description = String::from("model:azure/P15");
    run.summary.target.modelled = true;
    run
}

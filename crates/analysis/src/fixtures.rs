//! A made-up run without anything to warn of; tests change one thing each.

use fathom_core::run::{CpuUsage, Environment, JobSummary, Run, TargetFile};
use fathom_core::units::Nanos;
use fathom_core::workload::{EngineKind, Job};
use fathom_testkit::make;

/// Ten seconds of direct random reads with `io_uring` on a quiet machine.
pub(crate) fn quiet() -> Run {
    let mut job = Job {
        name: String::from("quiet"),
        direct: true,
        ..Job::default()
    };
    job.engine.kind = EngineKind::IoUring;
    job.pattern.random = true;
    job.depth.iodepth = 32;
    job.limit.runtime = Some(Nanos::from_secs(10));
    let mut summary = JobSummary {
        name: String::from("quiet"),
        workers: 2,
        runtime_ns: 10_000_000_000,
        cpu: CpuUsage {
            user_ns: 2_000_000_000,
            system_ns: 4_000_000_000,
            ..CpuUsage::default()
        },
        ..JobSummary::default()
    };
    summary.read.ios = 100_000;
    let mut run = make::run(vec![job], vec![summary]);
    run.environment = Environment {
        cpus: 4,
        load_1min: 0.2,
        clock_source: String::from("tsc"),
        ..Environment::default()
    };
    run.summary.target = make::target("data.bin", false);
    run.summary.target.files = vec![file("data.bin", None)];
    run
}

/// A file whose device is known, or the reason why not.
pub(crate) fn file(path: &str, device_missing: Option<&str>) -> TargetFile {
    TargetFile {
        device_missing: device_missing.map(String::from),
        ..make::file(path)
    }
}

//! A made-up run without anything to warn of; tests change one thing each.

use fathom_core::run::{
    Build, CpuUsage, Environment, JobSummary, Run, SCHEMA, Status, Summary, Target, TargetFile, TargetKind,
};
use fathom_core::units::{MonoTime, Nanos, WallTime};
use fathom_core::workload::{EngineKind, Job, Workload, Written};

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
    Run {
        schema: String::from(SCHEMA),
        build: Build {
            version: String::from("0.1.0"),
            debug: false,
        },
        command: Vec::new(),
        started_unix_ns: WallTime(0),
        started_monotonic_ns: MonoTime(0),
        status: Status::Complete,
        written: Written::default(),
        workload: Workload { jobs: vec![job] },
        environment: Environment {
            cpus: 4,
            load_1min: 0.2,
            clock_source: String::from("tsc"),
            ..Environment::default()
        },
        requirements: Vec::new(),
        summary: Summary {
            schema: String::from(SCHEMA),
            target: Target {
                description: String::from("data.bin"),
                modelled: false,
                files: vec![file("data.bin", None)],
            },
            jobs: vec![summary],
            groups: Vec::new(),
            total: None,
            disks: Vec::new(),
            cpu: CpuUsage::default(),
            warnings: Vec::new(),
            floor: None,
            model: None,
            streams: Vec::new(),
        },
    }
}

/// A file whose device is known, or the reason why not.
pub(crate) fn file(path: &str, device_missing: Option<&str>) -> TargetFile {
    TargetFile {
        path: String::from(path),
        kind: TargetKind::File,
        size_bytes: 1 << 30,
        filesystem: None,
        device: None,
        device_missing: device_missing.map(String::from),
    }
}

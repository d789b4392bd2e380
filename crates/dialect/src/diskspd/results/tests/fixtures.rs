//! Made-up runs.

use fathom_core::run::{
    Build, CpuUsage, Environment, JobSummary, Run, SCHEMA, Status, Summary, Target, TargetFile, TargetKind,
};
use fathom_core::units::{MonoTime, Nanos, WallTime};
use fathom_core::workload::{BlockSize, EngineKind, Job, Mix, Workload, Written};

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

/// A finished run of `jobs` with `results`.
pub(super) fn run(jobs: Vec<Job>, results: Vec<JobSummary>) -> Run {
    let file = TargetFile {
        path: String::from("data.bin"),
        kind: TargetKind::File,
        size_bytes: 1 << 30,
        filesystem: Some(String::from("ext4")),
        device: None,
        device_missing: None,
    };
    Run {
        schema: String::from(SCHEMA),
        build: Build {
            version: String::from("0.1.0"),
            debug: false,
        },
        command: vec![String::from("fathom"), String::from("run")],
        started_unix_ns: WallTime(1_790_000_000_123_456_789),
        started_monotonic_ns: MonoTime(77),
        status: Status::Complete,
        written: Written::default(),
        workload: Workload { jobs },
        environment: Environment {
            host: String::from("vm1"),
            cpus: 2,
            ..Environment::default()
        },
        requirements: Vec::new(),
        summary: Summary {
            schema: String::from(SCHEMA),
            target: Target {
                description: String::from("data.bin (ext4 on /dev/vda, virtio)"),
                modelled: false,
                files: vec![file],
            },
            jobs: results,
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

/// Killed before it had results, on a modelled disk.
pub(super) fn killed() -> Run {
    let mut run = run(vec![job("randread", Mix::Read, true, 4096)], Vec::new());
    run.status = Status::Running;
    run.summary.target.description = String::from("model:azure/P15");
    run.summary.target.modelled = true;
    run
}

//! Made-up runs for the tests: numbers are drawn from seeded distributions and summed up as a real run would.

use fathom_core::backend::Op;
use fathom_core::rng::Rng;
use fathom_core::run::{
    CpuUsage, DiskSummary, Floor, JobSummary, LatencySummary, OpSummary, Run, RunError, Status, TargetFile,
    Warning,
};
use fathom_core::units::{MonoTime, Nanos, WallTime};
use fathom_core::workload::{Arrival, BlockSize, DEFAULT_PERCENTILES, EngineKind, Job, Mix, Rate};
use fathom_testkit::make;

/// `n` latencies around `typical_ns`, a hundredth of them twenty times as long.
pub(crate) fn latency(seed: u64, n: u64, typical_ns: u64) -> LatencySummary {
    let mut rng = Rng::new(seed);
    let latency_ns = |_| {
        let slow = if rng.below(100) == 0 { 20 } else { 1 };
        typical_ns / 2 + rng.below(typical_ns) * slow
    };
    make::histogram((0..n).map(latency_ns)).summary(&DEFAULT_PERCENTILES)
}

/// One direction over `seconds`.
pub(crate) fn direction(seed: u64, ios: u64, block: u64, seconds: f64, typical_ns: u64) -> OpSummary {
    make::direction(ios, block, seconds, latency(seed, ios, typical_ns))
}

/// A job of an asynchronous engine.
pub(crate) fn job(name: &str, mix: Mix, random: bool, block: u64) -> Job {
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

fn job_summary(name: &str) -> JobSummary {
    JobSummary {
        name: String::from(name),
        workers: 1,
        runtime_ns: 10_000_000_000,
        cpu: CpuUsage {
            user_ns: 410_000_000,
            system_ns: 1_230_000_000,
            voluntary_switches: 90_000,
            involuntary_switches: 120,
            ..CpuUsage::default()
        },
        ..JobSummary::default()
    }
}

/// A finished run of `jobs` with `results`.
pub(crate) fn run(jobs: Vec<Job>, results: Vec<JobSummary>) -> Run {
    let file = TargetFile {
        filesystem: Some(String::from("ext4")),
        ..make::file("data.bin")
    };
    let mut run = make::run(jobs, results);
    run.command = vec![String::from("fathom"), String::from("run")];
    run.started_unix_ns = WallTime(1_790_000_000_123_456_789);
    run.started_monotonic_ns = MonoTime(77);
    run.environment.host = String::from("vm1");
    run.environment.cpus = 2;
    run.summary.target = make::target("data.bin (ext4 on /dev/vda, virtio)", false);
    run.summary.target.files = vec![file];
    run
}

/// The usual one: random reads, one job, its disk, its floor.
pub(crate) fn random_read() -> Run {
    let mut result = job_summary("randread");
    result.read = direction(1, 90_000, 4096, 10.0, 400_000);
    result.read.slat_ns = latency(2, 90_000, 1_500);
    result.read.clat_ns = latency(3, 90_000, 399_000);
    let mut run = run(vec![job("randread", Mix::Read, true, 4096)], vec![result]);
    run.summary.disks = vec![DiskSummary {
        name: String::from("vda"),
        duration_ns: 10_050_000_000,
        read_ios: 90_000,
        read_bytes: 90_000 * 4096,
        read_time_ns: 36_000_000_000,
        write_ios: 12,
        write_merges: 4,
        write_bytes: 12 * 16_384,
        write_time_ns: 24_000_000,
        flush_ios: 3,
        busy_ns: 9_990_000_000,
        weighted_busy_ns: 36_024_000_000,
        ..DiskSummary::default()
    }];
    run.summary.floor = Some(Floor {
        ns_per_io: 31.4,
        ios: 1_000_000,
    });
    run
}

/// A reading and a writing group and a lone job.
pub(crate) fn groups() -> Run {
    let mut jobs = vec![
        job("oltp-a", Mix::ReadWrite { read_percent: 70 }, true, 8192),
        job("oltp-b", Mix::ReadWrite { read_percent: 70 }, true, 8192),
        job("log", Mix::Write, false, 65_536),
    ];
    for job in &mut jobs[..2] {
        job.group_reporting = true;
    }
    jobs[1].numjobs = 3;
    jobs[2].group = 1;
    jobs[2].sync.fdatasync_every = 1;
    let mut results: Vec<JobSummary> = jobs.iter().map(|job| job_summary(&job.name)).collect();
    for (seed, result) in (10..).step_by(10).zip(&mut results[..2]) {
        result.read = direction(seed, 21_000, 8192, 10.0, 900_000);
        result.write = direction(seed + 1, 9_000, 8192, 10.0, 2_400_000);
    }
    results[1].workers = 3;
    results[2].group = 1;
    results[2].write = direction(40, 5_000, 65_536, 10.0, 700_000);
    results[2].sync = direction(41, 5_000, 0, 10.0, 1_100_000);
    let mut group = job_summary("oltp-a, oltp-b");
    group.workers = 4;
    group.read = direction(30, 42_000, 8192, 10.0, 900_000);
    group.write = direction(31, 18_000, 8192, 10.0, 2_400_000);
    let mut second = results[2].clone();
    second.name = String::from("log");
    let mut run = run(jobs, results);
    run.summary.groups = vec![group, second];
    run
}

/// A schedule that the disk does not keep.
pub(crate) fn open_loop() -> Run {
    let mut job = job("paced", Mix::Read, true, 16_384);
    job.pace.rate[0] = Some(Rate::Iops(5_000));
    job.pace.arrival = Arrival::Poisson;
    let mut result = job_summary("paced");
    result.read = direction(5, 40_000, 16_384, 10.0, 6_000_000);
    result.read.response_ns = latency(6, 40_000, 900_000_000);
    result.backlog_max = 10_240;
    result.backlog_end = 9_981;
    let mut run = run(vec![job], vec![result]);
    run.summary.warnings = vec![
        Warning::Backlog {
            job: String::from("paced"),
            backlog_max: 10_240,
            backlog_end: 9_981,
        },
        Warning::BusyHost {
            load_1min: 1.7,
            cpus: 2,
        },
    ];
    run
}

/// Ended by errors of the disk.
pub(crate) fn failed() -> Run {
    let mut result = job_summary("scrub");
    result.read = direction(7, 1_200, 131_072, 10.0, 300_000);
    result.read.errors = 13;
    result.read.short_ios = 2;
    result.errors = vec![
        RunError {
            what: String::from("read"),
            errno: 5,
            message: String::from("Input/output error"),
            count: 13,
            path: String::from("/mnt/a/rather/long/path/to/the/file/that/was/being/read/data.bin"),
            offset_bytes: 1_048_576,
            length_bytes: 131_072,
        },
        RunError {
            what: String::from("verify"),
            errno: 0,
            message: String::from("crc32c differs"),
            count: 1,
            path: String::from("data.bin"),
            offset_bytes: 0,
            length_bytes: 4096,
        },
    ];
    let mut run = run(vec![job("scrub", Mix::Read, false, 131_072)], vec![result]);
    run.status = Status::Failed;
    run
}

/// Stopped by the user while trims, writes and syncs went on.
pub(crate) fn interrupted() -> Run {
    let mut job = job("discard", Mix::TrimWrite, true, 65_536);
    job.engine.kind = EngineKind::Psync;
    job.depth.iodepth = 1;
    job.sync.fsync_every = 32;
    let mut result = job_summary("discard");
    result.runtime_ns = 3_210_000_000;
    result.trim = direction(8, 900, 65_536, 3.21, 90_000);
    result.write = direction(9, 899, 65_536, 3.21, 1_900_000);
    result.sync = direction(10, 28, 0, 3.21, 8_000_000);
    let mut run = run(vec![job], vec![result]);
    run.status = Status::Interrupted;
    run
}

/// Too little to say much.
pub(crate) fn tiny() -> Run {
    let mut job = job("tiny", Mix::Write, false, 4096);
    job.limit = fathom_core::workload::Limit::default();
    job.region.number_ios = Some(7);
    let mut result = job_summary("tiny");
    result.runtime_ns = 900_000;
    result.cpu = CpuUsage::default();
    result.write = direction(11, 7, 4096, 0.000_9, 120_000);
    let mut run = run(vec![job], vec![result]);
    run.summary.warnings = vec![Warning::ShortRun {
        job: String::from("tiny"),
        runtime_ns: 900_000,
    }];
    run
}

/// Killed before it had results, on a modelled disk.
pub(crate) fn killed() -> Run {
    let mut run = run(vec![job("randread", Mix::Read, true, 4096)], Vec::new());
    run.status = Status::Running;
    run.summary.target.description = String::from("model:azure/P15");
    run.summary.target.modelled = true;
    run
}

/// All of them, by name.
pub(crate) fn all() -> Vec<(&'static str, Run)> {
    vec![
        ("random_read", random_read()),
        ("groups", groups()),
        ("open_loop", open_loop()),
        ("failed", failed()),
        ("interrupted", interrupted()),
        ("tiny", tiny()),
        ("killed", killed()),
    ]
}

#[test]
fn made_up_latencies_are_plausible() {
    let latency = latency(1, 1000, 400);
    assert_eq!(latency.n, 1000);
    assert!(latency.min >= 200 && latency.max <= 200 + 400 * 20);
    assert_eq!(Op::DATA.len(), 3);
}

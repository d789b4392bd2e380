//! The plainest run, sweep and rows of a record that there can be.
//!
//! Duty: fill in what a test does not care about. Data in: what it does care about. Data out: words of `fathom_core`, all of
//! whose fields a test may change. It must not know what is tested with them.

mod rows;
pub mod sweep;

pub use rows::{buckets, counter, histogram, io, request, second};

use fathom_core::run::{
    Build, CpuUsage, Environment, JobSummary, LatencySummary, OpSummary, Run, SCHEMA, Status, Summary,
    Target, TargetFile, TargetKind,
};
use fathom_core::units::{MonoTime, WallTime};
use fathom_core::workload::{Job, Workload, Written};

/// A complete run of `jobs` that gave `results`, of which nothing else is known.
pub fn run(jobs: Vec<Job>, results: Vec<JobSummary>) -> Run {
    Run {
        schema: String::from(SCHEMA),
        build: build(),
        command: Vec::new(),
        started_unix_ns: WallTime(0),
        started_monotonic_ns: MonoTime(0),
        status: Status::Complete,
        written: Written::default(),
        workload: Workload { jobs },
        environment: Environment::default(),
        requirements: Vec::new(),
        summary: Summary {
            schema: String::from(SCHEMA),
            target: Target::default(),
            jobs: results,
            groups: Vec::new(),
            total: None,
            disks: Vec::new(),
            cpu: CpuUsage::default(),
            warnings: Vec::new(),
            floor: None,
            model: None,
            streams: Vec::new(),
            commands: Vec::new(),
        },
    }
}

/// A program that is fit to measure with.
pub fn build() -> Build {
    Build {
        version: String::from("0.1.0"),
        debug: false,
    }
}

/// A target in words.
pub fn target(description: &str, modelled: bool) -> Target {
    Target {
        description: description.to_owned(),
        called: None,
        modelled,
        files: Vec::new(),
    }
}

/// A file of 1 GiB.
pub fn file(path: &str) -> TargetFile {
    TargetFile {
        path: path.to_owned(),
        kind: TargetKind::File,
        size_bytes: 1 << 30,
        filesystem: None,
        device: None,
        device_missing: None,
    }
}

/// One direction: so many I/Os of `block` bytes within `seconds`.
pub fn direction(ios: u64, block: u64, seconds: f64, lat_ns: LatencySummary) -> OpSummary {
    OpSummary {
        ios,
        bytes: ios * block,
        runtime_ns: (seconds * 1e9) as u64,
        iops: ios as f64 / seconds,
        bytes_per_second: (ios * block) as f64 / seconds,
        lat_ns,
        ..OpSummary::default()
    }
}

//! A small run for tests.

use fathom_core::run::{
    Build, CpuUsage, Environment, JobSummary, Run, RunError, SCHEMA, Status, Summary, Target,
};
use fathom_core::units::{MonoTime, WallTime};
use fathom_core::workload::{Workload, Written};

/// A run that ended so, with so many errors.
pub(crate) fn run(status: Status, errors: u64) -> Run {
    let error = RunError {
        what: String::from("read"),
        errno: 5,
        message: String::from("Input/output error"),
        count: errors,
        path: String::from("F"),
        offset_bytes: 0,
        length_bytes: 4096,
    };
    let job = JobSummary {
        errors: (errors > 0).then_some(error).into_iter().collect(),
        ..JobSummary::default()
    };
    Run {
        schema: SCHEMA.to_owned(),
        build: Build {
            version: String::new(),
            debug: false,
        },
        command: Vec::new(),
        started_unix_ns: WallTime(0),
        started_monotonic_ns: MonoTime(0),
        status,
        written: Written::default(),
        workload: Workload { jobs: Vec::new() },
        environment: Environment::default(),
        requirements: Vec::new(),
        summary: Summary {
            schema: SCHEMA.to_owned(),
            target: Target::default(),
            jobs: vec![job],
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

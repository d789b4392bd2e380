//! Plans on a device that does not exist: the plan is given, not made.

use super::clipped;
use fathom_core::run::Warning;
use fathom_core::workload::{Amount, Job};
use fathom_engine::pattern::Span;
use fathom_engine::plan::{FilePlan, JobPlan, Kind, Plan, WorkerFiles};

const MIB: u64 = 1 << 20;

/// A job of `size` whose workers were given these spans of one file.
fn job(size: u64, kind: Kind, spans: &[(u64, u64)]) -> JobPlan {
    let mut job = Job::default();
    job.region.size = Some(Amount::Bytes(size));
    let worker = |&(start, bytes): &(u64, u64)| WorkerFiles {
        files: vec![FilePlan {
            path: "/dev/x".into(),
            kind,
            span: Span { start, bytes },
        }],
        amount: bytes,
    };
    JobPlan {
        job,
        workers: spans.iter().map(worker).collect(),
    }
}

fn said(jobs: Vec<JobPlan>) -> Vec<String> {
    let plan = Plan {
        jobs,
        files: Vec::new(),
    };
    clipped(&plan).iter().map(Warning::to_string).collect()
}

#[test]
fn a_size_that_fits_is_not_mentioned() {
    assert!(said(vec![job(16 * MIB, Kind::Block, &[(0, 16 * MIB)])]).is_empty());
    // A file grows instead.
    assert!(said(vec![job(16 * MIB, Kind::Regular, &[(0, MIB)])]).is_empty());
}

#[test]
fn a_size_larger_than_the_device_is_told_once_however_many_workers_and_jobs() {
    let large = || job(1024 * MIB, Kind::Block, &[(0, 16 * MIB), (8 * MIB, 8 * MIB)]);
    assert_eq!(
        said(vec![large(), large()]),
        ["size=1 GiB is larger than /dev/x (16 MiB): clipped to 16 MiB"]
    );
}

#[test]
fn an_offset_is_told_with_it() {
    assert_eq!(
        said(vec![job(10 * MIB, Kind::Block, &[(8 * MIB, 8 * MIB)])]),
        ["size=10 MiB is larger than /dev/x (16 MiB) from offset 8 MiB on: clipped to 8 MiB"]
    );
}

#[test]
fn file_sizes_clip_too() {
    let mut plan = job(10 * MIB, Kind::Regular, &[(0, 2 * MIB)]);
    plan.job.region.file_size = Some((2 * MIB, 2 * MIB));
    assert_eq!(
        said(vec![plan]),
        ["size=10 MiB is larger than /dev/x (2 MiB): clipped to 2 MiB"]
    );
}

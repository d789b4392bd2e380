//! What the tests share: seeds, limits of chance, jobs, and a disk in virtual time.

mod sim;

pub(crate) use fathom_testkit::{seed, skipped};
pub(crate) use sim::{Answer, EPOCH, Run, Seen, Sim};

use crate::interval::Metrics;
use crate::pattern::{Generator, Span};
use crate::plan::{FilePlan, Kind, Plan, WorkerFiles};
use crate::worker::WorkerPlan;
use fathom_core::workload::{BlockSize, Depth, EngineKind, Job, Mix};
use fathom_door::Permits;
use std::path::PathBuf;
use std::sync::Arc;

/// Leave to write to all that the plan changes, unasked.
pub(crate) fn permits(plan: &Plan) -> Arc<Permits> {
    let touched = plan.files.iter().filter(|action| action.touches());
    let permits = Permits::unasked(touched.map(|action| action.path.as_path()));
    Arc::new(permits.expect("permits"))
}

/// How many bytes are `byte`.
pub(crate) fn count_byte(buffer: &[u8], byte: u8) -> usize {
    buffer.iter().map(|&found| usize::from(found == byte)).sum()
}

/// Chi-square of what was seen against what was to be expected.
pub(crate) fn chi_square(seen: &[u64], expected: &[f64]) -> f64 {
    assert_eq!(seen.len(), expected.len());
    let term = |(&seen, &expected): (&u64, &f64)| (seen as f64 - expected).powi(2) / expected;
    seen.iter().zip(expected).map(term).sum()
}

/// What chi-square exceeds with a chance of about 3 in 10 million: Wilson and Hilferty's approximation at five
/// standard deviations.
pub(crate) fn chi_square_limit(degrees_of_freedom: usize) -> f64 {
    let k = degrees_of_freedom as f64;
    let ninth = 2.0 / (9.0 * k);
    k * (1.0 - ninth + 5.0 * ninth.sqrt()).powi(3)
}

/// A job with one block size for all directions.
pub(crate) fn job(mix: Mix, block: u64) -> Job {
    let mut job = Job {
        name: String::from("job"),
        ..Job::default()
    };
    job.pattern.mix = mix;
    job.block_size = [0, 1, 2].map(|_| BlockSize::Fixed(block));
    job
}

/// The same at random offsets.
pub(crate) fn random_job(mix: Mix, block: u64) -> Job {
    let mut job = job(mix, block);
    job.pattern.random = true;
    job
}

/// An asynchronous depth, refilled at once.
pub(crate) fn depth(iodepth: u32) -> Depth {
    Depth {
        iodepth,
        batch_submit: 0,
        batch_complete_min: 1,
        batch_complete_max: 0,
        low: iodepth,
    }
}

/// One file from its start.
pub(crate) fn whole(bytes: u64) -> [Span; 1] {
    [Span { start: 0, bytes }]
}

/// A generator over `spans` for one pass.
pub(crate) fn one_pass(job: &Job, spans: &[Span], seed: u64) -> Generator {
    let amount = spans.iter().map(|span| span.bytes).sum();
    Generator::new(job, spans, amount, false, seed)
}

/// A worker's plan for a job over one file of `bytes`, made as a run makes it.
pub(crate) fn worker_plan(job: &Job, bytes: u64) -> WorkerPlan {
    let files = WorkerFiles {
        files: vec![FilePlan {
            path: PathBuf::from("file"),
            kind: Kind::Regular,
            span: whole(bytes)[0],
        }],
        amount: match job.region.io_size {
            Some(fathom_core::workload::Amount::Bytes(amount)) => amount,
            _ => bytes,
        },
    };
    crate::thread::worker_plan(job, &files, 0)
}

/// A job of the asynchronous kind with `iodepth` in flight.
pub(crate) fn asynchronous(mut job: Job, iodepth: u32) -> Job {
    job.engine.kind = EngineKind::IoUring;
    job.depth = depth(iodepth);
    job
}

/// All latencies kept apart.
pub(crate) const ALL_METRICS: Metrics = Metrics {
    split: true,
    response: true,
};

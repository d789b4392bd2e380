//! Whole runs on real files.

mod accounts;
mod ends;
mod engines;
mod enough;
mod options;
mod order;
mod programs;
mod recorded;
mod streams;

use super::{Hooks, NoHooks, Options, Results, RunError, check};
use crate::layout::make_ready;
use crate::plan::Plan;
use crate::testing::depth;
use fathom_core::run::StartStep;
use fathom_core::workload::{Amount, EngineKind, Job, Mix, Workload};
use fathom_sys::clock::HostClock;
use std::path::Path;
use std::sync::Arc;

const BLOCK: u64 = 4096;
const MIB: u64 = 1 << 20;

fn options() -> Options {
    Options::new(Arc::default(), HostClock::new())
}

/// A job of random reads and writes over 1 MiB of made files in `directory`.
fn job(name: &str, kind: EngineKind, mix: Mix, directory: &Path) -> Job {
    let mut job = crate::testing::random_job(mix, BLOCK);
    name.clone_into(&mut job.name);
    job.engine.kind = kind;
    job.depth = depth(8);
    job.files.directories = vec![directory.to_owned()];
    job.region.size = Some(Amount::Bytes(MIB));
    job
}

fn plan(jobs: &[Job]) -> Plan {
    Plan::new(&Workload { jobs: jobs.to_vec() }).expect("a plan")
}

/// A run whose files are made ready first.
fn run(plan: &Plan, options: &Options, hooks: &mut dyn Hooks) -> Result<Results, RunError> {
    check(plan)?;
    let mut plan = plan.clone();
    let options = Options {
        permits: crate::testing::permits(&plan),
        ..options.clone()
    };
    make_ready(&mut plan, &options.permits, &options.stop, &mut ()).expect("files");
    super::run(&plan, &options, hooks)
}

fn run_jobs(jobs: &[Job]) -> Result<Results, RunError> {
    run(&plan(jobs), &options(), &mut NoHooks)
}

/// Of a call that the kernel does not have (an emulator's lacks some).
const ENOSYS: i32 = 38;

/// `None` where this machine has no such engine: said so.
fn run_or_skip(test: &str, jobs: &[Job]) -> Option<Results> {
    match run_jobs(jobs) {
        Ok(results) => {
            let mut errors = results.jobs.iter().flat_map(|job| &job.errors);
            let Some(missing) = errors.find(|error| error.errno == ENOSYS) else {
                return Some(results);
            };
            let of = jobs[0].engine.kind;
            crate::testing::skipped(test, format!("{of:?}, {}: {}", missing.what, missing.message));
            None
        }
        Err(RunError::Start { failure, .. })
            if [StartStep::SetUpUring, StartStep::SetUpAio, StartStep::OpenDirect]
                .contains(&failure.what) =>
        {
            fathom_testkit::skipped(test, format!("{}: {}", failure.what.name(), failure.source));
            None
        }
        Err(error) => panic!("{test}: {error}"),
    }
}

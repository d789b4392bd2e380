//! What each worker did by itself, now or at the end.

use super::early::Steadiness;
use super::job::RunningJob;
use super::phases::JobState;
use super::results::{add_errors, describe_start};
use crate::thread::metrics_of;
use fathom_core::backend::Op;
use fathom_core::run::{Depths, WorkerAccount};
use fathom_core::units::MonoTime;

/// The accounts of all workers whose jobs asked for it, in the order of jobs and workers. A worker under way has those of its
/// intervals so far, up to `now`, without its CPU time.
pub(super) fn accounts(jobs: &[RunningJob], now: MonoTime) -> Vec<WorkerAccount> {
    let mut accounts = Vec::new();
    for (section, job) in jobs.iter().enumerate() {
        for (number, tally) in job.collector.tallies().iter().enumerate() {
            let mut account = WorkerAccount {
                job: section as u32,
                worker: number as u32,
                start: MonoTime::NEVER,
                end: MonoTime::NEVER,
                ops: tally.ops(),
                asynchronous: metrics_of(&job.plan.job).split,
                ..WorkerAccount::default()
            };
            fill(&mut account, job, number, now);
            accounts.push(account);
        }
    }
    accounts
}

fn fill(account: &mut WorkerAccount, job: &RunningJob, number: usize, now: MonoTime) {
    let syncs = account.ops[Op::Sync.index()].ios();
    account.depths = Depths::one_by_one(account.total_ios() + syncs);
    account.errors.extend(job.failure.as_ref().map(describe_start));
    account.failed = job.failure.is_some();
    account.steady = job.steady.as_ref().map(Steadiness::account);
    if let Some(report) = &job.reports[number] {
        account.tid = report.tid;
        account.start = report.end.start;
        account.end = report.end.end;
        account.read_back_start = report.end.read_back_start;
        account.cpu = report.cpu;
        account.depth_found = report.end.depth_found;
        account.zone_resets = report.end.zone_resets;
        account.priorities.clone_from(&report.end.priorities);
        for (op, left_out) in account.ops.iter_mut().zip(report.end.left_out) {
            op.left_out = left_out;
        }
        account.written.clone_from(&report.end.written);
        account.failed |= report.end.failed;
        if let Some(depths) = &report.end.depths {
            account.depths = **depths;
        }
        add_errors(&mut account.errors, job, number, report);
    } else if job.state == JobState::Running {
        account.start = job.start.after(job.plan.job.limit.ramp_time).min(now);
        account.end = now;
    }
}

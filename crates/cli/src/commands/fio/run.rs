//! A run of `fathom fio`: the steps of [`fathom_session::Session`], with fio's outputs and fio's exit.
//!
//! Data in: a request, what fio was told. Data out: an exit: the number of jobs that failed, 1 where nothing could be begun, 128
//! after a signal.

use super::live::Shown;
use super::out::{self, Out, is_output};
use super::settings::Outputs;
use super::written::Options;
use crate::allowed::{self, Allowed};
use crate::commands::logs::{self, RunLogs};
use crate::exit::Exit;
use crate::terminal::{self, signals, tell};
use anyhow::{Context, bail};
use fathom_core::run::{Run, RunError, Warning, WorkerAccount};
use fathom_core::units::Nanos;
use fathom_core::workload::Workload;
use fathom_door::output;
use fathom_engine::plan::Plan;
use fathom_observe::SystemRoot;
use fathom_report::fio::{capped, laying_out};
use fathom_session::{Conduct, End, How, Measured, Planned, Refused, Request, Session};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Instant;

/// What fio ends with after SIGINT and SIGTERM.
const SIGNALLED: u8 = 128;
/// The most that an exit can say.
const FAILED_MAX: usize = 127;

/// How a run is carried out.
pub(super) struct Orders<'a> {
    pub outputs: &'a Outputs,
    pub how: How,
    /// Replace any regular file that an output would have the name of.
    pub force: bool,
    pub begun: Instant,
}

/// Carries a workload out, and prints what fio would.
///
/// # Errors
/// Nothing was measured.
pub(super) fn carry_out(request: &mut Request, orders: &Orders<'_>) -> anyhow::Result<Exit> {
    for job in &mut request.workload.jobs {
        job.count_workers = true;
    }
    let options = Options::new(&request.written);
    let system = SystemRoot::default();
    let allowed = Allowed::from_env();
    let planned = Planned::new(request)?;
    check_outputs(orders, &planned.plan, &allowed)?;
    let stop = signals::stop_flag()?;
    let caught = signals::caught()?;
    let out = Out::open(orders.outputs.to.as_deref(), orders.force, &allowed)?;
    let asked = signals::report_flag()?;
    let mut shown = Shown::new(
        &request.workload,
        options,
        orders.outputs,
        out,
        (orders.begun, asked),
    );
    shown.header();
    let how = allowed.widen(&orders.how, &planned.plan);
    let measured = measure(&system, planned, (orders, &how, &allowed), &stop, &mut shown)?;
    let signal = caught.load(Ordering::Relaxed);
    if signal != 0 {
        shown.always(&format!("\nfio: terminating on signal {signal}\n"));
    }
    let exit = match measured {
        Some((
            Measured::Ended {
                run, accounts, end, ..
            },
            kept,
        )) => {
            tell_errors(&accounts, &mut shown);
            shown.results(&accounts, &run.summary.disks, true);
            let exit = exit_of(&run, &accounts, end, kept);
            leave_bandwidth(orders, &allowed, &mut shown)?;
            exit
        }
        Some((Measured::NotStarted { message }, _)) => {
            // fio ends its report all the same, which has nothing in it.
            terminal::say(&format!("fio: {message}"));
            shown.normal("\n\nRun status group 0 (all jobs):\n");
            Exit::Foreign(1)
        }
        None => Exit::Foreign(SIGNALLED),
    };
    shown.finish()?;
    Ok(exit)
}

type Measurement = (Measured, anyhow::Result<()>);

/// Permission, files, logs, the load. `None`: stopped before it.
fn measure(
    system: &SystemRoot,
    mut planned: Planned<'_>,
    (orders, how, allowed): (&Orders<'_>, &How, &Allowed),
    stop: &std::sync::Arc<std::sync::atomic::AtomicBool>,
    shown: &mut Shown<'_>,
) -> anyhow::Result<Option<Measurement>> {
    planned.request.machine.check(&planned.plan)?;
    let session = Session::open(system, how, stop, &planned.plan, shown).map_err(with_remedy)?;
    let logs = RunLogs::begin(&planned.plan, orders.force, allowed)?;
    for line in layouts(&planned.plan) {
        shown.normal(&line);
    }
    if session.lay_out(&mut planned.plan, shown)?.is_none() {
        return Ok(None);
    }
    let conduct = Conduct {
        interval: interval(&planned.request.workload),
        tap: logs.as_ref().map(RunLogs::tap),
        ..Conduct::default()
    };
    let measured = session.measure(&planned, None, &conduct, shown)?;
    let kept = logs.map_or(Ok(()), RunLogs::finish);
    Ok(Some((measured, kept)))
}

/// How to allow a script what was refused.
fn with_remedy(refused: Refused) -> anyhow::Error {
    tell::error(&anyhow::Error::from(refused));
    anyhow::anyhow!(
        "for a script, {}=PATH:PATH… names files, folders or devices that may be overwritten",
        allowed::OVERWRITE
    )
}

/// The shortest window of samples that a job asks for: rows come that often.
fn interval(workload: &Workload) -> Nanos {
    let windows = workload.jobs.iter().flat_map(|job| {
        let reporting = &job.reporting;
        [reporting.bw_window_ms, reporting.iops_window_ms]
    });
    Nanos::from_millis(windows.min().unwrap_or(500).max(10).into())
}

/// All files that would be left, before anything is.
fn check_outputs(orders: &Orders<'_>, plan: &Plan, allowed: &Allowed) -> anyhow::Result<()> {
    let mut left: Vec<PathBuf> = logs::names(plan);
    if let Some(path) = &orders.outputs.to
        && !matches!(path.to_str(), Some("/dev/null" | "/dev/stderr"))
    {
        out::check(path, orders.force, allowed, is_output)?;
        left.push(path.clone());
    }
    let load = |path: &Path| plan.files.iter().any(|action| action.path == path);
    if let Some(path) = left.iter().find(|path| load(path)) {
        bail!(
            "{}: that is what the load is for: choose another name",
            path.display()
        );
    }
    Ok(())
}

/// What fio says of each worker whose files have to be made, or whose depth is not kept.
fn layouts(plan: &Plan) -> Vec<String> {
    let mut lines = Vec::new();
    for job in &plan.jobs {
        for worker in &job.workers {
            let made = worker.files.iter().filter(|file| {
                let at = plan.files.binary_search_by(|action| action.path.cmp(&file.path));
                at.is_ok_and(|at| plan.files[at].fill || plan.files[at].changes_size())
            });
            let sizes: Vec<u64> = made.map(|file| file.span.start + file.span.bytes).collect();
            if !sizes.is_empty() {
                lines.push(laying_out(&job.job.name, sizes.len(), sizes.iter().sum()));
            }
            lines.extend(capped(&job.job).map(str::to_owned));
        }
    }
    lines
}

/// Errors of I/O: on stderr as they were, and a line for each job that they ended.
fn tell_errors(accounts: &[WorkerAccount], shown: &mut Shown<'_>) {
    for account in accounts {
        for error in &account.errors {
            terminal::say(&format!("fio: {}", in_words(error)));
        }
        if let Some(error) = account.errors.first().filter(|_| account.failed) {
            shown.always(&format!(
                "fio: pid={}, err={}/file:worker.rs:1, func={}, error={}\n",
                account.tid,
                if error.errno == 0 { 84 } else { error.errno },
                error.what,
                error.message.split(" (os error").next().unwrap_or_default()
            ));
        }
    }
}

fn in_words(error: &RunError) -> String {
    let RunError {
        what,
        message,
        path,
        offset_bytes,
        length_bytes,
        ..
    } = error;
    let message = message.split(" (os error").next().unwrap_or_default();
    if what == "verify" {
        format!("verify failed at file {path} offset {offset_bytes}, length {length_bytes}: {message}")
    } else {
        format!("io_u error on file {path}: {message}: {what} offset={offset_bytes}, buflen={length_bytes}")
    }
}

/// The number of jobs that failed; what spoils a run by itself counts as one.
fn exit_of(run: &Run, accounts: &[WorkerAccount], end: End, kept: anyhow::Result<()>) -> Exit {
    let mut failed = accounts.iter().filter(|account| account.failed).count();
    for warning in &run.summary.warnings {
        if matches!(warning, Warning::TargetTaken { .. }) {
            terminal::warning(&warning.in_full());
            failed = failed.max(1);
        }
    }
    if let Err(error) = kept {
        terminal::error(&format!("{error:#}"));
        failed = failed.max(1);
    }
    if end == End::Interrupted {
        return Exit::Foreign(SIGNALLED);
    }
    Exit::Foreign(failed.min(FAILED_MAX) as u8)
}

/// The logs of all bandwidth, where they were asked for.
fn leave_bandwidth(orders: &Orders<'_>, allowed: &Allowed, shown: &mut Shown<'_>) -> anyhow::Result<()> {
    let Some(prefix) = &orders.outputs.bandwidth_log else {
        return Ok(());
    };
    for (name, rows) in shown.bandwidth_logs() {
        let path = PathBuf::from(format!("{prefix}{name}"));
        let force = orders.force || allowed.covers(&path) || logs::is_earlier(&path);
        output::leave(&path, rows.as_bytes(), force).context("the logs of all bandwidth")?;
    }
    Ok(())
}

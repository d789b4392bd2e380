//! A run of `fathom fio`: the steps of [`fathom_session::Session`], with fio's outputs and fio's exit.
//!
//! Data in: a request, what fio was told. Data out: an exit: the number of jobs that failed, 1 where nothing could be begun, 128
//! after a signal. Where the outputs go is a [`Shows`]: this machine's own, or those of a client elsewhere.

use super::live::{Shown, Shows};
use super::out::{self, Out, is_output};
use super::settings::Outputs;
use super::states;
use super::trigger::Trigger;
use super::written::Options;
use crate::allowed::{self, Allowed};
use crate::commands::logs::{self, Opener, RunLogs};
use crate::commands::run::commands_are_allowed;
use crate::exit::Exit;
use crate::recorded::iologs::{self, Recordings};
use crate::recorded::states as earlier_states;
use crate::terminal::signals;
use anyhow::{Context, bail};
use fathom_core::run::{Run, RunError, Warning, WorkerAccount};
use fathom_core::units::Nanos;
use fathom_core::workload::{Job, Workload};
use fathom_engine::plan::Plan;
use fathom_observe::SystemRoot;
use fathom_report::fio::{capped, laying_out};
use fathom_session::{Conduct, End, How, Measured, Planned, Refused, Request, Session};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// What fio ends with after SIGINT and SIGTERM.
const SIGNALLED: u8 = 128;
/// The most that an exit can say.
const FAILED_MAX: usize = 127;

/// How a run is carried out here.
pub(super) struct Orders<'a> {
    pub outputs: &'a Outputs,
    pub how: How,
    /// Replace any regular file that an output would have the name of.
    pub force: bool,
    pub begun: Instant,
    /// What `--debug` asks for, line by line.
    pub debug: Vec<String>,
    /// All jobs are for what `--on` names.
    pub aimed: bool,
    /// What ends the run, and what comes then.
    pub trigger: Option<Trigger>,
    /// Where states of verification are.
    pub states: PathBuf,
}

/// Carries a workload out on this machine, and prints what fio would.
///
/// # Errors
/// Nothing was measured.
pub(super) fn run_here(request: &mut Request, orders: &Orders<'_>) -> anyhow::Result<Exit> {
    let options = prepare(request);
    let stop = signals::stop_flag()?;
    let Some(recordings) = iologs::attach(&mut request.workload, orders.aimed, &stop)? else {
        return Ok(Exit::Foreign(SIGNALLED));
    };
    earlier_states::attach(&mut request.workload, &orders.states)?;
    if let Some(command) = orders
        .trigger
        .as_ref()
        .and_then(|trigger| trigger.command.as_ref())
        && !orders.how.allow_exec
    {
        bail!(
            "--trigger={command}: commands are run only with --allow-exec: add it, or leave the command out"
        );
    }
    let planned = Planned::new(request)?;
    let allowed = Allowed::from_env();
    check_outputs(orders, &planned.plan, &allowed)?;
    let caught = signals::caught()?;
    let out = Out::open(orders.outputs.to.as_deref(), orders.force, &allowed)?;
    let asked = signals::report_flag()?;
    let begun = (orders.begun, asked, caught);
    let mut shown = Shown::new(&request.workload, options, orders.outputs, out, begun);
    shown.ends_by(orders.trigger.clone(), &stop);
    let how = allowed.widen(&orders.how, &planned.plan);
    let mut open = |name: &str, opening| logs::open(Path::new(name), opening, orders.force, &allowed);
    for line in &orders.debug {
        shown.always(line);
    }
    let code = carry_out(planned, &how, (&stop, &mut open, recordings), &mut shown)?;
    leave_bandwidth(orders, &allowed, &mut shown)?;
    let kept = states::leave(&shown.take_states(), &orders.states, orders.force, &allowed);
    if let Err(error) = kept {
        // As with fio, that is no failure of the job.
        shown.error(&format!("fio: {error:#}"));
    }
    let trigger = shown.take_trigger();
    shown.finish()?;
    let Some(trigger) = trigger else {
        return Ok(Exit::Foreign(code));
    };
    trigger.carry_out()?;
    // It was to be ended.
    Ok(Exit::Foreign(if code == SIGNALLED { 0 } else { code }))
}

/// Has each worker counted by itself; the options of the jobs as fio tells them.
pub(super) fn prepare(request: &mut Request) -> Options {
    for job in &mut request.workload.jobs {
        job.count_workers = true;
    }
    Options::new(&request.written)
}

/// Carries a plan out: permission, files, logs, the load, results. The exit.
///
/// # Errors
/// Nothing was measured.
pub(super) fn carry_out(
    mut planned: Planned<'_>,
    how: &How,
    (stop, open, recordings): (&Arc<AtomicBool>, &mut Opener<'_>, Recordings),
    shown: &mut dyn Shows,
) -> anyhow::Result<u8> {
    let system = SystemRoot::default();
    shown.header();
    commands_are_allowed(planned.request, how)?;
    planned.request.machine.check(&planned.plan)?;
    let session =
        Session::open(&system, how, stop, &planned.plan, shown).map_err(|refused| with_remedy(&refused))?;
    let logs = RunLogs::begin_with(&planned.plan, open)?;
    for line in layouts(&planned.plan) {
        shown.normal(&line);
    }
    if session.lay_out(&mut planned.plan, shown)?.is_none() {
        return Ok(SIGNALLED);
    }
    let conduct = Conduct {
        interval: interval(&planned.request.workload),
        tap: logs.as_ref().map(RunLogs::tap),
        recordings,
        ..Conduct::default()
    };
    let mut measured = session.measure(&planned, None, &conduct, shown)?;
    if let (Measured::Ended { accounts, .. }, Some(logs)) = (&mut measured, &logs) {
        logs.retell(accounts);
    }
    let kept = logs.map_or(Ok(()), RunLogs::finish);
    match measured {
        Measured::Ended {
            run, accounts, end, ..
        } => {
            tell_errors(&run, &accounts, shown);
            let code = code_of(&run, &accounts, end, kept, shown);
            shown.ended(&accounts, &run.summary.disks, code);
            Ok(code)
        }
        Measured::NotStarted { message } => {
            // fio ends its report all the same, which has nothing in it.
            shown.error(&format!("fio: {message}"));
            shown.normal("\n\nRun status group 0 (all jobs):\n");
            Ok(1)
        }
    }
}

/// What was refused, and how to allow a script that.
fn with_remedy(refused: &Refused) -> anyhow::Error {
    anyhow::anyhow!(
        "{refused}; for a script, {}=PATH:PATH… names files, folders or devices that may be overwritten",
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
        out::check(path, orders.force, allowed, &is_output)?;
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
fn tell_errors(run: &Run, accounts: &[WorkerAccount], shown: &mut dyn Shows) {
    for warning in &run.summary.warnings {
        if matches!(warning, Warning::TargetTaken { .. }) {
            shown.error(&format!("fio: {}", warning.in_full()));
        }
    }
    for account in accounts {
        let job = run.workload.jobs.get(account.job as usize);
        let told = |error: &&RunError| {
            job.is_none_or(|job| job.reporting.tells_tolerated_errors || !is_tolerated(job, error))
        };
        for error in account.errors.iter().filter(told) {
            shown.error(&format!("fio: {}", in_words(error)));
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

/// Whether an error is one that the job was to go on after. What verification finds is told whatever becomes of the job.
fn is_tolerated(job: &Job, error: &RunError) -> bool {
    match error.what.as_str() {
        "read" => job.on_error.read,
        "write" | "trim" | "sync" => job.on_error.write,
        _ => false,
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
fn code_of(
    run: &Run,
    accounts: &[WorkerAccount],
    end: End,
    kept: anyhow::Result<()>,
    shown: &mut dyn Shows,
) -> u8 {
    let mut failed = accounts.iter().filter(|account| account.failed).count();
    let taken = |warning: &Warning| matches!(warning, Warning::TargetTaken { .. });
    if run.summary.warnings.iter().any(taken) {
        failed = failed.max(1);
    }
    if let Err(error) = kept {
        shown.error(&format!("fio: {error:#}"));
        failed = failed.max(1);
    }
    match end {
        End::Interrupted => SIGNALLED,
        End::Done | End::Errors => failed.min(FAILED_MAX) as u8,
    }
}

/// The logs of all bandwidth, where they were asked for.
fn leave_bandwidth(orders: &Orders<'_>, allowed: &Allowed, shown: &mut Shown<'_>) -> anyhow::Result<()> {
    let Some(prefix) = &orders.outputs.bandwidth_log else {
        return Ok(());
    };
    for (name, rows) in shown.bandwidth_logs() {
        let path = PathBuf::from(format!("{prefix}{name}"));
        logs::leave(&path, rows.as_bytes(), orders.force, allowed).context("the logs of all bandwidth")?;
    }
    Ok(())
}

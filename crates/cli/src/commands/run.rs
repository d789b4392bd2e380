//! `fathom run`: from the command line to the report.
//!
//! Data in: arguments as typed. Data out: a report on stdout, a run directory, an exit. The order is what matters here:
//! all that may refuse comes before anything is touched.

mod dry_run;

use crate::allowed::Allowed;
use crate::args::{RunArgs, Settings};
use crate::commands::logs::RunLogs;
use crate::commands::serve::{self, Serving};
use crate::exit::{self, Exit};
use crate::recorded::{iologs, states};
use crate::request;
use crate::terminal::live::Live;
use crate::terminal::{self, signals, tell};
use anyhow::bail;
use fathom_core::run::{Run, Target};
use fathom_core::workload::{Commands, EngineKind, Job};
use fathom_door::output;
use fathom_observe::SystemRoot;
use fathom_report::{Style, json, text};
use fathom_session::{
    AfterTouching as _, Conduct, How, Measured, Output, Planned, Request, Session, behind,
    libaio_where_blocked,
};
use std::mem::ManuallyDrop;
use std::path::Path;

/// Carries `fathom run` out.
pub(crate) fn run(args: &RunArgs) -> anyhow::Result<Exit> {
    // Job files can be large, and the process ends behind this: nobody waits for their memory to be freed piece by piece.
    let Some(mut request) = request::resolve(args)?.map(ManuallyDrop::new) else {
        return Ok(Exit::Wrong);
    };
    if args.libaio_if_blocked {
        libaio_where_blocked(&SystemRoot::default(), &mut request);
    }
    let aimed = args.on.is_some();
    let Some(recordings) = iologs::attach(&mut request.workload, aimed, signals::stop_flag()?.as_ref())?
    else {
        terminal::say("interrupted while a record was looked through: nothing was touched");
        return Ok(Exit::Interrupted);
    };
    states::attach(&mut request.workload, Path::new(""))?;
    let how = Conduct {
        recordings,
        ..Conduct::default()
    };
    conduct(&request, &args.settings, &how)
}

/// Carries a workload out, however it was asked for: the steps of [`fathom_session::Session`].
pub(crate) fn conduct(request: &Request, settings: &Settings, conduct: &Conduct) -> anyhow::Result<Exit> {
    if !settings.how.streams.is_none() && settings.output == Output::None {
        bail!("--record keeps its streams in the run directory: leave out -o none");
    }
    commands_are_allowed(request, &settings.how)?;
    let system = SystemRoot::default();
    let planned = Planned::new(request);
    if settings.dry_run {
        return dry_run::show(&system, request, planned, settings);
    }
    let known = match &planned {
        Ok(planned) => planned.warnings.clone(),
        Err(_) => request.warnings.clone(),
    };
    // Each warning is said once: by the report, or here.
    let report_follows = settings.report_follows();
    if !report_follows {
        tell::warnings(&known);
    }
    let end = planned
        .map_err(Into::into)
        .and_then(|planned| measure(&system, planned, settings, conduct));
    if report_follows && !matches!(end, Ok((_, true))) {
        tell::warnings(&known);
    }
    end.map(|(exit, _)| exit)
}

/// Whether commands that jobs name may be run.
///
/// # Errors
/// There are such, and nobody allowed them.
pub(crate) fn commands_are_allowed(request: &Request, how: &How) -> anyhow::Result<()> {
    let mut jobs = request.workload.jobs.iter();
    match jobs.find(|job| runs_something(job) && !how.allow_exec) {
        None => Ok(()),
        Some(job) => bail!(
            "{}: a job file runs commands (exec_prerun, exec_postrun, ioengine=exec) only with --allow-exec: add it, or leave them out",
            job.name
        ),
    }
}

fn runs_something(job: &Job) -> bool {
    job.commands != Commands::default() || job.engine.kind == EngineKind::Exec
}

/// All that may refuse, then the files, then the run. How it ended, and whether its report was printed.
fn measure(
    system: &SystemRoot,
    mut planned: Planned<'_>,
    settings: &Settings,
    conduct: &Conduct,
) -> anyhow::Result<(Exit, bool)> {
    let request = planned.request;
    request.machine.check(&planned.plan)?;
    let stop = signals::stop_flag()?;
    let serving = Serving::begin(
        &settings.serve,
        system,
        &subject(request, &request.machine.target(system, &planned.plan)),
    )?;
    let mut live = Live::new(settings.quiet);
    let allowed = Allowed::from_env();
    let how = allowed.widen(&settings.how, &planned.plan);
    let mut live = serving.watched(&mut live);
    let session = Session::open(system, &how, &stop, &planned.plan, &mut live)?;
    let logs = RunLogs::begin(&planned.plan, settings.force, &allowed)?;
    let dir = fathom_session::reserve_directory(&settings.output, request.name())?;
    let Some(laid_out) = session.lay_out(&mut planned.plan, &mut live)? else {
        terminal::say("interrupted while files were laid out: nothing was measured");
        return Ok((Exit::Interrupted, false));
    };
    let conduct = Conduct {
        tap: logs.as_ref().map(RunLogs::tap),
        ..conduct.clone()
    };
    let measured = session.measure(&planned, dir.as_deref(), &conduct, &mut live);
    let logged = logs.map_or(Ok(()), RunLogs::finish);
    match behind(&laid_out, measured)? {
        Measured::Ended { run, end, .. } => {
            report(&run, settings).after_touching(|| tell::kept(dir.as_deref()))?;
            tell::place_of_run(dir.as_deref(), settings.quiet);
            logged.after_touching(|| tell::kept(dir.as_deref()))?;
            serving.end(&stop);
            Ok((end.into(), true))
        }
        Measured::NotStarted { message } => {
            let (exit, message) = exit::not_started(&message, laid_out);
            terminal::error(&message);
            Ok((exit, false))
        }
    }
}

/// What is measured, for who looks.
fn subject<'a>(request: &'a Request, target: &'a Target) -> serve::Subject<'a> {
    let jobs = request.workload.jobs.iter().map(|job| job.name.clone());
    serve::Subject {
        title: request.name().to_owned(),
        jobs: jobs.collect(),
        machine: &request.machine,
        environment: &request.environment,
        target,
        sweep_steps: None,
    }
}

/// The report, on stdout or in the file that was asked for.
pub(crate) fn report(run: &Run, settings: &Settings) -> anyhow::Result<()> {
    if settings.json {
        return terminal::print(&json::summary(run));
    }
    match &settings.report {
        None => terminal::print(&text::render(run, terminal::stdout_style(settings.colour))),
        Some(path) => {
            let text = text::render(run, Style::default());
            Ok(output::leave(path, text.as_bytes(), settings.force)?)
        }
    }
}

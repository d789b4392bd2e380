//! `fathom run`: from the command line to the report.
//!
//! Data in: arguments as typed. Data out: a report on stdout, a run directory, an exit. The order is what matters here:
//! all that may refuse comes before anything is touched.

use crate::args::{Output, RunArgs, Settings};
use crate::exit::{self, AfterTouching as _, Exit};
use crate::live::Live;
use crate::measure::{self, Asked, Company, Measured};
use crate::prepare::{self, Prepared};
use crate::record;
use crate::request::{self, Request};
use crate::{dry_run, preflight, run_modelled, safety, signals, tell, terminal};
use anyhow::bail;
use fathom_core::run::Run;
use fathom_door::output;
use fathom_engine::plan::Plan;
use fathom_observe::SystemRoot;
use fathom_report::{Style, json, text};
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};

/// Carries `fathom run` out.
pub(crate) fn run(args: &RunArgs) -> anyhow::Result<Exit> {
    // Job files can be large, and the process ends behind this: nobody waits for their memory to be freed piece by piece.
    match request::resolve(args)?.map(ManuallyDrop::new) {
        Some(request) => carry_out(&request, &args.settings),
        None => Ok(Exit::Wrong),
    }
}

/// Carries a workload out, however it was asked for.
pub(crate) fn carry_out(request: &Request, settings: &Settings) -> anyhow::Result<Exit> {
    if !settings.record.is_none() && settings.output == Output::None {
        bail!("--record keeps its streams in the run directory: leave out -o none");
    }
    if let Some(spec) = &request.model {
        return run_modelled::carry_out(request, spec, settings);
    }
    let system = SystemRoot::default();
    let plan = Plan::new(&request.workload);
    if settings.dry_run {
        return dry_run::show(&system, request, plan, settings);
    }
    let known = match &plan {
        Ok(plan) => measure::known(request, plan),
        Err(_) => request.warnings.clone(),
    };
    let report_follows = settings.report_follows();
    if !report_follows {
        tell::warnings(&known);
    }
    let asked = Asked {
        system: &system,
        request,
        settings,
        known: &known,
    };
    let end = plan.map_err(Into::into).and_then(|plan| from_plan(asked, plan));
    if report_follows && !matches!(end, Ok(End::Reported(_))) {
        tell::warnings(&known);
    }
    end.map(|end| match end {
        End::Reported(exit) | End::Unreported(exit) => exit,
    })
}

/// How a run ended, and whether its report was printed.
#[derive(Debug, Clone, Copy)]
enum End {
    Reported(Exit),
    Unreported(Exit),
}

/// All that may refuse, then the files, then the run.
fn from_plan(asked: Asked<'_>, mut plan: Plan) -> anyhow::Result<End> {
    let Asked {
        system,
        request,
        settings,
        ..
    } = asked;
    preflight::check(&plan)?;
    let permitted = match safety::permit(system, &plan, settings) {
        Ok(permitted) => permitted,
        Err(refusals) => return Ok(End::Unreported(tell::refused(&refusals))),
    };
    let stop = signals::stop_flag()?;
    let dir = record::reserve(&settings.output, request.name())?;
    let mut live = Live::new(settings.quiet);
    let end = match prepare::prepare(&mut plan, &permitted, &mut live, &stop) {
        Ok(Prepared::Ready { laid_out }) => {
            tell_unmarked(&permitted.unmarked(), settings);
            let company = Company::new(live);
            let measured = measure::real(asked, &plan, &permitted, dir.as_deref(), company, &stop);
            match exit::behind(&laid_out, measured)? {
                Measured::Ended { run, exit, .. } => {
                    report(&run, settings).after_touching(|| kept(dir.as_deref()))?;
                    tell_place(dir.as_deref(), settings);
                    End::Reported(exit)
                }
                Measured::NotStarted { message } => {
                    let (exit, message) = exit::not_started(&message, laid_out);
                    terminal::error(&message);
                    End::Unreported(exit)
                }
            }
        }
        Ok(Prepared::Interrupted) => {
            terminal::say("interrupted while files were laid out: nothing was measured");
            End::Unreported(Exit::Interrupted)
        }
        Err(error) => {
            return Err(error);
        }
    };
    // Devices were held until here.
    drop(permitted);
    Ok(end)
}

pub(crate) fn tell_unmarked(unmarked: &[PathBuf], settings: &Settings) {
    if let (Some(first), false) = (unmarked.first(), settings.quiet) {
        let first = first.display();
        let more = match unmarked.len() {
            1 => String::new(),
            n => format!(" (and {} more files)", n - 1),
        };
        terminal::note(&format!(
            "{first}{more} could not be marked as made by fathom (the file system has no user attributes): the \
             next run that writes to it needs --allow-overwrite {first}"
        ));
    }
}

/// Where a run is kept, as something that stays.
pub(crate) fn kept(dir: Option<&Path>) -> Vec<String> {
    dir.map(|dir| format!("the run in {}", dir.display()))
        .into_iter()
        .collect()
}

/// Says where the run is kept.
pub(crate) fn tell_place(dir: Option<&Path>, settings: &Settings) {
    if let (Some(place), false) = (dir.map(Path::display), settings.quiet) {
        terminal::say(&format!(
            "recorded in {place}; to print this again:\n  fathom show {place}"
        ));
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

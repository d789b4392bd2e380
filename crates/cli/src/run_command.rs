//! `fathom run`: from the command line to the report.
//!
//! Data in: arguments as typed. Data out: a report on stdout, a run directory, an exit. The order is what matters here:
//! all that may refuse comes before anything is touched.

use crate::args::{RunArgs, Settings};
use crate::conditions;
use crate::exit::Exit;
use crate::live::Live;
use crate::outcome::{self, Counters};
use crate::prepare::{self, Prepared};
use crate::record::{self, Recorder};
use crate::request::{self, Request};
use crate::{preflight, safety, signals, start_error, terminal};
use anyhow::Context;
use fathom_core::run::{Run, SeriesRow, Warning};
use fathom_engine::plan::{Plan, PlanError};
use fathom_engine::run::{Hooks, Options, Progress, Results};
use fathom_observe::SystemRoot;
use fathom_report::{Style, dry_run, json, text};
use fathom_sys::clock::HostClock;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Carries `fathom run` out.
pub(crate) fn run(args: &RunArgs) -> anyhow::Result<Exit> {
    match request::resolve(args)? {
        Some(request) => carry_out(&request, &args.settings),
        None => Ok(Exit::Wrong),
    }
}

/// Carries a workload out, however it was asked for.
pub(crate) fn carry_out(request: &Request, settings: &Settings) -> anyhow::Result<Exit> {
    let system = SystemRoot::default();
    let plan = Plan::new(&request.workload);
    if settings.dry_run {
        return show_plan(&system, request, &plan, settings);
    }
    let mut plan = plan?;
    preflight::check(&plan, request.machine.memory_bytes)?;
    let permissions = match safety::permit(&system, &plan, settings) {
        Ok(permissions) => permissions,
        Err(refusals) => {
            for refusal in refusals {
                terminal::error(&format!("refused: {refusal}"));
            }
            return Ok(Exit::Refused);
        }
    };
    let first_job = request
        .workload
        .jobs
        .first()
        .map_or("run", |job| job.name.as_str());
    let dir = record::reserve(&settings.output, first_job)?;
    let stop = signals::stop_flag()?;
    let mut live = Live::new(settings.quiet);
    let prepared = prepare::prepare(&mut plan, &mut live, &stop);
    let exit = match prepared {
        Ok(Prepared::Ready { unmarked }) => {
            tell_unmarked(&unmarked, settings);
            let measured = measure(&system, request, &plan, settings, dir, live, &stop);
            measured?
        }
        Ok(Prepared::Interrupted) => {
            record::release(dir.as_deref());
            terminal::say("interrupted while files were laid out: nothing was measured");
            Exit::Interrupted
        }
        Err(error) => {
            record::release(dir.as_deref());
            return Err(error);
        }
    };
    // Devices were held until here.
    drop(permissions);
    Ok(exit)
}

/// `--dry-run`: what would be done.
fn show_plan(
    system: &SystemRoot,
    request: &Request,
    plan: &Result<Plan, PlanError>,
    settings: &Settings,
) -> anyhow::Result<Exit> {
    if settings.json {
        let document = serde_json::json!({ "written": request.written, "workload": request.workload });
        terminal::print(&format!("{document:#}\n"))?;
    } else {
        let target = plan.as_ref().ok().map(|plan| conditions::aim(system, plan));
        let style = terminal::stdout_style(settings.colour);
        terminal::print(&dry_run::render(&request.workload, target.as_ref(), style))?;
    }
    match plan {
        Ok(_) => Ok(Exit::Done),
        Err(error) => {
            let cause = std::error::Error::source(error).map(|cause| format!(": {cause}"));
            terminal::error(&format!("{error}{}", cause.unwrap_or_default()));
            Ok(Exit::Wrong)
        }
    }
}

fn tell_unmarked(unmarked: &[String], settings: &Settings) {
    if let (Some(first), false) = (unmarked.first(), settings.quiet) {
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

/// The run itself, once its files are ready.
fn measure(
    system: &SystemRoot,
    request: &Request,
    plan: &Plan,
    settings: &Settings,
    dir: Option<PathBuf>,
    live: Live,
    stop: &Arc<AtomicBool>,
) -> anyhow::Result<Exit> {
    let clock = HostClock::new();
    let mut conditions = conditions::look(system, plan, &request.machine, &clock);
    let disks = conditions.disks.take();
    let mut run = outcome::before(request, &conditions, &settings.words, &clock);
    let place = dir.as_ref().map(|dir| dir.display().to_string());
    let recorder = dir.map(|dir| Recorder::begin(&dir, &run)).transpose()?;
    let mut hooks = Watchers { live, recorder };
    let options = Options {
        stop: Arc::clone(stop),
        clock: clock.clone(),
        hook: None,
    };
    let counters = Counters::begin(&clock, disks);
    let results = fathom_engine::run::run(plan, &options, &mut hooks);
    let used = counters.end(system, &clock);
    hooks.live.finish();
    let results = match results {
        Ok(results) => results,
        Err(error) => {
            if let Some(recorder) = hooks.recorder {
                recorder.abandon();
            }
            terminal::error(&start_error::explain(system, &error));
            return Ok(Exit::Wrong);
        }
    };
    outcome::complete(&mut run, &results, used, &clock);
    run.summary.floor = plan
        .jobs
        .first()
        .and_then(|job| fathom_engine::run::floor(job, &clock));
    let exit = finish(&mut run, results, hooks.recorder);
    report(&run, settings)?;
    if let (Some(place), false) = (place, settings.quiet) {
        terminal::say(&format!(
            "recorded in {place}: `fathom show {place}` prints this again"
        ));
    }
    Ok(exit)
}

/// Judges the run and completes its record.
fn finish(run: &mut Run, results: Results, recorder: Option<Recorder>) -> Exit {
    let Some(recorder) = recorder else {
        outcome::judge(run);
        return outcome::exit(run);
    };
    let closed = recorder.close();
    run.summary.warnings.extend(closed.warnings.iter().cloned());
    outcome::judge(run);
    let mut exit = outcome::exit(run);
    if !closed.warnings.is_empty() && exit == Exit::Done {
        exit = Exit::Errors;
    }
    if let Err(error) = closed.finish(run, results.histograms) {
        // The report must still come: it is all that is left.
        run.summary.warnings.push(Warning::RecordIncomplete {
            detail: error.to_string(),
        });
        terminal::error(&error.to_string());
        if exit == Exit::Done {
            exit = Exit::Errors;
        }
    }
    exit
}

/// The report, on stdout or in the file that was asked for.
fn report(run: &Run, settings: &Settings) -> anyhow::Result<()> {
    if settings.json {
        return terminal::print(&json::summary(run));
    }
    match &settings.report {
        None => terminal::print(&text::render(run, terminal::stdout_style(settings.colour))),
        Some(path) => std::fs::write(path, text::render(run, Style::default()))
            .with_context(|| format!("cannot write the report to {}", path.display())),
    }
}

/// Who takes part in a run.
struct Watchers {
    live: Live,
    recorder: Option<Recorder>,
}

impl Hooks for Watchers {
    fn progress(&mut self, progress: &Progress) {
        self.live.progress(progress);
    }
    fn rows(&mut self, rows: &[SeriesRow]) {
        if let Some(recorder) = &mut self.recorder {
            recorder.rows(rows);
        }
    }
}

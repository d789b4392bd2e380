//! `fathom run`: from the command line to the report.
//!
//! Data in: arguments as typed. Data out: a report on stdout, a run directory, an exit. The order is what matters here:
//! all that may refuse comes before anything is touched.

use crate::args::{Output, RunArgs, Settings};
use crate::conditions;
use crate::exit::Exit;
use crate::live::Live;
use crate::outcome::{self, Counters};
use crate::prepare::{self, Prepared};
use crate::record;
use crate::recorder::Recorder;
use crate::request::{self, Request};
use crate::streams::{EndedStreams, StreamRecorder, Subject, VirtualStreams};
use crate::{clip, dry_run, preflight, run_modelled, safety, signals, start_error, tell, terminal};
use anyhow::{Context, bail};
use fathom_core::run::{HistogramRow, Run, SeriesRow, Warning};
use fathom_core::units::MonoTime;
use fathom_core::virtual_disk::VirtualDisk;
use fathom_engine::plan::Plan;
use fathom_engine::run::{Hooks, Options, Progress};
use fathom_observe::SystemRoot;
use fathom_report::{Style, json, text};
use fathom_sys::clock::HostClock;
use fathom_sys::heap;
use std::path::Path;
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
    let mut known = request.warnings.clone();
    if let Ok(plan) = &plan {
        known.extend(clip::clipped(plan));
    }
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

/// What is to be carried out, and how.
#[derive(Clone, Copy)]
struct Asked<'a> {
    system: &'a SystemRoot,
    request: &'a Request,
    settings: &'a Settings,
    /// What to warn of, as far as it is known before anything is touched.
    known: &'a [Warning],
}

/// All that may refuse, then the files, then the run.
fn from_plan(asked: Asked<'_>, mut plan: Plan) -> anyhow::Result<End> {
    let Asked {
        system,
        request,
        settings,
        ..
    } = asked;
    preflight::check(&plan, request.machine.memory_bytes)?;
    let permissions = match safety::permit(system, &plan, settings) {
        Ok(permissions) => permissions,
        Err(refusals) => return Ok(End::Unreported(tell::refused(&refusals))),
    };
    let dir = record::reserve(&settings.output, request.name())?;
    let stop = signals::stop_flag()?;
    let mut live = Live::new(settings.quiet);
    let end = match prepare::prepare(&mut plan, &mut live, &stop) {
        Ok(Prepared::Ready { unmarked }) => {
            tell_unmarked(&unmarked, settings);
            measure(asked, &plan, dir.as_deref(), live, &stop)?
        }
        Ok(Prepared::Interrupted) => {
            record::release(dir.as_deref());
            terminal::say("interrupted while files were laid out: nothing was measured");
            End::Unreported(Exit::Interrupted)
        }
        Err(error) => {
            record::release(dir.as_deref());
            return Err(error);
        }
    };
    // Devices were held until here.
    drop(permissions);
    Ok(end)
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
    asked: Asked<'_>,
    plan: &Plan,
    dir: Option<&Path>,
    live: Live,
    stop: &Arc<AtomicBool>,
) -> anyhow::Result<End> {
    let Asked {
        system,
        request,
        settings,
        known,
    } = asked;
    // Batches on their way to the disk come and go: memory must not grow with the time that it goes on.
    heap::return_large_blocks();
    let clock = HostClock::new();
    let mut conditions = conditions::look(system, plan, &request.machine, &clock);
    let disks = conditions.disks.take();
    let mut run = outcome::before(request, known, &conditions, &settings.words, &clock);
    let recorder = dir.map(|dir| Recorder::begin(dir, &run)).transpose()?;
    let recorded = dir.filter(|_| !settings.record.is_none());
    let streams = recorded.map(|dir| begin_streams(dir, asked, plan, &run, &clock));
    let (recorder, streams) = Recorder::beside(recorder, streams.transpose())?;
    let mut hooks = Watchers {
        live,
        recorder,
        virtual_streams: None,
        lossless: false,
    };
    let options = Options {
        stop: Arc::clone(stop),
        clock: clock.clone(),
        hook: None,
        recording: streams.as_ref().and_then(StreamRecorder::recording),
    };
    let counters = Counters::begin(&clock, disks);
    let results = fathom_engine::run::run(plan, &options, &mut hooks);
    let used = counters.end(system, &clock);
    hooks.live.finish();
    let streams = streams.map(StreamRecorder::end);
    let results = match results {
        Ok(results) => results,
        Err(error) => {
            if let Some(recorder) = hooks.recorder {
                recorder.abandon();
            }
            terminal::error(&start_error::explain(system, &error));
            return Ok(End::Unreported(Exit::Wrong));
        }
    };
    outcome::complete(&mut run, &results, used, &clock);
    run.summary.floor = plan
        .jobs
        .first()
        .and_then(|job| fathom_engine::run::floor(job, &clock));
    let exit = finish(&mut run, results.histograms, hooks.recorder, streams);
    report(&run, settings)?;
    tell_place(dir, settings);
    Ok(End::Reported(exit))
}

/// Opens the streams of the record, and says what the system does not allow.
fn begin_streams(
    dir: &Path,
    asked: Asked<'_>,
    plan: &Plan,
    run: &Run,
    clock: &HostClock,
) -> anyhow::Result<StreamRecorder> {
    let subject = Subject {
        asked: asked.settings.record,
        files: &run.summary.target.files,
        workers: plan.jobs.iter().map(|job| job.workers.len()).sum(),
        thread_names: &thread_names(plan),
    };
    let streams = StreamRecorder::begin(dir, asked.system, subject, clock)?;
    if !asked.settings.quiet {
        streams.tell_missing();
    }
    Ok(streams)
}

/// What the names of the workers' threads begin with, as the kernel keeps them: 15 bytes at most.
fn thread_names(plan: &Plan) -> Vec<String> {
    let name = |name: &str| {
        let end = name.floor_char_boundary(15);
        name[..end].to_owned()
    };
    plan.jobs.iter().map(|job| name(&job.job.name)).collect()
}

/// Says where the run is kept.
pub(crate) fn tell_place(dir: Option<&Path>, settings: &Settings) {
    if let (Some(place), false) = (dir.map(Path::display), settings.quiet) {
        terminal::say(&format!(
            "recorded in {place}; to print this again:\n  fathom show {place}"
        ));
    }
}

/// Judges the run and completes its record.
pub(crate) fn finish(
    run: &mut Run,
    histograms: Vec<HistogramRow>,
    recorder: Option<Recorder>,
    streams: Option<EndedStreams>,
) -> Exit {
    let Some(recorder) = recorder else {
        outcome::judge(run);
        return outcome::exit(run);
    };
    let mut closed = recorder.close();
    if let Some(streams) = streams {
        run.summary.streams = streams.summaries;
        closed.streams = streams.ends;
        closed.warnings.extend(streams.warnings);
    }
    run.summary.warnings.extend(closed.warnings.iter().cloned());
    outcome::judge(run);
    let mut exit = outcome::exit(run);
    if !closed.warnings.is_empty() && exit == Exit::Done {
        exit = Exit::Errors;
    }
    if let Err(error) = closed.finish(run, histograms) {
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
pub(crate) fn report(run: &Run, settings: &Settings) -> anyhow::Result<()> {
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
pub(crate) struct Watchers {
    /// Shows progress.
    pub live: Live,
    /// Keeps the run.
    pub recorder: Option<Recorder>,
    /// Keeps what a modelled machine did.
    pub virtual_streams: Option<VirtualStreams>,
    /// Whether the run waits for its record: virtual time loses nothing by it.
    pub lossless: bool,
}

impl Hooks for Watchers {
    fn progress(&mut self, progress: &Progress) {
        self.live.progress(progress);
    }
    fn rows(&mut self, rows: &[SeriesRow]) {
        if let Some(recorder) = &mut self.recorder {
            if self.lossless {
                recorder.rows_surely(rows);
            } else {
                recorder.rows(rows);
            }
        }
    }
    fn second(&mut self, disk: &mut dyn VirtualDisk, now: MonoTime) {
        if let Some(streams) = &self.virtual_streams {
            streams.second(disk, now);
        }
    }
    fn histograms(&mut self, rows: Vec<HistogramRow>) {
        if let Some(recorder) = &mut self.recorder {
            recorder.histograms(rows);
        }
    }
}

//! The measured part of a command, from a plan whose files are ready to a finished record.
//!
//! Data in: what was asked, a permitted plan, the place of the record, who watches. Data out: the run as recorded and how the
//! program should end. On this machine ([`real`]) or on a modelled one ([`modelled`]). It must not print results.

use crate::args::Settings;
use crate::exit::Exit;
use crate::guard::Guard;
use crate::live::Live;
use crate::outcome::{self, Counters, Used};
use crate::recorder::Recorder;
use crate::request::Request;
use crate::safety::Permitted;
use crate::stops::{self, StopWatch};
use crate::streams::{EndedStreams, StreamRecorder, Subject, VirtualStreams};
use crate::{clip, conditions, modelled as model, run_modelled, start_error, terminal};
use fathom_core::run::{HistogramRow, Run, SeriesRow, Warning};
use fathom_core::units::{MonoTime, Nanos};
use fathom_core::virtual_disk::{Trace, VirtualDisk};
use fathom_core::workload::Workload;
use fathom_engine::plan::{Plan, PlanError};
use fathom_engine::run::{Hooks, Options, Progress};
use fathom_model::Spec;
use fathom_observe::{SystemRoot, trace};
use fathom_report::in_full;
use fathom_sys::clock::HostClock;
use fathom_sys::heap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// What is to be carried out, and how.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    /// This machine.
    pub system: &'a SystemRoot,
    /// What is to be run.
    pub request: &'a Request,
    /// How.
    pub settings: &'a Settings,
    /// What to warn of, as far as it is known before anything is touched.
    pub known: &'a [Warning],
}

/// What came of it.
pub(crate) enum Measured {
    /// A run, complete or not.
    Ended {
        /// As recorded.
        run: Box<Run>,
        /// All latency buckets.
        histograms: Arc<Vec<HistogramRow>>,
        /// How the program ends after it.
        exit: Exit,
        /// What of its record could not be kept; `None`: nothing.
        unkept: Option<String>,
    },
    /// The first workers could not start: nothing was measured and nothing is recorded.
    NotStarted {
        /// Why, and what to do.
        message: String,
    },
}

/// The plan of a workload on the machine of `model`, or on this one.
///
/// # Errors
/// It cannot be carried out there.
pub(crate) fn plan(workload: &Workload, model: Option<&Spec>) -> Result<Plan, PlanError> {
    match model {
        Some(spec) => Plan::modelled(workload, spec.volume_bytes()),
        None => Plan::new(workload),
    }
}

/// What to know of the numbers before there are any.
pub(crate) fn known(request: &Request, plan: &Plan) -> Vec<Warning> {
    let mut known = request.warnings.clone();
    known.extend(clip::clipped(plan));
    if let Some(spec) = &request.model {
        known.extend(run_modelled::warnings_of(&request.workload, spec));
    }
    known
}

/// Somebody who watches a run beside its record and its progress on the terminal.
pub(crate) trait Watch {
    /// Ten times a second of real time.
    fn progress(&mut self, progress: &Progress) {
        let _ = progress;
    }
    /// The rows of one or more intervals that have ended.
    fn rows(&mut self, rows: &[SeriesRow]) {
        let _ = rows;
    }
}

/// Who goes along with a run.
pub(crate) struct Company<'a> {
    /// Shows progress.
    pub live: Live,
    /// Watches, too.
    pub also: Option<&'a mut dyn Watch>,
    /// Set by who watches when enough is known: the run ends, and is complete.
    pub enough: Arc<AtomicBool>,
    /// Whether rows are handed over as soon as their interval is over, in virtual time too.
    pub rows_at_once: bool,
    /// How long the intervals of the series are.
    pub interval: Nanos,
}

impl Company<'_> {
    /// Only the terminal.
    pub(crate) fn new(live: Live) -> Self {
        Self {
            live,
            also: None,
            enough: Arc::default(),
            rows_at_once: false,
            interval: Nanos::from_secs(1),
        }
    }

    fn options(&self, stop: &Arc<AtomicBool>, clock: &HostClock) -> Options {
        Options {
            enough: Arc::clone(&self.enough),
            rows_at_once: self.rows_at_once,
            interval: self.interval,
            ..Options::new(Arc::clone(stop), clock.clone())
        }
    }
}

/// Carries a plan out on this machine, once its files are ready.
///
/// # Errors
/// The record cannot be begun.
pub(crate) fn real(
    asked: Asked<'_>,
    plan: &Plan,
    permitted: &Permitted,
    dir: Option<&Path>,
    company: Company<'_>,
    stop: &Arc<AtomicBool>,
) -> anyhow::Result<Measured> {
    let Asked {
        system,
        request,
        settings,
        known,
    } = asked;
    // Batches on their way to the disk come and go: memory must not grow with the time that it goes on.
    heap::return_large_blocks();
    trace::sweep_left_over(system);
    let clock = HostClock::new();
    let mut conditions = conditions::look(system, plan, &request.machine, &clock);
    let disks = conditions.disks.take();
    let mut run = outcome::before(request, known, &conditions, &settings.words, &clock);
    let recorder = dir.map(|dir| Recorder::begin(dir, &run)).transpose()?;
    let recorded = dir.filter(|_| !settings.record.is_none());
    let streams = recorded.map(|dir| begin_streams(dir, asked, plan, &run, &clock));
    let (recorder, streams) = Recorder::beside(recorder, streams.transpose())?;
    let options = Options {
        recording: streams.as_ref().and_then(StreamRecorder::recording),
        permits: Arc::clone(&permitted.permits),
        ..company.options(stop, &clock)
    };
    let mut hooks = Watchers {
        live: company.live,
        also: company.also,
        recorder,
        virtual_streams: None,
        lossless: false,
        guard: Some(Guard::new(permitted, system, stop)),
        alive: Arc::default(),
    };
    let stops = StopWatch::begin(&clock, &hooks.alive)?;
    let counters = Counters::begin(&clock, disks);
    let results = fathom_engine::run::run(plan, &options, &mut hooks);
    let used = counters.end(system, &clock);
    let stops = stops.end();
    hooks.live.finish();
    let streams = streams.map(StreamRecorder::end);
    let results = match results {
        Ok(results) => results,
        Err(error) => {
            if let Some(recorder) = hooks.recorder {
                recorder.abandon();
            }
            let message = start_error::explain(system, &error);
            return Ok(Measured::NotStarted { message });
        }
    };
    outcome::complete(&mut run, &results, used, &clock);
    let left = hooks.guard.map(|guard| guard.end(&results)).unwrap_or_default();
    let stopped = stops::warning(&stops, run.started_monotonic_ns);
    run.summary.warnings.extend(left.into_iter().chain(stopped));
    run.summary.floor = plan
        .jobs
        .first()
        .and_then(|job| fathom_engine::run::floor(job, &clock));
    Ok(ended(run, results.histograms, hooks.recorder, streams))
}

/// Carries a plan out on the machine of `spec`, in virtual time.
///
/// # Errors
/// The record cannot be begun, or the machine cannot be put into words.
pub(crate) fn modelled(
    asked: Asked<'_>,
    spec: &Spec,
    plan: &Plan,
    dir: Option<&Path>,
    company: Company<'_>,
    stop: &Arc<AtomicBool>,
) -> anyhow::Result<Measured> {
    let Asked {
        request,
        settings,
        known,
        ..
    } = asked;
    let clock = HostClock::new();
    let conditions = run_modelled::conditions(spec, plan);
    let mut run = outcome::before(request, known, &conditions, &settings.words, &clock);
    run.started_monotonic_ns = MonoTime(0);
    let recorder = dir.map(|dir| Recorder::begin(dir, &run)).transpose()?;
    let recorded = dir.filter(|_| !settings.record.is_none());
    let streams = recorded.map(|dir| VirtualStreams::begin(dir, settings.record));
    let (recorder, streams) = Recorder::beside(recorder, streams.transpose())?;
    let options = Options {
        recording: streams.as_ref().and_then(VirtualStreams::recording),
        ..company.options(stop, &clock)
    };
    let traced = streams.as_ref().map_or(Trace::default(), VirtualStreams::wanted);
    let mut hooks = Watchers {
        live: company.live,
        also: company.also,
        recorder,
        virtual_streams: streams,
        lossless: true,
        guard: None,
        alive: Arc::default(),
    };
    let done = model::carry_out(spec, plan, &options, traced, &mut hooks)?;
    hooks.live.finish();
    outcome::complete(&mut run, &done.results, Used::of_model(done.disks), &clock);
    run.summary.model = Some(done.model);
    // The last hold on what records the I/Os: its keeper then sees their end.
    drop(options);
    let streams = hooks.virtual_streams.map(VirtualStreams::end);
    Ok(ended(run, done.results.histograms, hooks.recorder, streams))
}

fn ended(
    mut run: Run,
    histograms: Vec<HistogramRow>,
    recorder: Option<Recorder>,
    streams: Option<EndedStreams>,
) -> Measured {
    // The thread that writes them may outlive its patience; nobody copies what can be many.
    let histograms = Arc::new(histograms);
    let (exit, unkept) = finish(&mut run, Arc::clone(&histograms), recorder, streams);
    Measured::Ended {
        run: Box::new(run),
        histograms,
        exit,
        unkept,
    }
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

/// Judges the run and completes its record; with what of it could not be kept.
pub(crate) fn finish(
    run: &mut Run,
    histograms: Arc<Vec<HistogramRow>>,
    recorder: Option<Recorder>,
    streams: Option<EndedStreams>,
) -> (Exit, Option<String>) {
    let Some(recorder) = recorder else {
        outcome::judge(run);
        return (outcome::exit(run), None);
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
    let mut unkept = closed.warnings.first().map(in_full);
    if !closed.warnings.is_empty() && exit == Exit::Done {
        exit = Exit::Errors;
    }
    if let Err(error) = closed.finish(run, histograms) {
        // The report must still come: it is all that is left.
        run.summary.warnings.push(Warning::RecordIncomplete {
            detail: error.to_string(),
        });
        terminal::error(&error.to_string());
        unkept.get_or_insert(error.to_string());
        if exit == Exit::Done {
            exit = Exit::Errors;
        }
    }
    (exit, unkept)
}

/// Who takes part in a run.
struct Watchers<'a> {
    /// Shows progress.
    live: Live,
    /// Watches, too.
    also: Option<&'a mut dyn Watch>,
    /// Keeps the run.
    recorder: Option<Recorder>,
    /// Keeps what a modelled machine did.
    virtual_streams: Option<VirtualStreams>,
    /// Whether the run waits for its record: virtual time loses nothing by it.
    lossless: bool,
    /// Guards what is written to; `None`: nothing real is.
    guard: Option<Guard>,
    /// How often this thread has been seen to run.
    alive: Arc<AtomicU64>,
}

impl Hooks for Watchers<'_> {
    fn progress(&mut self, progress: &Progress) {
        if let Some(guard) = &mut self.guard {
            guard.look();
        }
        self.alive.fetch_add(1, Ordering::Relaxed);
        self.live.progress(progress);
        if let Some(also) = &mut self.also {
            also.progress(progress);
        }
    }
    fn rows(&mut self, rows: &[SeriesRow]) {
        if let Some(also) = &mut self.also {
            also.rows(rows);
        }
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

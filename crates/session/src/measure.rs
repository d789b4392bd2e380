//! The load and what goes on beside it: steps 6 to 10 of [`crate::session`].

use crate::event::{Event, Observer, Standing};
use crate::guard::Guard;
use crate::outcome::{self, Counters, Used};
use crate::planned::Planned;
use crate::recorder::Recorder;
use crate::replay::{Reading, Recording};
use crate::request::How;
use crate::session::Session;
use crate::stops::{self, StopWatch};
use crate::streams::{EndedStreams, StreamRecorder, Subject, VirtualStreams};
use crate::tap::{IoTap, Tapping, VirtualTapping};
use crate::{conditions, start_error, virtual_run};
use fathom_core::run::{
    DiskSummary, HistogramRow, IntervalLatency, Run, SeriesRow, Status, Warning, WorkerAccount,
};
use fathom_core::units::{MonoTime, Nanos};
use fathom_core::virtual_disk::{Trace, VirtualDisk};
use fathom_core::workload::TimedBy;
use fathom_engine::plan::Plan;
use fathom_engine::replay::Playback;
use fathom_engine::run::{Hooks, Options, Progress, Results};
use fathom_model::Spec;
use fathom_observe::trace;
use fathom_sys::clock::{ClockSource, HostClock};
use fathom_sys::heap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// What came of a measurement.
#[derive(Debug)]
pub enum Measured {
    /// A run, complete or not.
    Ended {
        /// As recorded.
        run: Box<Run>,
        /// All latency buckets.
        histograms: Arc<Vec<HistogramRow>>,
        /// Each worker by itself, of the jobs that asked for it.
        accounts: Vec<WorkerAccount>,
        end: End,
        /// What of its record could not be kept; `None`: nothing.
        unkept: Option<Warning>,
    },
    /// The first workers could not start: nothing was measured and nothing is recorded.
    NotStarted {
        /// Why, and what to do.
        message: String,
    },
}

/// How a measurement ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// As asked.
    Done,
    /// With errors of I/O or of its record, or before its time for them.
    Errors,
    /// By the user.
    Interrupted,
}

/// How a load is conducted beside what its workload says.
#[derive(Debug, Clone)]
pub struct Conduct {
    /// Set by an observer when enough is known: the run ends, and is complete.
    pub enough: Arc<AtomicBool>,
    /// Whether rows are handed over as soon as their interval is over, in virtual time too.
    pub rows_at_once: bool,
    /// How long the intervals of the series are.
    pub interval: Nanos,
    /// The records that jobs play, each with the number of its section.
    pub recordings: Vec<(u32, Arc<Recording>)>,
    /// Who else takes every I/O, beside the record.
    pub tap: Option<IoTap>,
}

impl Default for Conduct {
    fn default() -> Self {
        Self {
            enough: Arc::default(),
            rows_at_once: false,
            interval: Nanos::from_secs(1),
            recordings: Vec::new(),
            tap: None,
        }
    }
}

impl Conduct {
    /// Begins to read the records that `plan` plays, in virtual time where `waits`.
    fn begin_reading(&self, plan: &Plan, waits: bool, stop: &Arc<AtomicBool>) -> anyhow::Result<Playing> {
        let mut playback: Option<Playback> = None;
        let mut readings = Vec::new();
        for (job, recording) in &self.recordings {
            let workers = plan.jobs.get(*job as usize).map_or(0, |job| job.workers.len());
            let (begun, reading) = recording.begin((*job, workers as u32), waits, stop)?;
            playback = Some(match playback.take() {
                None => begun,
                Some(others) => others.and(begun),
            });
            readings.push(reading);
        }
        Ok(Playing {
            playback: playback.map(Arc::new),
            readings,
        })
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

/// Records that are being read.
struct Playing {
    playback: Option<Arc<Playback>>,
    readings: Vec<Reading>,
}

impl Session<'_> {
    /// Carries a plan out whose files are ready, and keeps it in `dir`.
    ///
    /// # Errors
    /// The record cannot be begun.
    pub fn measure(
        &self,
        planned: &Planned<'_>,
        dir: Option<&Path>,
        conduct: &Conduct,
        observer: &mut dyn Observer,
    ) -> anyhow::Result<Measured> {
        match planned.request.machine.spec() {
            None => real(self, planned, dir, conduct, observer),
            Some(spec) => modelled(self, planned, spec, dir, conduct, observer),
        }
    }
}

/// Carries a plan out on this machine, once its files are ready.
///
/// # Errors
/// The record cannot be begun.
fn real(
    session: &Session<'_>,
    planned: &Planned<'_>,
    dir: Option<&Path>,
    conduct: &Conduct,
    observer: &mut dyn Observer,
) -> anyhow::Result<Measured> {
    let Session {
        system,
        how,
        stop,
        permitted,
    } = session;
    let Planned { request, plan, .. } = planned;
    // Batches on their way to the disk come and go: memory must not grow with the time that it goes on.
    heap::return_large_blocks();
    trace::sweep_left_over(system);
    let clock = clock_of(plan);
    let reading = conduct.begin_reading(plan, false, stop)?;
    let mut conditions = conditions::look(system, plan, &request.environment, &clock);
    let disks = conditions.disks.take();
    let mut run = outcome::before(planned, &conditions, &how.command, &clock);
    let (recorder, streams) = begin_record(dir, how, &run, observer, |dir, observer| {
        begin_streams(dir, session, plan, &run, (&clock, conduct.tap.as_ref()), observer)
    })?;
    let recorded = streams.as_ref().and_then(StreamRecorder::recording);
    // What records each I/O hands it on; without it there are rings for those who tap alone.
    let tapping = match (&conduct.tap, &recorded) {
        (Some(tap), None) => Some(Tapping::begin(tap, plan.worker_count())?),
        _ => None,
    };
    let options = Options {
        recording: recorded.or_else(|| tapping.as_ref().map(Tapping::recording)),
        permits: Arc::clone(&permitted.permits),
        playback: reading.playback.clone(),
        latencies: how.watched,
        allow_exec: how.allow_exec,
        ..conduct.options(stop, &clock)
    };
    let counters = Counters::begin(&clock, disks);
    let disks_so_far = || counters.disks_so_far(system, &clock);
    let mut hooks = Watchers {
        observer,
        recorder,
        virtual_streams: None,
        watched: how.watched,
        lossless: false,
        guard: Some(Guard::new(permitted, system, stop)),
        alive: Arc::default(),
        disks_so_far: &disks_so_far,
    };
    let stops = StopWatch::begin(&clock, &hooks.alive)?;
    let results = fathom_engine::run::run(plan, &options, &mut hooks);
    let unread = end_reading(reading);
    if let Some(tapping) = tapping {
        tapping.end();
    }
    let used = counters.end(system, &clock);
    let stops = stops.end();
    let Watchers {
        observer,
        recorder,
        guard,
        ..
    } = hooks;
    observer.event(Event::LoadEnded);
    let streams = streams.map(StreamRecorder::end);
    let results = match results {
        Ok(results) => results,
        Err(error) => {
            if let Some(recorder) = recorder {
                recorder.abandon(observer);
            }
            let message = start_error::explain(system, &error);
            return Ok(Measured::NotStarted { message });
        }
    };
    outcome::complete(&mut run, &results, used, &clock);
    let left = guard.map(|guard| guard.end(&results)).unwrap_or_default();
    let stopped = stops::warning(&stops, run.started_monotonic_ns);
    run.summary.warnings.extend(left.into_iter().chain(stopped));
    note_unread(&mut run, unread);
    run.summary.floor = plan
        .jobs
        .first()
        .and_then(|job| fathom_engine::run::floor(job, &clock));
    Ok(ended(run, results, recorder, streams, observer))
}

/// Carries a plan out on the machine of `spec`, in virtual time.
///
/// # Errors
/// The record cannot be begun, or the machine cannot be put into words.
fn modelled(
    session: &Session<'_>,
    planned: &Planned<'_>,
    spec: &Spec,
    dir: Option<&Path>,
    conduct: &Conduct,
    observer: &mut dyn Observer,
) -> anyhow::Result<Measured> {
    let Planned { request, plan, .. } = planned;
    let how = session.how;
    let clock = HostClock::new();
    let reading = conduct.begin_reading(plan, true, session.stop)?;
    let conditions = request.machine.virtual_conditions(session.system, plan);
    let command = request.machine.command(&how.command);
    let mut run = outcome::before(planned, &conditions, &command, &clock);
    run.started_monotonic_ns = MonoTime(0);
    let (recorder, streams) = begin_record(dir, how, &run, observer, |dir, _| {
        VirtualStreams::begin(dir, how.streams, conduct.tap.clone())
    })?;
    let recorded = streams.as_ref().and_then(VirtualStreams::recording);
    let tapping = match (&conduct.tap, &recorded) {
        (Some(tap), None) => Some(VirtualTapping::begin(tap)?),
        _ => None,
    };
    let options = Options {
        recording: recorded.or_else(|| tapping.as_ref().map(VirtualTapping::recording)),
        playback: reading.playback.clone(),
        latencies: how.watched,
        rows_at_once: conduct.rows_at_once || how.watched,
        ..conduct.options(session.stop, &clock)
    };
    let mut traced = streams.as_ref().map_or(Trace::default(), VirtualStreams::wanted);
    traced.counters |= how.watched;
    let mut hooks = Watchers {
        observer,
        recorder,
        virtual_streams: streams,
        watched: how.watched,
        lossless: true,
        guard: None,
        alive: Arc::default(),
        disks_so_far: &Vec::new,
    };
    let done = virtual_run::carry_out(spec, plan, &options, traced, &mut hooks);
    let unread = end_reading(reading);
    let done = done?;
    let Watchers {
        observer,
        recorder,
        virtual_streams,
        ..
    } = hooks;
    observer.event(Event::LoadEnded);
    outcome::complete(&mut run, &done.results, Used::of_model(done.disks), &clock);
    run.summary.model = Some(done.model);
    note_unread(&mut run, unread);
    // The last hold on what records the I/Os: its keeper then sees their end.
    drop(options);
    if let Some(tapping) = tapping {
        tapping.end();
    }
    let streams = virtual_streams.map(VirtualStreams::end);
    Ok(ended(run, done.results, recorder, streams, observer))
}

/// Why a record could not be played to its end, in words.
fn end_reading(playing: Playing) -> Option<String> {
    let Playing { playback, readings } = playing;
    drop(playback);
    let errors = readings.into_iter().filter_map(|reading| reading.end().err());
    let errors: Vec<String> = errors.map(|error| format!("{error:#}")).collect();
    (!errors.is_empty()).then(|| errors.join("; "))
}

/// A record that changed since it was looked through, or could not be read again: the run is none of all of it.
fn note_unread(run: &mut Run, unread: Option<String>) {
    if let Some(detail) = unread {
        run.status = Status::Failed;
        run.summary.warnings.push(Warning::ReplayCut { detail });
    }
}

/// The record and its streams, as far as they were asked for.
fn begin_record<T>(
    dir: Option<&Path>,
    how: &How,
    run: &Run,
    observer: &mut dyn Observer,
    streams: impl FnOnce(&Path, &mut dyn Observer) -> anyhow::Result<T>,
) -> anyhow::Result<(Option<Recorder>, Option<T>)> {
    let Some(dir) = dir else { return Ok((None, None)) };
    let wanted = !how.streams.is_none();
    let begin = |observer: &mut dyn Observer| wanted.then(|| streams(dir, observer)).transpose();
    let (recorder, streams) = Recorder::begin_beside(dir, run, observer, begin)?;
    Ok((Some(recorder), streams))
}

fn ended(
    mut run: Run,
    results: Results,
    recorder: Option<Recorder>,
    streams: Option<EndedStreams>,
    observer: &mut dyn Observer,
) -> Measured {
    // The thread that writes them may outlive its patience; nobody copies what can be many.
    let histograms = Arc::new(results.histograms);
    let (end, unkept) = finish(&mut run, Arc::clone(&histograms), recorder, streams, observer);
    Measured::Ended {
        run: Box::new(run),
        histograms,
        accounts: results.accounts,
        end,
        unkept,
    }
}

/// Opens the streams of the record, and says what the system does not allow.
fn begin_streams(
    dir: &Path,
    session: &Session<'_>,
    plan: &Plan,
    run: &Run,
    (clock, tap): (&HostClock, Option<&IoTap>),
    observer: &mut dyn Observer,
) -> anyhow::Result<StreamRecorder> {
    let subject = Subject {
        requested: session.how.streams,
        files: &run.summary.target.files,
        workers: plan.jobs.iter().map(|job| job.workers.len()).sum(),
        thread_names: &thread_names(plan),
    };
    let streams = StreamRecorder::begin(dir, session.system, subject, clock, tap.cloned())?;
    streams.tell_missing(observer);
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
    observer: &mut dyn Observer,
) -> (End, Option<Warning>) {
    let Some(recorder) = recorder else {
        outcome::judge(run);
        return (end_of(run), None);
    };
    let mut closed = recorder.close();
    if let Some(streams) = streams {
        run.summary.streams = streams.summaries;
        closed.streams = streams.ends;
        closed.warnings.extend(streams.warnings);
    }
    run.summary.warnings.extend(closed.warnings.iter().cloned());
    outcome::judge(run);
    let mut end = end_of(run);
    let mut unkept = closed.warnings.first().cloned();
    let incomplete = !closed.warnings.is_empty();
    let finished = closed.finish(run, histograms);
    if (incomplete || finished.is_err()) && end == End::Done {
        end = End::Errors;
    }
    if let Err(error) = finished {
        // The report must still come: it is all that is left.
        let detail = error.to_string();
        observer.event(Event::RecordFailed(&detail));
        let incomplete = Warning::RecordIncomplete { detail };
        unkept.get_or_insert_with(|| incomplete.clone());
        run.summary.warnings.push(incomplete);
    }
    (end, unkept)
}

/// How a run ended, by what is known of it.
fn end_of(run: &Run) -> End {
    let errors = run.summary.jobs.iter().any(|job| !job.errors.is_empty());
    let taken = |warning: &Warning| matches!(warning, Warning::TargetTaken { .. });
    if run.summary.warnings.iter().any(taken) {
        return End::Errors;
    }
    match run.status {
        Status::Interrupted => End::Interrupted,
        Status::Failed => End::Errors,
        _ if errors => End::Errors,
        _ => End::Done,
    }
}

/// Who takes part in a run.
struct Watchers<'o> {
    observer: &'o mut dyn Observer,
    /// Keeps the run.
    recorder: Option<Recorder>,
    /// Keeps what a modelled machine did.
    virtual_streams: Option<VirtualStreams>,
    /// Whether the observer wants what a modelled machine counts.
    watched: bool,
    /// Whether the run waits for its record: virtual time loses nothing by it.
    lossless: bool,
    /// Guards what is written to; `None`: nothing real is.
    guard: Option<Guard>,
    /// How often this thread has been seen to run.
    alive: Arc<AtomicU64>,
    /// What the disks counted so far.
    disks_so_far: &'o dyn Fn() -> Vec<DiskSummary>,
}

impl Hooks for Watchers<'_> {
    fn progress(&mut self, progress: &Progress) {
        if let Some(guard) = &mut self.guard {
            guard.look();
        }
        self.alive.fetch_add(1, Ordering::Relaxed);
        self.observer.event(Event::Progress(progress));
    }
    fn rows(&mut self, rows: &[SeriesRow]) {
        self.observer.event(Event::Rows(rows));
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
        if self.watched {
            let (mut counters, mut credit) = (Vec::new(), Vec::new());
            disk.counters(now, &mut counters);
            disk.credit(now, &mut credit);
            self.observer.event(Event::Machine {
                counters: &counters,
                credit: &credit,
            });
        }
    }
    fn latencies(&mut self, latencies: &[IntervalLatency]) {
        self.observer.event(Event::Latencies(latencies));
    }
    fn accounts(&mut self, accounts: &dyn Fn() -> Vec<WorkerAccount>) {
        self.observer
            .event(Event::Standing(Standing::new(accounts, self.disks_so_far)));
    }
    fn histograms(&mut self, rows: Vec<HistogramRow>) {
        if let Some(recorder) = &mut self.recorder {
            recorder.histograms(rows);
        }
    }
}

/// The clock of a run: the one that the last of its jobs names, else the best there is.
fn clock_of(plan: &Plan) -> HostClock {
    let mut named = plan.jobs.iter().map(|job| job.job.timed_by);
    match named.rfind(|&clock| clock != TimedBy::Best) {
        None | Some(TimedBy::Best) => HostClock::new(),
        Some(TimedBy::Counter) => HostClock::with_source(ClockSource::Counter),
        Some(TimedBy::Monotonic) => HostClock::with_source(ClockSource::Monotonic),
        Some(TimedBy::Microseconds) => HostClock::with_source(ClockSource::Microseconds),
    }
}

#[cfg(test)]
mod tests;

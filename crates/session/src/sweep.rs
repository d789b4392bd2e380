//! A sweep: its points one after the other on this machine, several at a time on a modelled one.
//!
//! Data in: points whose files may be written, the sweep's directory. Data out: what came out, or how far it came. What
//! counts as measured is what can be read back from a point's directory: a sweep that is taken up again has the same
//! numbers. It must not know how points become requests.

mod points;
pub(crate) mod progress;

pub use points::Points;
pub use progress::{Progress, Step};

use crate::event::{Event, Observer, Silent, SweepEvent};
use crate::measure::{Conduct, End, Measured};
use crate::planned::Planned;
use crate::request::Request;
use crate::session::Session;
use crate::touched::with_causes;
use anyhow::bail;
use fathom_analysis::sweep::point::{counted_seconds, figures, steady};
use fathom_analysis::sweep::probe::wanted;
use fathom_core::run::{Run, SeriesRow, Status};
use fathom_core::sweep::{PointFigures, Probe, ProbeResult, SteadyRule, SweepPlan, SweepResults};
use fathom_store::{SweepDir, measured_in};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The run directory of the preconditioning, below the sweep's.
const PRECONDITION: &str = "points/precondition";
/// So many points that cannot be measured, one after the other, are a disk that is gone.
const FAILURES_MAX: u32 = 3;
/// On a modelled disk: how often what came out so far is written anew: it can be had from the points' directories at any time.
const RESULTS_EVERY: Duration = Duration::from_secs(10);

/// A sweep that may be carried out.
pub struct Sweep<'a> {
    /// What is measured.
    pub plan: &'a SweepPlan,
    /// As it is measured.
    pub points: &'a Points,
    /// Makes the request of a load beside the matrix, on the file of its points.
    pub make_probe: &'a (dyn Fn(&Probe) -> anyhow::Result<Request> + Sync),
    /// Open for the files of all points.
    pub session: &'a Session<'a>,
    /// Where each point is kept.
    pub dir: &'a SweepDir,
    /// Only the first so many passes over the matrix: the others are carried out later, when it is this sweep's turn again.
    pub passes: u32,
}

/// How far a sweep came.
#[derive(Debug)]
pub struct Swept {
    /// What is known.
    pub results: SweepResults,
    /// Why it did not come to its end, in words.
    pub stopped: Option<String>,
    /// How it ended.
    pub end: End,
}

/// What came of one step.
enum Outcome {
    Figures(Box<PointFigures>),
    /// The point cannot be measured.
    Failed(String),
    /// Stopped by the user.
    Interrupted,
}

/// What several workers share.
struct Shared<'a> {
    progress: Progress<'a>,
    observer: &'a mut (dyn Observer + Send),
    written: Instant,
    interrupted: bool,
    /// Points one after the other that could not be measured.
    failed_in_a_row: u32,
}

impl Sweep<'_> {
    /// Carries out all that is left of it.
    pub fn carry_out(&self, observer: &mut (dyn Observer + Send)) -> Swept {
        let plan = self.plan;
        let shared = Mutex::new(Shared {
            progress: Progress::of_passes(plan, self.passes),
            observer,
            written: Instant::now(),
            interrupted: false,
            failed_in_a_row: 0,
        });
        let ended = self.all(&shared);
        let shared = shared.into_inner().unwrap_or_else(PoisonError::into_inner);
        shared.observer.event(Event::Sweep(SweepEvent::Ended));
        let (status, stopped, end) = match ended {
            Ok(false) => {
                let status = shared.progress.status();
                let end = match status {
                    Status::Failed => End::Errors,
                    _ => End::Done,
                };
                let is_whole = self.passes >= plan.repeats;
                (if is_whole { status } else { Status::Running }, None, end)
            }
            Ok(true) => {
                let why = String::from("interrupted");
                (Status::Interrupted, Some(why), End::Interrupted)
            }
            Err(error) => (Status::Running, Some(with_causes(&error)), End::Errors),
        };
        let results = shared.progress.results(status);
        match self.dir.write_results(&results) {
            Ok(()) => Swept {
                results,
                stopped,
                end,
            },
            Err(error) => Swept {
                results,
                stopped: Some(match stopped {
                    None => error.to_string(),
                    Some(why) => format!("{why}; and {error}"),
                }),
                end: End::Errors,
            },
        }
    }

    /// `true`: interrupted.
    fn all(&self, shared: &Mutex<Shared<'_>>) -> anyhow::Result<bool> {
        match self.make_ready(&mut *lock(shared).observer)? {
            Outcome::Interrupted => return Ok(true),
            Outcome::Failed(message) => bail!(message),
            Outcome::Figures(_) => {}
        }
        let interrupted = self.steps(shared)?;
        if interrupted || !self.plan.adaptive {
            return Ok(interrupted);
        }
        self.probe(shared)
    }

    /// The files, then the preconditioning.
    fn make_ready(&self, observer: &mut dyn Observer) -> anyhow::Result<Outcome> {
        let none = Outcome::Figures(Box::default());
        let mut files = self.points.files().clone();
        if self.session.lay_out(&mut files, observer)?.is_none() {
            return Ok(Outcome::Interrupted);
        }
        let Some(request) = self.points.precondition() else {
            return Ok(none);
        };
        if measured_in(self.dir.path(), PRECONDITION).is_some() {
            return Ok(none);
        }
        self.measure(request, PRECONDITION, &Conduct::default(), observer)
    }

    /// Carries steps out until none is left; `true`: interrupted.
    fn steps(&self, shared: &Mutex<Shared<'_>>) -> anyhow::Result<bool> {
        let alone = !self.points.is_modelled() || self.plan.adaptive;
        let workers = match std::thread::available_parallelism() {
            Ok(n) if !alone => n.get(),
            _ => 1,
        };
        let ends: Vec<anyhow::Result<()>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..workers).map(|_| scope.spawn(|| self.work(shared))).collect();
            let joined = threads.into_iter().map(|thread| match thread.join() {
                Ok(end) => end,
                Err(panic) => std::panic::resume_unwind(panic),
            });
            joined.collect()
        });
        for end in ends {
            end?;
        }
        Ok(lock(shared).interrupted)
    }

    fn work(&self, shared: &Mutex<Shared<'_>>) -> anyhow::Result<()> {
        let plan = self.plan;
        loop {
            if self.session.stop.load(Ordering::Relaxed) {
                lock(shared).interrupted = true;
                return Ok(());
            }
            let Some(step) = lock(shared).progress.next() else {
                return Ok(());
            };
            let name = step.name(plan);
            let stored = measured_in(self.dir.path(), &name);
            let anew = stored.is_none();
            let outcome = match stored {
                Some(_) => Outcome::Figures(Box::new(read_back(self.dir.path(), plan, &name)?)),
                None => self.step(step, &name, shared)?,
            };
            let mut shared = lock(shared);
            match outcome {
                Outcome::Figures(figures) => {
                    shared.failed_in_a_row = 0;
                    shared.progress.measured(step, *figures);
                }
                Outcome::Failed(message) => {
                    shared.failed_in_a_row += 1;
                    if shared.failed_in_a_row >= FAILURES_MAX {
                        bail!(
                            "{FAILURES_MAX} points in a row could not be measured, the last one because: {message}"
                        );
                    }
                    shared.progress.failed(step, message);
                }
                Outcome::Interrupted => {
                    shared.interrupted = true;
                    return Ok(());
                }
            }
            let Shared {
                progress, observer, ..
            } = &mut *shared;
            observer.event(Event::Sweep(SweepEvent::StepEnded { step, progress, anew }));
            let modelled = self.points.is_modelled();
            if anew && (!modelled || shared.written.elapsed() > RESULTS_EVERY) {
                shared.written = Instant::now();
                self.dir
                    .write_results(&shared.progress.results(Status::Running))?;
            }
        }
    }

    /// Measures the load beside the matrix that tells what its points did not, where there is one; `true`: interrupted.
    fn probe(&self, shared: &Mutex<Shared<'_>>) -> anyhow::Result<bool> {
        let plan = self.plan;
        let results = lock(shared).progress.results(Status::Running);
        let Some(probe) = wanted(plan, &results) else {
            return Ok(false);
        };
        let name = format!("points/{}", probe.name());
        let outcome = if measured_in(self.dir.path(), &name).is_some() {
            Outcome::Figures(Box::new(read_back(self.dir.path(), plan, &name)?))
        } else {
            let mut shared = lock(shared);
            shared.observer.event(Event::Sweep(SweepEvent::ProbeBegins));
            let request = self.points.beside((self.make_probe)(&probe)?);
            self.measure(&request, &name, &Conduct::default(), &mut *shared.observer)?
        };
        match outcome {
            Outcome::Figures(figures) => {
                let figures = *figures;
                lock(shared).progress.probed(ProbeResult { probe, figures });
                Ok(false)
            }
            Outcome::Interrupted => Ok(true),
            Outcome::Failed(message) => {
                // Every point is measured: what this one would have told stays unknown, and the conclusions say so.
                let name = &probe.name();
                let failed = SweepEvent::ProbeFailed { name, why: &message };
                lock(shared).observer.event(Event::Sweep(failed));
                Ok(false)
            }
        }
    }

    /// Measures one point once.
    fn step(&self, step: Step, name: &str, shared: &Mutex<Shared<'_>>) -> anyhow::Result<Outcome> {
        let steady = self.plan.steady;
        let request = self.points.request(step.point, step.pass);
        let begins = SweepEvent::StepBegins { step };
        lock(shared).observer.event(Event::Sweep(begins));
        let enough = Arc::new(AtomicBool::new(false));
        let mut watcher = Watcher {
            rule: steady,
            rows: Vec::new(),
            enough: Arc::clone(&enough),
            shared,
            step,
        };
        let conduct = Conduct {
            enough,
            rows_at_once: steady.is_some(),
            ..Conduct::default()
        };
        self.measure(&request, name, &conduct, &mut watcher)
    }

    /// Carries a request out and keeps it under `name`.
    fn measure(
        &self,
        request: &Request,
        name: &str,
        conduct: &Conduct,
        observer: &mut dyn Observer,
    ) -> anyhow::Result<Outcome> {
        let mut planned = Planned::new(request)?;
        if !self.points.is_modelled() {
            let mut files = planned.plan.files.iter();
            if let Some(gone) = files.find(|file| file.fill || file.changes_size()) {
                let path = gone.path.display();
                bail!("{path} is not as it was laid out for this sweep: it is gone, or smaller");
            }
            // Nothing is left to be laid out: this drops what of the files is in memory.
            if self.session.lay_out(&mut planned.plan, &mut Silent)?.is_none() {
                return Ok(Outcome::Interrupted);
            }
        }
        let part = self.dir.begin(name)?;
        let measured = self.session.measure(&planned, Some(&part), conduct, observer)?;
        let (run, unkept) = match measured {
            Measured::NotStarted { message } => {
                self.dir.abandon(name)?;
                return Ok(Outcome::Failed(message));
            }
            Measured::Ended { run, unkept, .. } => (run, unkept),
        };
        if run.status == Status::Interrupted {
            self.dir.abandon(name)?;
            return Ok(Outcome::Interrupted);
        }
        if let Some(missing) = unkept {
            bail!("the record of {name} is not complete: {}", missing.in_full());
        }
        if run.status == Status::Failed {
            self.dir.abandon(name)?;
            return Ok(Outcome::Failed(first_error(&run)));
        }
        self.dir.complete(name)?;
        Ok(Outcome::Figures(Box::new(read_back(
            self.dir.path(),
            self.plan,
            name,
        )?)))
    }
}

/// What came out of the sweep in `dir` so far. Of one that was killed or is under way, what its points' directories say.
///
/// # Errors
/// What is there cannot be read.
pub fn results_of(dir: &Path, plan: &SweepPlan) -> anyhow::Result<SweepResults> {
    if dir.join(fathom_store::RESULTS_FILE).exists() {
        let results = fathom_store::read_sweep_results(dir)?;
        if results.status != Status::Running {
            return Ok(results);
        }
    }
    let mut progress = Progress::new(plan);
    while let Some(step) = progress.next() {
        let name = step.name(plan);
        match measured_in(dir, &name) {
            Some(_) => progress.measured(step, read_back(dir, plan, &name)?),
            // What would be next depends on it.
            None if plan.adaptive => break,
            None => {}
        }
    }
    Ok(progress.results(Status::Running))
}

/// What ended a run before its time.
fn first_error(run: &Run) -> String {
    let errors = run.summary.jobs.iter().flat_map(|job| &job.errors);
    let first = errors.into_iter().next();
    first.map_or_else(
        || String::from("the run failed"),
        |error| format!("{} of {}: {}", error.what, error.path, error.message),
    )
}

/// The figures of a measurement, from its directory alone.
fn read_back(sweep: &Path, plan: &SweepPlan, name: &str) -> anyhow::Result<PointFigures> {
    let dir = sweep.join(name);
    let stored = fathom_store::read(&dir)?;
    let histograms = fathom_store::read_histograms(&dir)?;
    let mut figures = figures(&stored.run, &stored.series, &histograms);
    name.clone_into(&mut figures.run);
    let known = |rule| steady(rule, &counted_seconds(&stored.series)).is_some();
    figures.ended_steady = figures.errors == 0
        && ended_early(figures.runtime_ns, plan.timing.duration_ns)
        && plan.steady.is_some_and(known);
    Ok(figures)
}

/// Whether a run was ended before its time: by half a second or more, since its last interval ends where its last I/O does.
fn ended_early(runtime_ns: u64, duration_ns: u64) -> bool {
    runtime_ns + 500_000_000 < duration_ns
}

/// A worker that panicked has said so; the others go on with what is there.
fn lock<'a, 'b>(shared: &'a Mutex<Shared<'b>>) -> std::sync::MutexGuard<'a, Shared<'b>> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Watches a point: shows how far it is, and ends it when enough is known.
struct Watcher<'a, 'b> {
    rule: Option<SteadyRule>,
    rows: Vec<SeriesRow>,
    enough: Arc<AtomicBool>,
    shared: &'a Mutex<Shared<'b>>,
    step: Step,
}

impl Observer for Watcher<'_, '_> {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Rows(rows) => {
                self.rows(rows);
                lock(self.shared).observer.event(event);
            }
            Event::Progress(progress) => {
                let step = self.step;
                let event = SweepEvent::Progress { step, progress };
                lock(self.shared).observer.event(Event::Sweep(event));
            }
            Event::Latencies(_) | Event::RecordFailed(_) | Event::RecordStays(_) => {
                lock(self.shared).observer.event(event);
            }
            // What is worth a note at each of 200 points is worth none.
            _ => {}
        }
    }
}

impl Watcher<'_, '_> {
    fn rows(&mut self, rows: &[SeriesRow]) {
        let Some(rule) = self.rule else { return };
        self.rows.extend_from_slice(rows);
        if steady(rule, &counted_seconds(&self.rows)).is_some() {
            self.enough.store(true, Ordering::Relaxed);
        }
    }
}

//! Carries the points of a sweep out, one after the other on this machine, several at a time on a modelled one.
//!
//! Data in: an undertaking whose files may be written, its directory. Data out: what came out, or how far it came. What counts as
//! measured is what can be read back from a point's directory: a sweep that is taken up again has the same numbers.

use super::Undertaking;
use super::display::Display;
use super::points::Points;
use super::steps::{Progressed, Step};
use crate::exit::Exit;
use crate::live::Live;
use crate::terminal;
use anyhow::bail;
use fathom_analysis::sweep::point::{counted_seconds, figures, steady};
use fathom_analysis::sweep::probe::wanted;
use fathom_core::run::{Run, SeriesRow, Status};
use fathom_core::sweep::{PointFigures, ProbeResult, SteadyRule, SweepPlan, SweepResults};
use fathom_report::in_full;
use fathom_session::{Conduct, Event, Measured, Observer, Planned, Request, Session, Silent, with_causes};
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

/// What carries a sweep out.
pub(crate) struct Carrier<'a> {
    pub undertaking: &'a Undertaking,
    pub points: &'a Points,
    pub session: &'a Session<'a>,
    pub dir: &'a SweepDir,
    pub stop: &'a AtomicBool,
}

/// How far it came.
pub(crate) enum Carried {
    /// All points.
    Done(SweepResults),
    /// Not all.
    Stopped {
        results: SweepResults,
        /// In words.
        why: String,
        /// How the program ends.
        exit: Exit,
    },
}

/// What one step gave.
enum Given {
    Figures(Box<PointFigures>),
    /// The point cannot be measured.
    Failed(String),
    /// Stopped by the user.
    Interrupted,
}

/// What several workers share.
struct Shared<'a> {
    progressed: Progressed<'a>,
    display: Display,
    written: Instant,
    interrupted: bool,
    /// Points one after the other that could not be measured.
    failed_in_a_row: u32,
}

impl Carrier<'_> {
    /// All steps that are left.
    pub(crate) fn carry_out(&self) -> Carried {
        let plan = &self.undertaking.plan;
        let quiet = self.undertaking.settings.quiet;
        let shared = Mutex::new(Shared {
            progressed: Progressed::new(plan),
            display: Display::new(plan, quiet, self.undertaking.machine.is_modelled()),
            written: Instant::now(),
            interrupted: false,
            failed_in_a_row: 0,
        });
        let end = match self.make_ready() {
            Ok(Given::Interrupted) => Ok(true),
            Ok(Given::Failed(message)) => Err(anyhow::anyhow!(message)),
            Ok(Given::Figures(_)) => self.steps(&shared).and_then(|ended| match ended {
                false if plan.adaptive => self.probe(&shared),
                ended => Ok(ended),
            }),
            Err(error) => Err(error),
        };
        let mut shared = shared.into_inner().unwrap_or_else(PoisonError::into_inner);
        shared.display.finish();
        let (status, why, exit) = match end {
            Ok(false) => (shared.progressed.status(), String::new(), Exit::Done),
            Ok(true) => (
                Status::Interrupted,
                String::from("interrupted"),
                Exit::Interrupted,
            ),
            Err(error) => (Status::Running, with_causes(&error), Exit::Errors),
        };
        let results = shared.progressed.results(status);
        if let Err(error) = self.dir.write_results(&results) {
            let why = match why.as_str() {
                "" => error.to_string(),
                why => format!("{why}; and {error}"),
            };
            return Carried::Stopped {
                results,
                why,
                exit: Exit::Errors,
            };
        }
        if why.is_empty() {
            return Carried::Done(results);
        }
        Carried::Stopped { results, why, exit }
    }

    /// The files, then the preconditioning.
    fn make_ready(&self) -> anyhow::Result<Given> {
        let none = Given::Figures(Box::default());
        if self.undertaking.machine.is_modelled() {
            return Ok(none);
        }
        let mut files = self.points.files().clone();
        let mut live = Live::new(self.undertaking.settings.quiet);
        if self.session.lay_out(&mut files, &mut live)?.is_none() {
            return Ok(Given::Interrupted);
        }
        let Some(request) = self.points.precondition() else {
            return Ok(none);
        };
        if measured_in(self.dir.path(), PRECONDITION).is_some() {
            return Ok(none);
        }
        self.measure(request, PRECONDITION, &Conduct::default(), &mut live)
    }

    /// Carries steps out until none is left; `true`: interrupted.
    fn steps(&self, shared: &Mutex<Shared<'_>>) -> anyhow::Result<bool> {
        let alone = !self.undertaking.machine.is_modelled() || self.undertaking.plan.adaptive;
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
        let plan = &self.undertaking.plan;
        loop {
            if self.stop.load(Ordering::Relaxed) {
                lock(shared).interrupted = true;
                return Ok(());
            }
            let Some(step) = lock(shared).progressed.next() else {
                return Ok(());
            };
            let name = step.name(plan);
            let stored = measured_in(self.dir.path(), &name);
            let anew = stored.is_none();
            let given = match stored {
                Some(_) => Given::Figures(Box::new(read_back(self.dir.path(), plan, &name)?)),
                None => self.step(step, &name, shared)?,
            };
            let mut shared = lock(shared);
            match given {
                Given::Figures(figures) => {
                    shared.failed_in_a_row = 0;
                    shared.progressed.measured(step, *figures);
                }
                Given::Failed(message) => {
                    shared.failed_in_a_row += 1;
                    if shared.failed_in_a_row >= FAILURES_MAX {
                        bail!(
                            "{FAILURES_MAX} points in a row could not be measured, the last one because: {message}"
                        );
                    }
                    shared.progressed.failed(step, message);
                }
                Given::Interrupted => {
                    shared.interrupted = true;
                    return Ok(());
                }
            }
            let Shared {
                progressed, display, ..
            } = &mut *shared;
            display.ended(plan, progressed, step, anew);
            let modelled = self.undertaking.machine.is_modelled();
            if anew && (!modelled || shared.written.elapsed() > RESULTS_EVERY) {
                shared.written = Instant::now();
                self.dir
                    .write_results(&shared.progressed.results(Status::Running))?;
            }
        }
    }

    /// Measures the load beside the matrix that tells what its points did not, where there is one; `true`: interrupted.
    fn probe(&self, shared: &Mutex<Shared<'_>>) -> anyhow::Result<bool> {
        let undertaking = self.undertaking;
        let results = lock(shared).progressed.results(Status::Running);
        let Some(probe) = wanted(&undertaking.plan, &results) else {
            return Ok(false);
        };
        let name = format!("points/{}", probe.name());
        let given = if measured_in(self.dir.path(), &name).is_some() {
            Given::Figures(Box::new(read_back(self.dir.path(), &undertaking.plan, &name)?))
        } else {
            lock(shared).display.finish();
            let quiet = undertaking.settings.quiet;
            if !quiet {
                terminal::say("one load of two block sizes, to tell how large I/O is counted");
            }
            let request = Points::probe(undertaking, &probe)?;
            self.measure(&request, &name, &Conduct::default(), &mut Live::new(quiet))?
        };
        match given {
            Given::Figures(figures) => {
                let figures = *figures;
                lock(shared).progressed.probed(ProbeResult { probe, figures });
                Ok(false)
            }
            Given::Interrupted => Ok(true),
            Given::Failed(message) => {
                // Every point is measured: what this one would have told stays unknown, and the conclusions say so.
                terminal::say(&format!(
                    "the load {} could not be measured: {message}",
                    probe.name()
                ));
                Ok(false)
            }
        }
    }

    /// Measures one point once.
    fn step(&self, step: Step, name: &str, shared: &Mutex<Shared<'_>>) -> anyhow::Result<Given> {
        let undertaking = self.undertaking;
        let request = self.points.request(undertaking, step.point, step.pass);
        lock(shared).display.begins(&undertaking.plan, step);
        let enough = Arc::new(AtomicBool::new(false));
        let mut watcher = Watcher {
            rule: undertaking.plan.steady,
            rows: Vec::new(),
            enough: Arc::clone(&enough),
            shared,
            step,
        };
        let conduct = Conduct {
            enough,
            rows_at_once: undertaking.plan.steady.is_some(),
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
    ) -> anyhow::Result<Given> {
        let undertaking = self.undertaking;
        let mut planned = Planned::new(request)?;
        if !undertaking.machine.is_modelled() {
            let mut files = planned.plan.files.iter();
            if let Some(gone) = files.find(|file| file.fill || file.changes_size()) {
                let path = gone.path.display();
                bail!("{path} is not as it was laid out for this sweep: it is gone, or smaller");
            }
            // Nothing is left to be laid out: this drops what of the files is in memory.
            if self.session.lay_out(&mut planned.plan, &mut Silent)?.is_none() {
                return Ok(Given::Interrupted);
            }
        }
        let part = self.dir.begin(name)?;
        let measured = self.session.measure(&planned, Some(&part), conduct, observer)?;
        let (run, unkept) = match measured {
            Measured::NotStarted { message } => {
                self.dir.abandon(name)?;
                return Ok(Given::Failed(message));
            }
            Measured::Ended { run, unkept, .. } => (run, unkept),
        };
        if run.status == Status::Interrupted {
            self.dir.abandon(name)?;
            return Ok(Given::Interrupted);
        }
        if let Some(missing) = unkept {
            bail!("the record of {name} is not complete: {}", in_full(&missing));
        }
        if run.status == Status::Failed {
            self.dir.abandon(name)?;
            return Ok(Given::Failed(first_error(&run)));
        }
        self.dir.complete(name)?;
        Ok(Given::Figures(Box::new(read_back(
            self.dir.path(),
            &undertaking.plan,
            name,
        )?)))
    }
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
pub(crate) fn read_back(sweep: &Path, plan: &SweepPlan, name: &str) -> anyhow::Result<PointFigures> {
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
            Event::Progress(progress) => lock(self.shared).display.progress(self.step, progress),
            Event::Rows(rows) => self.rows(rows),
            other => Live::new(true).event(other),
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

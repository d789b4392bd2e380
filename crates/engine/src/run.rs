//! A whole run: files, phases, workers, collection.
//!
//! Data in: a permitted [`Plan`]. Data out: [`Results`]; on the way, rows and progress through [`Hooks`]. It
//! must not print, store or ask anyone.

mod phases;
mod results;

pub use results::{Results, floor};

use crate::collect::{JobCollector, Live};
use crate::interval::{Exchange, Interval};
use crate::layout;
use crate::plan::{FileAction, JobPlan, Plan};
use crate::thread::{self, BoundaryHook, Gate, Message, Report, StartFailure, Task};
use fathom_core::clock::Clock;
use fathom_core::run::{SeriesRow, Status};
use fathom_core::units::{MonoTime, Nanos};
use fathom_sys::clock::HostClock;
use phases::{JobState, Phases};
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// How often intervals are collected and progress is told.
const TICK: Duration = Duration::from_millis(100);
/// The stack of a worker's thread: its data is on the heap.
const STACK_BYTES: usize = 256 << 10;

/// What the caller of a run takes part in.
pub trait Hooks {
    /// A file is being laid out: so many bytes of so many are written.
    fn laying_out(&mut self, action: &FileAction, done_bytes: u64, total_bytes: u64) {
        let _ = (action, done_bytes, total_bytes);
    }
    /// A file was newly made: to be marked as ours.
    ///
    /// # Errors
    /// It cannot be marked, and the run should not go on.
    fn made(&mut self, file: &File) -> std::io::Result<()> {
        let _ = file;
        Ok(())
    }
    /// The first job was let go.
    fn started(&mut self, epoch: MonoTime) {
        let _ = epoch;
    }
    /// Ten times a second.
    fn progress(&mut self, progress: &Progress) {
        let _ = progress;
    }
    /// The rows of one or more whole seconds.
    fn rows(&mut self, rows: &[SeriesRow]) {
        let _ = rows;
    }
}

/// Hooks that do nothing.
#[derive(Debug, Default)]
pub struct NoHooks;
impl Hooks for NoHooks {}

/// Where a run stands.
#[derive(Debug, Clone, Default)]
pub struct Progress {
    /// Since the first job was let go.
    pub elapsed: Nanos,
    /// Each reporting group.
    pub groups: Vec<GroupProgress>,
}

/// Where one group stands.
#[derive(Debug, Clone, Default)]
pub struct GroupProgress {
    /// The names of its jobs.
    pub name: String,
    /// Its number.
    pub group: u32,
    /// Workers under way.
    pub running: u32,
    /// Workers in all.
    pub workers: u32,
    /// Whether all of it has ended.
    pub done: bool,
    /// Whether any of it has started.
    pub started: bool,
    /// Whether all that runs is before the end of its ramp.
    pub ramping: bool,
    /// The share done, 0 to 1, where it can be told.
    pub fraction: Option<f64>,
    /// The time left, where it can be told.
    pub eta: Option<Nanos>,
    /// The last whole second.
    pub live: Live,
    /// How long ago that second ended: over 1 s, nothing has completed since.
    pub silent: Nanos,
}

/// Why a run could not be done.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A file could not be laid out.
    #[error("cannot make {path} ready: {source}")]
    Layout {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A worker could not start.
    #[error("{job}: {}{}: {}", failure.what, failure.path.as_ref().map(|p| format!(" {}", p.display())).unwrap_or_default(), failure.source)]
    Start {
        /// The job.
        job: String,
        /// What failed.
        failure: StartFailure,
    },
    /// A thread could not be made.
    #[error("cannot start a thread: {0}")]
    Thread(std::io::Error),
    /// Verified blocks would overwrite each other in part.
    #[error(
        "{job}: verification needs blocks that do not overlap in part: make all of bs=, bssplit=, blockalign= and holes multiples of the smallest block, or give verify_interval= a common divisor"
    )]
    VerifyOverlaps {
        /// The job.
        job: String,
    },
    /// A verified block has no room for its header.
    #[error("{job}: verification needs blocks (or verify_interval=) of at least {need} bytes")]
    VerifyTooSmall {
        /// The job.
        job: String,
        /// The least.
        need: usize,
    },
}

/// How to run.
#[derive(Debug, Clone)]
pub struct Options {
    /// Set from outside to end the run with the results so far.
    pub stop: Arc<AtomicBool>,
    /// The clock of all stamps.
    pub clock: HostClock,
    /// Called at both ends of each worker's loop.
    pub hook: Option<BoundaryHook>,
}

/// One job section under way.
struct RunningJob {
    plan: JobPlan,
    collector: JobCollector,
    state: JobState,
    reports: Vec<Option<Box<Report>>>,
    start: MonoTime,
    receiver: Receiver<(u32, Message)>,
    sender: Sender<(u32, Message)>,
    handles: Vec<std::thread::JoinHandle<()>>,
    /// Why it could not start, where others had been measured before.
    failure: Option<RunError>,
}

/// Whether `plan` can be carried out at all, before anything is touched.
///
/// # Errors
/// [`RunError::VerifyTooSmall`].
pub fn check(plan: &Plan) -> Result<(), RunError> {
    for job in &plan.jobs {
        if thread::verify_overlaps(&job.job) {
            return Err(RunError::VerifyOverlaps {
                job: job.job.name.clone(),
            });
        }
        if !thread::verify_fits(&job.job) {
            let need = crate::content::HEADER_BYTES;
            return Err(RunError::VerifyTooSmall {
                job: job.job.name.clone(),
                need,
            });
        }
    }
    Ok(())
}

/// Carries out `plan`.
///
/// # Errors
/// Nothing was measured: a file could not be made ready or the first workers could not start. What goes wrong
/// later is in the results.
pub fn run(plan: &Plan, options: &Options, hooks: &mut dyn Hooks) -> Result<Results, RunError> {
    check(plan)?;
    for action in &plan.files {
        lay_out(action, options, hooks)?;
    }
    let mut orchestra = Orchestra::new(plan, options);
    orchestra.play(hooks)?;
    orchestra.unlink();
    Ok(results::results(
        &orchestra.jobs,
        orchestra.epoch,
        orchestra.status(),
    ))
}

fn lay_out(action: &FileAction, options: &Options, hooks: &mut dyn Hooks) -> Result<(), RunError> {
    // Both closures use the hooks, never at the same time.
    let hooks = std::cell::RefCell::new(hooks);
    let mut made = |file: &File| hooks.borrow_mut().made(file);
    let mut on_piece = |done, total| {
        hooks.borrow_mut().laying_out(action, done, total);
        if options.stop.load(Ordering::Relaxed) {
            Err(layout::interrupted())
        } else {
            Ok(())
        }
    };
    layout::lay_out(action, &mut made, &mut on_piece).map_err(|source| RunError::Layout {
        path: action.path.clone(),
        source,
    })
}

/// All jobs of a run.
struct Orchestra<'a> {
    options: &'a Options,
    jobs: Vec<RunningJob>,
    epoch: MonoTime,
    started: bool,
    next_index: u64,
    /// The clock of the options, kept right.
    clock: HostClock,
    disciplined: MonoTime,
}

impl<'a> Orchestra<'a> {
    fn new(plan: &Plan, options: &'a Options) -> Self {
        let jobs = plan.jobs.iter().enumerate().map(|(index, plan)| {
            let (sender, receiver) = channel();
            let [read, write, trim] = plan.job.pattern.mix.uses();
            let used = [read, write, trim, false];
            let percentiles = &plan.job.percentiles.list;
            let metrics = thread::metrics_of(&plan.job);
            RunningJob {
                collector: JobCollector::new(index as u32, used, metrics, percentiles),
                plan: plan.clone(),
                state: JobState::Waiting,
                reports: plan.workers.iter().map(|_| None).collect(),
                start: MonoTime(0),
                receiver,
                sender,
                handles: Vec::new(),
                failure: None,
            }
        });
        Self {
            options,
            jobs: jobs.collect(),
            epoch: MonoTime(0),
            started: false,
            next_index: 0,
            clock: options.clock.clone(),
            disciplined: MonoTime(0),
        }
    }

    /// Runs all phases to their end.
    fn play(&mut self, hooks: &mut dyn Hooks) -> Result<(), RunError> {
        loop {
            self.start_what_may(hooks)?;
            if self.jobs.iter().all(|job| job.state == JobState::Done) {
                return Ok(());
            }
            self.tick(hooks);
        }
    }

    /// Starts the jobs whose turn has come, all together.
    fn start_what_may(&mut self, hooks: &mut dyn Hooks) -> Result<(), RunError> {
        if self.options.stop.load(Ordering::Relaxed) {
            for job in self.jobs.iter_mut().filter(|job| job.state == JobState::Waiting) {
                job.state = JobState::Done;
            }
        }
        let states: Vec<JobState> = self.jobs.iter().map(|job| job.state).collect();
        let starts = Phases {
            jobs: self.jobs.iter().map(|job| &job.plan.job).collect(),
        }
        .may_start(&states);
        if starts.is_empty() {
            return Ok(());
        }
        self.clock.discipline();
        let gates: Vec<Arc<Gate>> = starts.iter().map(|_| Arc::default()).collect();
        let spawned: Vec<_> = starts
            .iter()
            .zip(&gates)
            .map(|(&at, gate)| self.spawn(at, gate))
            .collect();
        let readied = starts.iter().zip(spawned).map(|(&at, exchanges)| {
            let exchanges = exchanges?;
            self.await_ready(at).map(|()| exchanges)
        });
        let mut readied: Vec<Result<_, RunError>> = readied.collect();
        if !self.started
            && let Some(failed) = readied.iter().position(Result::is_err)
        {
            // Nothing was measured yet: all who wait go home.
            for (&at, gate) in starts.iter().zip(&gates) {
                gate.abandon();
                self.jobs[at].join();
            }
            return readied.swap_remove(failed).map(drop);
        }
        let now = self.clock.now();
        if !self.started {
            self.started = true;
            self.epoch = now;
            hooks.started(now);
        }
        for ((&at, gate), exchanges) in starts.iter().zip(&gates).zip(readied) {
            let job = &mut self.jobs[at];
            match exchanges {
                Ok(exchanges) => {
                    job.state = JobState::Running;
                    job.start = now;
                    job.collector.start(self.epoch, now, exchanges);
                    gate.open(self.epoch, now);
                }
                Err(failure) => {
                    // What was measured before is kept.
                    gate.abandon();
                    job.join();
                    job.state = JobState::Done;
                    job.failure = Some(failure);
                }
            }
        }
        Ok(())
    }

    fn spawn(&mut self, at: usize, gate: &Arc<Gate>) -> Result<Vec<Arc<Exchange>>, RunError> {
        let job = &mut self.jobs[at];
        let shared = Arc::new(job.plan.job.clone());
        let mut exchanges = Vec::new();
        for (number, files) in job.plan.workers.iter().enumerate() {
            let exchange = Arc::new(Exchange::new());
            exchanges.push(Arc::clone(&exchange));
            let task = Task {
                job: Arc::clone(&shared),
                number: number as u32,
                index: self.next_index,
                files: files.clone(),
                exchange,
                stop: Arc::clone(&self.options.stop),
                gate: Arc::clone(gate),
                clock: self.clock.clone(),
                hook: self.options.hook,
            };
            self.next_index += 1;
            let sender = job.sender.clone();
            let builder = std::thread::Builder::new()
                .name(format!("{}.{number}", shared.name))
                .stack_size(STACK_BYTES);
            let handle = builder
                .spawn(move || thread::run(&task, &sender))
                .map_err(RunError::Thread)?;
            job.handles.push(handle);
        }
        Ok(exchanges)
    }

    fn await_ready(&self, at: usize) -> Result<(), RunError> {
        let job = &self.jobs[at];
        let mut ready = 0;
        while ready < job.plan.workers.len() {
            let all_ended = job.all_ended();
            match job.receiver.recv_timeout(TICK) {
                Ok((_, Message::Failed(failure))) => {
                    return Err(RunError::Start {
                        job: job.plan.job.name.clone(),
                        failure,
                    });
                }
                Ok(_) => ready += 1,
                Err(_) if all_ended => {
                    let gone = std::io::Error::other("a worker ended before it was ready");
                    return Err(RunError::Thread(gone));
                }
                Err(_) => {}
            }
        }
        Ok(())
    }

    /// Waits a little for workers to end, collects, tells.
    fn tick(&mut self, hooks: &mut dyn Hooks) {
        let now = self.clock.now();
        if now.since(self.disciplined) >= Nanos::from_secs(1) {
            self.clock.discipline();
            self.disciplined = now;
        }
        let mut rows = Vec::new();
        let mut waited = false;
        for job in self.jobs.iter_mut().filter(|job| job.state == JobState::Running) {
            // The first running job's channel is where the tick is spent.
            let patience = if waited { Duration::ZERO } else { TICK };
            waited = true;
            job.take_messages(patience, &mut rows);
        }
        if !rows.is_empty() {
            hooks.rows(&rows);
        }
        hooks.progress(&self.progress());
    }

    fn progress(&self) -> Progress {
        let now = self.clock.now();
        phases::progress(&self.jobs, self.epoch, now)
    }

    fn status(&self) -> Status {
        let failed = |report: &Option<Box<Report>>| report.as_ref().is_some_and(|r| r.end.failed);
        if (self.jobs.iter()).any(|job| job.failure.is_some() || job.reports.iter().any(failed)) {
            Status::Failed
        } else if self.options.stop.load(Ordering::Relaxed) {
            Status::Interrupted
        } else {
            Status::Complete
        }
    }

    fn unlink(&self) {
        for job in self.jobs.iter().filter(|job| job.plan.job.files.unlink) {
            for file in job.plan.workers.iter().flat_map(|worker| &worker.files) {
                if file.kind == crate::plan::Kind::Regular {
                    // Another job of the run may have removed it already.
                    drop(std::fs::remove_file(&file.path));
                }
            }
        }
    }
}

impl RunningJob {
    fn take_messages(&mut self, patience: Duration, rows: &mut Vec<SeriesRow>) {
        let mut patience = patience;
        // Looked at before the channel: all that an ended worker had to say is then in it.
        let all_ended = self.all_ended();
        loop {
            match self.receiver.recv_timeout(patience) {
                Ok((number, Message::Done(report))) => {
                    self.collector.ended(number as usize, &report.end.last, rows);
                    self.reports[number as usize] = Some(report);
                    patience = Duration::ZERO;
                }
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
            }
        }
        self.collector.poll(rows);
        if all_ended || self.reports.iter().all(Option::is_some) {
            self.join();
            for at in 0..self.reports.len() {
                if self.reports[at].is_none() {
                    // Stopped before its first I/O: nobody has to wait for its intervals.
                    self.collector.ended(at, &Interval::new(), rows);
                }
            }
            self.state = JobState::Done;
        }
    }

    fn all_ended(&self) -> bool {
        self.handles.iter().all(std::thread::JoinHandle::is_finished)
    }

    fn join(&mut self) {
        for handle in self.handles.drain(..) {
            // A panic in a worker is a bug of ours: it goes on here.
            if let Err(panic) = handle.join() {
                std::panic::resume_unwind(panic);
            }
        }
    }
}

#[cfg(test)]
mod tests;

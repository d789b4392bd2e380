//! A whole run: phases, workers, collection.
//!
//! Data in: a permitted [`Plan`] whose files are ready. Data out: [`Results`]; on the way, rows and progress through [`Hooks`]. It
//! must not print, store or ask anyone.

mod accounts;
mod commands;
mod early;
mod job;
mod phases;
mod results;
mod scheduler;
pub(crate) mod surroundings;
mod virtual_run;

pub use results::{Results, floor};
pub use virtual_run::{file_bases, run as run_virtual};

use crate::collect::Live;
use crate::plan::Plan;
use crate::recording::IoRecording;
use crate::replay::Playback;
use crate::thread::{BoundaryHook, StartFailure};
use crate::verify;
use crate::worker::Ends;
use crate::zones::{ZonedFiles, ZonesError};
use fathom_core::run::{HistogramRow, IntervalLatency, SeriesRow, WorkerAccount};
use fathom_core::units::{MonoTime, Nanos};
use fathom_core::virtual_disk::VirtualDisk;
use fathom_door::Permits;
use fathom_sys::clock::HostClock;
use scheduler::Scheduler;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What the caller of a run takes part in.
pub trait Hooks {
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
    /// All latencies of the rows that come next, where [`Options::latencies`] asks for them.
    fn latencies(&mut self, latencies: &[IntervalLatency]) {
        let _ = latencies;
    }
    /// In virtual time: the run begins on `disk`, a whole second has passed, the run has ended.
    fn second(&mut self, disk: &mut dyn VirtualDisk, now: MonoTime) {
        let _ = (disk, now);
    }
    /// Ten times a second of a run whose workers are counted by themselves: what each has done so far, for those who ask.
    fn accounts(&mut self, accounts: &dyn Fn() -> Vec<WorkerAccount>) {
        let _ = accounts;
    }
    /// All histograms so far, after two seconds and then every ten: for those who want to keep them should the run not end well.
    fn histograms(&mut self, rows: Vec<HistogramRow>) {
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
    /// A worker could not start.
    #[error("{job}: {}{}: {}", failure.what.name(), failure.path.as_ref().map(|p| format!(" {}", p.display())).unwrap_or_default(), failure.source)]
    Start {
        job: String,
        /// What failed.
        failure: StartFailure,
    },
    /// A thread could not be made.
    #[error("cannot start a thread: {0}")]
    Thread(std::io::Error),
    /// A worker's thread panicked.
    #[error("{job}: worker {worker} panicked: {message}. This is a bug in fathom: please report it")]
    Panic {
        job: String,
        worker: u32,
        /// What it said.
        message: String,
    },
    /// Verified blocks would overwrite each other in part.
    #[error(
        "{job}: verification needs blocks that do not overlap in part: make all of bs=, bssplit=, blockalign= and holes multiples of the smallest block, or give verify_interval= a common divisor"
    )]
    VerifyOverlaps { job: String },
    /// What is verified must be found again by drawing it again, and counted to the end.
    #[error("{job}: verification cannot be combined with {what}: leave one of the two out")]
    VerifyUnfit {
        job: String,
        /// What else it has.
        what: &'static str,
    },
    /// A shared sequence that goes backwards, or nowhere.
    #[error(
        "{job}: a sequence that workers or slots share must go on from I/O to I/O: give a stride above 0"
    )]
    SharedBackwards { job: String },
    /// A command before or after a job was not allowed, or did not succeed.
    #[error("{job}: `{command}`: {how}")]
    Command {
        job: String,
        command: String,
        /// How it ended, or why it was not begun.
        how: String,
    },
    /// The zones of a device do not do for a job.
    #[error(transparent)]
    Zones(#[from] ZonesError),
    /// A verified block has no room for its header.
    #[error("{job}: verification needs blocks (or verify_interval=) of at least {need} bytes")]
    VerifyTooSmall {
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
    /// Set from outside, by hooks among others, when enough is known: the counted time of all that runs ends, what has not
    /// begun does not, and the run is complete, not interrupted.
    pub enough: Arc<AtomicBool>,
    /// The clock of all stamps.
    pub clock: HostClock,
    /// Called at both ends of each worker's loop.
    pub hook: Option<BoundaryHook>,
    /// Where each I/O is recorded; `None`: nowhere.
    pub recording: Option<Arc<IoRecording>>,
    /// In virtual time: hand over the rows of each second when it is over, and look at `enough` right after that, so that
    /// who watches them decides alike each time. Else many seconds come at once. In real time each second comes by
    /// itself anyway.
    pub rows_at_once: bool,
    /// What may be written to.
    pub permits: Arc<Permits>,
    /// The record that a job plays; `None`: none does.
    pub playback: Option<Arc<Playback>>,
    /// Jobs may run the commands that they name.
    pub allow_exec: bool,
    /// How long the interval of a row is: 10 ms to 60 s; shorter or longer ones are taken for these.
    pub interval: Nanos,
    /// Whether hooks are given all latencies of each interval beside its rows.
    pub latencies: bool,
}

impl Options {
    /// A plain run: until `stop` is set, with no hook and no recording.
    pub fn new(stop: Arc<AtomicBool>, clock: HostClock) -> Self {
        Self {
            stop,
            enough: Arc::default(),
            clock,
            hook: None,
            recording: None,
            rows_at_once: false,
            permits: Arc::default(),
            playback: None,
            allow_exec: false,
            interval: Nanos::from_secs(1),
            latencies: false,
        }
    }

    /// The length of the intervals, within its bounds.
    pub(crate) fn row_interval(&self) -> Nanos {
        self.interval.clamp(Nanos::from_millis(10), Nanos::from_secs(60))
    }

    /// What ends the workers from outside.
    pub(crate) fn ends(&self) -> Ends {
        Ends {
            stop: Arc::clone(&self.stop),
            enough: Arc::clone(&self.enough),
        }
    }
}

/// Whether `plan` can be carried out at all, before anything is touched.
///
/// # Errors
/// What the job asks for cannot be combined: one of those of [`RunError`] that name no failure.
pub fn check(plan: &Plan) -> Result<(), RunError> {
    check_jobs(plan)?;
    check_zones(plan)
}

fn check_jobs(plan: &Plan) -> Result<(), RunError> {
    for job in &plan.jobs {
        if let Some(what) = verify::unfit(&job.job) {
            return Err(RunError::VerifyUnfit {
                job: job.job.name.clone(),
                what,
            });
        }
        if verify::stands_still(&job.job) {
            return Err(RunError::SharedBackwards {
                job: job.job.name.clone(),
            });
        }
        if verify::overlaps(&job.job) {
            return Err(RunError::VerifyOverlaps {
                job: job.job.name.clone(),
            });
        }
        if !verify::fits(&job.job) {
            let need = job.job.verify.as_ref().map_or(0, crate::blocks::header_bytes);
            return Err(RunError::VerifyTooSmall {
                job: job.job.name.clone(),
                need,
            });
        }
    }
    Ok(())
}

/// Whether the zones of all devices do for their jobs, as far as `plan` goes by zones.
///
/// # Errors
/// [`RunError::Zones`].
pub fn check_zones(plan: &Plan) -> Result<(), RunError> {
    ZonedFiles::new(plan)?;
    Ok(())
}

/// Carries out `plan`, whose files are ready ([`crate::layout::make_ready`]).
///
/// # Errors
/// Nothing was measured: the first workers could not start. What goes wrong later is in the results.
pub fn run(plan: &Plan, options: &Options, hooks: &mut dyn Hooks) -> Result<Results, RunError> {
    check_jobs(plan)?;
    let zones = ZonedFiles::new(plan)?;
    let mut scheduler = Scheduler::new(plan, options, zones);
    let played = scheduler.run(hooks);
    // Files that were to be removed are, however the run ended.
    let mut unremoved = scheduler.unlink();
    unremoved.extend(scheduler.surroundings.leave());
    played?;
    let status = phases::status(&scheduler.jobs, options);
    Ok(Results {
        unremoved,
        ..results::results(&scheduler.jobs, scheduler.epoch, status)
    })
}

#[cfg(test)]
mod tests;

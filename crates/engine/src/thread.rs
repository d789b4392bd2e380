//! One worker's thread: opens its files, makes its backend and buffers, waits for the start, runs the loop.
//!
//! Data in: a [`Task`], frozen. Data out: a [`Report`]. It must not know the other workers or who collects.

use crate::backends::{MmapBackend, NullBackend, QueueBackend, SyncBackend};
use crate::content::Content;
use crate::driver::Driver;
use crate::errors::{ErrorEntry, What};
use crate::interval::{Exchange, Metrics};
use crate::open;
use crate::pace::Schedule;
use crate::pattern::{Generator, Span};
use crate::plan::WorkerFiles;
use crate::recording::{IoRecording, WorkerTask};
use crate::worker::{Worker, WorkerEnd, WorkerPlan};
use fathom_core::backend::{Backend, BackendError, Errno};
use fathom_core::clock::Clock;
use fathom_core::rng::Rng;
use fathom_core::run::CpuUsage;
use fathom_core::units::{MonoTime, Nanos};
use fathom_core::workload::{EngineKind, Job};
use fathom_sys::aio::{Aio, AioConfig};
use fathom_sys::arena::{Arena, PageKind};
use fathom_sys::clock::HostClock;
use fathom_sys::process::{self, Usage};
use fathom_sys::sync_io::ReadWriteFlags;
use fathom_sys::uring::{Uring, UringConfig};
use std::any::Any;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// Called at the two ends of the measured loop, in the worker's thread.
pub type BoundaryHook = fn(Boundary);

/// An end of the measured loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Boundary {
    /// The first I/O comes next.
    Start,
    /// The last I/O is complete.
    Stop,
}

/// What one worker is to do.
#[derive(Debug)]
pub(crate) struct Task {
    pub job: Arc<Job>,
    /// Its number within its section.
    pub number: u32,
    /// Its number within the run: its stream of random numbers.
    pub index: u64,
    pub files: WorkerFiles,
    /// What the verified contents of each file depend on besides the place.
    pub salts: Vec<u64>,
    pub exchange: Arc<Exchange>,
    pub stop: Arc<AtomicBool>,
    pub gate: Arc<Gate>,
    pub clock: HostClock,
    pub hook: Option<BoundaryHook>,
    /// The number of its section.
    pub section: u32,
    pub recording: Option<Arc<IoRecording>>,
}

/// Why a worker could not start.
#[derive(Debug)]
pub struct StartFailure {
    /// What was being done: `open`, `io_uring_setup`, `io_setup`, `mmap`, `sched_setaffinity`, …
    pub what: &'static str,
    /// On which file, where it is about one.
    pub path: Option<PathBuf>,
    /// What the system said.
    pub source: std::io::Error,
}

/// What a worker says.
#[derive(Debug)]
pub(crate) enum Message {
    /// It is ready, and waits for the gate.
    Ready,
    /// It could not get ready.
    Failed(StartFailure),
    /// It was stopped before its first I/O.
    Stopped,
    /// It is done.
    Done(Box<Report>),
    /// It panicked, and said so much.
    Panicked(String),
}

/// What a worker leaves.
#[derive(Debug)]
pub(crate) struct Report {
    pub end: WorkerEnd,
    pub cpu: CpuUsage,
    pub backend_error: Option<BackendError>,
    /// What the backend knows of each kind of error, beyond its errno.
    pub remarks: Vec<Option<String>>,
}

/// Lets all workers of a job go at once, or sends them home.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    state: Mutex<GateState>,
    changed: Condvar,
}

#[derive(Debug, Default, Clone, Copy)]
enum GateState {
    #[default]
    Shut,
    /// The run's epoch and the job's start.
    Open(MonoTime, MonoTime),
    /// The job will not start.
    Abandoned,
}

impl Gate {
    /// Opens it: the run's epoch and this phase's start.
    pub(crate) fn open(&self, epoch: MonoTime, start: MonoTime) {
        self.set(GateState::Open(epoch, start));
    }

    /// Sends home all who wait.
    pub(crate) fn abandon(&self) {
        self.set(GateState::Abandoned);
    }

    fn set(&self, state: GateState) {
        *self
            .state
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner) = state;
        self.changed.notify_all();
    }

    /// Waits until it is open; `None` when the run was stopped or the job given up before.
    fn wait(&self, stop: &AtomicBool) -> Option<(MonoTime, MonoTime)> {
        let mut state = self
            .state
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        loop {
            match *state {
                GateState::Open(epoch, start) => return Some((epoch, start)),
                GateState::Abandoned => return None,
                GateState::Shut if stop.load(Ordering::Relaxed) => return None,
                GateState::Shut => {}
            }
            let woken = self.changed.wait_timeout(state, Duration::from_millis(50));
            state = woken.unwrap_or_else(std::sync::PoisonError::into_inner).0;
        }
    }
}

/// The latencies that a job keeps apart.
pub(crate) fn metrics_of(job: &Job) -> Metrics {
    let asynchronous =
        job.engine.kind.is_asynchronous() || (job.engine.kind == EngineKind::Null && job.depth.iodepth > 1);
    Metrics {
        split: asynchronous,
        response: job.is_open_loop(),
    }
}

/// The slots that a worker of this job has.
pub(crate) fn depth_of(job: &Job) -> u32 {
    if metrics_of(job).split {
        job.depth.iodepth.max(1)
    } else {
        1
    }
}

/// The frozen plan of one worker.
pub(crate) fn worker_plan(job: &Job, files: &WorkerFiles, index: u64) -> WorkerPlan {
    let spans: Vec<Span> = files.files.iter().map(|file| file.span).collect();
    let mut rng = Rng::stream(job.random_seed, index);
    let verify = job.verify.as_ref();
    let read_back = verify.is_some_and(|v| v.read_back && !v.only) && job.pattern.mix.uses()[1];
    let verify_only = verify.is_some_and(|v| v.only) && job.pattern.mix.uses()[1];
    // Without an end each direction goes round its region at its own pace; only what is read back is done in
    // passes.
    let endless = job.limit.time_based && !read_back && !verify_only;
    let repeats = endless || job.region.io_size.is_some();
    let amount = if endless { u64::MAX } else { files.amount };
    let generator = Generator::new(job, &spans, amount, repeats, rng.next_u64());
    let schedules = [0, 1, 2].map(|op| {
        let mean = job.block_size[op].mean();
        let seed = rng.next_u64();
        let used = job.pattern.mix.uses()[op];
        job.pace.rate[op]
            .filter(|_| used)
            .map(|rate| Schedule::new(rate, job.pace.arrival, mean, seed))
    });
    WorkerPlan {
        depth: depth_of(job),
        generator,
        loops: u64::from(job.region.loops.max(1)),
        number_ios: job.region.number_ios,
        runtime: job.limit.runtime,
        time_based: job.limit.time_based,
        ramp: job.limit.ramp_time,
        schedules,
        mix: job.pattern.mix,
        think: job.pace.think,
        sync: job.sync,
        file_count: files.files.len() as u32,
        on_error: job.on_error,
        metrics: metrics_of(job),
        read_back,
        verifies: verify.is_some(),
        verify_only,
        verify_fatal: verify.is_some_and(|v| v.fatal),
    }
}

/// The thread's body.
pub(crate) fn run(task: &Task, messages: &Sender<(u32, Message)>) {
    let number = task.number;
    let say = |message| {
        // The receiver is gone only when the whole run was given up.
        drop(messages.send((number, message)));
    };
    tell(&say, || start(task, &say));
}

/// Says how `body` ended, whichever way it did.
fn tell(say: &dyn Fn(Message), body: impl FnOnce() -> Result<Option<Report>, StartFailure>) {
    // After a panic nothing of the worker is used again but what it had handed over before.
    say(match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(Some(report))) => Message::Done(Box::new(report)),
        Ok(Ok(None)) => Message::Stopped,
        Ok(Err(failure)) => Message::Failed(failure),
        Err(panic) => Message::Panicked(words_of(panic.as_ref())),
    });
}

/// What a panic said.
fn words_of(panic: &(dyn Any + Send)) -> String {
    let fixed = panic.downcast_ref::<&str>().map(ToString::to_string);
    fixed
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| String::from("it gave no message"))
}

fn failure(what: &'static str) -> impl Fn(std::io::Error) -> StartFailure {
    move |source| StartFailure {
        what,
        path: None,
        source,
    }
}

fn start(task: &Task, say: &dyn Fn(Message)) -> Result<Option<Report>, StartFailure> {
    let job = Arc::clone(&task.job);
    if !job.cpus_allowed.is_empty() {
        let all: Vec<usize> = job.cpus_allowed.iter().map(|&cpu| cpu as usize).collect();
        let one = [all[task.number as usize % all.len()]];
        process::set_affinity(if job.cpus_split { &one } else { &all })
            .map_err(failure("sched_setaffinity"))?;
    }
    if job.nice != 0 {
        process::set_nice(i32::from(job.nice)).map_err(failure("setpriority"))?;
    }
    process::set_timer_slack_ns(1).map_err(failure("prctl"))?;
    let depth = depth_of(&job);
    let Some(files) = open::open_all(&job, &task.files, &task.stop)? else {
        return Ok(None);
    };
    let seed = Rng::stream(job.random_seed ^ 0xC0, task.index).next_u64();
    let mut content = Content::new(&job, &task.salts, seed);
    if job.engine.kind == EngineKind::Null {
        return Ok(go(task, NullBackend::new(depth), &mut content, say));
    }
    let arena = make_arena(&job, depth, &mut content)?;
    let poll = if job.engine.poll {
        ReadWriteFlags::HIPRI
    } else {
        ReadWriteFlags::empty()
    };
    let nowait = if job.engine.nowait {
        ReadWriteFlags::NOWAIT
    } else {
        ReadWriteFlags::empty()
    };
    Ok(match job.engine.kind {
        EngineKind::IoUring => {
            let config = uring_config(&job, depth);
            let queue = Uring::new(config, files, arena).map_err(failure("io_uring_setup"))?;
            go(task, QueueBackend::new(queue), &mut content, say)
        }
        EngineKind::Libaio => {
            let config = AioConfig {
                iodepth: depth,
                nowait: job.engine.nowait,
            };
            let queue = Aio::new(config, files, arena).map_err(failure("io_setup"))?;
            go(task, QueueBackend::new(queue), &mut content, say)
        }
        EngineKind::Mmap => {
            let lengths = task
                .files
                .files
                .iter()
                .map(|file| file.span.start + file.span.bytes);
            let files = files.into_iter().zip(lengths).collect();
            let backend = MmapBackend::new(files, job.writes(), arena).map_err(failure("mmap"))?;
            go(task, backend, &mut content, say)
        }
        kind => go(
            task,
            SyncBackend::new(kind, poll | nowait, files, arena),
            &mut content,
            say,
        ),
    })
}

fn uring_config(job: &Job, depth: u32) -> UringConfig {
    let engine = &job.engine;
    UringConfig {
        iodepth: depth,
        sqpoll_idle_ms: engine.submission_thread.then_some(1000),
        sqpoll_cpu: engine.submission_thread_cpu,
        iopoll: engine.poll,
        fixed_buffers: engine.fixed_buffers,
        registered_files: engine.registered_files,
        nonvectored: !engine.vectored,
        nowait: engine.nowait,
    }
}

/// The buffers, filled for writing.
fn make_arena(job: &Job, depth: u32, content: &mut Content) -> Result<Arena, StartFailure> {
    let block = job.max_block_bytes() as usize;
    let mut arena = Arena::new(depth, block, PageKind::Normal).map_err(failure("mmap"))?;
    // A verified block is filled in full before each write.
    if job.pattern.mix.uses()[1] && job.verify.is_none() {
        for slot in 0..depth {
            content.prepare(&mut arena.slot_mut(slot)[..block]);
        }
    }
    Ok(arena)
}

/// Waits for the start and runs the loop. `None`: stopped before it began.
fn go<B: Backend>(
    task: &Task,
    mut backend: B,
    content: &mut Content,
    say: &dyn Fn(Message),
) -> Option<Report> {
    let job = &task.job;
    let mut plan = worker_plan(job, &task.files, task.index);
    if !backend.capabilities().has_buffers {
        plan.verifies = false;
        plan.read_back = false;
    }
    let mut worker = Worker::new(plan, Arc::clone(&task.exchange), Arc::clone(&task.stop));
    if let Some(recording) = &task.recording {
        worker.record_with(recording.recorder(task.section, task.number));
        recording.runs_as(WorkerTask {
            job: task.section,
            worker: task.number,
            tid: process::thread_id(),
        });
    }
    let mut clock = task.clock.clone();
    say(Message::Ready);
    let (epoch, start) = task.gate.wait(&task.stop)?;
    // The clock was copied before files were laid out and earlier jobs ran: set it right before it counts.
    clock.discipline();
    let start = start.after(start_delay(job, task.index));
    while clock.now() < start && !task.stop.load(Ordering::Relaxed) {
        crate::wait::sleep_until(&clock, start);
    }
    clock.discipline();
    let before = process::resource_usage_thread().unwrap_or_default();
    let mut driver = Driver::new(&mut worker, &mut backend, &mut clock, content, job.depth);
    driver.worker.start(driver.clock.now(), epoch);
    if let Some(hook) = task.hook {
        hook(Boundary::Start);
    }
    let result = driver.run();
    if let Some(hook) = task.hook {
        hook(Boundary::Stop);
    }
    let cpu = usage_since(&driver.usage_before.unwrap_or(before));
    if let Err(error) = &result {
        worker.fail(error.call, Errno(error.source.raw_os_error().unwrap_or(0)));
    }
    let end = worker.finish(clock.now());
    let remark = |entry: &ErrorEntry| match entry.what {
        What::Io(_) => backend.remark(entry.file, entry.errno),
        _ => None,
    };
    Some(Report {
        remarks: end.errors.entries().map(remark).collect(),
        end,
        cpu,
        backend_error: result.err(),
    })
}

/// How long after its job's start worker `index` begins.
pub(crate) fn start_delay(job: &Job, index: u64) -> Nanos {
    let (from, to) = job.start.delay;
    let mut rng = Rng::stream(job.random_seed ^ 0xDE, index);
    Nanos(from.0 + rng.below(to.0.saturating_sub(from.0) + 1))
}

fn usage_since(before: &Usage) -> CpuUsage {
    let Ok(now) = process::resource_usage_thread() else {
        return CpuUsage::default();
    };
    let used = now.since(before);
    CpuUsage {
        user_ns: used.user_ns,
        system_ns: used.system_ns,
        voluntary_switches: used.voluntary_switches,
        involuntary_switches: used.involuntary_switches,
        major_faults: used.major_faults,
        minor_faults: used.minor_faults,
    }
}

/// A file opened for a worker.
pub(crate) type Opened = Vec<File>;

#[cfg(test)]
mod tests;

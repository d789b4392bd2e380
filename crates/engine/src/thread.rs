//! One worker's thread: opens its files, makes its backend and buffers, waits for the start, runs the loop.
//!
//! Data in: a [`Task`], frozen. Data out: a [`Report`]. It must not know the other workers or who collects.

mod gate;
mod program;

pub(crate) use gate::Gate;

use crate::backends::nbd::{NbdBackend, PATIENCE, Wanted};
use crate::backends::net::{self, NetBackend};
use crate::backends::{
    HttpBackend, MmapBackend, Name, NamesBackend, NullBackend, QueueBackend, SyncBackend, WriteSource,
};
use crate::balance::Share;
use crate::content::Content;
use crate::driver::Driver;
use crate::errors::{ErrorEntry, What};
use crate::interval::{Exchange, Metrics, Shape};
use crate::locks::Locks;
use crate::open;
use crate::pace::Schedule;
use crate::pattern::{Generator, Span};
use crate::plan::{FilePlan, WorkerFiles};
use crate::recording::{IoRecording, WorkerTask};
use crate::replay::Playback;
use crate::run::surroundings;
use crate::worker::{Ends, Guards, Limits, Priorities, Target, Worker, WorkerEnd, WorkerPlan};
use crate::zones::{self, OfFile, WorkerZones, ZoneCommand};
use fathom_core::backend::{Backend, BackendError, Errno};
use fathom_core::clock::Clock;
use fathom_core::nbd::Uri;
use fathom_core::rng::Rng;
use fathom_core::run::{CpuUsage, StartStep};
use fathom_core::units::Nanos;
use fathom_core::workload::{EngineKind, IoPriority, Job, RandomMap, SyncMode, Verify};
use fathom_door::{Permits, Writer, directory};
use fathom_sys::aio::{Aio, AioConfig};
use fathom_sys::arena::{Arena, PageKind};
use fathom_sys::clock::HostClock;
use fathom_sys::process::{self, IoPriorityClass};
use fathom_sys::sg::{Sg, SgConfig};
use fathom_sys::source::Source;
use fathom_sys::sync_io::ReadWriteFlags;
use fathom_sys::uring::nvme::NvmeUring;
use fathom_sys::uring::{Uring, UringConfig};
use std::any::Any;
use std::fs::File;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};

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
    /// The sequence of each file, where the workers of the job share theirs; else empty.
    pub sequences: Vec<Arc<AtomicU64>>,
    /// What writes are taken from, where that is a store.
    pub source: Option<Arc<Source>>,
    pub exchange: Arc<Exchange>,
    pub ends: Ends,
    /// How long the interval of a row is.
    pub interval: Nanos,
    pub gate: Arc<Gate>,
    pub clock: HostClock,
    pub hook: Option<BoundaryHook>,
    /// The number of its section.
    pub section: u32,
    pub recording: Option<Arc<IoRecording>>,
    /// The record that it plays, where its job has one.
    pub playback: Option<Arc<Playback>>,
    /// What may be written to.
    pub permits: Arc<Permits>,
    /// The worker's part in a balance with others.
    pub share: Mutex<Option<Share>>,
    /// What other workers may have locked.
    pub locks: Mutex<Option<Locks>>,
    /// The zones of its files, where its job goes by them.
    pub zones: Mutex<Option<Zoned>>,
}

/// The zones of a worker's files.
#[derive(Debug)]
pub(crate) struct Zoned {
    files: Vec<OfFile>,
    /// The same files, open as the load has them, for what is done to zones.
    devices: Vec<File>,
}

impl Zoned {
    /// Of files that are not open yet.
    pub(crate) fn new(files: Vec<OfFile>) -> Self {
        Self {
            files,
            devices: Vec::new(),
        }
    }
}

/// Why a worker could not start.
#[derive(Debug)]
pub struct StartFailure {
    /// What was being done.
    pub what: StartStep,
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
    Done(Box<Report>),
    /// It panicked, and said so much.
    Panicked(String),
}

/// What a worker leaves.
#[derive(Debug)]
pub(crate) struct Report {
    pub end: WorkerEnd,
    /// The system's number of the thread; 0 in virtual time.
    pub tid: u32,
    pub cpu: CpuUsage,
    pub backend_error: Option<BackendError>,
    /// What the backend knows of each kind of error, beyond its errno.
    pub remarks: Vec<Option<String>>,
}

/// The latencies that a job keeps apart.
pub(crate) fn metrics_of(job: &Job) -> Metrics {
    let asynchronous =
        job.is_asynchronous() || (job.engine.kind == EngineKind::Null && job.depth.iodepth > 1);
    Metrics {
        split: asynchronous,
        response: job.is_open_loop(),
    }
}

/// What the intervals of a worker of this job count.
pub(crate) fn shape_of(job: &Job) -> Shape {
    let [read, write, trim] = job.pattern.mix.uses();
    let sync = job.sync.fsync_every > 0
        || job.sync.fdatasync_every > 0
        || job.sync.range.every > 0
        || job.sync.fsync_at_end
        || job.sync.fsync_on_close
        || job.replay.as_ref().is_some_and(|replay| replay.ios[3] > 0);
    Shape {
        // What was written may be read back.
        ops: [
            read || job.verify.is_some(),
            write,
            trim || job.verify.as_ref().is_some_and(Verify::trims),
            sync,
        ],
        metrics: metrics_of(job),
        cooldown: !job.limit.cooldown_time.is_zero(),
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

/// How a worker of this job goes by zones; `None`: it does not.
pub(crate) fn zones_of(job: &Job, files: Vec<OfFile>, index: u64) -> Option<WorkerZones> {
    let rules = job.pattern.zones.as_ref()?;
    let wraps = job.limit.time_based || job.region.io_size.is_some();
    let seed = Rng::stream(job.random_seed ^ 0x2B, index).next_u64();
    Some(WorkerZones::new(job, rules, files, depth_of(job), wraps, seed))
}

/// What holds the I/Os of a worker of this job back.
pub(crate) fn guards_of(job: &Job, share: Option<Share>) -> Option<Box<Guards>> {
    let slots = depth_of(job);
    let target = job.latency_target.map(|target| Target::new(target, slots));
    Guards::new(share, job.serialize_overlap.then_some(slots), target)
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
    let by_slot = job.pattern.same_offset && !job.pattern.random;
    let region = spans
        .iter()
        .fold(0u64, |sum, span| sum.saturating_add(span.bytes));
    let amount = if endless {
        u64::MAX
    } else if by_slot && job.region.io_size.is_none() {
        // Each slot goes through all of it.
        files.amount.saturating_mul(u64::from(depth_of(job)))
    } else if read_back
        && job.pattern.random
        && job.pattern.random_map != RandomMap::Independent
        && !job.limit.time_based
    {
        // As in fio, what comes in a random order is read back as it was written, once: no more than the region has.
        files.amount.min(region)
    } else if verify_only && crate::verify::writes_same_blocks(job, &spans, files.amount) {
        files.amount.min(region)
    } else {
        files.amount
    };
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
        by_slot,
        count_files: job.count_files,
        // An engine that completes each I/O before it takes the next has one in flight.
        count_depths: job.count_workers && metrics_of(job).split,
        loops: u64::from(job.region.loops.max(1)),
        number_ios: job.region.number_ios,
        runtime: job.limit.runtime,
        time_based: job.limit.time_based,
        ramp: job.limit.ramp_time,
        cooldown: job.limit.cooldown_time,
        interval: Nanos::from_secs(1),
        schedules,
        mix: job.pattern.mix,
        think: job.pace.think,
        sync: job.sync,
        file_count: files.files.len() as u32,
        on_error: job.on_error,
        ignored: [job.ignored_errors[0].clone(), job.ignored_errors[1].clone()],
        ends_by: ends_by(job),
        limits: Limits::new(&job.stops),
        metrics: metrics_of(job),
        read_back,
        backlog: verify.map_or((0, 0), |v| (v.backlog_ios, v.backlog_batch_ios)),
        verifies: verify.is_some(),
        verify_only,
        verify_fatal: verify.is_some_and(|v| v.fatal),
        keeps_state: false,
        new_files_each_pass: job.files.new_each_loop,
        written: None,
    }
}

/// The error that tells that a job has nothing left to do.
fn ends_by(job: &Job) -> Option<i32> {
    if job.engine.kind == EngineKind::Net {
        return Some(net::OVER.0);
    }
    let full = rustix::io::Errno::NOSPC.raw_os_error();
    job.region.fills_device.then_some(full)
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

fn failure(what: StartStep) -> impl Fn(std::io::Error) -> StartFailure {
    move |source| StartFailure {
        what,
        path: None,
        source,
    }
}

/// Where this thread runs, and what comes before and after it.
fn settle(task: &Task) -> Result<(), StartFailure> {
    let job = &task.job;
    if !job.cpus_allowed.is_empty() {
        let all: Vec<usize> = job.cpus_allowed.iter().map(|&cpu| cpu as usize).collect();
        let one = [all[task.number as usize % all.len()]];
        process::set_affinity(if job.cpus_split { &one } else { &all })
            .map_err(failure(StartStep::SetAffinity))?;
    }
    if !job.numa_cpu_nodes.is_empty() {
        let cpus = process::cpus_of_nodes(&job.numa_cpu_nodes).map_err(failure(StartStep::SetAffinity))?;
        process::set_affinity(&cpus).map_err(failure(StartStep::SetAffinity))?;
    }
    if job.nice != 0 {
        process::set_nice(i32::from(job.nice)).map_err(failure(StartStep::SetNice))?;
    }
    if let Some(priority) = job.io_priority {
        set_priority(priority).map_err(failure(match priority.class {
            1 => StartStep::SetIoPriorityRealTime,
            _ => StartStep::SetIoPriority,
        }))?;
    }
    process::set_timer_slack_ns(1).map_err(failure(StartStep::SetTimerSlack))?;
    let group = &job.control_group.name;
    if !group.is_empty() {
        surroundings::join(group, process::thread_id()).map_err(failure(StartStep::SetControlGroup))?;
    }
    if let Some(policy) = &job.memory_policy {
        process::set_memory_policy(policy.mode as u32, &policy.nodes)
            .map_err(failure(StartStep::SetMemoryPolicy))?;
    }
    // The group first: a user who is not root may not choose one any more.
    process::run_as(job.runs_as.user, job.runs_as.group).map_err(failure(StartStep::SetUser))?;
    Ok(())
}

fn start(task: &Task, say: &dyn Fn(Message)) -> Result<Option<Report>, StartFailure> {
    let job = Arc::clone(&task.job);
    settle(task)?;
    if job.engine.kind == EngineKind::Exec {
        return program::run(task, say);
    }
    let locked =
        (job.lock_bytes > 0).then(|| Arena::locked(usize::try_from(job.lock_bytes).unwrap_or(usize::MAX)));
    let _held = locked.transpose().map_err(failure(StartStep::LockMemory))?;
    let depth = depth_of(&job);
    // Dropped last: nobody writes when the files are closed.
    let mut writers = Vec::new();
    let opened = open::open_all(&job, &task.files, &task.permits, &mut writers, &task.ends.stop)?;
    let Some(files) = opened else {
        return Ok(None);
    };
    if let Some(zoned) = task.zones.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
        let clones = files.iter().map(File::try_clone);
        zoned.devices = clones
            .collect::<io::Result<_>>()
            .map_err(failure(StartStep::Open))?;
    }
    let seed = Rng::stream(job.random_seed ^ 0xC0, task.index).next_u64();
    let mut content = Content::new(&job, task.index, seed);
    if job.verify.as_ref().is_some_and(|verify| verify.dump) {
        let name = |file: &FilePlan| {
            file.path
                .file_name()
                .map_or_else(String::new, |name| name.to_string_lossy().into_owned())
        };
        content.dump_as(task.files.files.iter().map(name).collect());
    }
    if job.engine.kind == EngineKind::Null {
        return Ok(go(
            task,
            NullBackend::new(depth),
            (&mut content, &mut writers),
            say,
        ));
    }
    if job.engine.kind.is_about_names() {
        return Ok(go(task, names(task)?, (&mut content, &mut writers), say));
    }
    let arena = make_arena(task, depth, &mut content)?;
    if job.engine.kind == EngineKind::Nbd {
        // What is written from a store is copied: the connection takes it from the buffers.
        let _copied = write_source(task, &mut content);
        let backend = export(&job, depth, arena)?;
        return Ok(go(task, backend, (&mut content, &mut writers), say));
    }
    if job.engine.kind == EngineKind::Http {
        let _copied = write_source(task, &mut content);
        let backend = objects(task, arena)?;
        return Ok(go(task, backend, (&mut content, &mut writers), say));
    }
    if job.engine.kind == EngineKind::Net {
        let _copied = write_source(task, &mut content);
        let backend = other_side(task, arena)?;
        return Ok(go(task, backend, (&mut content, &mut writers), say));
    }
    let source = write_source(task, &mut content);
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
        EngineKind::IoUring | EngineKind::Posixaio => {
            let config = uring_config(&job, depth);
            let queue = Uring::new(config, files, arena).map_err(failure(StartStep::SetUpUring))?;
            go(
                task,
                QueueBackend::new(queue).writing_from(source),
                (&mut content, &mut writers),
                say,
            )
        }
        EngineKind::Libaio => {
            let config = AioConfig {
                iodepth: depth,
                nowait: job.engine.nowait,
            };
            let queue = Aio::new(config, files, arena).map_err(failure(StartStep::SetUpAio))?;
            go(
                task,
                QueueBackend::new(queue).writing_from(source),
                (&mut content, &mut writers),
                say,
            )
        }
        EngineKind::IoUringCmd => {
            let config = uring_config(&job, depth);
            let queue = NvmeUring::new(config, files, arena).map_err(failure(StartStep::SetUpUring))?;
            go(
                task,
                QueueBackend::new(queue).writing_from(source),
                (&mut content, &mut writers),
                say,
            )
        }
        EngineKind::Sg => {
            let config = SgConfig {
                iodepth: depth,
                writes: job.writes(),
                reads_medium: job.engine.reads_medium,
                writes_medium: job.engine.writes_medium,
                polls: job.engine.poll,
            };
            let queue = Sg::new(config, files, arena).map_err(failure(StartStep::SetUpSg))?;
            go(
                task,
                QueueBackend::new(queue).writing_from(source),
                (&mut content, &mut writers),
                say,
            )
        }
        EngineKind::Mmap => {
            let lengths = task
                .files
                .files
                .iter()
                .map(|file| file.span.start + file.span.bytes);
            let files = files.into_iter().zip(lengths).collect();
            let backend = MmapBackend::new(files, job.writes(), arena).map_err(failure(StartStep::Map))?;
            if job.engine.huge_mappings {
                backend.ask_for_huge_pages().map_err(failure(StartStep::Map))?;
            }
            go(
                task,
                backend.writing_from(source),
                (&mut content, &mut writers),
                say,
            )
        }
        kind => {
            let backend = SyncBackend::new(kind, poll | nowait, files, arena);
            let backend = backend.with_pipe().map_err(failure(StartStep::Map))?;
            go(
                task,
                backend.writing_from(source),
                (&mut content, &mut writers),
                say,
            )
        }
    })
}

/// The backend of what is done to names.
fn names(task: &Task) -> Result<NamesBackend, StartFailure> {
    let kind = task.job.engine.kind;
    let files = task.files.files.iter().map(|file| {
        let failure = |source| StartFailure {
            what: StartStep::Open,
            path: Some(file.path.clone()),
            source,
        };
        let permit = if kind == EngineKind::FileStat || kind.is_about_directories() {
            None
        } else {
            Some(Arc::clone(task.permits.of(&file.path).map_err(failure)?))
        };
        // What is looked at or removed has to be there, as a file is that was laid out.
        let made = matches!(kind, EngineKind::DirStat | EngineKind::DirDelete)
            && directory::make_missing(&file.path).map_err(failure)?;
        Ok(Name {
            path: file.path.clone(),
            permit,
            made,
            done: false,
        })
    });
    Ok(NamesBackend::new(kind, files.collect::<Result<_, _>>()?))
}

/// The export of a server.
fn export(job: &Job, depth: u32, arena: Arena) -> Result<NbdBackend, StartFailure> {
    let wanted = Wanted {
        writes: job.writes(),
        forced: job.sync.mode != SyncMode::None,
        block_bytes: job.max_block_bytes(),
    };
    let uri = Uri::parse(&job.uri).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error));
    let backend = uri.and_then(|uri| NbdBackend::connect(&uri, wanted, depth, arena, PATIENCE));
    backend.map_err(|source| StartFailure {
        what: StartStep::Connect,
        path: Some(PathBuf::from(&job.uri)),
        source,
    })
}

/// The objects of a server.
fn objects(task: &Task, arena: Arena) -> Result<HttpBackend, StartFailure> {
    let files: Vec<PathBuf> = task.files.files.iter().map(|file| file.path.clone()).collect();
    let http = &task.job.http;
    HttpBackend::connect(http, &files, arena, PATIENCE).map_err(|source| StartFailure {
        what: StartStep::Connect,
        path: Some(PathBuf::from(http.url(""))),
        source,
    })
}

/// Somebody on a network.
fn other_side(task: &Task, arena: Arena) -> Result<NetBackend, StartFailure> {
    let job = &task.job;
    let lasts = net::Lasts {
        stop: Arc::clone(&task.ends.stop),
        enough: Arc::clone(&task.ends.enough),
        time: job
            .limit
            .runtime
            .map(|runtime| runtime + job.limit.ramp_time + job.limit.cooldown_time),
        patience: PATIENCE,
    };
    let listens = job.net_side(task.number).listens;
    NetBackend::new(job, task.number, arena, lasts).map_err(|source| StartFailure {
        what: if listens {
            StartStep::Listen
        } else {
            StartStep::Connect
        },
        path: Some(PathBuf::from(job.net_address(task.number))),
        source,
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
        kernel_threads_every: engine.kernel_threads_every,
    }
}

/// The buffers, filled for writing.
fn make_arena(task: &Task, depth: u32, content: &mut Content) -> Result<Arena, StartFailure> {
    let job = &task.job;
    let block = job.max_block_bytes() as usize;
    let (pages, what) = if job.buffers.huge_pages {
        let pages = match job.buffers.huge_page_bytes {
            0 => PageKind::Huge,
            bytes => PageKind::HugeOf(usize::try_from(bytes).unwrap_or(usize::MAX >> 1)),
        };
        (pages, StartStep::MapLargePages)
    } else {
        (PageKind::Normal, StartStep::Map)
    };
    let mut arena = Arena::new(depth, block, pages).map_err(failure(what))?;
    // A verified block is filled in full before each write; one of a store is there, or copied from there.
    if job.pattern.mix.uses()[1] && job.verify.is_none() && task.source.is_none() {
        for slot in 0..depth {
            content.prepare(&mut arena.slot_mut(slot)[..block]);
        }
    }
    Ok(arena)
}

/// The worker's way through the store of what is written, for its backend; `None` where there is none, or where the
/// backend writes from registered buffers alone: what is written is then copied into them.
fn write_source(task: &Task, content: &mut Content) -> Option<WriteSource> {
    let store = task.source.as_ref()?;
    let seed = Rng::stream(task.job.random_seed ^ 0x5C, task.index).next_u64();
    let source = Some(WriteSource::new(Arc::clone(store), seed));
    let engine = &task.job.engine;
    let rings = matches!(engine.kind, EngineKind::IoUring | EngineKind::IoUringCmd);
    let copies = rings && engine.fixed_buffers || engine.kind.needs_no_file();
    let (copied, taken) = if copies { (source, None) } else { (None, source) };
    content.comes_from(copied);
    taken
}

/// The priority of this thread's I/O.
fn set_priority(priority: IoPriority) -> std::io::Result<()> {
    let class = IoPriorityClass::from_number(priority.class);
    let class = class.ok_or_else(|| std::io::Error::from(std::io::ErrorKind::InvalidInput))?;
    process::set_ioprio(class, priority.level)
}

/// Waits for the start and runs the loop. `None`: stopped before it began.
fn go<B: Backend>(
    task: &Task,
    mut backend: B,
    (content, writers): (&mut Content, &mut Vec<Writer>),
    say: &dyn Fn(Message),
) -> Option<Report> {
    let job = &task.job;
    let mut plan = worker_plan(job, &task.files, task.index);
    if !backend.capabilities().has_buffers {
        plan.verifies = false;
        plan.read_back = false;
    }
    plan.interval = task.interval;
    let kept = |verify: &Verify| !verify.forgets_state && !verify.only;
    plan.keeps_state = job.verify.as_ref().is_some_and(kept) && job.pattern.mix.uses()[1];
    let earlier = job.verify.as_ref().map(|verify| &verify.written);
    let earlier = earlier.and_then(|written| written.get(task.number as usize));
    plan.written = earlier.cloned().map(Box::new);
    plan.generator.share(&task.sequences);
    let plan_reads_back = plan.read_back;
    let mut worker = Worker::new(plan, Arc::clone(&task.exchange), task.ends.clone());
    let share = task.share.lock().unwrap_or_else(PoisonError::into_inner).take();
    let seed = Rng::stream(job.random_seed ^ 0x9A, task.index).next_u64();
    let priorities = Priorities::new(job, depth_of(job), seed);
    let guards = Guards::with_priorities(guards_of(job, share), priorities);
    let locks = task.locks.lock().unwrap_or_else(PoisonError::into_inner).take();
    let guards = Guards::with_locks(guards, locks);
    let zoned = task.zones.lock().unwrap_or_else(PoisonError::into_inner).take();
    let (zones, devices) = zoned.map_or((None, Vec::new()), |zoned| {
        (zones_of(job, zoned.files, task.index), zoned.devices)
    });
    worker.guard_with(Guards::with_zones(guards, zones));
    let trim_seed = Rng::stream(job.random_seed ^ 0x71, task.index).next_u64();
    worker.trim_behind(job.verify.as_ref().filter(|_| plan_reads_back), trim_seed);
    if let Some(recording) = &task.recording {
        worker.record_with(recording.recorder(task.section, task.number));
        recording.runs_as(WorkerTask {
            job: task.section,
            worker: task.number,
            tid: process::thread_id(),
        });
    }
    let feed = task.playback.as_ref();
    if let Some(feed) = feed.and_then(|playback| playback.feed(task.section, task.number)) {
        worker.play(feed);
    }
    let mut clock = task.clock.clone();
    say(Message::Ready);
    let (epoch, start) = task.gate.wait(&task.ends.stop)?;
    // The clock was copied before files were laid out and earlier jobs ran: set it right before it counts.
    clock.discipline();
    let start = start.after(start_delay(job, task.index));
    while clock.now() < start && !task.ends.stop.load(Ordering::Relaxed) {
        crate::wait::sleep_until(&clock, start);
    }
    let begun = backend.begin();
    clock.discipline();
    let before = process::resource_usage_thread().unwrap_or_default();
    let mut driver = Driver::new(&mut worker, &mut backend, &mut clock, content, job.depth);
    let mut new_files = || open::open_anew(job, &task.files, &task.permits, writers);
    driver.new_files = Some(&mut new_files);
    let mut carry_out = |command: &ZoneCommand| zones::carry_out(&devices, command);
    driver.zones = Some(&mut carry_out);
    driver.worker.start(driver.clock.now(), epoch);
    if let Some(hook) = task.hook {
        hook(Boundary::Start);
    }
    let result = begun.and_then(|()| driver.run());
    if let Some(hook) = task.hook {
        hook(Boundary::Stop);
    }
    let cpu = usage_between(&driver.usage_before.unwrap_or(before), driver.usage_after);
    if let Err(error) = &result {
        worker.fail(error.call, Errno(error.source.raw_os_error().unwrap_or(0)));
    }
    worker.lost(backend.lost());
    let end = worker.finish(clock.now());
    let remark = |entry: &ErrorEntry| match entry.what {
        What::Io(_) => backend.remark(entry.file, entry.errno),
        _ => None,
    };
    Some(Report {
        remarks: end.errors.entries().map(remark).collect(),
        end,
        tid: process::thread_id(),
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

/// What the thread used from `before` to `after`, or to now.
fn usage_between(before: &CpuUsage, after: Option<CpuUsage>) -> CpuUsage {
    let after = after.map_or_else(process::resource_usage_thread, Ok);
    let Ok(after) = after else {
        return CpuUsage::default();
    };
    after.since(before)
}

/// A file opened for a worker.
pub(crate) type Opened = Vec<File>;

#[cfg(test)]
mod tests;

//! The streams of a record while a run goes on: every I/O, every request, counters, who ran, who had the CPUs.
//!
//! Data in: what was asked for, the targets. Data out: streams in the run directory, and for each what became of it:
//! rows, drops, and what is missing with the way to get it. Two threads beside the load: one watches the machine and
//! never waits for a disk, one writes. It must not know what the streams are good for.

mod batch;
mod ended;
mod followed;
mod keeper;
mod slow;
mod virtual_keeper;
mod watcher;

pub(crate) use followed::{CommandSeen, Control};
pub(crate) use virtual_keeper::VirtualStreams;

use crate::conditions;
use crate::event::{Event, Observer};
use crate::request::Streams;
use crate::tap::IoTap;
use anyhow::{Context, bail};
use batch::{Batch, Dropped};
pub(crate) use ended::EndedStreams;
use ended::Missing;
use fathom_core::record::StreamKind;
use fathom_core::run::TargetFile;
use fathom_engine::recording::IoRecording;
use fathom_observe::SystemRoot;
use fathom_observe::counters::CounterSampler;
use fathom_observe::target::{self, TraceDevice};
use fathom_observe::trace::{BlockTracer, KernelTracer, Load, SchedTracer, Witnesses};
use fathom_sys::clock::{HostClock, monotonic_ns};
use keeper::{Keeper, Sinks, Sources};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel, sync_channel};
use std::thread::JoinHandle;
use watcher::{Account, Ends, Watched};

/// Batches that may wait for the disk: half a minute of them.
const BATCHES: usize = 1024;
/// The kernel's buffer of the block trace, a CPU: at 100,000 requests a second it holds a second's events.
const BLOCK_BUFFER_KIB: u32 = 8192;
/// The same of the scheduler's events: at 300,000 switches a second it holds a third of one.
const SCHED_BUFFER_KIB: u32 = 8192;
/// The same of what the kernel does for a while.
const KERNEL_BUFFER_KIB: u32 = 2048;

/// Streams under way.
pub(crate) struct StreamRecorder {
    keeper: Keeper<Batch>,
    watcher: JoinHandle<Account>,
    stop: Arc<AtomicBool>,
    dropped: Arc<Dropped>,
    recording: Option<Arc<IoRecording>>,
    missing: Missing,
    control: Sender<Control>,
}

/// What is recorded of whom.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Subject<'a> {
    pub requested: Streams,
    pub files: &'a [TargetFile],
    /// Workers in all; none where there is no load.
    pub workers: usize,
    /// What the names of their threads begin with.
    pub thread_names: &'a [String],
}

impl StreamRecorder {
    /// Opens the streams in `dir` and begins to watch. What the system does not allow is left out, and told at the end.
    ///
    /// # Errors
    /// The streams could not be made, or no thread.
    pub(crate) fn begin(
        dir: &Path,
        system: &SystemRoot,
        subject: Subject<'_>,
        clock: &HostClock,
        tap: Option<IoTap>,
    ) -> anyhow::Result<Self> {
        let requested = subject.requested;
        let mut missing = Missing::default();
        let watched = watch(system, subject, &mut missing);
        if subject.workers == 0 && watched.sees_nothing() {
            let reasons: BTreeSet<&String> = missing.0.values().flatten().collect();
            let reasons: Vec<&str> = reasons.into_iter().map(String::as_str).collect();
            bail!(
                "nothing of what was asked for can be recorded: {}",
                reasons.join("; ")
            );
        }
        let wanted = [
            (requested.io && subject.workers > 0, StreamKind::Io),
            (requested.block, StreamKind::Block),
            (requested.block, StreamKind::Sched),
            (requested.block, StreamKind::Cpus),
            (requested.block, StreamKind::Kernel),
            (requested.counters, StreamKind::Processes),
            // What the record says of itself is among the counters, whatever was asked for.
            (true, StreamKind::Counters),
        ];
        let wanted = wanted.into_iter().filter(|(wanted, _)| *wanted);
        let sinks = Sinks::open(dir, wanted.map(|(_, kind)| kind))?;
        let recording =
            (requested.io && subject.workers > 0).then(|| Arc::new(IoRecording::rings(subject.workers)));
        let stop = Arc::new(AtomicBool::new(false));
        let dropped = Arc::new(Dropped::default());
        let (windows, windows_out) = channel();
        let sources = Sources {
            recording: recording.clone(),
            windows: watched.looks_back().then_some(windows),
            dropped: Arc::clone(&dropped),
            clock: clock.clone(),
            tap,
        };
        let keeper = Keeper::begin(sinks, BATCHES, move |sinks, batches| {
            keeper::keep_all(sinks, &sources, batches)
        })?;
        let (control, controls) = channel();
        let ends = Ends {
            controls,
            batches: keeper.batches().clone(),
            dropped: Arc::clone(&dropped),
            windows: windows_out,
            stop: Arc::clone(&stop),
            clock: clock.clone(),
        };
        let watcher = thread("fathom-watch", move || watcher::watch(watched, &ends))?;
        Ok(Self {
            keeper,
            watcher,
            stop,
            dropped,
            recording,
            missing,
            control,
        })
    }

    /// Where the load records its I/Os.
    pub(crate) fn recording(&self) -> Option<Arc<IoRecording>> {
        self.recording.clone()
    }

    /// From `from_ns` on, what task `maker` starts, and what those start, is a command, whose I/O on these disks is counted by
    /// itself. It returns when that is so.
    pub(crate) fn follow(&self, maker: u32, from_ns: u64, disks: Vec<String>) {
        let (followed, waits) = sync_channel(1);
        let follow = Control::Follow {
            maker,
            from_ns,
            disks,
            followed,
        };
        // A watcher that is gone has ended with a panic, which goes on where it is joined.
        if self.control.send(follow).is_ok() {
            let _gone = waits.recv();
        }
    }

    /// The command took from `from_ns` to `to_ns`.
    pub(crate) fn ran(&self, from_ns: u64, to_ns: u64) {
        let _gone = self.control.send(Control::Ran { from_ns, to_ns });
    }

    /// Says what is missing, as far as it is known now.
    pub(crate) fn tell_missing(&self, observer: &mut dyn Observer) {
        let mut told: Vec<&String> = Vec::new();
        for missing in self.missing.0.values().flatten() {
            // One reason may be that of several streams.
            if !told.contains(&missing) {
                told.push(missing);
                observer.event(Event::NotRecorded(missing));
            }
        }
    }

    /// Ends all streams: the load has ended.
    pub(crate) fn end(self) -> EndedStreams {
        self.stop.store(true, Ordering::Relaxed);
        let account = joined(self.watcher);
        let ended = self.keeper.end();
        let mut missing = self.missing;
        for (kind, remarks) in account.remarks.0 {
            missing.say(kind, remarks);
        }
        let mut command = account.command;
        if let Some(command) = &mut command {
            command.missing.extend(missing.of_a_command());
        }
        let mut result = EndedStreams {
            command,
            ..EndedStreams::default()
        };
        for (kind, ended) in ended {
            let mut dropped = self.dropped.rows(kind);
            dropped += account.lost.get(&kind).copied().unwrap_or(0);
            if kind == StreamKind::Io {
                dropped += self.recording.as_ref().map_or(0, |io| io.dropped());
            }
            result.add(kind, ended, dropped, missing.0.remove(&kind).unwrap_or_default());
        }
        result
    }
}

/// What can be watched of what was asked for.
fn watch(system: &SystemRoot, subject: Subject<'_>, missing: &mut Missing) -> Watched {
    let mut watched = Watched {
        block: None,
        sched: None,
        kernel: None,
        counters: None,
        without_load: subject.workers == 0,
        followed: None,
        numbers: Vec::new(),
    };
    if subject.requested.counters {
        let (mut sampler, remarks) = CounterSampler::new(system, &conditions::disk_names(subject.files));
        missing.say(StreamKind::Counters, remarks);
        // Of a load, what holds this process up; without one, what holds up those that send I/O.
        if !watched.without_load {
            sampler.follow(std::process::id(), monotonic_ns());
        }
        watched.counters = Some(sampler);
    }
    if subject.requested.block {
        let (devices, mut reasons) = devices(system, subject.files);
        let number = |device: &TraceDevice| (device.dev, device.name.clone());
        watched.numbers = devices.iter().map(number).collect();
        if !devices.is_empty() {
            match BlockTracer::start(system, &devices, BLOCK_BUFFER_KIB) {
                Ok((tracer, remarks)) => {
                    watched.block = Some(tracer);
                    reasons.extend(remarks);
                }
                Err(unavailable) => reasons.push(unavailable.to_string()),
            }
        }
        missing.say(StreamKind::Block, reasons);
        let remarks = match KernelTracer::start(system, &devices, KERNEL_BUFFER_KIB) {
            Ok((tracer, remarks)) => {
                watched.kernel = Some(tracer);
                remarks
            }
            Err(unavailable) => vec![unavailable.to_string()],
        };
        missing.say(StreamKind::Kernel, remarks);
        let load = Load {
            comm_prefixes: subject.thread_names.to_vec(),
            tids: Vec::new(),
        };
        let remarks = match SchedTracer::start(system, &load, SCHED_BUFFER_KIB) {
            Ok((mut tracer, remarks)) => {
                missing.say(StreamKind::Kernel, witness(&mut tracer));
                watched.sched = Some(tracer);
                remarks
            }
            Err(unavailable) => {
                let reason = unavailable.to_string();
                missing.say(StreamKind::Cpus, [reason.clone()]);
                vec![reason]
            }
        };
        missing.say(StreamKind::Sched, remarks);
    }
    watched
}

/// Has when a CPU did not run be noticed; what will not be, a sentence each.
fn witness(tracer: &mut SchedTracer) -> Vec<String> {
    match Witnesses::begin() {
        Ok((witnesses, remarks)) => {
            tracer.witness(witnesses);
            remarks
        }
        Err(error) => vec![format!("whether CPUs stood still is not known: {error}")],
    }
}

/// The devices below `files`, each once, and why some are not there.
fn devices(system: &SystemRoot, files: &[TargetFile]) -> (Vec<TraceDevice>, Vec<String>) {
    let mut devices: Vec<TraceDevice> = Vec::new();
    let mut reasons = Vec::new();
    for file in files {
        let (found, missing) = target::trace_devices(system, file);
        devices.extend(found);
        reasons.extend(missing);
    }
    devices.sort_by_key(|device| device.dev);
    devices.dedup_by_key(|device| device.dev);
    (devices, reasons)
}

fn thread<T: Send + 'static>(
    name: &str,
    body: impl FnOnce() -> T + Send + 'static,
) -> anyhow::Result<JoinHandle<T>> {
    std::thread::Builder::new()
        .name(name.to_owned())
        .spawn(body)
        .with_context(|| format!("cannot start the thread {name}"))
}

/// What a thread leaves; its panic goes on here.
fn joined<T>(handle: JoinHandle<T>) -> T {
    handle
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

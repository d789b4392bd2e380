//! Spikes and their causes.

use super::owners::Owned;
use fathom_core::record::Comm;
use serde::Serialize;

/// All spikes of a run.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct SpikeReport {
    /// How many were found.
    pub found: u64,
    /// Of those, the ones in which most was lost, in the order of time.
    pub kept: Vec<Spike>,
    /// By how much I/Os took longer than normal over the whole run, and the part of it that lies in the kept spikes; only
    /// what is more than chance counts.
    pub lost_ns: u64,
    pub covered: f64,
    /// Those that are not among the kept ones, as one.
    pub smaller: Smaller,
    /// How many of each cause among the kept ones, the most frequent first.
    pub causes: Vec<(Cause, u64)>,
    /// Those of each cause by their lengths, where these set them apart.
    pub kinds: Vec<SpikeKind>,
    /// Spikes that come regularly.
    pub periods: Vec<Period>,
}

/// Spikes that are not told one by one: most are the tail of the distribution. Their causes were not looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Smaller {
    /// How many in which more was lost than chance has it.
    pub spikes: u64,
    /// What was lost in all of them.
    pub lost_ns: u64,
    /// The response time of the worst I/O of all.
    pub worst_max_ns: u64,
}

/// Spikes of one cause whose worst I/Os take about as long.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SpikeKind {
    pub cause: Cause,
    /// How many.
    pub spikes: u64,
    /// The response times of their worst I/Os: the smallest and the largest.
    pub worst_min_ns: u64,
    pub worst_max_ns: u64,
    /// Slow I/Os in the middle one of them.
    pub slow_ios_p50: u64,
    /// Whether they are stalls, which hold up several I/Os; else they are the tail of the distribution.
    pub stalls: bool,
    /// What was lost in all of them.
    pub lost_ns: u64,
    /// Whether they come regularly.
    pub period: Option<Period>,
}

/// A time in which I/Os took far longer than those around it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Spike {
    /// Its begin: when the first of its slow I/Os was due.
    pub start_ns: u64,
    /// From there until the last of them was complete.
    pub duration_ns: u64,
    /// The sections that it met.
    pub sections: Vec<String>,
    /// Slow I/Os in it.
    pub slow_ios: u64,
    /// From which latency on an I/O counts as slow here.
    pub threshold_ns: u64,
    /// The median latency of the same section in the half minute around.
    pub usual_ns: u64,
    /// The worst of them.
    pub worst: WorstIo,
    /// Where the slow I/Os spent their time, on average; `None` where no block trace tells.
    pub split: Option<Split>,
    /// How many were in flight.
    pub depth: Depths,
    /// Whom the device served meanwhile, the most first.
    pub served: Vec<Served>,
    /// Processes that ran or did I/O in the window and hardly before.
    pub newcomers: Vec<ProcessUse>,
    /// Whether all I/Os were slower for a while, not single ones far slower.
    pub shift: bool,
    /// By how much its slow I/Os took longer than normal, all together.
    pub lost_ns: u64,
    /// Whose that time was, the largest part first; what is usual last. They add up to the response times of its slow I/Os:
    /// of more than 4,000, the worst 2,000 are looked at for themselves, and others stand for the rest.
    pub owners: Vec<Owned>,
    /// What caused it.
    pub verdict: Verdict,
}

/// The slowest I/O of a spike.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WorstIo {
    /// Created to completed.
    pub latency_ns: u64,
    /// Due to completed: longer than the latency where it could not be sent in time.
    pub response_ns: u64,
    /// When it was made.
    pub at_ns: u64,
    /// Where, in bytes: of its file, or of the device where there is no load.
    pub offset_bytes: u64,
    pub length_bytes: u32,
    /// `read`, `write`, `trim`, `sync`, …; [`WorstIo::HELD`] where it is none.
    pub op: String,
}

impl WorstIo {
    /// No I/O: a thread that could run and was not let, of a program that uses the device.
    pub const HELD: &'static str = "held";
}

/// Where slow I/Os spent their time: means, in nanoseconds; they add up to the mean response time.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Split {
    /// Due and not yet sent by the load.
    pub unsent_ns: f64,
    /// Sent, and not yet in the block layer: system call, file system, throttling, page cache.
    pub above_ns: f64,
    /// In the block layer, waiting for a tag.
    pub tag_ns: f64,
    /// In the scheduler's queue.
    pub scheduler_ns: f64,
    pub device_ns: f64,
    /// Done by the device, and not yet seen by the load.
    pub reap_ns: f64,
    /// The share of slow I/Os for which several requests could be the one: their split is approximate.
    pub ambiguous: f64,
    /// The share of slow I/Os to which no request belongs: all of their time counts as above the block layer.
    pub unmatched: f64,
}

impl Split {
    /// All parts together.
    pub fn total_ns(&self) -> f64 {
        self.unsent_ns + self.above_ns + self.tag_ns + self.scheduler_ns + self.device_ns + self.reap_ns
    }
}

/// The load's I/Os in flight, on average.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Depths {
    /// In the time before.
    pub before: f64,
    /// During the spike.
    pub during: f64,
    /// In the time after.
    pub after: f64,
    /// At the device during the spike, everybody's; `None` without block trace.
    pub device_during: Option<f64>,
}

/// A task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Process {
    /// Its number; of one with several, any.
    pub pid: u32,
    /// Its name.
    pub comm: Comm,
}

/// What the device served for one task during a spike.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Served {
    /// For whom.
    pub process: Process,
    /// Whether that is the load.
    pub own: bool,
    pub requests: u64,
    /// Of those, flushes.
    pub flushes: u64,
    pub bytes: u64,
    /// Requests in flight at the device on average during the spike.
    pub in_flight: f64,
    /// The same in the time before.
    pub in_flight_before: f64,
}

/// What one process used in the window of a spike and not before.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProcessUse {
    pub process: Process,
    /// CPU time in the window, where known.
    pub cpu_ns: u64,
    /// Bytes it caused to be read.
    pub read_bytes: u64,
    /// Bytes it caused to be written, or made dirty.
    pub written_bytes: u64,
}

/// What can cause a spike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The device, or what is behind it.
    Device,
    /// The kernel's own queue: tags, the scheduler.
    KernelQueue,
    /// A cgroup's limit on I/O or CPU.
    CgroupThrottle,
    /// A flush of the device's cache, or the journal of a file system.
    FlushOrJournal,
    /// The load had no CPU.
    CpuStarvation,
    /// Another process's I/O.
    CompetingIo,
    /// The load did it to itself.
    LoadItself,
    /// The load did not run: a signal or a freezer had stopped it.
    LoadStopped,
    /// The load waited for memory.
    Memory,
    /// A lock that another task had.
    Lock,
    /// The machine itself did not run: its hypervisor ran something else.
    Standstill,
    /// A timer that was late though nobody had its CPU: a hypervisor that did not run the machine, or a CPU that slept deep.
    LateTimer,
    /// Not to be told.
    Unknown,
}

impl Cause {
    /// All, in the order of a table.
    pub const ALL: [Self; 13] = [
        Self::Device,
        Self::KernelQueue,
        Self::CgroupThrottle,
        Self::FlushOrJournal,
        Self::CpuStarvation,
        Self::CompetingIo,
        Self::LoadItself,
        Self::LoadStopped,
        Self::Memory,
        Self::Lock,
        Self::Standstill,
        Self::LateTimer,
        Self::Unknown,
    ];

    /// In a few words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Device => "device",
            Self::KernelQueue => "kernel queue",
            Self::CgroupThrottle => "cgroup throttle",
            Self::FlushOrJournal => "flush or journal",
            Self::CpuStarvation => "CPU starvation",
            Self::CompetingIo => "competing I/O",
            Self::LoadItself => "the load itself",
            Self::LoadStopped => "the load was stopped",
            Self::Memory => "memory",
            Self::Lock => "a lock",
            Self::Standstill => "the machine stood still",
            Self::LateTimer => "a late timer",
            Self::Unknown => "unknown",
        }
    }
}

/// What caused a spike.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verdict {
    /// The cause.
    pub cause: Cause,
    /// Who, for CPU starvation and competing I/O, where that is known.
    pub process: Option<Process>,
    /// How sure that is: 0 to 1.
    pub confidence: f64,
    /// The same in words: [`in_words`].
    pub confidence_words: String,
    /// Why, a sentence each.
    pub because: Vec<String>,
    /// What else took part.
    pub also: Vec<(Cause, Option<Process>)>,
    /// What is missing to decide, or to be surer.
    pub missing: Vec<String>,
}

pub fn in_words(confidence: f64) -> &'static str {
    match confidence {
        c if c >= 0.9 => "almost certain",
        c if c >= 0.75 => "likely",
        c if c >= 0.5 => "more likely than not",
        _ => "a guess",
    }
}

/// Spikes that come regularly.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Period {
    /// The cause that they share; `None`: all spikes together.
    pub cause: Option<Cause>,
    /// The smallest of them: smaller spikes are not counted here.
    pub worst_min_ns: u64,
    /// From one to the next.
    pub period_ns: u64,
    /// When the first was due, as part of a period since the start of the run.
    pub phase_ns: u64,
    /// How many spikes come when they are due.
    pub spikes: u64,
    /// How often none came when one was due.
    pub missed: u64,
    /// How far off they are on average.
    pub jitter_ns: u64,
}

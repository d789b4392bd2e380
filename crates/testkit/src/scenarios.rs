//! Evidence of known causes: a small machine is simulated, something is done to it, and what its recorder would have seen is
//! kept.
//!
//! Data in: a seed. Data out: a run with the rows of its streams, and what was done when. The machine has CPUs that tasks
//! compete for, a block layer with tags and a scheduler, a device with several channels, a journal, other processes, and a
//! cgroup's throttle. It must not know the rules that it is used to judge.

mod block;
mod counters;
mod cpu;
mod device;
mod draws;
mod load;
mod machine;
mod make;
mod others;
mod told;

pub use make::{Innocent, Plan, Set, empty_run, plans, steady};

use fathom_core::record::{BlockRequest, CounterRow, CpuShare, IoRecord, KernelSpan, ProcessRow, SchedSlice};
use fathom_core::run::Run;

/// A span of time on the machine's clock, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Window {
    /// Its begin, in nanoseconds.
    pub start_ns: u64,
    /// Its end, in nanoseconds.
    pub end_ns: u64,
}

impl Window {
    /// Whether a moment lies in it.
    fn holds(&self, at_ns: u64) -> bool {
        self.start_ns <= at_ns && at_ns <= self.end_ns
    }

    /// How much of `from..to` lies in it, in nanoseconds.
    fn overlap_ns(&self, from: u64, to: u64) -> u64 {
        to.min(self.end_ns).saturating_sub(from.max(self.start_ns))
    }
}

/// Why I/Os are slow for a while.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// The device does not answer.
    Device,
    /// The block layer holds requests back.
    KernelQueue,
    /// A cgroup's limit does.
    CgroupThrottle,
    /// Something keeps the load from running altogether.
    LoadStopped,
    /// A flush of the journal takes long.
    FlushOrJournal,
    /// Others have the load's CPU.
    CpuStarvation,
    /// Others have the device.
    CompetingIo,
    /// The load sends more than there is room for.
    LoadItself,
}

/// What holds a load back all the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// The device starts so many requests a second.
    Iops,
    /// The device takes so long for each.
    Latency,
    /// A cgroup lets so many through.
    AboveBlockLayer,
    /// The load sends no more.
    OwnPace,
    /// Memory takes what is written.
    PageCache,
}

/// Something that was done to the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Injected {
    /// When.
    pub window: Window,
    /// What a spike in that time is then caused by.
    pub cause: Cause,
    /// The process that did it, by name.
    pub process: Option<String>,
}

/// By how much the load's I/Os took longer for what was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Harm {
    /// What was done.
    pub cause: Cause,
    /// The process that did it, by name.
    pub process: Option<String>,
    /// Over all I/Os of the load, in nanoseconds. More than one cause at a time can each have held up the same time: then no
    /// less than the one and no more than the other.
    pub least_ns: u64,
    /// See `least_ns`.
    pub most_ns: u64,
}

/// One simulated run.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// What was simulated, in words, with its seed.
    pub label: String,
    /// Its document.
    pub run: Run,
    /// What was done to it; empty: nothing.
    pub injected: Vec<Injected>,
    /// The load's I/Os, in the order of a recorder: worker by worker, a second at a time.
    pub ios: Vec<IoRecord>,
    /// The device's requests.
    pub requests: Vec<BlockRequest>,
    /// The system's counters.
    pub counters: Vec<CounterRow>,
    /// What processes used.
    pub processes: Vec<ProcessRow>,
    /// Stays on CPUs: the load's throughout, others' around slow I/Os.
    pub slices: Vec<SchedSlice>,
    /// Who had each CPU.
    pub cpus: Vec<CpuShare>,
    /// What the kernel did for a while.
    pub kernel: Vec<KernelSpan>,
}

impl Scenario {
    /// A run whose record has no row.
    pub fn empty() -> Self {
        Self {
            label: String::new(),
            run: empty_run(),
            injected: Vec::new(),
            ios: Vec::new(),
            requests: Vec::new(),
            counters: Vec::new(),
            processes: Vec::new(),
            slices: Vec::new(),
            cpus: Vec::new(),
            kernel: Vec::new(),
        }
    }
}

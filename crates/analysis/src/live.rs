//! Disturbances as they happen: intervals in which an I/O took far longer than usual, and their cause as far as counters tell.
//!
//! Data in: an interval's latencies, what counters say of the same second. Data out: a [`Disturbance`], or nothing. It sees no
//! I/O by itself and cannot know what `explain` finds later from a record: where counters do not speak clearly the cause is not
//! seen. It must not know how it is shown.

use fathom_core::backend::Op;
use fathom_core::run::LatencySummary;
use std::collections::{BTreeMap, VecDeque};

/// Intervals that say what is usual, and how many it takes.
const USUAL_MOST: usize = 60;
const USUAL_LEAST: usize = 5;
/// So many times the usual 99.9th percentile, and by so much longer, is far slower.
const TIMES: f64 = 8.0;
const LONGER_NS: u64 = 1_000_000;
/// From these shares of a second on counters speak clearly.
const STEAL: f64 = 0.05;
const WAITING: f64 = 0.2;
const STALLED: f64 = 0.05;
/// From this share of a limit on it is reached.
const AT_LIMIT: f64 = 0.97;
/// Others' I/O at the device, as a share of the load's own.
const OTHERS: f64 = 0.25;

/// Why an interval was disturbed, as far as counters can tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LiveCause {
    /// The load was at a known limit.
    AtLimit,
    /// The CPU quota of a control group.
    Quota,
    /// The hypervisor gave the CPUs to others.
    Steal,
    /// Processes waited for a CPU.
    Cpu,
    /// Processes waited for memory.
    Memory,
    /// Others used the device.
    OthersIo,
    /// A modelled disk was told to.
    Fault,
    /// Counters do not say.
    NotSeen,
}

impl LiveCause {
    pub const ALL: [Self; 8] = [
        Self::AtLimit,
        Self::Quota,
        Self::Steal,
        Self::Cpu,
        Self::Memory,
        Self::OthersIo,
        Self::Fault,
        Self::NotSeen,
    ];

    /// Its name in a label.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AtLimit => "at_limit",
            Self::Quota => "cpu_quota",
            Self::Steal => "cpu_steal",
            Self::Cpu => "cpu_wait",
            Self::Memory => "memory",
            Self::OthersIo => "others_io",
            Self::Fault => "fault",
            Self::NotSeen => "not_seen",
        }
    }

    pub const fn in_words(self) -> &'static str {
        match self {
            Self::AtLimit => "at a limit of the disk or of the machine",
            Self::Quota => "CPU quota",
            Self::Steal => "CPU taken by the hypervisor",
            Self::Cpu => "waiting for a CPU",
            Self::Memory => "waiting for memory",
            Self::OthersIo => "others' I/O at the device",
            Self::Fault => "a fault that was asked for",
            Self::NotSeen => "not seen by counters",
        }
    }
}

/// What counters say of a second; each as a share of it, and 0 where it is not known.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Evidence {
    /// The load's rate as a share of the nearest limit.
    pub of_limit: f64,
    /// Time for which a quota held tasks back.
    pub throttled: f64,
    /// CPU time that went to others, as a share of all.
    pub steal: f64,
    /// Time in which a process waited for a CPU.
    pub cpu_waiting: f64,
    /// Time in which no process went on for lack of memory.
    pub memory_stalled: f64,
    /// I/Os at the load's devices that are not the load's, as a share of its own.
    pub others: f64,
    /// Whether a modelled disk did what it was told to, 0 or 1.
    pub fault: f64,
}

impl Evidence {
    /// What it shows: what is held back from outside first, and what is only shared last.
    pub fn cause(&self) -> LiveCause {
        let shown = [
            (self.fault > 0.0, LiveCause::Fault),
            (self.throttled >= STALLED, LiveCause::Quota),
            (self.steal >= STEAL, LiveCause::Steal),
            (self.memory_stalled >= STALLED, LiveCause::Memory),
            (self.of_limit >= AT_LIMIT, LiveCause::AtLimit),
            (self.others >= OTHERS, LiveCause::OthersIo),
            (self.cpu_waiting >= WAITING, LiveCause::Cpu),
        ];
        let first = shown.into_iter().find(|(shown, _)| *shown);
        first.map_or(LiveCause::NotSeen, |(_, cause)| cause)
    }
}

/// An interval with an I/O far slower than usual.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Disturbance {
    pub cause: LiveCause,
    /// The longest latency.
    pub lat_ns_max: u64,
    /// What was usual before: the median of the 99.9th percentiles of earlier intervals.
    pub lat_ns_usual: u64,
}

/// What is usual, learnt from interval to interval: of each direction of each job by itself.
#[derive(Debug, Default)]
pub struct Usual(BTreeMap<(u32, usize), VecDeque<u64>>);

impl Usual {
    /// Takes an interval in; a disturbance, if it was one. What is usual is what came before it.
    pub fn judge(
        &mut self,
        job: u32,
        op: Op,
        lat: &LatencySummary,
        evidence: &Evidence,
    ) -> Option<Disturbance> {
        let p999 = lat.percentile(99.9)?;
        let known = self.0.entry((job, op.index())).or_default();
        let usual = median(known);
        if known.len() >= USUAL_MOST {
            known.pop_front();
        }
        known.push_back(p999);
        let lat_ns_usual = usual?;
        let far = lat.max as f64 > lat_ns_usual as f64 * TIMES && lat.max - lat_ns_usual >= LONGER_NS;
        far.then(|| Disturbance {
            cause: evidence.cause(),
            lat_ns_max: lat.max,
            lat_ns_usual,
        })
    }
}

/// The upper median; `None`: too few to say.
fn median(known: &VecDeque<u64>) -> Option<u64> {
    let mut sorted: Vec<u64> = known.iter().copied().collect();
    sorted.sort_unstable();
    (sorted.len() >= USUAL_LEAST).then(|| sorted[sorted.len() / 2])
}

#[cfg(test)]
mod tests;

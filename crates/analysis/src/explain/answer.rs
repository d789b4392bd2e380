//! The answer: plain data, in the order in which a report says it.
//!
//! Data in: nothing. Data out: types that serialise. Times are nanoseconds since the start of the run, latencies
//! nanoseconds, shares 0 to 1.

mod command;
mod distributions;
mod limits;
mod owners;
mod spikes;

pub use command::{CommandTime, LimitTime, OutsideLimits};
pub use distributions::{
    AVERAGE_ABOVE_MS, Averages, Distribution, HiddenSeconds, HourDistribution, SECTION_PERCENTILES,
    SectionDistribution,
};
pub use limits::{Candidate, Figure, LimitKind, SectionLimit, Unit};
pub use owners::{Owned, OwnerClass};
pub use spikes::{
    Cause, Depths, Period, Process, ProcessUse, Served, Smaller, Spike, SpikeKind, SpikeReport, Split,
    Verdict, WorstIo, in_words,
};

use crate::usage::Usage;
use serde::Serialize;

/// What limited a run, what its spikes came from, what averages hid.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// [`super::SCHEMA`].
    pub schema: String,
    /// What became of the time of the commands that were recorded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<CommandTime>,
    /// What limits each section, in the order of the workload; of a record without load, each device.
    pub limits: Vec<SectionLimit>,
    /// The spikes; `None`: neither the I/Os of the load nor the requests of its devices were recorded.
    pub spikes: Option<SpikeReport>,
    /// Averages against I/Os, for each section.
    #[serde(rename = "truth")]
    pub distributions: Vec<SectionDistribution>,
    /// CPU, memory, disks and network by utilization, saturation and errors; empty where no counters were recorded.
    #[serde(rename = "use", skip_serializing_if = "Usage::is_empty")]
    pub usage: Usage,
    /// What the record lacks, and what cannot be told without it.
    pub missing: Vec<String>,
}

impl Explanation {
    /// Whether there was nothing recorded that a limit or a spike could be seen in.
    pub fn has_no_evidence(&self) -> bool {
        self.limits.is_empty() && self.spikes.is_none() && self.usage.is_empty()
    }
}

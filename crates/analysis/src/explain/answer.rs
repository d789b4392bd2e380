//! The answer: plain data, in the order in which a report says it.
//!
//! Data in: nothing. Data out: types that serialise. Times are nanoseconds since the start of the run, latencies
//! nanoseconds, shares 0 to 1.

mod limits;
mod spikes;
mod truths;

pub use limits::{Candidate, Figure, LimitKind, SectionLimit, Unit};
pub use spikes::{
    Cause, Depths, Period, Process, ProcessUse, Served, Spike, SpikeReport, Split, Verdict, WorstIo, in_words,
};
pub use truths::{
    AVERAGE_ABOVE_MS, Averages, Distribution, HiddenSeconds, HourTruth, SectionTruth, TRUTH_PERCENTILES,
};

use serde::Serialize;

/// What limited a run, what its spikes came from, what averages hid.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// [`super::SCHEMA`].
    pub schema: String,
    /// What limits each section, in the order of the workload; of a record without load, each device.
    pub limits: Vec<SectionLimit>,
    /// The spikes; `None`: neither the I/Os of the load nor the requests of its devices were recorded.
    pub spikes: Option<SpikeReport>,
    /// Averages against I/Os, for each section.
    pub truth: Vec<SectionTruth>,
    /// What the record lacks, and what cannot be told without it.
    pub missing: Vec<String>,
}

impl Explanation {
    /// Whether there was nothing recorded that a limit or a spike could be seen in.
    pub fn has_no_evidence(&self) -> bool {
        self.limits.is_empty() && self.spikes.is_none()
    }
}

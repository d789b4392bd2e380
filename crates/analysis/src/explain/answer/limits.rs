//! What limits a section.

use serde::Serialize;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SectionLimit {
    /// The section's name; of a record without load, the device's.
    pub name: String,
    pub limit: LimitKind,
    /// How sure that is: 0 to 1.
    pub confidence: f64,
    /// Why, a sentence each.
    pub because: Vec<String>,
    /// What would change it.
    pub change: String,
    /// The figures that show it.
    pub figures: Vec<Figure>,
    /// Whose limit this is: the run's own disks and machine first; of others on sale, those whose stated limit is equal to it,
    /// the nearest first.
    pub candidates: Vec<Candidate>,
    /// Figures that point the wrong way here, and why they do.
    pub misleading: Vec<String>,
    /// What is missing to decide, or to be surer.
    pub missing: Vec<String>,
}

/// What can limit a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitKind {
    /// The device serves only so many I/Os a second.
    Iops,
    /// The device serves only so many bytes a second.
    Bandwidth,
    /// Each I/O takes its time, and no more of them are in flight.
    Latency,
    /// The virtual machine's limits, over all its disks.
    Machine,
    /// I/O is held above the block layer: a cgroup's limit.
    AboveBlockLayer,
    /// Memory, not the device, answers.
    PageCache,
    /// The load gets no more CPU.
    Cpu,
    /// The load was told to do no more.
    OwnPace,
    /// The device fails I/Os.
    DeviceErrors,
    /// Nothing was near a limit: a record of light use.
    Nothing,
    /// Not to be told from what was recorded.
    Unknown,
}

impl LimitKind {
    /// In a few words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Iops => "an IOPS limit",
            Self::Bandwidth => "a bandwidth limit",
            Self::Latency => "latency-bound at this depth",
            Self::Machine => "a limit of the virtual machine",
            Self::AboveBlockLayer => "throttled above the block layer",
            Self::PageCache => "the page cache",
            Self::Cpu => "CPU",
            Self::OwnPace => "the load's own pace",
            Self::DeviceErrors => "errors of the device",
            Self::Nothing => "nothing",
            Self::Unknown => "unknown",
        }
    }
}

/// One number with its unit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figure {
    /// What it is, in a few words.
    pub what: String,
    pub value: f64,
    pub unit: Unit,
}

/// The units of figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// I/Os a second.
    Iops,
    BytesPerSecond,
    Bytes,
    Nanoseconds,
    Percent,
    /// A plain number.
    Number,
}

/// A disk or machine with the limit that was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Candidate {
    /// Its name in the catalogue.
    pub name: String,
    /// Its stated limit.
    pub limit: f64,
    /// The unit of that: I/Os or bytes a second.
    pub unit: Unit,
    /// Found over stated.
    pub ratio: f64,
    /// Whether it is the run's own: of any other it is only known that its limit is equal.
    pub own: bool,
}

//! The USE method over counters: of CPU, memory, each disk and the network utilization, saturation and errors, each with its figure, its
//! limit and a verdict; and what follows from them alone.
//!
//! Data in: counters in the order of time ([`UseScan`]), the limits that are known. Data out: a [`Usage`]. It reads averages over the
//! time between two readings, a second of a recording or a scrape of a server, and says what such averages cannot show. Memory grows
//! with the readings, 4 bytes each a figure. It must not know where counters come from, nor how it is told.
//!
//! Source of the method: Brendan Gregg, "The USE Method"; of the counters: Documentation/admin-guide/iostats.rst, PSI.

mod load;
mod pods;
mod scan;
mod verdict;

pub use load::LoadReading;
pub use pods::PodUse;
pub use scan::UseScan;

use serde::Serialize;

/// A thing that can be short.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind", content = "name")]
pub enum Resource {
    Cpu,
    Memory,
    /// By the kernel's name.
    Disk(String),
    /// All disks of the machine together.
    Machine,
    /// By the interface's name.
    Network(String),
    /// A volume of pods: `namespace/claim`.
    Volume(String),
}

/// What is asked of a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Aspect {
    /// How much of it was used.
    Utilization,
    /// What waited for it.
    Saturation,
    Errors,
}

impl Aspect {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Utilization => "utilization",
            Self::Saturation => "saturation",
            Self::Errors => "errors",
        }
    }
}

/// What a figure counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum UseUnit {
    /// Of the time, or of a whole: 0 to 1.
    Share,
    IosPerSecond,
    BytesPerSecond,
    /// Of requests.
    InFlight,
    /// In all.
    Count,
    PerSecond,
}

/// How it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum UseVerdict {
    /// Nothing counts it here.
    NotCounted,
    Fine,
    /// Much of it was used at times, or something waited.
    Busy,
    /// It was used up, or what waited held the work up.
    Short,
}

impl UseVerdict {
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotCounted => "not counted",
            Self::Fine => "fine",
            Self::Busy => "busy",
            Self::Short => "short",
        }
    }
}

/// A limit and whose it is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UseLimit {
    pub value: f64,
    /// `P15 (Premium SSD)`, `4 CPUs`; empty where it says itself.
    pub whose: String,
    /// Whether it was stated; else it is where the figure stayed, without anything known.
    pub is_stated: bool,
}

/// A row of the table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UseRow {
    pub resource: Resource,
    pub aspect: Aspect,
    /// What was counted, in a few words.
    pub what: &'static str,
    pub unit: UseUnit,
    /// Over all the time; `None`: not counted.
    pub mean: Option<f64>,
    /// The highest of all readings.
    pub peak: Option<f64>,
    pub limit: Option<UseLimit>,
    /// Share of the readings that were at the limit.
    pub at_limit: f64,
    pub verdict: UseVerdict,
}

/// The table.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Usage {
    pub rows: Vec<UseRow>,
    /// Whose I/O it was, as far as somebody counts that: the pods with most of it, the largest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pods: Vec<PodUse>,
    /// Readings, and the median time between two of them, in nanoseconds.
    pub readings: u64,
    pub step_ns: u64,
}

impl Usage {
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// What was short, the likeliest to have limited the work first: what is used up before what only waits, of these the device
    /// before memory before CPU.
    pub fn short(&self) -> Vec<&UseRow> {
        let mut short: Vec<&UseRow> = self
            .rows
            .iter()
            .filter(|row| row.verdict == UseVerdict::Short)
            .collect();
        let order = |resource: &Resource| match resource {
            Resource::Disk(_) => 0,
            Resource::Machine => 1,
            Resource::Memory => 2,
            Resource::Cpu => 3,
            Resource::Network(_) => 4,
            Resource::Volume(_) => 5,
        };
        let stated = |row: &UseRow| row.limit.as_ref().is_some_and(|limit| limit.is_stated);
        // A volume that is full stops the work, but until then it slows nothing.
        let is_volume = |row: &UseRow| matches!(row.resource, Resource::Volume(_));
        short.sort_by_key(|row| (is_volume(row), row.aspect, !stated(row), order(&row.resource)));
        short
    }

    /// What averages over that step cannot show, a sentence each.
    pub fn hidden(&self) -> Vec<String> {
        if self.is_empty() {
            return Vec::new();
        }
        let step = fathom_core::units::Nanos(self.step_ns);
        vec![
            format!(
                "whatever is shorter than {step}, the time between two readings: a stall of a second, a burst, a queue that came and went"
            ),
            String::from(
                "how latency is spread: counters have sums, and so only means, in which rare slow I/Os vanish",
            ),
            String::from(if self.pods.is_empty() {
                "whose I/O it was, and what waited for it: counters are of the whole machine"
            } else {
                "which process of a pod it was, and what waited for it; where control groups are of version 1, writes through the page \
                 cache are counted to no pod"
            }),
            String::from(
                "what the provider does behind the device: a throttled disk and a slow one count alike, but for a rate that stays where it is",
            ),
        ]
    }
}

#[cfg(test)]
mod tests;

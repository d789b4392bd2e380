//! What is compared: a figure of a load and direction, as each repeat of either side has it.

use super::order::Order;
use fathom_core::backend::Op;
use serde::{Deserialize, Serialize};

/// A figure that matters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Figure {
    /// Which load: a job section or a point of a sweep; empty where there is one only.
    pub load: String,
    /// Which direction; `None` of a plain number.
    pub op: Option<Op>,
    pub quantity: Quantity,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// I/Os a second.
    Iops,
    BytesPerSecond,
    /// In nanoseconds, as the others of latency. Response time where the load has a schedule.
    LatencyMean,
    Latency(Tail),
    /// A number of a column.
    Number,
    /// How long a command took, in nanoseconds.
    Duration,
    /// The time that it waited for I/O, in nanoseconds: the first of what its duration is divided into.
    IoWait,
    /// Its CPU time, in nanoseconds.
    CpuTime,
    /// What it fetched from storage, in bytes.
    StorageRead,
    /// What it sent towards storage, in bytes.
    StorageWritten,
}

/// The percentiles that are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Tail {
    P50,
    P99,
    P99_9,
}

/// Which way is the better one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    Higher,
    Lower,
    /// Nobody said.
    Unknown,
}

impl Tail {
    pub const ALL: [Self; 3] = [Self::P50, Self::P99, Self::P99_9];

    /// 0 to 100.
    pub const fn percentile(self) -> f64 {
        match self {
            Self::P50 => 50.0,
            Self::P99 => 99.0,
            Self::P99_9 => 99.9,
        }
    }
}

impl Quantity {
    /// All that a direction of a load has.
    pub const ALL: [Self; 6] = [
        Self::Iops,
        Self::BytesPerSecond,
        Self::LatencyMean,
        Self::Latency(Tail::P50),
        Self::Latency(Tail::P99),
        Self::Latency(Tail::P99_9),
    ];

    /// All that a command has.
    pub const OF_COMMANDS: [Self; 5] = [
        Self::Duration,
        Self::IoWait,
        Self::CpuTime,
        Self::StorageRead,
        Self::StorageWritten,
    ];

    /// As documents and rules call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Iops => "iops",
            Self::BytesPerSecond => "bytes_per_second",
            Self::LatencyMean => "latency_ns_mean",
            Self::Latency(Tail::P50) => "latency_ns_p50",
            Self::Latency(Tail::P99) => "latency_ns_p99",
            Self::Latency(Tail::P99_9) => "latency_ns_p99_9",
            Self::Number => "value",
            Self::Duration => "duration_ns",
            Self::IoWait => "io_wait_ns",
            Self::CpuTime => "cpu_time_ns",
            Self::StorageRead => "storage_read_bytes",
            Self::StorageWritten => "storage_written_bytes",
        }
    }

    /// Which way is the better one; of a plain number nobody can know, and more bytes are neither.
    pub const fn better(self) -> Better {
        match self {
            Self::Iops | Self::BytesPerSecond => Better::Higher,
            Self::LatencyMean | Self::Latency(_) | Self::Duration | Self::IoWait | Self::CpuTime => {
                Better::Lower
            }
            Self::Number | Self::StorageRead | Self::StorageWritten => Better::Unknown,
        }
    }

    /// Repeats that a side needs before "no difference" is said.
    pub(super) const fn repeats_min(self) -> usize {
        match self {
            Self::Latency(_) => 5,
            Self::Iops
            | Self::BytesPerSecond
            | Self::LatencyMean
            | Self::Number
            | Self::Duration
            | Self::IoWait
            | Self::CpuTime
            | Self::StorageRead
            | Self::StorageWritten => 4,
        }
    }

    /// By what share of itself a number may be off for lack of digits: buckets of the histogram are known to 1/1024 on both
    /// sides; a run's time is known to about an I/O at its ends.
    pub(super) const fn resolution(self) -> f64 {
        match self {
            Self::Latency(_) => 2.0 / 1024.0,
            Self::Iops | Self::BytesPerSecond | Self::LatencyMean => 1e-4,
            // A clock's ticks are far below what repeats vary by.
            Self::Number
            | Self::Duration
            | Self::IoWait
            | Self::CpuTime
            | Self::StorageRead
            | Self::StorageWritten => 0.0,
        }
    }
}

/// What one repeat says of itself: between which values its own seconds put its figure. `high` is `None` where that is open.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Within {
    pub low: f64,
    pub high: Option<f64>,
    /// Whether the run was long enough for that.
    pub is_long_enough: bool,
}

/// A figure of one repeat.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Value {
    pub value: f64,
    pub within: Option<Within>,
}

impl Value {
    /// A number of which nothing else is known.
    pub const fn plain(value: f64) -> Self {
        Self { value, within: None }
    }
}

/// A figure as both sides have it.
#[derive(Debug, Clone, PartialEq)]
pub struct Observed {
    pub figure: Figure,
    /// The repeats of A and of B.
    pub sides: [Vec<Value>; 2],
    pub order: Order,
}

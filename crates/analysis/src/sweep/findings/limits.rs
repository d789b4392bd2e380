//! Findings on limits: rates, sizes, slices.
//!
//! Data in: nothing. Data out: types.

use serde::{Deserialize, Serialize};

/// A limit on a rate, or why none is seen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    /// What is limited.
    pub quantity: Quantity,
    /// Of which points.
    pub scope: Scope,
    /// What was found.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// How sure; 0 where it was not reached.
    pub confidence: f64,
    /// The measured points that pin it: saturated, and of this rate.
    pub points: Vec<u32>,
    /// Their block sizes, ascending.
    pub sizes_bytes: Vec<u64>,
    /// The least and the most depth of theirs.
    pub depths: Option<(u64, u64)>,
}

/// What a limit counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// I/Os.
    Iops,
    BytesPerSecond,
}

/// Of which points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// All of them, mixed ones too.
    All,
    /// Those that only read.
    Reads,
    /// Those that only write.
    Writes,
}

/// Whether a limit was reached.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "verdict")]
pub enum Verdict {
    /// It holds at this rate.
    Reached {
        /// The median of the points that pin it.
        rate: f64,
        /// The farthest of them from it, as a share of it.
        spread: f64,
    },
    /// No two points show it: deeper ones were still faster.
    NotReached {
        /// The most that was measured.
        most: f64,
    },
}

/// Up to which size an I/O costs the same, and how larger ones are counted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NativeSize {
    /// The largest measured size that reaches the limit on IOPS: each I/O up to it counts as one.
    pub whole_up_to_bytes: Option<u64>,
    /// The smallest measured size that does not, though saturated: from it on what counts is bytes, or units.
    pub by_size_from_bytes: Option<u64>,
    /// Where the limits on IOPS and on bytes meet.
    pub knee_bytes: Option<f64>,
    /// Whether large I/O counts as several.
    pub unit: Unit,
    /// How sure of the unit; 0 where it is not known.
    pub confidence: f64,
    /// From each size to the next, at the greatest depth at which both are known.
    pub steps: Vec<SizeStep>,
    /// The saturated points that this is from.
    pub points: Vec<u32>,
    /// What a load of two sizes showed of the unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mixed: Option<Mixed>,
}

/// A load of two sizes on which IOPS are the limit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Mixed {
    /// The smaller size.
    pub small_bytes: u64,
    /// The larger size.
    pub large_bytes: u64,
    /// The share of I/Os that had it, in percent, as measured.
    pub large_percent: f64,
    /// I/Os a second.
    pub iops: f64,
    /// As how many I/Os a large one counted, a small one being one.
    pub counted_as: f64,
}

/// The unit in which a limit on IOPS counts large I/O.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "is")]
pub enum Unit {
    /// Only this explains all saturated points; a limit on bytes alone does not.
    Found {
        /// An I/O larger than this counts as several.
        bytes: u64,
    },
    /// Several explain them, among them (`or_none`) none at all.
    Among {
        /// The powers of two that do, ascending; the last stands for all larger ones as well.
        bytes: Vec<u64>,
        /// A plain limit on bytes explains them as well.
        or_none: bool,
    },
    /// The matrix cannot tell.
    Unknown {
        /// Why, and what would.
        because: String,
    },
}

/// From one block size to the next larger one, all else equal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SizeStep {
    /// The smaller size.
    pub from_bytes: u64,
    /// The larger size.
    pub to_bytes: u64,
    /// How many times as large.
    pub size_ratio: f64,
    /// How many times as long its I/Os take: the median over orders and mixes.
    pub latency_ratio: f64,
    pub depth: u64,
    /// The points of the larger size.
    pub points: Vec<u32>,
}

/// Whether limits are enforced in time slices.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Slice {
    /// The length that the points agree on; `None`: no slices are seen.
    pub length_ns: Option<f64>,
    /// The farthest of the agreeing points from it, as a share of it.
    pub spread: f64,
    /// How sure; 0 where none is seen.
    pub confidence: f64,
    /// What each saturated point with two or more modes of latency says, those that agree first.
    pub signs: Vec<SliceSign>,
    /// Saturated points that were looked at.
    pub looked_at: u32,
}

/// What the latencies of one saturated point say of a slice.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SliceSign {
    pub point: u32,
    /// The share of I/Os in the upper mode.
    pub share_waiting: f64,
    /// The mean latency of the lower mode.
    pub lower_ns: f64,
    /// The mean latency of the upper mode.
    pub upper_ns: f64,
    /// The length of a slice if this is one.
    pub length_ns: f64,
    /// Whether it agrees with [`Slice::length_ns`].
    pub agrees: bool,
}

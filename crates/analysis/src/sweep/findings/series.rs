//! Findings on series of points: over depth, between two kinds, and what to beware of.
//!
//! Data in: nothing. Data out: types.

use super::Quantity;
use serde::{Deserialize, Serialize};

/// All that stays the same while depth changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Line {
    /// Random offsets.
    pub random: bool,
    /// Share of reads, in percent.
    pub read_percent: u8,
    pub block_size_bytes: u64,
    pub threads: u32,
}

/// The depth that a line needs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DepthNeeded {
    pub line: Line,
    /// The smallest depth (over all threads) of the matrix that reaches 95 % of the line's most IOPS.
    pub depth: u64,
    /// The point that does.
    pub point: u32,
    /// Whether the figures of that point are inferred.
    pub inferred: bool,
    /// The line's most IOPS.
    pub iops_most: f64,
    /// Whether a deeper point shows that more depth brings nothing; otherwise the line may go on rising.
    pub levels_off: bool,
}

/// How a line's latency grows with depth.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Growth {
    pub line: Line,
    /// The measured points, by depth.
    pub points: Vec<u32>,
    /// How well a straight line describes mean latency over depth; `None`: fewer than three depths.
    pub r_squared: Option<f64>,
    /// What one more in flight adds to the mean latency once the line is saturated; `None`: it is not at two depths.
    pub slope_ns: Option<f64>,
    /// What Little's law says that it adds: one over the saturated IOPS.
    pub little_slope_ns: Option<f64>,
    /// Mean latency at the least depth.
    pub lowest_ns: f64,
    /// Up to which depth latency stays within 10 % of that.
    pub flat_to_depth: u64,
    /// The least depth.
    pub from_depth: u64,
    /// The greatest depth.
    pub to_depth: u64,
}

/// Two kinds of load, compared wherever points differ in nothing else.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Comparison {
    /// By block size, ascending.
    pub by_size: Vec<Contrast>,
}

/// The comparison at one block size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Contrast {
    pub block_size_bytes: u64,
    /// The median ratio of IOPS: reads over writes, or random over sequential.
    pub ratio: f64,
    /// The same at the greatest depth at which there are pairs: what is left of the difference once there is enough to do.
    pub ratio_deepest: f64,
    /// That depth.
    pub deepest: u64,
    /// How many pairs are alike: within 5 %, or within their intervals.
    pub alike: u32,
    /// All pairs, the farthest from 1 first.
    pub pairs: Vec<Pair>,
}

/// Two measured points that differ in one thing.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    /// Reads, or random order.
    pub first: u32,
    /// Writes, or sequential order.
    pub second: u32,
    /// IOPS of the first over those of the second.
    pub ratio: f64,
    /// Half the width of the ratio's 95 % interval, as a share of it; `None`: not known.
    pub half_width: Option<f64>,
}

/// A point far below what more depth reaches.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Shortfall {
    pub point: u32,
    pub depth: u64,
    pub iops: f64,
    /// What its line reaches with more depth.
    pub reachable_iops: f64,
    /// IOPS over reachable IOPS.
    pub share: f64,
}

/// What to know before trusting the conclusions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "caution")]
pub enum Caution {
    /// Points that could not be measured.
    Failed {
        points: Vec<u32>,
        /// Why the first could not.
        message: String,
    },
    /// Points not yet measured.
    Pending { points: u32 },
    /// Figures that were not measured.
    Inferred { points: Vec<u32> },
    /// The mean IOPS is known poorly: its seconds differ, or drift.
    WideInterval {
        /// Which, the widest first.
        points: Vec<u32>,
        /// Half the width of the widest, as a share.
        half_width: f64,
    },
    /// Too few seconds were counted to say how well means are known.
    NoInterval { points: Vec<u32> },
    /// Repeats of a point differ by more than their intervals.
    RepeatsDisagree {
        point: u32,
        /// The least IOPS of a repeat.
        least: f64,
        most: f64,
    },
    /// Points are faster than the limit that deeper ones agree on: credit for bursts that is spent sooner at more depth, a
    /// cache, or a limit that changed while the sweep went on.
    AboveLimit {
        /// Which limit.
        quantity: Quantity,
        points: Vec<u32>,
        /// The fastest of them.
        most: f64,
        limit: f64,
    },
    /// More depth made it slower.
    Declines {
        /// The point of less depth.
        from: u32,
        /// The deeper point.
        to: u32,
        /// Deeper over less deep.
        ratio: f64,
    },
    /// I/Os failed.
    Errors { points: Vec<u32>, errors: u64 },
    /// A warning of the points' runs.
    Warning {
        /// In words.
        text: String,
        points: Vec<u32>,
    },
    /// Points ended early because their interval was narrow enough.
    EndedSteady { points: Vec<u32> },
}

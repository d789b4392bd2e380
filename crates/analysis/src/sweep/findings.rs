//! What a sweep says of its disk: plain data, in the order in which a report says it.
//!
//! Data in: nothing. Data out: types that serialise. Points are named by their numbers in the plan; rates are a second,
//! latencies nanoseconds, shares 0 to 1, confidences 0 to 1
//! ([`in_words`](crate::explain::answer::in_words)). Depth is over all threads unless it says otherwise.

mod limits;
mod series;

pub use limits::{Limit, Mixed, NativeSize, Quantity, Scope, SizeStep, Slice, SliceSign, Unit, Verdict};
pub use series::{Caution, Comparison, Contrast, DepthNeeded, Growth, Line, Pair, Shortfall};

use serde::{Deserialize, Serialize};

/// The schema of the conclusions, raised when a field changes its meaning or goes away.
pub const SCHEMA: &str = "fathom.sweep.conclusions/1";

/// Everything that follows from a sweep.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Conclusions {
    /// [`SCHEMA`].
    pub schema: String,
    /// How many points there are, and of what kind.
    pub counts: Counts,
    /// The most IOPS, and where; `None`: nothing was measured.
    pub iops_most: Option<Peak>,
    /// The most bytes a second, and where.
    pub bytes_per_second_most: Option<Peak>,
    /// The limits: on IOPS, then on bytes a second; each of all points, of the pure reads and of the pure writes, where the
    /// matrix has those.
    pub limits: Vec<Limit>,
    /// Up to which size I/O costs the same, and from which on by its bytes.
    pub native_size: NativeSize,
    /// Whether the limits are enforced in time slices, and how long these are.
    pub slice: Slice,
    /// The depth that each order, mix and size needs.
    pub depths: Vec<DepthNeeded>,
    /// How latency grows with depth, for the same.
    pub growth: Vec<Growth>,
    /// Reads against writes.
    pub read_write: Comparison,
    /// Random against sequential order.
    pub random_sequential: Comparison,
    /// Points of low depth far below what more depth reaches, the worst first.
    pub shortfalls: Vec<Shortfall>,
    /// What to know before trusting this.
    pub cautions: Vec<Caution>,
}

/// How many points of each kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Counts {
    /// In the plan.
    pub planned: u32,
    pub measured: u32,
    /// Inferred from others.
    pub inferred: u32,
    /// Could not be measured.
    pub failed: u32,
    /// Not yet measured.
    pub pending: u32,
}

/// A maximum.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Peak {
    /// The measured point.
    pub point: u32,
    pub value: f64,
    /// Half the width of its 95 % interval, as a share; `None`: not known.
    pub half_width: Option<f64>,
    /// How many measured points agree with it, itself among them: within 2 %.
    pub alike: u32,
}

//! What ends a job before its time, beside errors: limits that it must keep, a state that it reaches, other jobs.

use super::{PerOp, Rate};
use crate::units::Nanos;
use serde::{Deserialize, Serialize};

/// What ends a job, or others with it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Stops {
    /// An I/O that takes longer fails the job (`max_latency`); per direction.
    #[serde(rename = "max_latency_ns")]
    pub max_latency: PerOp<Option<Nanos>>,
    /// A job that is slower over a cycle fails (`rate_min`, `rate_iops_min`); per direction.
    pub rate_min: PerOp<Option<Rate>>,
    /// Over how long that is judged.
    #[serde(rename = "rate_cycle_ns")]
    pub rate_cycle: Nanos,
    /// When one of its workers ends, others end with it (`exitall`).
    pub exit_all: bool,
    /// The same, only if it failed (`exitall_on_error`).
    pub exit_all_on_error: bool,
    /// Which others.
    pub exit_what: ExitWhat,
    /// End once results are steady.
    pub steady: Option<Steady>,
}

/// Which jobs `exitall` ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExitWhat {
    /// Those of the same reporting group that run.
    #[default]
    Group,
    /// All that run now; those behind a stonewall still come.
    Running,
    /// All, those that have not begun among them.
    All,
}

/// When results are steady.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Steady {
    pub of: SteadyOf,
    /// The slope of a straight line through the samples counts, not their distance from the mean.
    pub slope: bool,
    pub limit: f64,
    /// The limit is a percentage of the mean.
    pub in_percent: bool,
    /// Over how long.
    #[serde(rename = "duration_ns")]
    pub duration: Nanos,
    /// Nothing is looked at before.
    #[serde(rename = "ramp_ns")]
    pub ramp: Nanos,
}

/// What has to be steady.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SteadyOf {
    /// I/Os a second.
    Iops,
    /// Bytes a second.
    Bandwidth,
    /// The mean total latency.
    Latency,
}

/// Find the depth that keeps a latency (`latency_target`).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LatencyTarget {
    #[serde(rename = "latency_ns")]
    pub latency: Nanos,
    /// How long each depth is tried.
    #[serde(rename = "window_ns")]
    pub window: Nanos,
    /// The share of the I/Os that must keep it, in percent.
    pub percentile: f64,
    /// Go on at the depth that was found, and look for a better one.
    pub keeps_running: bool,
}

/// A balance between jobs (`flow`): of all workers with the same id none gets ahead of its share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flow {
    pub id: u32,
    /// Its share is this of the sum of all weights.
    pub weight: u32,
    /// How long a worker waits that is ahead; zero: until it is not.
    #[serde(rename = "sleep_ns")]
    pub sleep: Nanos,
}

//! When I/Os are due: arrival schedules and thinking time.

use super::PerOp;
use crate::units::Nanos;
use serde::{Deserialize, Serialize};

/// A target rate of one worker and one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rate {
    /// Bytes a second; an I/O of n bytes takes n/rate seconds of the schedule.
    BytesPerSecond(u64),
    /// I/Os a second.
    Iops(u64),
}

/// How arrivals are spaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arrival {
    /// Evenly.
    #[default]
    Constant,
    /// Exponential gaps: a Poisson process of the same mean.
    Poisson,
}

/// When the I/Os of a worker are due.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Pace {
    /// The schedule of each direction; `None`: as soon as there is room (closed loop).
    pub rate: PerOp<Option<Rate>>,
    /// The spacing of scheduled arrivals.
    pub arrival: Arrival,
    /// Pauses.
    pub think: Option<ThinkTime>,
}

/// A pause after every few I/Os.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThinkTime {
    /// How long.
    #[serde(rename = "pause_ns")]
    pub pause: Nanos,
    /// The part of the pause spent spinning, not sleeping.
    #[serde(rename = "spin_ns")]
    pub spin: Nanos,
    /// After how many I/Os; at least 1.
    pub blocks: u32,
    /// Which I/Os those are.
    pub basis: ThinkTimeBasis,
    /// What comes late by a pause is not made good (`rate_ignore_thinktime`): schedules are put off by it.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub puts_off: bool,
    /// Pause once the worker has run this long since the last pause, whatever `blocks` says.
    #[serde(rename = "after_run_ns")]
    pub after_run: Option<Nanos>,
}

/// What `thinktime_blocks` counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThinkTimeBasis {
    /// Completed I/Os.
    #[default]
    Complete,
    /// Sent I/Os.
    Issue,
}

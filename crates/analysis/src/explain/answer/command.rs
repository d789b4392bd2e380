//! What became of a command's time.

use super::{LimitKind, Unit};
use fathom_core::run::{CommandWaits, TimeSplit};
use serde::Serialize;

/// A recorded command.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CommandTime {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// How long it took.
    pub duration_ns: u64,
    /// CPU time of all its processes.
    pub cpu_ns: u64,
    /// What it spent its time on; `None`: not recorded.
    pub waits: Option<CommandWaits>,
    /// How long each device was at a limit meanwhile; those that were at none that can be told are left out.
    pub limits: Vec<LimitTime>,
    /// The time in which no device was at any of these; `None`: what it was spent on was not recorded by itself.
    pub outside_limits: Option<OutsideLimits>,
}

/// What a command did while no device was at a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct OutsideLimits {
    /// How long that was.
    pub ns: u64,
    /// What it was spent on: adds up to it with what is not known.
    pub spent: TimeSplit,
}

/// How long a device was at a limit while a command ran.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LimitTime {
    pub device: String,
    /// Of I/Os or of bytes.
    pub limit: LimitKind,
    pub rate: f64,
    /// The unit of the rate.
    pub unit: Unit,
    /// In seconds at 97 % of it or more.
    pub ns: u64,
}

//! A run as recorded: what was asked, on what, under which conditions, and what came out.
//!
//! Data in: the engine's counts, the observer's facts. Data out: plain data that the run directory stores as
//! `run.json` and that every report is made from. It must not know how it is stored or printed.

mod account;
mod command;
mod environment;
mod modelled;
mod repeats;
mod series;
mod start;
mod summary;
mod warning;

pub use account::{Depths, LeftOut, OpAccount, PriorityAccount, Samples, SteadyAccount, WorkerAccount};
pub use command::{
    CommandCourse, CommandDevice, CommandExit, CommandSummary, CommandWaits, Moved, ProcessIo, TimeSplit,
};
pub use environment::{
    Build, CLOCK_MONOTONIC, DeviceInfo, Environment, QUIET_HOST, Requirement, Target, TargetFile, TargetKind,
};
pub use modelled::{Counted, Held, ModelSummary, SpentCredit};
pub use repeats::{REPEATS_SCHEMA, RepeatedRun, Repeats, Spread};
pub use series::{HistogramRow, IntervalLatency, Latency, SERIES_PERCENTILES, SeriesRow, SeriesSink};
pub use start::StartStep;
pub use summary::{
    CpuUsage, DiskSummary, FileCount, FileInterval, FileSummary, Floor, JobSummary, LatencySummary,
    OpSummary, ReplaySummary, RunError, Summary,
};
pub use warning::{LoadStop, StoppedBy, Warning};

use crate::units::{MonoTime, WallTime};
use crate::workload::{Workload, Written};
use serde::{Deserialize, Serialize};

/// The schema of `run.json`, raised when a field changes its meaning or goes away.
pub const SCHEMA: &str = "fathom.run/1";

/// The whole record of one run: the contents of `run.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// [`SCHEMA`].
    pub schema: String,
    /// The program that ran.
    pub build: Build,
    /// Its command line, word by word.
    pub command: Vec<String>,
    /// Civil time when the first job was let go.
    pub started_unix_ns: WallTime,
    /// The same moment on the monotonic clock: what joins this run with other records of the machine.
    pub started_monotonic_ns: MonoTime,
    /// How it ended.
    pub status: Status,
    /// The workload as typed.
    pub written: Written,
    /// The workload as resolved.
    pub workload: Workload,
    /// The machine.
    pub environment: Environment,
    /// What sound numbers need, and whether it was so.
    pub requirements: Vec<Requirement>,
    /// What came out.
    pub summary: Summary,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Still under way, or killed before it could say so.
    Running,
    /// All jobs did what was asked.
    Complete,
    /// Stopped by the user; the results are those up to then.
    Interrupted,
    /// A job ended early because of errors.
    Failed,
}

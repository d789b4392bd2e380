//! How a worker is set up.

use super::Limits;
use crate::interval::Metrics;
use crate::pace::Schedule;
use crate::pattern::Generator;
use fathom_core::units::Nanos;
use fathom_core::workload::{ErrorRule, Mix, SyncRules, ThinkTime, WrittenSoFar};

/// How a worker is set up: everything frozen before the loop.
#[derive(Debug, Clone)]
pub struct WorkerPlan {
    /// Slots: the most I/Os in flight.
    pub depth: u32,
    /// The access pattern.
    pub generator: Generator,
    /// Each slot has a sequence of its own: the pattern is told whose turn it is.
    pub by_slot: bool,
    /// Whether the I/Os of each file are counted apart.
    pub count_files: bool,
    /// Whether it is counted how many I/Os are in flight, sent and taken together.
    pub count_depths: bool,
    /// Passes over the pattern.
    pub loops: u64,
    /// Stop after this many I/Os a pass.
    pub number_ios: Option<u64>,
    /// The runtime after the ramp.
    pub runtime: Option<Nanos>,
    /// Go on until the runtime is over.
    pub time_based: bool,
    /// Run this long before anything counts.
    pub ramp: Nanos,
    /// Go on this long after the runtime, while nothing counts any more.
    pub cooldown: Nanos,
    /// How long the interval of a row is.
    pub interval: Nanos,
    /// Read, write, trim.
    pub schedules: [Option<Schedule>; 3],
    /// How directions are mixed.
    pub mix: Mix,
    /// Pauses.
    pub think: Option<ThinkTime>,
    /// Flushes.
    pub sync: SyncRules,
    /// How many files there are: each is flushed at the end, where that is asked for.
    pub file_count: u32,
    /// Which errors are tolerated.
    pub on_error: ErrorRule,
    /// Errors that do not count: of reads; of writes, trims and syncs.
    pub ignored: [Vec<i32>; 2],
    /// This error is the end of the load and no failure: no room left of a device that is filled, a stream that is over.
    pub ends_by: Option<i32>,
    /// What it must keep; `None`: nothing.
    pub limits: Option<Box<Limits>>,
    /// Which latencies are kept apart.
    pub metrics: Metrics,
    /// Whether what was written is read back and checked at the end.
    pub read_back: bool,
    /// Read back after every so many writes (0: only at the end), and so many of them (0: all).
    pub backlog: (u32, u32),
    /// Whether reads are checked.
    pub verifies: bool,
    /// Only check, never write.
    pub verify_only: bool,
    /// End at the first mismatch.
    pub verify_fatal: bool,
    /// Each pass but the first begins with new files.
    pub new_files_each_pass: bool,
    /// How far the writes come is kept.
    pub keeps_state: bool,
    /// How far those of an earlier run came: nothing beyond is read back. `None`: all is there.
    pub written: Option<Box<WrittenSoFar>>,
}

//! What the results are made from.
//!
//! Data in: nothing. Data out: plain data. It must not know layouts.

use super::cpu::CpuUse;
use super::latency::Latency;
use super::ranges::EffectiveRange;
use fathom_core::units::WallTime;

/// All that the results say.
#[derive(Debug, Clone, PartialEq)]
pub struct DiskspdResult {
    /// The head of the text: the command line and the profile, as diskspd prints them.
    pub profile_text: String,
    /// The profile as XML, without indentation of its own: `<Profile>` and what is within, a line each.
    pub profile_xml: String,
    /// Wait statistics are asked for (`-vs`).
    pub verbose_stats: bool,
    /// The machine.
    pub system: System,
    /// Each time span that was run.
    pub spans: Vec<SpanResult>,
}

/// The machine and the program.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct System {
    /// Host name.
    pub computer_name: String,
    /// When the first time span began; 0: not at all.
    pub started: WallTime,
    /// The program that made the results, in words: `made by fathom 0.1.0`.
    pub made_by: String,
    /// The version of diskspd whose layout they have, as numbers.
    pub tool_version: String,
    pub tool_date: String,
    /// How many processors are online.
    pub processors: u32,
    /// Where each processor is; empty: not known.
    pub places: Vec<CpuPlace>,
    /// What stands for Windows' power scheme: the governor of the processors' clocks; `None`: not known.
    pub power_scheme: Option<String>,
}

/// Where a processor is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CpuPlace {
    /// Its number.
    pub cpu: u32,
    pub socket: u32,
    /// Its NUMA node.
    pub node: u32,
    /// Its core; processors of one core share it.
    pub core: u32,
}

/// One time span.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SpanResult {
    /// Counted time; 0: it ended before anything was counted.
    pub test_time_ns: u64,
    pub thread_count: u32,
    /// In flight a thread over all targets, where that was said (`-O`).
    pub request_count: u32,
    /// Whether latencies were asked for (`-L`).
    pub measure_latency: bool,
    /// The interval of IOPS where their deviation was asked for (`-D`), milliseconds.
    pub io_bucket_ms: Option<u32>,
    /// What each processor did; empty: not known.
    pub cpus: Vec<CpuUse>,
    /// A row a thread and target.
    pub rows: Vec<Row>,
    /// All rows together, where rows alone do not tell: a pool's files have no histograms.
    pub totals: Totals,
}

/// All threads and targets together.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Totals {
    pub read: Latency,
    /// Latencies of writes.
    pub write: Latency,
    /// Intervals of reads.
    pub read_buckets: Vec<Bucket>,
    /// Intervals of writes.
    pub write_buckets: Vec<Bucket>,
}

/// One thread on one target.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Row {
    /// The thread; of several that share a pointer the first.
    pub thread: u32,
    /// The target.
    pub path: String,
    /// Its size; `None`: not known.
    pub file_size_bytes: Option<u64>,
    pub read: Direction,
    /// Writes.
    pub write: Direction,
    /// Where random I/O went (`-rd`); empty: everywhere alike.
    pub ranges: Vec<EffectiveRange>,
}

/// One direction of a row.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Direction {
    /// I/Os.
    pub ios: u64,
    pub bytes: u64,
    /// Their latencies.
    pub latency: Latency,
    /// Their intervals; `None`: counted by file, and so not by time.
    pub buckets: Option<Vec<Bucket>>,
}

/// One direction in one interval.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Bucket {
    /// I/Os completed.
    pub ios: u64,
    /// Shortest latency.
    pub min_ns: f64,
    /// Longest latency.
    pub max_ns: f64,
    /// Mean latency.
    pub mean_ns: f64,
    /// Population standard deviation of latency.
    pub stddev_ns: f64,
}

impl SpanResult {
    /// Counted time, seconds.
    pub fn seconds(&self) -> f64 {
        self.test_time_ns as f64 / 1e9
    }
}

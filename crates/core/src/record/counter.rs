//! The system's counters and who used what.

use super::Comm;
use std::borrow::Cow;

/// One value of one counter at one moment, as Prometheus' node exporter names it. The name carries the unit
/// (`node_disk_io_time_seconds_total`), so the value is a number of that unit and no integer.
#[derive(Debug, Clone, PartialEq)]
pub struct CounterRow {
    /// When it was read.
    pub at_ns: u64,
    /// Its name.
    pub metric: Cow<'static, str>,
    /// Its labels as in Prometheus' text format without the braces: `device="vda"`, `cpu="0",mode="user"`; may be empty.
    pub labels: Cow<'static, str>,
    /// Its value; of a counter the total so far, not the difference.
    pub value: f64,
}

/// What one process used between two readings. Only for those that used anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessRow {
    /// The later reading.
    pub at_ns: u64,
    /// How long after the earlier one.
    pub duration_ns: u64,
    /// The process.
    pub pid: u32,
    /// Its name.
    pub comm: Comm,
    /// CPU time used, in user mode and in the kernel, by all its threads.
    pub cpu_ns: u64,
    /// Time its main thread stood ready to run and had no CPU.
    pub run_delay_ns: u64,
    /// Bytes it caused to be read from storage.
    pub read_bytes: u64,
    /// Bytes it caused to be written to storage (of buffered writes: when they were made dirty).
    pub written_bytes: u64,
}

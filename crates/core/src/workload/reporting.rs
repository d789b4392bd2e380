//! What is told of a job's results, and what is logged of its I/Os.

use serde::{Deserialize, Serialize};

/// How results are reported in fio's formats: `unified_rw_reporting`, `significant_figures` and the like.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reporting {
    /// Whether directions are told apart.
    pub unified: Unified,
    /// Digits of rates and sizes in text.
    pub significant_figures: u8,
    /// Rates in bits in place of bytes (`unit_base=1`).
    pub bits: bool,
    /// What text divides by first: 1024 (KiB) or 1000 (kB).
    pub kb_base: u16,
    /// Whether the job is told of at all (`stats`).
    pub stats: bool,
    /// Whether the disks' counters are (`disk_util`).
    pub disk_util: bool,
    /// The time over which a sample of bandwidth is taken, in milliseconds (`bwavgtime`).
    pub bw_window_ms: u32,
    /// The same of IOPS (`iopsavgtime`).
    pub iops_window_ms: u32,
    /// Latencies and rates that are not wanted.
    pub without: Without,
    /// Errors that do not end the job are told as they come to be known (`error_dump`).
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub tells_tolerated_errors: bool,
    pub logs: Logs,
}

impl Default for Reporting {
    fn default() -> Self {
        Self {
            unified: Unified::default(),
            significant_figures: 4,
            bits: false,
            kb_base: 1024,
            stats: true,
            disk_util: true,
            bw_window_ms: 500,
            iops_window_ms: 500,
            without: Without::default(),
            tells_tolerated_errors: false,
            logs: Logs::default(),
        }
    }
}

impl Reporting {
    /// Whether nothing was asked for: such a job's record says nothing of it.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Whether reads, writes and trims are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unified {
    /// Each by itself.
    #[default]
    None,
    /// Only all together.
    Mixed,
    /// Each by itself, and all together.
    Both,
}

/// What fio would not measure (`disable_lat`, `disable_clat`, `disable_slat`, `disable_bw_measurement`, `gtod_reduce`): it is
/// measured here all the same, and left out of what is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Without {
    pub lat: bool,
    pub clat: bool,
    pub slat: bool,
    pub bw: bool,
}

/// The logs of a job: which, and what their rows are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Logs {
    /// What the names of the logs of bandwidth begin with; empty: the job's name. `None`: there is none.
    pub bw: Option<String>,
    /// The same of latencies: three logs.
    pub lat: Option<String>,
    pub iops: Option<String>,
    /// The same of histograms of completion latency.
    pub hist: Option<String>,
    /// The file to which each I/O is written for a replay (`write_iolog`).
    pub iolog: Option<String>,
    /// A row for each so many milliseconds; 0: one for each I/O.
    pub window_ms: u32,
    /// A row of the histogram log for each so many milliseconds; 0: none.
    pub hist_window_ms: u32,
    /// So many times two buckets of the histogram become one.
    pub hist_coarseness: u8,
    /// What is kept of a window.
    pub value: LogValue,
    /// A column for the offset.
    pub offset: bool,
    /// The whole I/O priority, in place of whether it is a high one.
    pub priority: bool,
    /// A column for when the I/O was sent.
    pub issue_time: bool,
    /// Rows are kept compressed, for `--inflate-log`.
    pub compressed: bool,
    /// A log for each worker; else one for all jobs with the same prefix.
    pub per_job: bool,
    /// Times are those of this clock of the system, in place of those since the job's start: 0 civil time, 1 monotonic.
    pub epoch_clock: Option<u32>,
    /// The CPUs of the thread that writes logs (`log_compression_cpus`); empty: all.
    #[serde(skip_serializing_if = "super::is_default")]
    pub cpus: Vec<u32>,
}

impl Default for Logs {
    fn default() -> Self {
        Self {
            bw: None,
            lat: None,
            iops: None,
            hist: None,
            iolog: None,
            window_ms: 0,
            hist_window_ms: 0,
            hist_coarseness: 0,
            value: LogValue::default(),
            offset: false,
            priority: false,
            issue_time: false,
            compressed: false,
            per_job: true,
            epoch_clock: None,
            cpus: Vec::new(),
        }
    }
}

impl Logs {
    /// Whether any log is asked for.
    pub fn any(&self) -> bool {
        [&self.bw, &self.lat, &self.iops, &self.hist, &self.iolog]
            .iter()
            .any(|log| log.is_some())
    }
}

/// What a log keeps of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogValue {
    #[default]
    Mean,
    Max,
    /// The mean, and the maximum in a column behind it.
    Both,
}

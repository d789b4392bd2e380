//! What came out of a run: the document that `--json` prints.

use super::command::CommandSummary;
use super::environment::Target;
use super::modelled::ModelSummary;
use super::warning::Warning;
use crate::record::StreamSummary;
use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The results of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// [`super::SCHEMA`].
    pub schema: String,
    /// What it was aimed at.
    pub target: Target,
    /// Each job section (all its workers together).
    pub jobs: Vec<JobSummary>,
    /// Each reporting group.
    pub groups: Vec<JobSummary>,
    /// All of it, where there are several groups: amounts, and rates over the time from the first I/O to the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<JobSummary>,
    /// What the devices below the targets counted from start to end.
    pub disks: Vec<DiskSummary>,
    /// CPU time of the whole program from start to end; all zeros, and then not written: not measured.
    #[serde(default, skip_serializing_if = "CpuUsage::is_not_known")]
    pub cpu: CpuUsage,
    /// What to know before trusting the numbers.
    pub warnings: Vec<Warning>,
    /// The tool's own cost.
    pub floor: Option<Floor>,
    /// What the modelled machine tells; `None` on a real one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelSummary>,
    /// The streams of the record that were asked for; empty where none was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub streams: Vec<StreamSummary>,
    /// The command that was recorded, with all it started; empty where there was none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<CommandSummary>,
}

/// One job section or one group.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct JobSummary {
    /// The section's name; for a group the names of its sections.
    pub name: String,
    /// Its reporting group.
    pub group: u32,
    pub workers: u32,
    /// From the first I/O (or the end of the ramp) to the last, over all its workers, in nanoseconds.
    pub runtime_ns: u64,
    pub read: OpSummary,
    /// Writes.
    pub write: OpSummary,
    pub trim: OpSummary,
    /// fsync and fdatasync.
    pub sync: OpSummary,
    /// CPU time of its workers; all zeros, and then not written: not measured.
    #[serde(default, skip_serializing_if = "CpuUsage::is_not_known")]
    pub cpu: CpuUsage,
    /// The most I/Os that were due and not yet sent at one time (open loop).
    pub backlog_max: u64,
    /// Due and never sent when the job ended (open loop).
    pub backlog_end: u64,
    /// I/Os checked by verification.
    pub verified_ios: u64,
    /// Errors, by kind; the first of each with its place.
    pub errors: Vec<RunError>,
    /// Each of its files by itself, in the order of its names, where that was asked for
    /// ([`crate::workload::Job::count_files`]).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FileSummary>,
    /// How its times were kept, where it played a recording ([`crate::workload::Job::replay`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<ReplaySummary>,
}

/// How the times of a recording were kept when it was played.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ReplaySummary {
    /// Actual start (its creation) minus intended, of each I/O that had a time.
    pub start_error_ns: LatencySummary,
    /// From this error on an I/O counts as late.
    pub late_from_ns: u64,
    /// I/Os that were late.
    pub late_ios: u64,
    /// Of these: as many I/Os as may be were in flight, the target did not keep up.
    pub late_no_room_ios: u64,
    /// Of these: the record could not be read fast enough.
    pub late_reading_ios: u64,
    /// I/Os of the record that were not sent, because the run ended before.
    pub unsent_ios: u64,
    /// I/Os of the record that were not to be sent, each kind with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<crate::workload::LeftOut>,
}

/// What was done on one file of a job.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct FileSummary {
    /// As opened.
    pub path: String,
    pub read: FileCount,
    /// Writes.
    pub write: FileCount,
}

/// One direction on one file.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct FileCount {
    /// I/Os completed without error.
    pub ios: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Mean of `clat`, in nanoseconds.
    pub clat_ns_mean: f64,
    /// Its population standard deviation.
    pub clat_ns_stddev: f64,
    /// Created to completed, without percentiles: those follow from the buckets.
    #[serde(default)]
    pub lat_ns: LatencySummary,
    /// Lowest value, highest value and count of each bucket of `lat`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lat_buckets: Vec<(u64, u64, u64)>,
    /// The intervals of the counted time, up to the last one with an I/O; as long as those of the series.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub intervals: Vec<FileInterval>,
}

/// One direction on one file in one interval.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct FileInterval {
    /// I/Os completed without error.
    pub ios: u64,
    /// Shortest `lat`.
    pub lat_ns_min: u64,
    /// Longest `lat`.
    pub lat_ns_max: u64,
    /// Mean of `lat`.
    pub lat_ns_mean: f64,
    /// Its population standard deviation.
    pub lat_ns_stddev: f64,
}

impl JobSummary {
    /// The summary of one direction.
    pub fn op(&self, op: crate::backend::Op) -> &OpSummary {
        [&self.read, &self.write, &self.trim, &self.sync][op.index()]
    }
    /// The summary of one direction, to change it.
    pub fn op_mut(&mut self, op: crate::backend::Op) -> &mut OpSummary {
        match op.index() {
            0 => &mut self.read,
            1 => &mut self.write,
            2 => &mut self.trim,
            _ => &mut self.sync,
        }
    }
    /// Reads, writes and trims, without syncs.
    pub fn total_ios(&self) -> u64 {
        self.read.ios + self.write.ios + self.trim.ios
    }
}

/// One direction of a job or group.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct OpSummary {
    /// I/Os completed without error.
    pub ios: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// I/Os that moved fewer bytes than asked.
    pub short_ios: u64,
    /// Blocks that somebody on a network sent and that have not come.
    #[serde(default, skip_serializing_if = "crate::workload::is_default")]
    pub lost_ios: u64,
    /// I/Os that failed.
    pub errors: u64,
    /// What the rates are taken over: the job's runtime. Where a job reads back what it wrote, its writes are
    /// taken up to there, and reads that are nothing else from there on.
    pub runtime_ns: u64,
    /// I/Os a second over that time.
    pub iops: f64,
    /// Bytes a second over that time.
    pub bytes_per_second: f64,
    /// Created to submitted; `n` is 0 for synchronous engines.
    pub slat_ns: LatencySummary,
    /// Submitted to completed.
    pub clat_ns: LatencySummary,
    /// Created to completed.
    pub lat_ns: LatencySummary,
    /// Intended start to completed; `n` is 0 in a closed loop.
    pub response_ns: LatencySummary,
}

/// A latency distribution in short, all in nanoseconds. As JSON: `n`, `min`, `mean`, `stddev`, `max` and a
/// key a percentile: `p50`, `p99_99`; `n` alone where there are none. Percentiles lie within [min, max].
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LatencySummary {
    pub n: u64,
    /// Smallest; 0 where `n` is 0.
    pub min: u64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Population standard deviation.
    pub stddev: f64,
    /// Largest.
    pub max: u64,
    /// Percentile (above 0, at most 100) and its value, ascending.
    pub percentiles: Vec<(f64, u64)>,
}

impl LatencySummary {
    /// The value at `percentile`, where it was asked for.
    pub fn percentile(&self, percentile: f64) -> Option<u64> {
        self.percentiles
            .iter()
            .find(|(p, _)| (p - percentile).abs() < 1e-9)
            .map(|&(_, value)| value)
    }
}

/// `p99_99` for 99.99.
fn percentile_key(percentile: f64) -> String {
    format!("p{percentile}").replace('.', "_")
}

impl Serialize for LatencySummary {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("n", &self.n)?;
        // No I/O has no latency, not one of 0.
        if self.n == 0 {
            return map.end();
        }
        map.serialize_entry("min", &self.min)?;
        map.serialize_entry("mean", &self.mean)?;
        map.serialize_entry("stddev", &self.stddev)?;
        map.serialize_entry("max", &self.max)?;
        for &(percentile, value) in &self.percentiles {
            map.serialize_entry(&percentile_key(percentile), &value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for LatencySummary {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(LatencyVisitor)
    }
}

struct LatencyVisitor;

impl<'de> Visitor<'de> for LatencyVisitor {
    type Value = LatencySummary;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a latency summary: n, min, mean, stddev, max and percentiles such as p99_9")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<LatencySummary, A::Error> {
        let mut summary = LatencySummary::default();
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "n" => summary.n = map.next_value()?,
                "min" => summary.min = map.next_value()?,
                "mean" => summary.mean = map.next_value()?,
                "stddev" => summary.stddev = map.next_value()?,
                "max" => summary.max = map.next_value()?,
                other => {
                    let number = other.strip_prefix('p').map(|p| p.replace('_', "."));
                    let percentile = number.and_then(|n| n.parse::<f64>().ok());
                    let percentile = percentile
                        .ok_or_else(|| A::Error::custom(format!("unknown key `{other}` in a latency")))?;
                    summary.percentiles.push((percentile, map.next_value()?));
                }
            }
        }
        Ok(summary)
    }
}

/// CPU time and what interrupted it; of a thread or a process a counter: subtract two readings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CpuUsage {
    /// In user mode, nanoseconds.
    pub user_ns: u64,
    /// In the kernel, nanoseconds.
    pub system_ns: u64,
    /// Context switches: waited.
    pub voluntary_switches: u64,
    /// Context switches: was made to wait.
    pub involuntary_switches: u64,
    /// Page faults that read from a disk.
    pub major_faults: u64,
    /// Page faults that did not.
    pub minor_faults: u64,
}

impl CpuUsage {
    /// What was used from `earlier` to here.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            user_ns: self.user_ns.saturating_sub(earlier.user_ns),
            system_ns: self.system_ns.saturating_sub(earlier.system_ns),
            voluntary_switches: self.voluntary_switches.saturating_sub(earlier.voluntary_switches),
            involuntary_switches: self
                .involuntary_switches
                .saturating_sub(earlier.involuntary_switches),
            major_faults: self.major_faults.saturating_sub(earlier.major_faults),
            minor_faults: self.minor_faults.saturating_sub(earlier.minor_faults),
        }
    }

    /// Adds what `part` used.
    pub fn merge(&mut self, part: &Self) {
        self.user_ns += part.user_ns;
        self.system_ns += part.system_ns;
        self.voluntary_switches += part.voluntary_switches;
        self.involuntary_switches += part.involuntary_switches;
        self.major_faults += part.major_faults;
        self.minor_faults += part.minor_faults;
    }

    /// Whether nobody measured it: a program that ran was scheduled once, at least.
    pub fn is_not_known(&self) -> bool {
        *self == Self::default()
    }
}

/// What one block device counted during the run (`/proc/diskstats`, end minus start).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct DiskSummary {
    /// Kernel name.
    pub name: String,
    /// Length of the observation.
    pub duration_ns: u64,
    /// Reads completed.
    pub read_ios: u64,
    /// Reads merged with a neighbour before they were issued.
    pub read_merges: u64,
    pub read_bytes: u64,
    /// Sum of the time of all reads.
    pub read_time_ns: u64,
    /// Writes completed.
    pub write_ios: u64,
    /// Writes merged.
    pub write_merges: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Sum of the time of all writes.
    pub write_time_ns: u64,
    /// Discards completed.
    pub discard_ios: u64,
    /// Flushes completed.
    pub flush_ios: u64,
    /// Time with anything in flight.
    pub busy_ns: u64,
    /// Time in flight summed over all I/Os.
    pub weighted_busy_ns: u64,
}

/// What the tool itself costs on this machine, from the null engine with the same kind of loop.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Floor {
    /// CPU time an I/O, in nanoseconds.
    pub ns_per_io: f64,
    /// I/Os measured for it.
    pub ios: u64,
}

/// A kind of error in a run, and where it was first met.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunError {
    /// What failed: `read`, `write`, `trim`, `sync`, `verify`, `open`, …
    pub what: String,
    /// The system's error number; 0 for a failed verification.
    pub errno: i32,
    /// In words.
    pub message: String,
    /// How often.
    pub count: u64,
    /// The file of the first one.
    pub path: String,
    /// Offset of the first one, in bytes.
    pub offset_bytes: u64,
    /// Length of the first one, in bytes.
    pub length_bytes: u32,
}

//! The first pass over the system's counters.
//!
//! Data in: batches of rows in the order of time. Data out: what happened in each second: of the system, of each disk, and
//! the limits of cgroups in force. Memory grows with the seconds, about 200 bytes each.

mod labels;

use super::Facts;
use super::timeline::SECOND_NS;
use fathom_core::record::CounterRow;
use labels::label;
use std::collections::{BTreeMap, HashMap};

/// Seconds of which anything is kept: a month.
const SECONDS_MAX: u64 = 24 * 31 * 3600;
/// Disks, CPUs and the like of which a last value is kept.
const SERIES_MAX: usize = 1 << 16;

/// What the system counted in one second.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SystemSecond {
    /// Seconds of CPU time of all CPUs: idle, waiting for I/O, all else.
    pub idle: f32,
    pub iowait: f32,
    pub busy: f32,
    /// The share of the second in which the busiest CPU was busy.
    pub busiest: f32,
    /// The share of the second in which somebody waited for a CPU, or for I/O.
    pub cpu_waiting: f32,
    pub io_waiting: f32,
    /// Seconds in which some task waited for memory (PSI, `some`).
    pub memory_waiting: f32,
    /// Bytes in the page cache that are to be written, and that are on their way.
    pub dirty: f64,
    pub writeback: f64,
    /// Seconds in which the cgroup's CPU quota held it back.
    pub cpu_throttled: f32,
}

/// What one disk counted in one second.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct DiskSecond {
    pub ios: f32,
    pub bytes: f64,
    /// Sum of the time of all I/Os, in seconds.
    pub time: f32,
    /// Seconds in which anything was in flight.
    pub busy: f32,
    /// Time in flight summed over all I/Os.
    pub weighted: f32,
    pub flushes: f32,
    /// In flight when it was read: the largest, the sum, how often.
    pub in_flight_max: f32,
    pub in_flight_sum: f32,
    pub in_flight_n: u16,
}

/// A limit of a cgroup on a device.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CgroupLimit {
    /// `254:0`.
    pub device: String,
    pub kind: CgroupLimitKind,
    pub value: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum CgroupLimitKind {
    ReadIops,
    WriteIops,
    ReadBytes,
    WriteBytes,
}

/// Takes rows in.
#[derive(Debug)]
pub struct CounterScan {
    started_ns: u64,
    /// For each of [`METRICS`]: the last value and its time, by labels.
    last: Vec<HashMap<String, (u64, f64)>>,
    found: CounterScanned,
}

/// What was found of the system's counters.
#[derive(Debug, Default)]
pub struct CounterScanned {
    pub(super) system: BTreeMap<u64, SystemSecond>,
    pub(super) disks: BTreeMap<String, BTreeMap<u64, DiskSecond>>,
    pub(super) cgroup_limits: Vec<CgroupLimit>,
    /// CPUs that the cgroup's quota allows.
    pub(super) cpu_quota: Option<f64>,
    /// The task of each worker: job, worker, thread.
    pub(super) tasks: Vec<(u32, u32, u32)>,
}

impl CounterScanned {
    /// Whether it saw nothing of the system: what a recording says of itself is no evidence.
    pub(super) fn is_empty(&self) -> bool {
        self.system.is_empty()
            && self.disks.is_empty()
            && self.cgroup_limits.is_empty()
            && self.tasks.is_empty()
    }
}

/// The metrics that say anything here.
const METRICS: [&str; 20] = [
    "node_disk_io_now",
    "node_disk_io_time_seconds_total",
    "node_disk_reads_completed_total",
    "node_disk_writes_completed_total",
    "node_disk_read_bytes_total",
    "node_disk_written_bytes_total",
    "node_disk_read_time_seconds_total",
    "node_disk_write_time_seconds_total",
    "node_disk_io_time_weighted_seconds_total",
    "node_disk_flush_requests_total",
    "node_cpu_seconds_total",
    "node_memory_Dirty_bytes",
    "node_memory_Writeback_bytes",
    "node_pressure_cpu_waiting_seconds_total",
    "node_pressure_io_waiting_seconds_total",
    "node_pressure_memory_waiting_seconds_total",
    "fathom_cgroup_io_limit",
    "fathom_cgroup_cpu_throttled_seconds_total",
    "fathom_cgroup_cpu_quota_cores",
    "fathom_worker_thread_id",
];

impl CounterScan {
    /// Ready for the rows of this run.
    pub fn new(facts: &Facts<'_>) -> Self {
        Self {
            started_ns: facts.started_ns(),
            last: vec![HashMap::new(); METRICS.len()],
            found: CounterScanned::default(),
        }
    }

    /// Takes rows in.
    pub fn feed(&mut self, rows: &[CounterRow]) {
        for row in rows {
            self.row(row);
        }
    }

    fn row(&mut self, row: &CounterRow) {
        let Some(metric) = METRICS.iter().position(|metric| *metric == row.metric) else {
            return;
        };
        let second = row.at_ns.saturating_sub(self.started_ns) / SECOND_NS;
        if second > SECONDS_MAX || !row.value.is_finite() {
            return;
        }
        match METRICS[metric] {
            "fathom_cgroup_io_limit" => self.found.cgroup_limit(row),
            "fathom_cgroup_cpu_quota_cores" => self.found.cpu_quota = Some(row.value),
            "fathom_worker_thread_id" => self.found.task(row),
            "node_disk_io_now" => self.found.in_flight(second, row),
            "node_memory_Dirty_bytes" => self.found.second(second).dirty = row.value,
            "node_memory_Writeback_bytes" => self.found.second(second).writeback = row.value,
            name => {
                if let Some((difference, seconds)) = self.difference(metric, row) {
                    // What was counted up to here belongs to the time before.
                    let middle = row.at_ns - (seconds * 0.5e9) as u64;
                    let second = middle.saturating_sub(self.started_ns) / SECOND_NS;
                    self.found.counter(name, second, row, difference, seconds);
                }
            }
        }
    }

    /// What a counter grew by since it was last read, and how long ago that was; `None` where it was not read or was
    /// reset.
    fn difference(&mut self, metric: usize, row: &CounterRow) -> Option<(f64, f64)> {
        let last = &mut self.last[metric];
        let Some(known) = last.get_mut(&*row.labels) else {
            if last.len() < SERIES_MAX {
                last.insert(row.labels.to_string(), (row.at_ns, row.value));
            }
            return None;
        };
        let (at_ns, value) = std::mem::replace(known, (row.at_ns, row.value));
        let seconds = row.at_ns.checked_sub(at_ns).filter(|&ns| ns > 0)? as f64 / 1e9;
        (row.value >= value).then_some((row.value - value, seconds))
    }

    /// What was found.
    pub fn finish(self) -> CounterScanned {
        self.found
    }
}

impl CounterScanned {
    fn second(&mut self, second: u64) -> &mut SystemSecond {
        self.system.entry(second).or_default()
    }

    fn disk(&mut self, second: u64, labels: &str) -> Option<&mut DiskSecond> {
        let name = label(labels, "device")?;
        // A name is only copied the first time.
        let disk = if self.disks.contains_key(name) {
            self.disks.get_mut(name)?
        } else {
            self.disks.entry(name.to_owned()).or_default()
        };
        Some(disk.entry(second).or_default())
    }

    fn in_flight(&mut self, second: u64, row: &CounterRow) {
        if let Some(disk) = self.disk(second, &row.labels) {
            let now = row.value as f32;
            disk.in_flight_max = disk.in_flight_max.max(now);
            disk.in_flight_sum += now;
            disk.in_flight_n = disk.in_flight_n.saturating_add(1);
        }
    }

    fn counter(&mut self, name: &str, second: u64, row: &CounterRow, difference: f64, seconds: f64) {
        let grown = difference as f32;
        match name {
            "node_cpu_seconds_total" => {
                let mode = label(&row.labels, "mode").unwrap_or_default();
                let system = self.second(second);
                match mode {
                    "idle" => {
                        system.idle += grown;
                        let busy = 1.0 - grown / seconds as f32;
                        system.busiest = system.busiest.max(busy.clamp(0.0, 1.0));
                    }
                    "iowait" => system.iowait += grown,
                    // Time of guests is part of the user's.
                    "guest" | "guest_nice" => {}
                    _ => system.busy += grown,
                }
            }
            "node_pressure_cpu_waiting_seconds_total" => self.second(second).cpu_waiting += grown,
            "node_pressure_io_waiting_seconds_total" => self.second(second).io_waiting += grown,
            "node_pressure_memory_waiting_seconds_total" => self.second(second).memory_waiting += grown,
            "fathom_cgroup_cpu_throttled_seconds_total" => self.second(second).cpu_throttled += grown,
            _ => {
                let Some(disk) = self.disk(second, &row.labels) else {
                    return;
                };
                match name {
                    "node_disk_reads_completed_total" | "node_disk_writes_completed_total" => {
                        disk.ios += grown;
                    }
                    "node_disk_read_bytes_total" | "node_disk_written_bytes_total" => {
                        disk.bytes += difference;
                    }
                    "node_disk_read_time_seconds_total" | "node_disk_write_time_seconds_total" => {
                        disk.time += grown;
                    }
                    "node_disk_io_time_seconds_total" => disk.busy += grown,
                    "node_disk_io_time_weighted_seconds_total" => disk.weighted += grown,
                    "node_disk_flush_requests_total" => disk.flushes += grown,
                    _ => {}
                }
            }
        }
    }

    fn cgroup_limit(&mut self, row: &CounterRow) {
        let kind = match label(&row.labels, "kind") {
            Some("riops") => CgroupLimitKind::ReadIops,
            Some("wiops") => CgroupLimitKind::WriteIops,
            Some("rbps") => CgroupLimitKind::ReadBytes,
            Some("wbps") => CgroupLimitKind::WriteBytes,
            _ => return,
        };
        let Some(device) = label(&row.labels, "device") else {
            return;
        };
        let known = self
            .cgroup_limits
            .iter_mut()
            .find(|known| known.kind == kind && known.device == device);
        match known {
            Some(known) => known.value = row.value,
            None => self.cgroup_limits.push(CgroupLimit {
                device: device.to_owned(),
                kind,
                value: row.value,
            }),
        }
    }

    fn task(&mut self, row: &CounterRow) {
        let number = |name| label(&row.labels, name).and_then(|text| text.parse().ok());
        if let (Some(job), Some(worker)) = (number("job"), number("worker")) {
            self.tasks.push((job, worker, row.value as u32));
        }
    }
}

#[cfg(test)]
mod tests;

//! The first pass over the system's counters.
//!
//! Data in: batches of rows in the order of time. Data out: what happened in each second: of the system, of each disk, and
//! the limits of cgroups in force. Memory grows with the seconds, about 200 bytes each.

mod labels;

use super::timeline::SECOND_NS;
use super::{Facts, KnownDisk};
use crate::growth::Growth;
use crate::usage::{Usage, UseScan};
use fathom_core::record::{CounterRow, StreamKind};
pub(crate) use labels::label;
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
}

/// A cgroup that a task is in: of several hierarchies, the one that tells most of what it may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cgroup {
    hierarchy: Hierarchy,
    pub path: String,
}

/// The most telling last. What is at its root is in no group of a hierarchy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Hierarchy {
    Root,
    Other,
    Memory,
    Cpu,
    Unified,
}

/// Between two readings of a counter, in monotonic time: by how much it grew.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Grown {
    pub from_ns: u64,
    pub to_ns: u64,
    pub by: f64,
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
    growth: Growth,
    found: CounterScanned,
    usage: UseScan,
    /// The limits that the run may have met.
    known: Vec<KnownDisk>,
}

/// What was found of the system's counters.
#[derive(Debug, Default)]
pub struct CounterScanned {
    pub(super) system: BTreeMap<u64, SystemSecond>,
    pub(super) disks: BTreeMap<String, BTreeMap<u64, DiskSecond>>,
    pub(super) cgroup_limits: Vec<CgroupLimit>,
    /// The task of each worker: job, worker, thread.
    pub(super) tasks: Vec<(u32, u32, u32)>,
    /// The cgroup of each task that the record names, by its number.
    pub(super) cgroups: HashMap<u32, Cgroup>,
    /// When the cgroup's CPU quota held it back, for how many seconds; only where it did.
    pub(super) throttled: Vec<Grown>,
    /// When a stream lost rows, and how many.
    pub(super) lost_rows: BTreeMap<StreamKind, Vec<Grown>>,
    /// What was last said of that: when, and how many in all.
    pub(super) lost_rows_last: BTreeMap<StreamKind, (u64, f64)>,
    /// By utilization, saturation, errors.
    pub(super) usage: Usage,
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

/// What the rows of a metric say.
enum Says {
    /// How something is now.
    State(fn(&mut CounterScanned, u64, &CounterRow)),
    /// How often or how long it was so: of the system, and of a disk, what it grew by counts.
    System(fn(&mut SystemSecond) -> &mut f32),
    Disk(fn(&mut DiskSecond, f64)),
    /// The same of a CPU, by what it did.
    Cpu,
    /// For how long the quota held the cgroup back.
    Throttled,
    /// How many rows a stream has lost since the begin of the record.
    LostRows,
}

/// What a metric says; `None`: nothing that matters here.
fn says(metric: &str) -> Option<Says> {
    use Says::{Cpu, Disk, LostRows, State, System, Throttled};
    Some(match metric {
        // A disk that was read was there in that second.
        "node_disk_io_now" => State(|found, second, row| _ = found.disk(second, &row.labels)),
        "node_disk_io_time_seconds_total" => Disk(|disk, grown| disk.busy += grown as f32),
        "node_disk_reads_completed_total" | "node_disk_writes_completed_total" => {
            Disk(|disk, grown| disk.ios += grown as f32)
        }
        "node_disk_read_bytes_total" | "node_disk_written_bytes_total" => {
            Disk(|disk, grown| disk.bytes += grown)
        }
        "node_disk_read_time_seconds_total" | "node_disk_write_time_seconds_total" => {
            Disk(|disk, grown| disk.time += grown as f32)
        }
        "node_disk_io_time_weighted_seconds_total" => Disk(|disk, grown| disk.weighted += grown as f32),
        "node_cpu_seconds_total" => Cpu,
        "node_memory_Dirty_bytes" => State(|found, second, row| found.second(second).dirty = row.value),
        "node_memory_Writeback_bytes" => {
            State(|found, second, row| found.second(second).writeback = row.value)
        }
        "node_pressure_cpu_waiting_seconds_total" => System(|second| &mut second.cpu_waiting),
        "node_pressure_io_waiting_seconds_total" => System(|second| &mut second.io_waiting),
        "node_pressure_memory_waiting_seconds_total" => System(|second| &mut second.memory_waiting),
        "fathom_cgroup_io_limit" => State(|found, _, row| found.cgroup_limit(row)),
        "fathom_cgroup_cpu_throttled_seconds_total" => Throttled,
        "fathom_record_dropped_rows_total" => LostRows,
        "fathom_cgroup_member" => State(|found, _, row| found.member(row)),
        "fathom_worker_thread_id" => State(|found, _, row| found.task(row)),
        _ => return None,
    })
}

impl CounterScan {
    /// Ready for the rows of this run.
    pub fn new(facts: &Facts<'_>) -> Self {
        Self {
            started_ns: facts.started_ns(),
            growth: Growth::of(SERIES_MAX),
            found: CounterScanned::default(),
            usage: UseScan::default(),
            known: facts.known_disks.to_vec(),
        }
    }

    /// Takes rows in.
    pub fn feed(&mut self, rows: &[CounterRow]) {
        self.usage.feed(rows);
        for row in rows {
            self.row(row);
        }
    }

    fn row(&mut self, row: &CounterRow) {
        let Some(says) = says(&row.metric) else { return };
        let second = row.at_ns.saturating_sub(self.started_ns) / SECOND_NS;
        if second > SECONDS_MAX || !row.value.is_finite() {
            return;
        }
        if let Says::State(take) = says {
            take(&mut self.found, second, row);
        } else if let Says::LostRows = says {
            self.lost_rows(row);
        } else if let Some((grown, seconds)) = self.growth.since_last(row) {
            // What was counted up to here belongs to the time before.
            let middle = row.at_ns - (seconds * 0.5e9) as u64;
            let second = middle.saturating_sub(self.started_ns) / SECOND_NS;
            self.found.counter(&says, second, row, grown);
            if matches!(says, Says::Throttled) && grown > 0.0 {
                self.found.throttled.push(Grown {
                    from_ns: row.at_ns - (seconds * 1e9) as u64,
                    to_ns: row.at_ns,
                    by: grown,
                });
            }
        }
    }

    /// None was lost when the record began: the first reading tells something already.
    fn lost_rows(&mut self, row: &CounterRow) {
        let name = label(&row.labels, "stream");
        let Some(kind) = StreamKind::ALL.into_iter().find(|kind| Some(kind.name()) == name) else {
            return;
        };
        let last = self
            .found
            .lost_rows_last
            .entry(kind)
            .or_insert((self.started_ns, 0.0));
        let (from_ns, before) = std::mem::replace(last, (row.at_ns, row.value));
        if row.value > before {
            self.found.lost_rows.entry(kind).or_default().push(Grown {
                from_ns: from_ns.min(row.at_ns),
                to_ns: row.at_ns,
                by: row.value - before,
            });
        }
    }

    /// What was found.
    pub fn finish(self) -> CounterScanned {
        CounterScanned {
            usage: self.usage.finish(&self.known),
            ..self.found
        }
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

    fn counter(&mut self, says: &Says, second: u64, row: &CounterRow, grown: f64) {
        match says {
            Says::State(_) | Says::LostRows => {}
            Says::Throttled => self.second(second).cpu_throttled += grown as f32,
            Says::System(field) => *field(self.second(second)) += grown as f32,
            Says::Disk(add) => {
                if let Some(disk) = self.disk(second, &row.labels) {
                    add(disk, grown);
                }
            }
            Says::Cpu => {
                let system = self.second(second);
                match label(&row.labels, "mode").unwrap_or_default() {
                    "idle" => system.idle += grown as f32,
                    "iowait" => system.iowait += grown as f32,
                    // Time of guests is part of the user's.
                    "guest" | "guest_nice" => {}
                    _ => system.busy += grown as f32,
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

    /// The last of a hierarchy holds: a task may be moved, or its number be another one's.
    fn member(&mut self, row: &CounterRow) {
        let pid = label(&row.labels, "pid").and_then(|text| text.parse().ok());
        let (Some(pid), Some(path)) = (pid, label(&row.labels, "cgroup")) else {
            return;
        };
        let controllers = label(&row.labels, "controller").unwrap_or_default();
        let has = |controller: &str| controllers.split(',').any(|one| one == controller);
        let hierarchy = match path {
            "/" => Hierarchy::Root,
            _ if controllers.is_empty() => Hierarchy::Unified,
            _ if has("cpu") => Hierarchy::Cpu,
            _ if has("memory") => Hierarchy::Memory,
            _ => Hierarchy::Other,
        };
        let full = self.cgroups.len() >= SERIES_MAX;
        let known = self.cgroups.get(&pid).map(|known| known.hierarchy);
        if known.map_or(!full, |known| hierarchy >= known) {
            let path = path.to_owned();
            self.cgroups.insert(pid, Cgroup { hierarchy, path });
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

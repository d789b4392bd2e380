//! Readings of counters as rates: of each resource a number a reading.

use super::pods::Pods;
use super::verdict;
use super::{Resource, Usage};
use crate::explain::{KnownDisk, label};
use crate::growth::Growth;
use fathom_core::record::CounterRow;
use std::collections::BTreeMap;

/// Readings of which numbers are kept: twelve days of seconds.
const READINGS_MAX: usize = 1 << 20;
/// Series that are followed.
const SERIES_MAX: usize = 1 << 14;

/// What is followed of a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Quantity {
    CpuAll,
    CpuBusy,
    CpuSteal,
    CpuWaiting,
    MemoryTotal,
    MemoryAvailable,
    MemoryWaiting,
    MemoryStalled,
    OomKills,
    DiskReads,
    DiskIos,
    DiskBytes,
    DiskBusy,
    DiskQueue,
    IoWaiting,
    IoStalled,
    NetworkBytes,
    NetworkSpeed,
    NetworkDrops,
    NetworkErrors,
    VolumeUsed,
    VolumeSize,
    InodesUsed,
    Inodes,
}

/// How a metric's rows become numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Takes {
    /// What it grew by, a second.
    Rate,
    /// As it is.
    Level,
}

/// Numbers of one quantity of one resource: a reading each.
#[derive(Debug, Default)]
pub(super) struct Track {
    at_ns: Option<u64>,
    current: f64,
    pub values: Vec<f32>,
}

impl Track {
    /// Numbers that were made of others.
    pub(super) fn of(values: Vec<f32>) -> Self {
        Self {
            values,
            ..Self::default()
        }
    }

    /// What is read at one moment is added up.
    pub(super) fn add(&mut self, at_ns: u64, value: f64) {
        if self.at_ns != Some(at_ns) {
            self.close();
            self.at_ns = Some(at_ns);
        }
        self.current += value;
    }

    pub(super) fn close(&mut self) {
        if self.at_ns.take().is_some() && self.values.len() < READINGS_MAX {
            self.values.push(self.current as f32);
        }
        self.current = 0.0;
    }

    pub(super) fn mean(&self) -> Option<f64> {
        let sum: f64 = self.values.iter().map(|&value| f64::from(value)).sum();
        (!self.values.is_empty()).then(|| sum / self.values.len() as f64)
    }

    pub(super) fn peak(&self) -> Option<f64> {
        self.values.iter().map(|&value| f64::from(value)).reduce(f64::max)
    }
}

/// All tracks.
pub(super) type Tracks = BTreeMap<(Resource, Quantity), Track>;

/// Takes counters in.
#[derive(Debug)]
pub struct UseScan {
    growth: Growth,
    tracks: Tracks,
    pods: Pods,
    /// How long it was between readings, by how often.
    steps: BTreeMap<u64, u64>,
    read_ns: Option<u64>,
}

impl Default for UseScan {
    fn default() -> Self {
        Self {
            growth: Growth::of(SERIES_MAX),
            tracks: Tracks::new(),
            pods: Pods::default(),
            steps: BTreeMap::new(),
            read_ns: None,
        }
    }
}

impl UseScan {
    /// Takes rows in, in the order of time.
    pub fn feed(&mut self, rows: &[CounterRow]) {
        for row in rows {
            self.row(row);
        }
    }

    fn row(&mut self, row: &CounterRow) {
        if !row.value.is_finite() {
            return;
        }
        let Some((takes, resource, quantities)) = says(&row.metric, &row.labels) else {
            return self.pods.row(row);
        };
        // Disks' queues are read more often than all else; steps are those of what is read with the others.
        if row.metric == "node_disk_reads_completed_total" || row.metric == "node_cpu_seconds_total" {
            self.step(row.at_ns);
        }
        let value = match takes {
            Takes::Level => Some(row.value),
            Takes::Rate => self
                .growth
                .since_last(row)
                .map(|(grown, seconds)| grown / seconds),
        };
        let Some(value) = value else { return };
        for &quantity in quantities {
            self.tracks
                .entry((resource.clone(), quantity))
                .or_default()
                .add(row.at_ns, value);
        }
    }

    fn step(&mut self, at_ns: u64) {
        let before = self.read_ns.replace(at_ns);
        if let Some(ns) = before
            .and_then(|before| at_ns.checked_sub(before))
            .filter(|&ns| ns > 0)
        {
            // To a tenth of a second: clocks are not that regular.
            *self
                .steps
                .entry(((ns + 50_000_000) / 100_000_000).max(1))
                .or_default() += 1;
        }
    }

    /// The table, with these limits.
    pub fn finish(mut self, known: &[KnownDisk]) -> Usage {
        self.tracks.values_mut().for_each(Track::close);
        let readings: u64 = self.steps.values().sum();
        let mut seen = 0;
        let median = self.steps.iter().find(|(_, count)| {
            seen += **count;
            seen * 2 >= readings
        });
        Usage {
            rows: verdict::rows(&self.tracks, known),
            pods: self.pods.finish(&self.tracks),
            readings,
            step_ns: median.map_or(0, |(tenths, _)| tenths * 100_000_000),
        }
    }
}

/// What a row says of which resource.
fn says(metric: &str, labels: &str) -> Option<(Takes, Resource, &'static [Quantity])> {
    use Quantity as Q;
    use Takes::{Level, Rate};
    let device = || label(labels, "device").map(str::to_owned);
    let disk = |quantities: &'static [Quantity]| {
        // Slices of a disk would be counted twice, and a loop device or a RAM disk is none.
        Some((Rate, Resource::Disk(device()?), quantities))
    };
    let network =
        |takes, quantities: &'static [Quantity]| Some((takes, Resource::Network(device()?), quantities));
    let volume = |quantities: &'static [Quantity]| {
        let name = format!(
            "{}/{}",
            label(labels, "namespace")?,
            label(labels, "persistentvolumeclaim")?
        );
        Some((Level, Resource::Volume(name), quantities))
    };
    match metric {
        "kubelet_volume_stats_used_bytes" => volume(&[Q::VolumeUsed]),
        "kubelet_volume_stats_capacity_bytes" => volume(&[Q::VolumeSize]),
        "kubelet_volume_stats_inodes_used" => volume(&[Q::InodesUsed]),
        "kubelet_volume_stats_inodes" => volume(&[Q::Inodes]),
        "node_cpu_seconds_total" => {
            let quantities: &[Quantity] = match label(labels, "mode")? {
                "idle" | "iowait" => &[Q::CpuAll],
                "steal" => &[Q::CpuAll, Q::CpuSteal],
                // Time of guests is part of the user's.
                "guest" | "guest_nice" => return None,
                _ => &[Q::CpuAll, Q::CpuBusy],
            };
            Some((Rate, Resource::Cpu, quantities))
        }
        "node_pressure_cpu_waiting_seconds_total" => Some((Rate, Resource::Cpu, &[Q::CpuWaiting])),
        "node_memory_MemTotal_bytes" => Some((Level, Resource::Memory, &[Q::MemoryTotal])),
        "node_memory_MemAvailable_bytes" => Some((Level, Resource::Memory, &[Q::MemoryAvailable])),
        "node_pressure_memory_waiting_seconds_total" => Some((Rate, Resource::Memory, &[Q::MemoryWaiting])),
        "node_pressure_memory_stalled_seconds_total" => Some((Rate, Resource::Memory, &[Q::MemoryStalled])),
        "node_vmstat_oom_kill" => Some((Rate, Resource::Memory, &[Q::OomKills])),
        "node_pressure_io_waiting_seconds_total" => Some((Rate, Resource::Machine, &[Q::IoWaiting])),
        "node_pressure_io_stalled_seconds_total" => Some((Rate, Resource::Machine, &[Q::IoStalled])),
        "node_disk_reads_completed_total" => disk(&[Q::DiskIos, Q::DiskReads]),
        "node_disk_writes_completed_total" => disk(&[Q::DiskIos]),
        "node_disk_read_bytes_total" | "node_disk_written_bytes_total" => disk(&[Q::DiskBytes]),
        "node_disk_io_time_seconds_total" => disk(&[Q::DiskBusy]),
        "node_disk_io_time_weighted_seconds_total" => disk(&[Q::DiskQueue]),
        "node_network_receive_bytes_total" | "node_network_transmit_bytes_total" => {
            network(Rate, &[Q::NetworkBytes])
        }
        "node_network_speed_bytes" => network(Level, &[Q::NetworkSpeed]),
        "node_network_receive_drop_total" | "node_network_transmit_drop_total" => {
            network(Rate, &[Q::NetworkDrops])
        }
        "node_network_receive_errs_total" | "node_network_transmit_errs_total" => {
            network(Rate, &[Q::NetworkErrors])
        }
        _ => None,
    }
}

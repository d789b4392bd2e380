//! What the machine's counters say of the time since they were read last.
//!
//! Data in: readings. Data out: rates, for those who look, and the evidence for the cause of a disturbance.

use crate::exposition::parse_labels;
use crate::metric;
use fathom_analysis::live::Evidence;
use fathom_core::record::CounterRow;
use serde::Serialize;
use std::collections::BTreeMap;

/// A reading sooner than this after the last one says little.
const LEAST_S: f64 = 0.5;

/// The last two readings.
#[derive(Debug, Default)]
pub(super) struct Node {
    first_ns: Option<u64>,
    last: Reading,
    rates: Option<NodeEvent>,
}

/// Values by name and labels.
#[derive(Debug, Default)]
struct Reading {
    at_ns: u64,
    values: BTreeMap<(String, String), f64>,
}

/// Rates over the time between two readings.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct NodeEvent {
    /// Seconds since the first reading.
    t: f64,
    disks: Vec<DiskEvent>,
    /// Shares of all CPU time.
    busy: f64,
    iowait: f64,
    steal: f64,
    /// Shares of the time.
    cpu_waiting: f64,
    io_waiting: f64,
    memory_stalled: f64,
    throttled: f64,
}

#[derive(Debug, Clone, Default, Serialize)]
struct DiskEvent {
    device: String,
    reads: f64,
    writes: f64,
    read_bytes: f64,
    write_bytes: f64,
    /// Share of the time with anything in flight.
    busy: f64,
    /// Mean number in flight.
    queue: f64,
    /// Mean time of a request, in milliseconds; `None`: there was none.
    read_ms: Option<f64>,
    write_ms: Option<f64>,
}

impl Node {
    /// Takes a reading; the rates since the last one.
    pub(super) fn read(&mut self, at_ns: u64, rows: &[CounterRow]) -> Option<NodeEvent> {
        let now = Reading {
            at_ns,
            values: rows
                .iter()
                .map(|row| ((row.metric.to_string(), row.labels.to_string()), row.value))
                .collect(),
        };
        let first_ns = *self.first_ns.get_or_insert(at_ns);
        let seconds = at_ns.saturating_sub(self.last.at_ns) as f64 / 1e9;
        if !self.last.values.is_empty() && seconds < LEAST_S {
            return None;
        }
        let before = std::mem::replace(&mut self.last, now);
        if before.values.is_empty() {
            return None;
        }
        let mut event = rates(&before, &self.last, seconds);
        event.t = at_ns.saturating_sub(first_ns) as f64 / 1e9;
        self.rates = Some(event.clone());
        Some(event)
    }

    /// What is shown of the last second, of a load on `devices` with so many I/Os a second.
    pub(super) fn evidence(&self, devices: &[String], ios: f64) -> Evidence {
        let Some(rates) = &self.rates else {
            return Evidence::default();
        };
        let own = rates.disks.iter().filter(|disk| devices.contains(&disk.device));
        let at_device: f64 = own.map(|disk| disk.reads + disk.writes).sum();
        Evidence {
            of_limit: 0.0,
            throttled: rates.throttled,
            steal: rates.steal,
            cpu_waiting: rates.cpu_waiting,
            memory_stalled: rates.memory_stalled,
            fault: 0.0,
            others: if ios > 0.0 { at_device / ios - 1.0 } else { 0.0 },
        }
    }
}

fn rates(before: &Reading, now: &Reading, seconds: f64) -> NodeEvent {
    let grown = |name: &str| -> f64 {
        let rows = now.values.iter().filter(|((metric, _), _)| metric == name);
        rows.map(|(key, value)| value - before.values.get(key).unwrap_or(value))
            .sum()
    };
    let (mut busy, mut iowait, mut steal, mut all) = (0.0, 0.0, 0.0, 0.0);
    let mut disks: BTreeMap<String, BTreeMap<&str, f64>> = BTreeMap::new();
    for (key, value) in &now.values {
        let (name, labels) = key;
        let since = value - before.values.get(key).unwrap_or(value);
        if name == metric::CPU.name {
            let mode = |mode: &str| labels.ends_with(&format!("mode=\"{mode}\""));
            all += since;
            if mode("iowait") {
                iowait += since;
            } else if mode("steal") {
                steal += since;
            } else if !mode("idle") {
                busy += since;
            }
        } else if name.starts_with("node_disk_")
            && let Some((_, device)) = parse_labels(labels).and_then(|labels| labels.into_iter().next())
        {
            disks.entry(device).or_default().insert(name, since);
        }
    }
    let share = |of: f64| if all > 0.0 { of / all } else { 0.0 };
    NodeEvent {
        t: 0.0,
        disks: disks
            .into_iter()
            .map(|(device, grown)| disk(device, &grown, seconds))
            .collect(),
        busy: share(busy),
        iowait: share(iowait),
        steal: share(steal),
        cpu_waiting: grown(metric::PRESSURE_CPU.name) / seconds,
        io_waiting: grown(metric::PRESSURE_IO.name) / seconds,
        memory_stalled: grown(metric::PRESSURE_MEMORY_FULL.name) / seconds,
        throttled: grown(metric::CGROUP_THROTTLED.name) / seconds,
    }
}

fn disk(device: String, grown: &BTreeMap<&str, f64>, seconds: f64) -> DiskEvent {
    let of = |metric: &metric::Metric| grown.get(metric.name).copied().unwrap_or(0.0);
    let mean = |time: f64, number: f64| (number > 0.0).then(|| time / number * 1e3);
    DiskEvent {
        reads: of(metric::DISK_READS) / seconds,
        writes: of(metric::DISK_WRITES) / seconds,
        read_bytes: of(metric::DISK_READ_BYTES) / seconds,
        write_bytes: of(metric::DISK_WRITTEN_BYTES) / seconds,
        busy: of(metric::DISK_BUSY) / seconds,
        queue: of(metric::DISK_WEIGHTED) / seconds,
        read_ms: mean(of(metric::DISK_READ_TIME), of(metric::DISK_READS)),
        write_ms: mean(of(metric::DISK_WRITE_TIME), of(metric::DISK_WRITES)),
        device,
    }
}

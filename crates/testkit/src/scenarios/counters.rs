//! What the system's counters and the scheduler's ring would have held.

use super::Window;
use super::machine::{BOOT_NS, Machine, SECOND};
use crate::make;
use fathom_core::record::{BlockOp, BlockRequest, CounterRow, ProcessRow};
use std::collections::BTreeMap;

/// Counters of the disk and the CPUs, each second, and the limits in force.
pub(super) fn rows(
    machine: &Machine,
    end_ns: u64,
    limits: &[(Window, f64)],
    frozen: &[Window],
) -> Vec<CounterRow> {
    let mut rows = Vec::new();
    let mut add = |at_ns: u64, metric: &'static str, labels: &'static str, value: f64| {
        rows.push(make::counter(at_ns, metric, labels, value));
    };
    for (job, worker) in machine.workers.iter().enumerate() {
        let labels: &'static str = if job == 0 {
            "job=\"0\",worker=\"0\""
        } else {
            "job=\"1\",worker=\"0\""
        };
        let tid = machine.tasks[worker.task].tid;
        add(BOOT_NS, "fathom_worker_thread_id", labels, f64::from(tid));
    }
    let own = machine
        .requests
        .iter()
        .filter(|request| request.device == 254 << 20);
    let own: Vec<BlockRequest> = own.copied().collect();
    let seconds = (end_ns - BOOT_NS).div_ceil(SECOND);
    for second in 0..=seconds {
        let at = BOOT_NS + second * SECOND;
        for (metric, value) in Disk::until(&own, at).counters() {
            add(at, metric, "device=\"vda\"", value);
        }
        let mut busy_s = 0.0;
        for slice in &machine.slices {
            busy_s += slice.end_ns.min(at).saturating_sub(slice.start_ns) as f64 / 1e9;
        }
        let all_s = machine.cpus.len() as f64 * second as f64;
        add(at, "node_cpu_seconds_total", "cpu=\"0\",mode=\"user\"", busy_s);
        add(
            at,
            "node_cpu_seconds_total",
            "cpu=\"0\",mode=\"idle\"",
            (all_s - busy_s).max(0.0),
        );
        for (window, limit) in limits {
            if window.start_ns <= at + SECOND && at <= window.end_ns.saturating_add(SECOND) {
                add(
                    at,
                    "fathom_cgroup_io_limit",
                    "device=\"254:0\",kind=\"riops\"",
                    *limit,
                );
            }
        }
        let throttled: u64 = frozen.iter().map(|window| window.overlap_ns(BOOT_NS, at)).sum();
        add(
            at,
            "fathom_cgroup_cpu_throttled_seconds_total",
            "",
            throttled as f64 / 1e9,
        );
    }
    rows
}

#[derive(Default)]
struct Disk {
    reads: f64,
    writes: f64,
    read_bytes: f64,
    written_bytes: f64,
    time_s: f64,
    weighted_s: f64,
    busy_s: f64,
}

impl Disk {
    fn counters(&self) -> [(&'static str, f64); 7] {
        [
            ("node_disk_reads_completed_total", self.reads),
            ("node_disk_writes_completed_total", self.writes),
            ("node_disk_read_bytes_total", self.read_bytes),
            ("node_disk_written_bytes_total", self.written_bytes),
            ("node_disk_read_time_seconds_total", self.time_s),
            ("node_disk_io_time_weighted_seconds_total", self.weighted_s),
            ("node_disk_io_time_seconds_total", self.busy_s),
        ]
    }

    /// What was counted up to a moment.
    fn until(requests: &[BlockRequest], at: u64) -> Self {
        let mut disk = Self::default();
        let mut busy_to = 0;
        for request in requests {
            let begun = request.begun_ns();
            disk.weighted_s += request.completed_ns.min(at).saturating_sub(begun) as f64 / 1e9;
            let end = request.completed_ns.min(at);
            disk.busy_s += end.saturating_sub(begun.max(busy_to)) as f64 / 1e9;
            busy_to = busy_to.max(end);
            if request.completed_ns > at {
                continue;
            }
            disk.time_s += (request.completed_ns - begun) as f64 / 1e9;
            if request.op == BlockOp::Read {
                disk.reads += 1.0;
                disk.read_bytes += f64::from(request.len_bytes);
            } else if request.op == BlockOp::Write {
                disk.writes += 1.0;
                disk.written_bytes += f64::from(request.len_bytes);
            }
        }
        disk
    }
}

/// What processes used in each second: CPU by their stays, bytes by their streams and what they made dirty.
pub(super) fn processes(
    machine: &Machine,
    end_ns: u64,
    dirtied: &[(u32, &str, u64, u64)],
) -> Vec<ProcessRow> {
    let mut used: BTreeMap<(u64, u32), ProcessRow> = BTreeMap::new();
    let last = (end_ns - BOOT_NS).div_ceil(SECOND);
    let row = |second: u64, pid: u32, comm| ProcessRow {
        at_ns: BOOT_NS + (second + 1) * SECOND,
        duration_ns: SECOND,
        pid,
        comm,
        cpu_ns: 0,
        run_delay_ns: 0,
        read_bytes: 0,
        written_bytes: 0,
    };
    for slice in &machine.slices {
        let from = (slice.start_ns - BOOT_NS) / SECOND;
        let to = (slice.end_ns - BOOT_NS) / SECOND;
        for second in from..=to.min(last) {
            let window = Window {
                start_ns: BOOT_NS + second * SECOND,
                end_ns: BOOT_NS + (second + 1) * SECOND,
            };
            let entry = used
                .entry((second, slice.tid))
                .or_insert_with(|| row(second, slice.tid, slice.comm));
            entry.cpu_ns += window.overlap_ns(slice.start_ns, slice.end_ns);
        }
    }
    for stream in &machine.streams {
        for (second, bytes) in &stream.bytes {
            let second = second - BOOT_NS / SECOND;
            let entry = used
                .entry((second, stream.pid))
                .or_insert_with(|| row(second, stream.pid, stream.comm));
            match stream.op {
                BlockOp::Read => entry.read_bytes += bytes,
                _ => entry.written_bytes += bytes,
            }
        }
    }
    for (pid, name, second, bytes) in dirtied {
        let comm = super::machine::comm(name);
        let entry = used
            .entry((*second, *pid))
            .or_insert_with(|| row(*second, *pid, comm));
        entry.written_bytes += bytes;
    }
    let mut rows: Vec<ProcessRow> = used.into_values().collect();
    rows.sort_by_key(|row| (row.at_ns, row.pid));
    rows
}

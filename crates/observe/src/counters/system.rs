//! What the machine as a whole counts.
//!
//! Duty: CPU time, memory, pressure, run queue and paging under the exporter's names. Data in: files of `/proc` (proc(5),
//! Documentation/accounting/psi.rst). Data out: rows. It must not know who caused them.

use super::disk::escaped;
use super::growing::Growing;
use super::open_file::OpenFile;
use super::text::{lines, number, number_of, words};
use super::{Remarks, Rows};
use crate::root::SystemRoot;
use std::collections::BTreeMap;

/// A file, and what makes rows of its text.
struct Table {
    path: &'static str,
    /// What is lost without it.
    what: &'static str,
    parse: fn(&[u8], &mut State, &mut Rows<'_>),
}

const TABLES: [Table; 8] = [
    Table {
        path: "/proc/stat",
        what: "CPU time, context switches and interrupts",
        parse: stat,
    },
    Table {
        path: "/proc/meminfo",
        what: "memory that is dirty, written back, cached and available",
        parse: meminfo,
    },
    Table {
        path: "/proc/vmstat",
        what: "paging and pages dirtied and written",
        parse: vmstat,
    },
    Table {
        path: "/proc/loadavg",
        what: "the load average",
        parse: loadavg,
    },
    Table {
        path: "/proc/pressure/cpu",
        what: "pressure on the CPUs",
        parse: |text, state, rows| pressure(text, CPU_PRESSURE, state, rows),
    },
    Table {
        path: "/proc/pressure/io",
        what: "pressure on storage",
        parse: |text, state, rows| pressure(text, IO_PRESSURE, state, rows),
    },
    Table {
        path: "/proc/pressure/memory",
        what: "pressure on memory",
        parse: |text, state, rows| pressure(text, MEMORY_PRESSURE, state, rows),
    },
    Table {
        path: "/proc/net/dev",
        what: "bytes, drops and errors of the network",
        parse: network,
    },
];

/// The words that begin a line of pressure, and what its total is called. The exporter gives no `full` for CPUs: for the
/// whole machine it is always 0.
type Pressure = &'static [(&'static [u8], &'static str)];

const CPU_PRESSURE: Pressure = &[(b"some", "node_pressure_cpu_waiting_seconds_total")];
const IO_PRESSURE: Pressure = &[
    (b"some", "node_pressure_io_waiting_seconds_total"),
    (b"full", "node_pressure_io_stalled_seconds_total"),
];
const MEMORY_PRESSURE: Pressure = &[
    (b"some", "node_pressure_memory_waiting_seconds_total"),
    (b"full", "node_pressure_memory_stalled_seconds_total"),
];

/// The modes of a CPU in the order of their columns; time of guests, which follows, is in `user` and `nice` already.
const MODES: [&str; 8] = [
    "user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal",
];

const MEMORY: [(&[u8], &str); 5] = [
    (b"MemTotal:", "node_memory_MemTotal_bytes"),
    (b"MemAvailable:", "node_memory_MemAvailable_bytes"),
    (b"Cached:", "node_memory_Cached_bytes"),
    (b"Dirty:", "node_memory_Dirty_bytes"),
    (b"Writeback:", "node_memory_Writeback_bytes"),
];

/// `pgpgin` and `pgpgout` are KiB, the others counts: the exporter gives them as they are.
const PAGING: [(&[u8], &str); 6] = [
    (b"pgpgin", "node_vmstat_pgpgin"),
    (b"pgpgout", "node_vmstat_pgpgout"),
    (b"pgmajfault", "node_vmstat_pgmajfault"),
    (b"oom_kill", "node_vmstat_oom_kill"),
    (b"nr_dirtied", "node_vmstat_nr_dirtied"),
    (b"nr_written", "node_vmstat_nr_written"),
];

/// The columns of an interface that are told: bytes, errors, drops of what was received, then of what was sent.
const NETWORK: [(usize, &str); 6] = [
    (0, "node_network_receive_bytes_total"),
    (2, "node_network_receive_errs_total"),
    (3, "node_network_receive_drop_total"),
    (8, "node_network_transmit_bytes_total"),
    (10, "node_network_transmit_errs_total"),
    (11, "node_network_transmit_drop_total"),
];
const NETWORK_COLUMNS: usize = 16;

/// The files of the machine.
#[derive(Debug)]
pub(super) struct System {
    files: Vec<(usize, OpenFile)>,
    state: State,
    buffer: Vec<u8>,
}

/// What was read so far.
#[derive(Debug, Default)]
struct State {
    /// The kernel's unit of CPU time.
    ticks_per_second: f64,
    cpus: BTreeMap<u64, Cpu>,
    counters: BTreeMap<&'static str, Growing>,
    root: SystemRoot,
    interfaces: BTreeMap<Vec<u8>, Interface>,
}

/// An interface of the network.
#[derive(Debug)]
struct Interface {
    labels: String,
    counters: [Growing; NETWORK.len()],
    /// Bytes a second, where the link says it.
    speed: Option<f64>,
}

#[derive(Debug)]
struct Cpu {
    labels: [String; MODES.len()],
    modes: [Growing; MODES.len()],
}

impl System {
    pub(super) fn new(root: &SystemRoot, remarks: &mut Remarks) -> Self {
        let mut files = Vec::new();
        for (index, table) in TABLES.iter().enumerate() {
            match OpenFile::open_readable(root, table.path) {
                Ok(file) => files.push((index, file)),
                Err(error) => remarks.say(missing(table, &error)),
            }
        }
        Self {
            files,
            state: State {
                ticks_per_second: rustix::param::clock_ticks_per_second() as f64,
                root: root.clone(),
                ..State::default()
            },
            buffer: Vec::new(),
        }
    }

    pub(super) fn sample(&mut self, rows: &mut Rows<'_>, remarks: &mut Remarks) {
        for (index, file) in &self.files {
            let table = &TABLES[*index];
            match file.read(&mut self.buffer) {
                Ok(text) => (table.parse)(text, &mut self.state, rows),
                Err(error) => remarks.say(missing(table, &error)),
            }
        }
    }
}

fn missing(table: &Table, error: &std::io::Error) -> String {
    let Table { path, what, .. } = table;
    // Compiled in but switched off: the files are there and refuse (CONFIG_PSI_DEFAULT_DISABLED).
    let remedy = if path.starts_with("/proc/pressure/") {
        "; it takes Linux 4.20 with CONFIG_PSI, on many systems psi=1 on the kernel's command line"
    } else {
        ""
    };
    format!("{what}: not available, because {path} cannot be read: {error}{remedy}")
}

impl State {
    fn grown(&mut self, metric: &'static str, now: u64) -> f64 {
        self.counters.entry(metric).or_default().read(now) as f64
    }
}

fn stat(text: &[u8], state: &mut State, rows: &mut Rows<'_>) {
    for line in lines(text) {
        if let Some(rest) = line.strip_prefix(b"cpu") {
            cpu(rest, state, rows);
        } else if let Some(switches) = number_of(line, b"ctxt") {
            let value = state.grown("node_context_switches_total", switches);
            rows.push("node_context_switches_total", "", value);
        } else if let Some(interrupts) = number_of(line, b"intr") {
            let value = state.grown("node_intr_total", interrupts);
            rows.push("node_intr_total", "", value);
        } else if let Some(running) = number_of(line, b"procs_running") {
            rows.push("node_procs_running", "", running as f64);
        } else if let Some(blocked) = number_of(line, b"procs_blocked") {
            rows.push("node_procs_blocked", "", blocked as f64);
        }
    }
}

/// `0 10 20 …`, what follows `cpu`; the line of all CPUs together has no number there.
fn cpu(rest: &[u8], state: &mut State, rows: &mut Rows<'_>) {
    let end = rest
        .iter()
        .position(u8::is_ascii_whitespace)
        .unwrap_or(rest.len());
    let (digits, columns) = rest.split_at(end);
    let Some(index) = number(digits) else {
        return;
    };
    let ticks_per_second = state.ticks_per_second;
    let cpu = state.cpus.entry(index).or_insert_with(|| Cpu {
        labels: MODES.map(|mode| format!("cpu=\"{index}\",mode=\"{mode}\"")),
        modes: [Growing::default(); MODES.len()],
    });
    for ((labels, counter), word) in cpu.labels.iter().zip(&mut cpu.modes).zip(words(columns)) {
        if let Some(ticks) = number(word) {
            let value = counter.read(ticks) as f64 / ticks_per_second;
            rows.push("node_cpu_seconds_total", labels.clone(), value);
        }
    }
}

fn meminfo(text: &[u8], _: &mut State, rows: &mut Rows<'_>) {
    for line in lines(text) {
        for (key, metric) in MEMORY {
            if let Some(kib) = number_of(line, key) {
                rows.push(metric, "", kib as f64 * 1024.0);
            }
        }
    }
}

fn vmstat(text: &[u8], state: &mut State, rows: &mut Rows<'_>) {
    for line in lines(text) {
        for (key, metric) in PAGING {
            if let Some(now) = number_of(line, key) {
                let value = state.grown(metric, now);
                rows.push(metric, "", value);
            }
        }
    }
}

/// Two lines of names, then `eth0: 1 2 …`; the machine's own loop is no network.
fn network(text: &[u8], state: &mut State, rows: &mut Rows<'_>) {
    for line in lines(text).skip(2) {
        let Some(colon) = line.iter().position(|&byte| byte == b':') else {
            continue;
        };
        let name = line[..colon].trim_ascii();
        let columns: Option<Vec<u64>> = words(&line[colon + 1..]).map(number).collect();
        if name.is_empty() || name == b"lo" || name.contains(&b'/') {
            continue;
        }
        let Some(columns) = columns.filter(|columns| columns.len() >= NETWORK_COLUMNS) else {
            continue;
        };
        let root = &state.root;
        let interface = state
            .interfaces
            .entry(name.to_vec())
            .or_insert_with(|| Interface::new(root, name));
        for (counter, (column, metric)) in interface.counters.iter_mut().zip(NETWORK) {
            let value = counter.read(columns[column]) as f64;
            rows.push(metric, interface.labels.clone(), value);
        }
        if let Some(speed) = interface.speed {
            rows.push("node_network_speed_bytes", interface.labels.clone(), speed);
        }
    }
}

impl Interface {
    fn new(root: &SystemRoot, name: &[u8]) -> Self {
        let name = String::from_utf8_lossy(name);
        // In Mbit/s; -1 or unreadable where there is no link, or a virtual one.
        let speed = root.text(format!("/sys/class/net/{name}/speed"));
        let speed = speed.and_then(|speed| speed.trim().parse::<f64>().ok());
        Self {
            labels: format!("device=\"{}\"", escaped(&name)),
            counters: [Growing::default(); NETWORK.len()],
            speed: speed.filter(|&speed| speed > 0.0).map(|speed| speed * 1e6 / 8.0),
        }
    }
}

fn loadavg(text: &[u8], _: &mut State, rows: &mut Rows<'_>) {
    let first = words(text).next().and_then(|word| std::str::from_utf8(word).ok());
    let load = first.and_then(|word| word.parse::<f64>().ok());
    if let Some(load) = load.filter(|load| load.is_finite() && *load >= 0.0) {
        rows.push("node_load1", "", load);
    }
}

fn pressure(text: &[u8], wanted: Pressure, state: &mut State, rows: &mut Rows<'_>) {
    for &(kind, metric) in wanted {
        if let Some(us) = pressure_us(text, kind) {
            let value = state.grown(metric, us) / 1e6;
            rows.push(metric, "", value);
        }
    }
}

/// The `total=` of the line that begins with `kind`, in microseconds.
pub(super) fn pressure_us(text: &[u8], kind: &[u8]) -> Option<u64> {
    let mut of_kind = lines(text).filter(|line| words(line).next() == Some(kind));
    let total = words(of_kind.next()?).find_map(|word| word.strip_prefix(b"total="))?;
    number(total)
}

#[cfg(test)]
mod tests;

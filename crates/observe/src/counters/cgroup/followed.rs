//! What the groups of some processes say of what holds their tasks up.
//!
//! Duty: quota, freezer, throttle, memory limit and pressure of each group that a followed process is in or below, with the
//! group's path. Data in: numbers of processes, files of both versions. Data out: rows. It must not know why these processes.
//! Bounded: so many groups, so many processes; what is beyond is not followed, and that is said.

use super::super::disk::escaped;
use super::super::growing::Growing;
use super::super::open_file::OpenFile;
use super::super::system::pressure_us;
use super::super::text::{lines, number, number_of, words};
use super::super::{Remarks, Rows};
use super::find::{Place, memberships, places};
use super::limits::{Limits, only_number};
use crate::root::SystemRoot;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;

const GROUPS_MAX: usize = 64;
const PROCESSES_MAX: usize = 1024;
/// How often a process is asked whether it was moved.
const ASK_AGAIN_NS: u64 = 10_000_000_000;
/// A limit of memory that is none: version 1 says a number near 2⁶³.
const NO_LIMIT: u64 = 1 << 62;

/// Tasks that are named once each, and how many of them from one sample to the next: a file is read for each.
const NAMED_MAX: usize = 1 << 14;
const NAMED_AT_A_TIME: usize = 200;

/// A file of a group, and what it says.
#[derive(Debug)]
enum Told {
    /// `cpu.cfs_quota_us` with `cpu.cfs_period_us`.
    Quota(OpenFile, OpenFile),
    /// `cpu.max`
    Max(OpenFile),
    /// `cpu.stat`
    CpuStat(OpenFile, Growing),
    /// `memory.limit_in_bytes`, `memory.max`
    MemoryLimit(OpenFile),
    /// `memory.failcnt`
    FailCount(OpenFile, Growing),
    /// `memory.events`
    MemoryEvents(OpenFile, Growing),
    /// `freezer.state`, `cgroup.events`
    Frozen(OpenFile),
    /// `blkio.throttle.io_serviced`
    Serviced(OpenFile, BTreeMap<(String, &'static str), Growing>),
    /// `cpu.pressure`, `io.pressure`, `memory.pressure`
    Pressure(OpenFile, [&'static str; 2], [Growing; 2]),
}

#[derive(Debug)]
struct Group {
    labels: String,
    files: Vec<Told>,
}

/// A process that is followed.
#[derive(Debug)]
struct Process {
    asked_ns: u64,
    known: Vec<u8>,
}

/// The groups of the followed processes.
#[derive(Debug)]
pub(super) struct Followed {
    root: SystemRoot,
    /// The disks' numbers as the kernel writes them: of these what was serviced is told.
    devices: BTreeSet<String>,
    processes: HashMap<u32, Process>,
    known: BTreeSet<Vec<u8>>,
    groups: Vec<Group>,
    members: Vec<String>,
    named: HashSet<u32>,
    /// How many more may be named until the next sample.
    names_left: usize,
    buffer: Vec<u8>,
}

impl Followed {
    pub(super) fn new(root: &SystemRoot, disks: &[String]) -> Self {
        let number = |name: &String| root.text(format!("/sys/class/block/{}/dev", name.replace('/', "!")));
        Self {
            root: root.clone(),
            devices: disks.iter().filter_map(number).collect(),
            processes: HashMap::new(),
            known: BTreeSet::new(),
            groups: Vec::new(),
            members: Vec::new(),
            named: HashSet::new(),
            names_left: NAMED_AT_A_TIME,
            buffer: Vec::new(),
        }
    }

    /// From here on the groups of this process are told; a process that is followed is looked at again now and then.
    pub(super) fn follow(&mut self, pid: u32, now_ns: u64, remarks: &mut Remarks) {
        match self.processes.get(&pid) {
            Some(process) if now_ns < process.asked_ns.saturating_add(ASK_AGAIN_NS) => return,
            None if self.processes.len() >= PROCESSES_MAX => {
                // Those that were asked for long ago have most likely ended.
                self.processes
                    .retain(|_, process| now_ns < process.asked_ns.saturating_add(ASK_AGAIN_NS));
            }
            _ => {}
        }
        if self.processes.len() >= PROCESSES_MAX {
            return;
        }
        let Ok(text) = self.root.read(format!("/proc/{pid}/cgroup")) else {
            return;
        };
        let known = self.processes.insert(
            pid,
            Process {
                asked_ns: now_ns,
                known: text.clone(),
            },
        );
        if known.is_some_and(|known| known.known == text) {
            return;
        }
        for place in places(&self.root, &text) {
            if place.own {
                self.members.push(format!(
                    "{},controller=\"{}\",pid=\"{pid}\"",
                    label(&place),
                    String::from_utf8_lossy(&place.controllers)
                ));
            }
            self.take_in(&place, remarks);
        }
    }

    /// Which groups a task is in is told once, and nothing of the groups.
    pub(super) fn name(&mut self, tid: u32) {
        if tid == 0 || self.names_left == 0 || self.named.contains(&tid) || self.processes.contains_key(&tid)
        {
            return;
        }
        if self.named.len() >= NAMED_MAX {
            self.named.clear();
        }
        self.named.insert(tid);
        self.names_left -= 1;
        // One that has ended is in none.
        let Ok(text) = self.root.read(format!("/proc/{tid}/cgroup")) else {
            return;
        };
        for (controllers, path) in memberships(&text) {
            let mut each = controllers.split(|byte| *byte == b',');
            let telling = each.any(|one| matches!(one, b"" | b"cpu" | b"memory"));
            if telling && path != Path::new("/") {
                self.members.push(format!(
                    "cgroup=\"{}\",controller=\"{}\",pid=\"{tid}\"",
                    escaped(&path.to_string_lossy()),
                    String::from_utf8_lossy(controllers)
                ));
            }
        }
    }

    /// Opens a group's files, once.
    fn take_in(&mut self, place: &Place, remarks: &mut Remarks) {
        let mut key = place.controllers.clone();
        key.push(b':');
        key.extend(place.path.as_os_str().as_encoded_bytes());
        if !self.known.insert(key) {
            return;
        }
        if self.groups.len() >= GROUPS_MAX {
            remarks.say(format!(
                "what holds up tasks in control groups: of more than {GROUPS_MAX} groups not available"
            ));
            return;
        }
        let files = files(&self.root, place);
        if !files.is_empty() {
            let labels = label(place);
            self.groups.push(Group { labels, files });
        }
    }

    pub(super) fn sample(&mut self, rows: &mut Rows<'_>) {
        self.names_left = NAMED_AT_A_TIME;
        for labels in self.members.drain(..) {
            rows.push("fathom_cgroup_member", labels, 1.0);
        }
        let (devices, buffer) = (&self.devices, &mut self.buffer);
        for group in &mut self.groups {
            for told in &mut group.files {
                told.sample(&group.labels, devices, buffer, rows);
            }
        }
    }
}

fn label(place: &Place) -> String {
    format!("cgroup=\"{}\"", escaped(&place.path.to_string_lossy()))
}

/// The files of a group that there are.
fn files(root: &SystemRoot, place: &Place) -> Vec<Told> {
    let open = |name: &str| OpenFile::open_readable(root, place.directory.join(name)).ok();
    let mut files = Vec::new();
    if place.controllers.is_empty() {
        files.extend(open("cpu.max").map(Told::Max));
        files.extend(open("cpu.stat").map(|file| Told::CpuStat(file, Growing::default())));
        files.extend(open("memory.max").map(Told::MemoryLimit));
        files.extend(open("memory.events").map(|file| Told::MemoryEvents(file, Growing::default())));
        files.extend(open("cgroup.events").map(Told::Frozen));
        for (name, metrics) in PRESSURES {
            let pressure = |file| Told::Pressure(file, metrics, [Growing::default(); 2]);
            files.extend(open(name).filter(|_| place.own).map(pressure));
        }
        return files;
    }
    for controller in place.controllers.split(|&byte| byte == b',') {
        match controller {
            b"cpu" => {
                let quota = open("cpu.cfs_quota_us").zip(open("cpu.cfs_period_us"));
                files.extend(quota.map(|(quota, period)| Told::Quota(quota, period)));
                files.extend(open("cpu.stat").map(|file| Told::CpuStat(file, Growing::default())));
            }
            b"memory" => {
                files.extend(open("memory.limit_in_bytes").map(Told::MemoryLimit));
                files.extend(open("memory.failcnt").map(|file| Told::FailCount(file, Growing::default())));
            }
            b"freezer" => files.extend(open("freezer.state").map(Told::Frozen)),
            // There only the own group's throttle binds.
            b"blkio" if place.own => {
                let file = open("blkio.throttle.io_serviced");
                files.extend(file.map(|file| Told::Serviced(file, BTreeMap::new())));
            }
            _ => {}
        }
    }
    files
}

const PRESSURES: [(&str, [&str; 2]); 3] = [
    (
        "cpu.pressure",
        [
            "fathom_cgroup_pressure_cpu_waiting_seconds_total",
            "fathom_cgroup_pressure_cpu_stalled_seconds_total",
        ],
    ),
    (
        "io.pressure",
        [
            "fathom_cgroup_pressure_io_waiting_seconds_total",
            "fathom_cgroup_pressure_io_stalled_seconds_total",
        ],
    ),
    (
        "memory.pressure",
        [
            "fathom_cgroup_pressure_memory_waiting_seconds_total",
            "fathom_cgroup_pressure_memory_stalled_seconds_total",
        ],
    ),
];

/// The operations of `blkio.throttle.io_serviced` that do not hold each other.
const OPERATIONS: [(&[u8], &str); 3] = [(b"Read", "read"), (b"Write", "write"), (b"Discard", "discard")];

impl Told {
    fn sample(
        &mut self,
        labels: &str,
        devices: &BTreeSet<String>,
        buffer: &mut Vec<u8>,
        rows: &mut Rows<'_>,
    ) {
        let mut push = |metric, value| rows.push(metric, labels.to_owned(), value);
        match self {
            Self::Quota(quota, period) => {
                let mut limits = Limits::default();
                let period_us = only_number(super::text(period, buffer));
                limits.take_cfs(super::text(quota, buffer), period_us);
                limits.cores.into_iter().for_each(|cores| push(QUOTA, cores));
            }
            Self::Max(file) => {
                let mut limits = Limits::default();
                limits.take_cpu_max(super::text(file, buffer));
                limits.cores.into_iter().for_each(|cores| push(QUOTA, cores));
            }
            Self::CpuStat(file, counter) => {
                let text = super::text(file, buffer);
                let find = |key: &[u8]| lines(text).find_map(|line| number_of(line, key));
                // A group without a quota has no periods.
                if find(b"nr_periods").is_some_and(|periods| periods > 0)
                    && let Some(throttled) = find(b"nr_throttled")
                {
                    let total = counter.read(throttled) as f64;
                    push("fathom_cgroup_cpu_throttled_periods_total", total);
                }
            }
            Self::MemoryLimit(file) => {
                let limit = only_number(super::text(file, buffer)).filter(|&limit| limit < NO_LIMIT);
                if let Some(limit) = limit {
                    push("fathom_cgroup_memory_limit_bytes", limit as f64);
                }
            }
            Self::FailCount(file, counter) => {
                if let Some(count) = only_number(super::text(file, buffer)) {
                    push(HITS, counter.read(count) as f64);
                }
            }
            Self::MemoryEvents(file, counter) => {
                let text = super::text(file, buffer);
                let count = |key: &[u8]| lines(text).find_map(|line| number_of(line, key));
                if let Some(max) = count(b"max") {
                    let hits = max.saturating_add(count(b"high").unwrap_or(0));
                    push(HITS, counter.read(hits) as f64);
                }
            }
            Self::Frozen(file) => {
                let text = super::text(file, buffer);
                let state = match text.trim_ascii() {
                    b"FROZEN" | b"FREEZING" => Some(1),
                    b"THAWED" => Some(0),
                    text => lines(text).find_map(|line| number_of(line, b"frozen")),
                };
                if let Some(state) = state {
                    push("fathom_cgroup_frozen", state as f64);
                }
            }
            Self::Serviced(file, counters) => {
                let text = super::text(file, buffer);
                for (device, operation, count) in lines(text).filter_map(serviced) {
                    if devices.contains(device) {
                        let counter = counters.entry((device.to_owned(), operation)).or_default();
                        let total = counter.read(count) as f64;
                        let labels = format!("{labels},device=\"{device}\",op=\"{operation}\"");
                        rows.push("fathom_cgroup_io_serviced_total", labels, total);
                    }
                }
            }
            Self::Pressure(file, metrics, counters) => {
                let text = super::text(file, buffer);
                for ((kind, metric), counter) in [b"some", b"full"].into_iter().zip(metrics).zip(counters) {
                    if let Some(us) = pressure_us(text, kind) {
                        push(*metric, counter.read(us) as f64 / 1e6);
                    }
                }
            }
        }
    }
}

const QUOTA: &str = "fathom_cgroup_cpu_quota_ratio";
const HITS: &str = "fathom_cgroup_memory_limit_hits_total";

/// A line of `254:0 Read 1100`.
fn serviced(line: &[u8]) -> Option<(&str, &'static str, u64)> {
    let mut words = words(line);
    let device = std::str::from_utf8(words.next()?).ok()?;
    let operation = words.next()?;
    let known = OPERATIONS.iter().find(|known| known.0 == operation)?;
    Some((device, known.1, number(words.next()?)?))
}

#[cfg(test)]
mod tests;

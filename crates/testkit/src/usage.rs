//! Who used the machine: CPU time and disk of this program, of the kernel's threads and of all others.

use std::collections::BTreeMap;
use std::fs;

/// The kernel counts CPU time in hundredths of a second for programs (`USER_HZ`).
const TICK_S: f64 = 0.01;
/// The process that all threads of the kernel come from.
const KTHREADD: u32 = 2;

/// What one process has used since its start.
#[derive(Debug, Clone, PartialEq)]
struct Process {
    parent: u32,
    name: String,
    cpu_ticks: u64,
    /// The same of its children that have ended.
    children_ticks: u64,
    /// Read from and written to disks.
    disk_bytes: u64,
}

/// What all have used since the machine's start.
#[derive(Debug, Clone, Default)]
pub(crate) struct Usage {
    busy_ticks: u64,
    stolen_ticks: u64,
    processes: BTreeMap<u32, Process>,
}

/// What others used between two readings.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Others {
    /// CPUs, on average.
    pub(crate) cpus: f64,
    /// CPUs that the host of this virtual machine kept, on average.
    pub(crate) stolen_cpus: f64,
    /// Those who used most, with what they used: CPUs, and bytes of disks.
    pub(crate) who: Vec<(String, f64, u64)>,
}

impl Usage {
    /// The counters now.
    pub(crate) fn now() -> Self {
        let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
        let cpu: Vec<u64> = stat
            .lines()
            .next()
            .into_iter()
            .flat_map(|line| line.split_whitespace().skip(1))
            .filter_map(|word| word.parse().ok())
            .collect();
        let field = |index: usize| cpu.get(index).copied().unwrap_or(0);
        let mut processes = BTreeMap::new();
        for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
                continue;
            };
            if let Some(process) = process(pid) {
                processes.insert(pid, process);
            }
        }
        Self {
            // user, nice, system, irq, softirq: neither idle nor stolen.
            busy_ticks: field(0) + field(1) + field(2) + field(5) + field(6),
            stolen_ticks: field(7),
            processes,
        }
    }

    /// What others than process `own`, its descendants and the kernel used from `before` to here, within `seconds`.
    pub(crate) fn of_others_since(&self, before: &Self, own: u32, seconds: f64) -> Others {
        let seconds = seconds.max(1e-3);
        let cpus = |ticks: u64| ticks as f64 * TICK_S / seconds;
        let busy = self.busy_ticks.saturating_sub(before.busy_ticks);
        let mut known = 0;
        let mut who = Vec::new();
        for (pid, process) in &self.processes {
            let earlier = before.processes.get(pid);
            let since = |now: u64, then: fn(&Process) -> u64| now.saturating_sub(earlier.map_or(0, then));
            let used = since(process.cpu_ticks, |process| process.cpu_ticks);
            let ended = since(process.children_ticks, |process| process.children_ticks);
            let moved = since(process.disk_bytes, |process| process.disk_bytes);
            if self.descends_from(*pid, own) {
                known += used + ended;
            } else if process.parent == KTHREADD || *pid == KTHREADD {
                known += used;
            } else {
                who.push((process.name.clone(), cpus(used), moved));
            }
        }
        who.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.2.cmp(&a.2)));
        Others {
            cpus: cpus(busy.saturating_sub(known)),
            stolen_cpus: cpus(self.stolen_ticks.saturating_sub(before.stolen_ticks)),
            who,
        }
    }

    fn descends_from(&self, pid: u32, ancestor: u32) -> bool {
        let mut at = pid;
        // A process cannot be its own ancestor; numbers that were given anew could make it look so.
        for _ in 0..64 {
            if at == ancestor {
                return true;
            }
            match self.processes.get(&at) {
                Some(process) if process.parent != 0 => at = process.parent,
                _ => return false,
            }
        }
        false
    }
}

fn process(pid: u32) -> Option<Process> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (name, fields) = stat.split_once('(')?.1.rsplit_once(')')?;
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let number = |index: usize| fields.get(index).and_then(|field| field.parse::<u64>().ok());
    let io = fs::read_to_string(format!("/proc/{pid}/io")).unwrap_or_default();
    let disk_bytes = io.lines().filter_map(|line| {
        let bytes = line
            .strip_prefix("read_bytes: ")
            .or_else(|| line.strip_prefix("write_bytes: "));
        bytes?.parse::<u64>().ok()
    });
    Some(Process {
        parent: number(1)? as u32,
        name: name.to_owned(),
        cpu_ticks: number(11)? + number(12)?,
        children_ticks: number(13)? + number(14)?,
        disk_bytes: disk_bytes.sum(),
    })
}

#[cfg(test)]
mod tests;

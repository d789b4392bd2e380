//! How much room there is for a load: memory, threads, mappings, requests of AIO.
//!
//! Duty: what is left of each before this process or the machine runs out. Data in: `/proc`, and the control groups that
//! this process is in. Data out: [`Left`], of several limits the tightest. It must not know what is needed. What the system
//! does not tell limits nothing.

use crate::counters::{Group, groups};
use crate::root::SystemRoot;

/// What is left of something, and which limit says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// How much: bytes, or a number.
    pub amount: u64,
    pub limit: String,
}

/// `CAP_SYS_ADMIN` and `CAP_SYS_RESOURCE` (linux/capability.h): with either, the number of a user's processes is not
/// limited (kernel/fork.c).
const UNLIMITED_PROCESSES: u64 = 1 << 21 | 1 << 24;

/// Memory in bytes: what the machine has available, and each control group on the way up leaves.
pub fn memory(root: &SystemRoot) -> Option<Left> {
    let machine = available_bytes(root).map(|amount| left(amount, "the memory available"));
    let groups = groups(root, b"memory").into_iter().filter_map(|group| {
        let (max, used) = if group.unified {
            ("memory.max", "memory.current")
        } else {
            ("memory.limit_in_bytes", "memory.usage_in_bytes")
        };
        let amount = group_left(root, &group, max, used)?;
        // Pages of files make room for what a load needs.
        let pages = cached_bytes(root, &group);
        Some(left(amount.saturating_add(pages), &in_group(max, &group)))
    });
    machine.into_iter().chain(groups).min_by_key(|left| left.amount)
}

/// Threads: of the system, of the user, of each control group on the way up.
pub fn threads(root: &SystemRoot) -> Option<Left> {
    let there = tasks(root);
    let sysctl = |name: &str| {
        let max = number(root, &format!("/proc/sys/kernel/{name}"))?;
        Some(left(max.saturating_sub(there), &format!("kernel.{name}")))
    };
    let groups = groups(root, b"pids").into_iter().filter_map(|group| {
        let amount = group_left(root, &group, "pids.max", "pids.current")?;
        Some(left(amount, &in_group("pids.max", &group)))
    });
    let all = [sysctl("threads-max"), sysctl("pid_max"), user_processes(root)];
    all.into_iter()
        .flatten()
        .chain(groups)
        .min_by_key(|left| left.amount)
}

/// Mappings of this process.
pub fn mappings(root: &SystemRoot) -> Option<Left> {
    let max = number(root, "/proc/sys/vm/max_map_count")?;
    let maps = root.read("/proc/self/maps").unwrap_or_default();
    let there = maps.split_inclusive(|&byte| byte == b'\n').count() as u64;
    Some(left(max.saturating_sub(there), "vm.max_map_count"))
}

/// Requests of AIO, over all processes.
pub fn aio_requests(root: &SystemRoot) -> Option<Left> {
    let max = number(root, "/proc/sys/fs/aio-max-nr")?;
    let used = number(root, "/proc/sys/fs/aio-nr").unwrap_or(0);
    Some(left(max.saturating_sub(used), "fs.aio-max-nr"))
}

fn left(amount: u64, limit: &str) -> Left {
    Left {
        amount,
        limit: limit.to_owned(),
    }
}

fn in_group(file: &str, group: &Group) -> String {
    format!("{file} of the control group {}", group.directory.display())
}

fn number(root: &SystemRoot, path: &str) -> Option<u64> {
    root.text(path)?.trim().parse().ok()
}

/// `MemAvailable` (Documentation/filesystems/proc.rst): what can be had without swapping.
fn available_bytes(root: &SystemRoot) -> Option<u64> {
    let text = root.text("/proc/meminfo")?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib << 10)
}

/// `None` where a group has no limit: `max`, or the largest number of version 1.
fn group_left(root: &SystemRoot, group: &Group, max: &str, used: &str) -> Option<u64> {
    let read = |name: &str| root.text(group.directory.join(name))?.trim().parse::<u64>().ok();
    let max = read(max).filter(|&max| max < 1 << 60)?;
    Some(max.saturating_sub(read(used).unwrap_or(0)))
}

/// What a group's pages of files take, as far as nobody uses them.
fn cached_bytes(root: &SystemRoot, group: &Group) -> u64 {
    let name = if group.unified {
        "inactive_file"
    } else {
        "total_inactive_file"
    };
    let text = root.text(group.directory.join("memory.stat")).unwrap_or_default();
    let value = text.lines().find_map(|line| line.strip_prefix(name));
    value.and_then(|value| value.trim().parse().ok()).unwrap_or(0)
}

/// All threads there are: the second number of `1/234` in `/proc/loadavg`.
fn tasks(root: &SystemRoot) -> u64 {
    let text = root.text("/proc/loadavg").unwrap_or_default();
    let tasks = text.split_ascii_whitespace().nth(3);
    let all = tasks.and_then(|tasks| tasks.split_once('/'));
    all.and_then(|(_, all)| all.parse().ok()).unwrap_or(0)
}

/// `RLIMIT_NPROC`, where it binds this process.
fn user_processes(root: &SystemRoot) -> Option<Left> {
    let limits = root.text("/proc/self/limits")?;
    let row = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max processes"))?;
    let max: u64 = row.split_ascii_whitespace().next()?.parse().ok()?;
    let status = root.text("/proc/self/status")?;
    let capabilities = field(&status, "CapEff:").and_then(|text| u64::from_str_radix(text, 16).ok());
    let user = field(&status, "Uid:")?;
    if user == "0" || capabilities.is_some_and(|held| held & UNLIMITED_PROCESSES != 0) {
        return None;
    }
    let there = threads_of(root, user);
    Some(left(
        max.saturating_sub(there),
        "the limit of processes of this user, ulimit -u",
    ))
}

/// The first word of a line of `/proc/PID/status`.
fn field<'t>(status: &'t str, name: &str) -> Option<&'t str> {
    let rest = status.lines().find_map(|line| line.strip_prefix(name))?;
    rest.split_ascii_whitespace().next()
}

/// The threads of all processes of a user.
fn threads_of(root: &SystemRoot, user: &str) -> u64 {
    let processes = root.list("/proc").unwrap_or_default();
    let threads = processes.iter().filter_map(|process| {
        process.parse::<u32>().ok()?;
        let status = root.text(format!("/proc/{process}/status"))?;
        let own = field(&status, "Uid:") == Some(user);
        own.then(|| field(&status, "Threads:")?.parse::<u64>().ok())?
    });
    threads.sum()
}

#[cfg(test)]
mod tests;

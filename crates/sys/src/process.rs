//! The process and its threads: what they used, where they run, how they are scheduled.
//!
//! Data in: CPU numbers, priorities. Data out: counters. It must not know what the threads do.

use fathom_core::run::CpuUsage;
use rustix::thread::CpuSet;
use std::io;
use std::num::NonZeroU64;

/// `IOPRIO_WHO_PROCESS` and `IOPRIO_CLASS_SHIFT` of `linux/ioprio.h`.
const IOPRIO_WHO_PROCESS: libc::c_int = 1;
const IOPRIO_CLASS_SHIFT: u32 = 13;

/// The number of the calling thread, as the kernel's events name it.
pub fn thread_id() -> u32 {
    // Thread numbers are positive.
    rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs()
}

/// A scheduling class of `ioprio_set(2)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IoPriorityClass {
    /// Whatever the nice value implies.
    None = 0,
    /// Before all others; needs `CAP_SYS_ADMIN` or `CAP_SYS_NICE`.
    RealTime = 1,
    /// The default.
    BestEffort = 2,
    /// Only when nobody else asks.
    Idle = 3,
}

impl IoPriorityClass {
    /// The class that the kernel numbers so; `None`: there is none.
    pub const fn from_number(number: u8) -> Option<Self> {
        match number {
            0 => Some(Self::None),
            1 => Some(Self::RealTime),
            2 => Some(Self::BestEffort),
            3 => Some(Self::Idle),
            _ => None,
        }
    }
}

/// What the calling thread has used (`RUSAGE_THREAD`).
///
/// # Errors
/// What `getrusage` said.
pub fn resource_usage_thread() -> io::Result<CpuUsage> {
    resource_usage(libc::RUSAGE_THREAD)
}

/// What all threads of the process have used (`RUSAGE_SELF`).
///
/// # Errors
/// What `getrusage` said.
pub fn resource_usage_self() -> io::Result<CpuUsage> {
    resource_usage(libc::RUSAGE_SELF)
}

/// What all children that were waited for have used, with theirs (`RUSAGE_CHILDREN`).
///
/// # Errors
/// What `getrusage` said.
pub fn resource_usage_children() -> io::Result<CpuUsage> {
    resource_usage(libc::RUSAGE_CHILDREN)
}

fn resource_usage(who: libc::c_int) -> io::Result<CpuUsage> {
    // SAFETY: `rusage` is plain integers, for which zero is a value.
    let mut raw: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes one `rusage` into `raw`, which outlives the call.
    let result = unsafe { libc::getrusage(who, &raw mut raw) };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    let ns = |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1_000;
    Ok(CpuUsage {
        user_ns: ns(raw.ru_utime),
        system_ns: ns(raw.ru_stime),
        voluntary_switches: raw.ru_nvcsw as u64,
        involuntary_switches: raw.ru_nivcsw as u64,
        major_faults: raw.ru_majflt as u64,
        minor_faults: raw.ru_minflt as u64,
    })
}

/// The most memory that the process has had resident so far, in bytes: `VmHWM` of /proc/self/status. (Not
/// `ru_maxrss`, which a program inherits from the shell that started it.)
///
/// # Errors
/// /proc is not mounted or has no such line.
pub fn peak_rss_bytes() -> io::Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    status
        .lines()
        .find_map(|line| {
            line.strip_prefix("VmHWM:")?
                .trim()
                .strip_suffix(" kB")?
                .trim()
                .parse::<u64>()
                .ok()
        })
        .map(|kib| kib * 1024)
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "/proc/self/status has no VmHWM line"))
}

/// Lets the calling thread run on these CPUs only.
///
/// # Errors
/// `InvalidInput` for a CPU number of 1024 or more; `EINVAL` if none of the CPUs is online or allowed.
pub fn set_affinity(cpus: &[usize]) -> io::Result<()> {
    let mut set = CpuSet::new();
    for &cpu in cpus {
        if cpu >= CpuSet::MAX_CPU {
            let message = format!(
                "CPU {cpu}: the highest that can be asked for is {}",
                CpuSet::MAX_CPU - 1
            );
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        set.set(cpu);
    }
    Ok(rustix::thread::sched_setaffinity(None, &set)?)
}

/// The CPUs that the calling thread may run on, ascending.
///
/// # Errors
/// What `sched_getaffinity` said.
pub fn allowed_cpus() -> io::Result<Vec<usize>> {
    let set = rustix::thread::sched_getaffinity(None)?;
    Ok((0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect())
}

/// The machine's CPUs that are online, ascending; more than [`allowed_cpus`] in a container with a CPU set.
///
/// # Errors
/// /sys is not mounted, or its list cannot be read.
pub fn online_cpus() -> io::Result<Vec<usize>> {
    let path = "/sys/devices/system/cpu/online";
    let list = std::fs::read_to_string(path)?;
    parse_cpu_list(list.trim()).ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::InvalidData,
            format!("{path}: {list:?} is not a list of CPUs"),
        )
    })
}

/// The kernel's list format: `0-3,8,10-11`.
fn parse_cpu_list(list: &str) -> Option<Vec<usize>> {
    let mut cpus = Vec::new();
    for part in list.split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (first.parse().ok()?, last.parse::<usize>().ok()?);
        if first > last || last >= 1 << 20 {
            return None;
        }
        cpus.extend(first..=last);
    }
    Some(cpus)
}

/// How late a timer of the calling thread may fire, in ns (`PR_SET_TIMERSLACK`; the default is 50 µs).
/// 0 restores the default.
///
/// # Errors
/// What `prctl` said.
pub fn set_timer_slack_ns(slack_ns: u64) -> io::Result<()> {
    Ok(rustix::thread::set_current_timer_slack(NonZeroU64::new(
        slack_ns,
    ))?)
}

/// Lets the calling thread run before all that is not in real time (`SCHED_FIFO`), at `priority`, from 1 up.
///
/// # Errors
/// `EPERM` without `CAP_SYS_NICE`, `EINVAL` for a priority that there is not.
pub fn set_real_time(priority: i32) -> io::Result<()> {
    let parameters = libc::sched_param {
        sched_priority: priority,
    };
    // The call itself: musl's function of that name refuses always.
    // SAFETY: the parameters live until the call returns, which only reads them; 0 is the calling thread.
    let result = unsafe {
        libc::syscall(
            libc::SYS_sched_setscheduler,
            0,
            libc::SCHED_FIFO,
            &raw const parameters,
        )
    };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Sets the calling thread's nice value: −20 (first) to 19 (last).
///
/// # Errors
/// `EACCES` without `CAP_SYS_NICE` where the value falls.
pub fn set_nice(nice: i32) -> io::Result<()> {
    // On Linux a pid of 0 means the thread, not the process.
    Ok(rustix::process::setpriority_process(None, nice)?)
}

/// Sets where the calling thread's memory comes from: a mode by its number (`linux/mempolicy.h`), and the nodes that it is
/// about.
///
/// # Errors
/// What `set_mempolicy` said: `EINVAL` where a node is not there.
pub fn set_memory_policy(mode: u32, nodes: &[u32]) -> io::Result<()> {
    const WORD: usize = libc::c_ulong::BITS as usize;
    let words = nodes.iter().max().map_or(0, |&most| most as usize / WORD + 1);
    let mut mask: Vec<libc::c_ulong> = vec![0; words];
    for &node in nodes {
        mask[node as usize / WORD] |= 1 << (node as usize % WORD);
    }
    let (pointer, bits) = if mask.is_empty() {
        (std::ptr::null(), 0)
    } else {
        // The kernel takes one less than it is told of.
        (mask.as_ptr(), mask.len() * WORD + 1)
    };
    // SAFETY: set_mempolicy reads as many bits as it is told of from the mask, which lives until it returns.
    let result = unsafe { libc::syscall(libc::SYS_set_mempolicy, mode, pointer, bits) };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// The CPUs of NUMA nodes, as the kernel lists them.
///
/// # Errors
/// There is no such node, or its list cannot be read.
pub fn cpus_of_nodes(nodes: &[u32]) -> io::Result<Vec<usize>> {
    let mut cpus = Vec::new();
    for node in nodes {
        let list = std::fs::read_to_string(format!("/sys/devices/system/node/node{node}/cpulist"))?;
        for part in list.trim().split(',').filter(|part| !part.is_empty()) {
            let (from, to) = part.split_once('-').unwrap_or((part, part));
            let (Ok(from), Ok(to)) = (from.parse::<usize>(), to.parse::<usize>()) else {
                let message = format!("node {node}: `{part}` is no list of CPUs");
                return Err(io::Error::new(io::ErrorKind::InvalidData, message));
            };
            cpus.extend(from..=to);
        }
    }
    Ok(cpus)
}

/// The calling thread, and no other, goes on as this user and group; `None`: as before.
///
/// # Errors
/// What the system said: only root may.
pub fn run_as(user: Option<u32>, group: Option<u32>) -> io::Result<()> {
    if let Some(group) = group {
        let gid = rustix::thread::Gid::from_raw(group);
        rustix::thread::set_thread_res_gid(gid, gid, gid)?;
    }
    if let Some(user) = user {
        let uid = rustix::thread::Uid::from_raw(user);
        rustix::thread::set_thread_res_uid(uid, uid, uid)?;
    }
    Ok(())
}

/// The calling thread's I/O priority: the number of its class, and the level within it.
///
/// # Errors
/// What `ioprio_get` said.
pub fn ioprio() -> io::Result<(u8, u8)> {
    // SAFETY: ioprio_get takes two integers and touches no memory of ours; 0 is the calling thread.
    let result = unsafe { libc::syscall(libc::SYS_ioprio_get, IOPRIO_WHO_PROCESS, 0) };
    let priority = u16::try_from(result).map_err(|_| io::Error::last_os_error())?;
    Ok(((priority >> IOPRIO_CLASS_SHIFT) as u8, (priority & 7) as u8))
}

/// Sets the calling thread's I/O priority; `level` 0 (first) to 7. It acts under the schedulers `bfq` and
/// `mq-deadline` only.
///
/// # Errors
/// `EINVAL` for a level above 7, `EPERM` for [`IoPriorityClass::RealTime`] without the privilege.
pub fn set_ioprio(class: IoPriorityClass, level: u8) -> io::Result<()> {
    if level > 7 {
        return Err(io::Error::from_raw_os_error(libc::EINVAL));
    }
    let priority = ((class as libc::c_int) << IOPRIO_CLASS_SHIFT) | libc::c_int::from(level);
    // SAFETY: ioprio_set takes three integers and touches no memory of ours; 0 is the calling thread.
    let result = unsafe { libc::syscall(libc::SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, priority) };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

#[cfg(test)]
mod tests;

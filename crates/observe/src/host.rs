//! The machine: name, kernel, CPUs, memory, load, and what it runs in.
//!
//! Duty: read what the kernel tells. Data in: `/proc`, `/sys`, container markers. Data out: [`Environment`].
//! What is missing stays empty (0, `""`, `None`); nothing is guessed. It must not know the target.

mod arm;
mod cloud;

use crate::root::SystemRoot;
use fathom_core::run::Environment;

/// The machine as it is now. `clock_source` is passed through.
pub fn environment(root: &SystemRoot, clock_source: &str) -> Environment {
    Environment {
        host: root.text("/proc/sys/kernel/hostname").unwrap_or_default(),
        kernel: root.text("/proc/sys/kernel/osrelease").unwrap_or_default(),
        // The file is there since Linux 6.1. Else what this program was built for, which the kernel runs.
        arch: root
            .text("/proc/sys/kernel/arch")
            .unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
        cpu_model: cpu_model(root).unwrap_or_default(),
        cpus: cpus_online(root).unwrap_or(0),
        memory_bytes: memory_bytes(root).unwrap_or(0),
        clock_source: clock_source.to_owned(),
        load_1min: load_1min(root).unwrap_or(0.0),
        virtualization: virtualization(root),
        machine: cloud::machine(root),
    }
}

/// The load average over one minute (Documentation/filesystems/proc.rst, `loadavg`): tasks running, waiting
/// to run, or in uninterruptible sleep.
pub(crate) fn load_1min(root: &SystemRoot) -> Option<f64> {
    let text = root.text("/proc/loadavg")?;
    let load: f64 = text.split_ascii_whitespace().next()?.parse().ok()?;
    load.is_finite().then_some(load)
}

/// The container runtime, where it left a mark: systemd's `/run/systemd/container`, Docker's `/.dockerenv`,
/// Podman's `/run/.containerenv`, the service account of a Kubernetes pod.
pub(crate) fn container(root: &SystemRoot) -> Option<String> {
    const SERVICE_ACCOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";
    if root.exists(SERVICE_ACCOUNT) {
        return Some("kubernetes".to_owned());
    }
    if root.exists("/.dockerenv") {
        return Some("docker".to_owned());
    }
    if root.exists("/run/.containerenv") {
        return Some("podman".to_owned());
    }
    root.text("/run/systemd/container")
}

fn cpu_model(root: &SystemRoot) -> Option<String> {
    let cpuinfo = root.text("/proc/cpuinfo").unwrap_or_default();
    let named = cpuinfo_value(&cpuinfo, "model name");
    named
        .map(str::to_owned)
        .or_else(|| arm::core_name(&cpuinfo))
        .or_else(|| {
            let model = root.text("/proc/device-tree/model")?;
            Some(model.trim_end_matches('\0').to_owned())
        })
}

/// What the first line of that name says.
fn cpuinfo_value<'t>(cpuinfo: &'t str, name: &str) -> Option<&'t str> {
    let line = cpuinfo.lines().find(|line| line.starts_with(name))?;
    let value = line.split_once(':')?.1.trim();
    (!value.is_empty()).then_some(value)
}

fn cpus_online(root: &SystemRoot) -> Option<u32> {
    if let Some(list) = root.text("/sys/devices/system/cpu/online") {
        return count_list(&list);
    }
    let text = root.text("/proc/cpuinfo")?;
    let processors = text.lines().filter(|line| line.starts_with("processor")).count();
    u32::try_from(processors).ok().filter(|&n| n > 0)
}

/// How many numbers are in a list such as `0-3,8`.
fn count_list(list: &str) -> Option<u32> {
    let mut count = 0u32;
    for part in list.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        count = count.checked_add(last.checked_sub(first)?.checked_add(1)?)?;
    }
    Some(count)
}

fn memory_bytes(root: &SystemRoot) -> Option<u64> {
    let text = root.text("/proc/meminfo")?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

/// Hypervisor and container, as `A, B`.
fn virtualization(root: &SystemRoot) -> Option<String> {
    let parts: Vec<String> = hypervisor(root)
        .into_iter()
        .chain(container(root).map(|name| format!("container ({name})")))
        .collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// The hypervisor by its own words: Xen's in `/sys/hypervisor`, else vendor and product of the firmware
/// tables, where the CPU says that there is a hypervisor (a physical server has these tables too). Arm's CPUs do not say it:
/// there the tables have to name one.
fn hypervisor(root: &SystemRoot) -> Option<String> {
    if let Some(kind) = root.text("/sys/hypervisor/type") {
        return Some(kind);
    }
    let vendor = root.text("/sys/class/dmi/id/sys_vendor");
    let product = root.text("/sys/class/dmi/id/product_name");
    let by_tables = arm::is_virtual(vendor.as_deref(), product.as_deref());
    let named: Vec<String> = vendor.into_iter().chain(product).collect();
    let cpuinfo = root.text("/proc/cpuinfo").unwrap_or_default();
    let virtual_cpu = match cpuinfo_value(&cpuinfo, "flags") {
        Some(flags) => flags.split_ascii_whitespace().any(|flag| flag == "hypervisor"),
        None => by_tables,
    };
    match (virtual_cpu, named.is_empty()) {
        (false, _) => None,
        (true, true) => Some("virtual machine".to_owned()),
        (true, false) => Some(format!("virtual machine ({})", named.join(" "))),
    }
}

#[cfg(test)]
mod tests;

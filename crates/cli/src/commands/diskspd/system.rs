//! What diskspd's results tell of the machine.
//!
//! Data in: `/proc` and `/sys`. Data out: processors, where each is and what it did. What the system does not tell is left out.

use anyhow::Context;
use fathom_core::run::Environment;
use fathom_core::units::WallTime;
use fathom_dialect::diskspd::results::{CpuPlace, CpuTimes, System};
use fathom_observe::SystemRoot;

/// The version of diskspd whose grammar and layout these are, and its date: programs that read results compare numbers.
const LAYOUT_VERSION: &str = "2.2.0";
const LAYOUT_DATE: &str = "2024/06/03";

/// The processors that this process may use, ascending.
pub(super) fn cpus_allowed() -> anyhow::Result<Vec<u32>> {
    let set = rustix::thread::sched_getaffinity(None).context("cannot tell which processors may be used")?;
    let most = rustix::thread::CpuSet::MAX_CPU;
    Ok((0..most)
        .filter(|&cpu| set.is_set(cpu))
        .map(|cpu| cpu as u32)
        .collect())
}

/// What each processor has done since the machine was started; empty where that is not known.
pub(super) fn cpu_times(system: &SystemRoot) -> Vec<CpuTimes> {
    system
        .text("/proc/stat")
        .map_or(Vec::new(), |text| CpuTimes::of_proc_stat(&text))
}

pub(super) fn describe(system: &SystemRoot, machine: &Environment, started: WallTime) -> System {
    System {
        computer_name: machine.host.clone(),
        started,
        made_by: format!(
            "made by fathom {} in the layout of diskspd",
            env!("CARGO_PKG_VERSION")
        ),
        tool_version: String::from(LAYOUT_VERSION),
        tool_date: String::from(LAYOUT_DATE),
        processors: machine.cpus,
        places: places(system),
        power_scheme: system.text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
    }
}

/// Where each processor is; empty where the system does not tell of all.
fn places(system: &SystemRoot) -> Vec<CpuPlace> {
    let folder = "/sys/devices/system/cpu";
    let Ok(names) = system.list(folder) else {
        return Vec::new();
    };
    let cpus = names
        .iter()
        .filter_map(|name| name.strip_prefix("cpu")?.parse::<u32>().ok());
    let place = |cpu: u32| {
        let number = |name: &str| {
            system
                .text(format!("{folder}/cpu{cpu}/topology/{name}"))?
                .parse()
                .ok()
        };
        let node = system.list(format!("{folder}/cpu{cpu}")).ok()?;
        let node = node
            .iter()
            .find_map(|name| name.strip_prefix("node")?.parse().ok());
        Some(CpuPlace {
            cpu,
            socket: number("physical_package_id")?,
            node: node.unwrap_or(0),
            core: number("core_id")?,
        })
    };
    let mut places: Vec<CpuPlace> = cpus.map(place).collect::<Option<_>>().unwrap_or_default();
    places.sort_by_key(|place| place.cpu);
    places
}

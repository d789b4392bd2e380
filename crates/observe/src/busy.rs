//! Whether the machine was quiet before the run.
//!
//! Duty: one verdict, the only one: whoever warns of a busy machine reads it. Data in: load average and CPU pressure.
//! Data out: the requirement [`QUIET_HOST`]. It must not know who made the load.

use crate::host;
use crate::root::SystemRoot;
use fathom_core::run::{QUIET_HOST, Requirement};

/// Above this load a CPU the machine counts as busy: half of the CPUs had work in the mean of the last minute. What one
/// worker of an earlier run leaves behind on a machine of two CPUs stays below.
pub const LOAD_PER_CPU_MAX: f64 = 0.5;

/// Above this share of time, in percent, in which some task waited for a CPU during the last 10 s, the
/// machine counts as busy (Documentation/accounting/psi.rst, `some avg10`).
pub const PRESSURE_PERCENT_MAX: f64 = 10.0;

/// The requirement [`QUIET_HOST`]: load average and CPU pressure within [`LOAD_PER_CPU_MAX`] and
/// [`PRESSURE_PERCENT_MAX`]. `met` is `None` where neither can be read. Ask before the load starts.
pub fn quiet_host(root: &SystemRoot) -> Requirement {
    let environment = host::environment(root, "");
    let cpus = environment.cpus;
    let load = host::load_1min(root);
    let pressure = cpu_pressure_percent(root);
    let load_high = (cpus > 0)
        .then_some(load)
        .flatten()
        .map(|load| load > LOAD_PER_CPU_MAX * f64::from(cpus));
    let pressure_high = pressure.map(|percent| percent > PRESSURE_PERCENT_MAX);
    let met = match (load_high, pressure_high) {
        (None, None) => None,
        (a, b) => Some(!a.unwrap_or(false) && !b.unwrap_or(false)),
    };
    let load_words = load.map_or("load not known".to_owned(), |load| {
        format!("load {load:.2} on {cpus} CPUs")
    });
    let pressure_words = pressure.map_or("CPU pressure not known".to_owned(), |percent| {
        format!("tasks waited for a CPU {percent:.1} % of the last 10 s")
    });
    Requirement {
        name: QUIET_HOST.to_owned(),
        met,
        detail: format!("{load_words}; {pressure_words}"),
    }
}

/// `avg10` of the line `some` of `/proc/pressure/cpu`. The file is missing, or cannot be read, where the
/// kernel does not account for pressure.
fn cpu_pressure_percent(root: &SystemRoot) -> Option<f64> {
    let text = root.text("/proc/pressure/cpu")?;
    let line = text.lines().find_map(|line| line.strip_prefix("some "))?;
    let value = line
        .split_ascii_whitespace()
        .find_map(|word| word.strip_prefix("avg10="))?;
    value.parse().ok()
}

#[cfg(test)]
mod tests;

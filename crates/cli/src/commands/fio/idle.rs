//! `--idle-prof`: how much of the time the processors had nothing to do.
//!
//! Data in: the kernel's account of each processor, before and after. Data out: shares, and how long a fixed piece of work
//! takes. fio burns the time that is left over and counts how much of it there was, which takes it from whoever shares a
//! core with it; the kernel's own account costs nothing.

use fathom_dialect::FioCommand;
use fathom_dialect::diskspd::results::{CpuTimes, CpuUse};
use fathom_observe::SystemRoot;
use fathom_report::fio::Idleness;
use std::hint::black_box;
use std::time::Instant;

/// How often the fixed piece of work is done, and how many steps it has.
const PIECES: usize = 25;
const STEPS: u64 = 20_000;

/// What was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// The mean of all processors.
    System,
    /// And each of them.
    EachCpu,
    /// Only how long the fixed piece of work takes.
    Calibrate,
}

/// # Errors
/// What fio would say of a wrong value.
pub(super) fn wanted(command: &FioCommand) -> Result<Option<Wanted>, String> {
    match command.setting("idle-prof").map(Option::unwrap_or_default) {
        None => Ok(None),
        Some("system") => Ok(Some(Wanted::System)),
        Some("percpu") => Ok(Some(Wanted::EachCpu)),
        Some("calibrate") => Ok(Some(Wanted::Calibrate)),
        Some(other) => Err(format!("fio: incorrect idle-prof option: {other}")),
    }
}

/// Watches the processors of this machine while a load runs.
#[derive(Debug)]
pub(super) struct Watch {
    each_cpu: bool,
    before: Option<Vec<CpuTimes>>,
    after: Option<Vec<CpuTimes>>,
    unit: (f64, f64),
}

impl Watch {
    /// Of what was asked for; the fixed piece of work is timed now.
    pub(super) fn new(wanted: Wanted) -> Self {
        Self {
            each_cpu: wanted == Wanted::EachCpu,
            before: None,
            after: None,
            unit: time_work(),
        }
    }

    /// The load begins, where it has not begun before.
    pub(super) fn load_begins(&mut self) {
        self.before.get_or_insert_with(times_now);
    }

    /// The load has ended.
    pub(super) fn load_ended(&mut self) {
        self.after = Some(times_now());
    }

    /// What is known so far.
    pub(super) fn so_far(&self) -> Idleness {
        let now = self.after.clone().unwrap_or_else(times_now);
        let used = CpuUse::between(self.before.as_deref().unwrap_or_default(), &now);
        let each: Vec<(u32, f64)> = used.iter().map(|cpu| (cpu.cpu, cpu.idle_percent)).collect();
        Idleness {
            system_percent: CpuUse::mean(&used).map(|mean| mean.idle_percent),
            cpus: if self.each_cpu { each } else { Vec::new() },
            unit_us_mean: self.unit.0,
            unit_us_stddev: self.unit.1,
        }
    }
}

/// Empty where the kernel does not tell.
fn times_now() -> Vec<CpuTimes> {
    let text = SystemRoot::default().text("/proc/stat");
    text.map_or(Vec::new(), |text| CpuTimes::of_proc_stat(&text))
}

/// How long the fixed piece of work takes, in microseconds: mean and standard deviation.
fn time_work() -> (f64, f64) {
    let took: Vec<f64> = (0..PIECES)
        .map(|_| {
            let begun = Instant::now();
            let mut value = black_box(1u64);
            for step in 0..STEPS {
                value = black_box(value.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(step));
            }
            begun.elapsed().as_nanos() as f64 / 1e3
        })
        .collect();
    let mean = took.iter().sum::<f64>() / PIECES as f64;
    let squares: f64 = took.iter().map(|took| (took - mean).powi(2)).sum();
    (mean, (squares / (PIECES - 1) as f64).sqrt())
}

#[cfg(test)]
mod tests;

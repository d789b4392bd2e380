//! What `--debug` tells: of fio's many parts those that its own tests read, the seeds of random decisions (`random`) and what
//! has to be steady (`parse`). Other parts are taken and tell nothing.
//!
//! Data in: the command line, the workload. Data out: lines in fio's words.

use fathom_core::rng::split_mix;
use fathom_core::workload::Workload;
use fathom_dialect::FioCommand;

/// As many as fio has.
const SEEDS: u64 = 19;

/// Whether that part of fio is to tell what it does.
fn tells(command: &FioCommand, part: &str) -> bool {
    let parts = command.setting("debug").flatten().unwrap_or_default();
    parts
        .split(',')
        .any(|asked| asked.trim() == part || asked.trim() == "all")
}

fn line(part: &str, text: &str) -> String {
    format!("{part:<8} {:<5} {text}\n", std::process::id())
}

/// What is read of the options of the command line.
pub(super) fn of_command(command: &FioCommand) -> Vec<String> {
    let parts = command.setting("debug").flatten().unwrap_or_default();
    let parts = parts.split(',').map(str::trim).filter(|part| !part.is_empty());
    let mut lines: Vec<String> = parts
        .map(|part| format!("fio: set debug option {part}\n"))
        .collect();
    if tells(command, "parse") {
        let options = command.globals.iter().chain(command.jobs.iter().flatten());
        let steady = options.filter(|option| matches!(option.name.as_str(), "ss" | "steadystate"));
        let told = steady.filter_map(|option| steady_limit(option.value.as_deref()?));
        lines.extend(told.map(|text| line("parse", &text)));
    }
    lines
}

/// `iops:10`, `bw_slope:0.1%`: in fio's words.
fn steady_limit(text: &str) -> Option<String> {
    let (of, limit) = text.split_once(':')?;
    Some(match limit.strip_suffix('%') {
        Some(percent) => format!(
            "set steady state threshold to {:.6}%",
            percent.parse::<f64>().ok()?
        ),
        None if of.starts_with("iops") => {
            format!(
                "set steady state IOPS threshold to {:.6}",
                limit.parse::<f64>().ok()?
            )
        }
        None => format!("set steady state BW threshold to {limit}"),
    })
}

/// The seeds of each job's random decisions: the same where the decisions are.
pub(super) fn of_seeds(command: &FioCommand, workload: &Workload) -> Vec<String> {
    if !tells(command, "random") {
        return Vec::new();
    }
    let mut lines = vec![line("random", &format!("FIO_RAND_NR_OFFS={SEEDS}"))];
    for job in &workload.jobs {
        let seed = |number: u64| {
            let seed = split_mix(job.random_seed ^ split_mix(number));
            line("random", &format!("rand_seeds[{number}]={seed}"))
        };
        lines.extend((0..SEEDS).map(seed));
    }
    lines
}

#[cfg(test)]
mod tests;

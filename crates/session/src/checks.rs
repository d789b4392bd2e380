//! What would fail later, after files were touched, and can be told now.
//!
//! Data in: the plan. Data out: an error that names the option and what to do. It must not change anything but this
//! process's own limit of open files.

mod room;

use anyhow::bail;
use fathom_core::workload::EngineKind;
use fathom_engine::plan::Plan;
use fathom_observe::SystemRoot;
use fathom_sys::process;

/// Whether the plan can be carried out on this machine.
pub(crate) fn check(plan: &Plan) -> anyhow::Result<()> {
    fathom_engine::run::check(plan)?;
    room::check(&SystemRoot::default(), plan)?;
    // Where it is not known which CPUs may be used, the worker will tell.
    match process::allowed_cpus() {
        Ok(allowed) => check_cpus(plan, &allowed),
        Err(_) => Ok(()),
    }
}

/// Whether a plan for a modelled disk can be carried out on this machine.
pub(crate) fn check_modelled(plan: &Plan) -> anyhow::Result<()> {
    for job in plan.jobs.iter().map(|plan| &plan.job) {
        let kind = job.engine.kind;
        let on_this_machine = [
            (
                job.commands.before.is_some() || job.commands.after.is_some(),
                "exec_prerun and exec_postrun",
            ),
            (kind == EngineKind::Exec, "programs (ioengine=exec)"),
            (
                matches!(kind, EngineKind::Nbd | EngineKind::Http | EngineKind::Net),
                "servers and networks (ioengine=nbd, http, net)",
            ),
            (
                kind.sends_commands(),
                "commands to disks (ioengine=io_uring_cmd, ioengine=sg)",
            ),
            (
                kind.always_changes() || kind.is_about_names(),
                "an ioengine that reads and writes nothing",
            ),
        ];
        if let Some((_, what)) = on_this_machine.iter().find(|(has, _)| *has) {
            bail!(
                "{}: a modelled disk knows nothing of {what}: leave it out",
                job.name
            );
        }
    }
    fathom_engine::run::check_zones(plan)?;
    room::check_memory_alone(&SystemRoot::default(), plan)
}

fn check_cpus(plan: &Plan, allowed: &[usize]) -> anyhow::Result<()> {
    for job in plan.jobs.iter().map(|plan| &plan.job) {
        let usable = |cpu: &u32| allowed.contains(&(*cpu as usize));
        // A worker needs one CPU of its own where they are split, and any where they are shared.
        let missing = job.cpus_allowed.iter().find(|cpu| !usable(cpu));
        let fatal = job.cpus_split || !job.cpus_allowed.iter().any(usable);
        if let (Some(missing), true) = (missing, fatal) {
            bail!(
                "{}: cpus_allowed: CPU {missing} is not there, or this process may not use it: give some of {}",
                job.name,
                list(allowed)
            );
        }
    }
    Ok(())
}

/// `0-3, 8`.
fn list(cpus: &[usize]) -> String {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for &cpu in cpus {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == cpu => *last = cpu,
            _ => ranges.push((cpu, cpu)),
        }
    }
    let words = ranges.iter().map(|&(first, last)| {
        if first == last {
            first.to_string()
        } else {
            format!("{first}-{last}")
        }
    });
    words.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;

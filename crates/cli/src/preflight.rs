//! What would fail later, after files were touched, and can be told now.
//!
//! Data in: the plan. Data out: an error that names the option and what to do. It must not change anything.

use anyhow::bail;
use fathom_core::units::Bytes;
use fathom_engine::plan::{Kind, Plan};
use fathom_sys::process;
use rustix::process::{Resource, Rlimit};

/// Whether the plan can be carried out on this machine, which has so much memory (0: not known).
pub(crate) fn check(plan: &Plan, memory_bytes: u64) -> anyhow::Result<()> {
    fathom_engine::run::check(plan)?;
    check_memory(plan.buffer_bytes(), memory_bytes)?;
    check_open_files(open_files(plan))?;
    // Where it is not known which CPUs may be used, the worker will tell.
    match process::allowed_cpus() {
        Ok(allowed) => check_cpus(plan, &allowed),
        Err(_) => Ok(()),
    }
}

/// What the program has open beside the targets: its record, its streams, the terminal.
const OWN_FILES: u64 = 64;

/// How many files are open at once: each worker has its own, and one for its queue. Behind a `stonewall` those before it are
/// closed.
fn open_files(plan: &Plan) -> u64 {
    let held = plan.files.iter().filter(|file| file.kind == Kind::Block).count() as u64;
    let (mut most, mut now) = (0, 0);
    for job in &plan.jobs {
        if job.job.start.stonewall {
            now = 0;
        }
        let of_job: usize = job.workers.iter().map(|worker| worker.files.len() + 1).sum();
        now += of_job as u64;
        most = most.max(now);
    }
    most + held + OWN_FILES
}

/// Raises the limit of open files as far as this process may, and refuses what is beyond.
fn check_open_files(need: u64) -> anyhow::Result<()> {
    let limit = rustix::process::getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|current| need <= current) {
        return Ok(());
    }
    let raised = Rlimit {
        current: Some(need),
        maximum: limit.maximum,
    };
    let within = limit.maximum.is_none_or(|most| need <= most);
    if within && rustix::process::setrlimit(Resource::Nofile, raised).is_ok() {
        return Ok(());
    }
    bail!(
        "the load has {need} files open at once, a few of them fathom's own, and this process may have {} (ulimit -n): use \
         fewer workers or files, or raise the limit",
        limit.maximum.or(limit.current).unwrap_or(0)
    );
}

/// Buffers that do not fit into memory end in a kill by the kernel.
fn check_memory(need_bytes: u64, have_bytes: u64) -> anyhow::Result<()> {
    if have_bytes > 0 && need_bytes > have_bytes {
        bail!(
            "buffers need {} (block size times iodepth times numjobs), the machine has {}: use smaller blocks, a \
             smaller iodepth or fewer workers",
            Bytes(need_bytes),
            Bytes(have_bytes)
        );
    }
    Ok(())
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

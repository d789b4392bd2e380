//! Whether there is room for all workers at once: memory, threads, mappings, open files, AIO requests.
//!
//! Data in: the plan, what is left of each. Data out: an error with the sum. It must not change anything but this process's
//! own limit of open files.

use anyhow::bail;
use fathom_core::units::Bytes;
use fathom_engine::plan::{Needs, Plan, WORKER_BYTES};
use fathom_observe::SystemRoot;
use fathom_observe::room::{self, Left};
use fathom_sys::limits::{OpenFiles, open_files, raise_open_files};

/// Mappings of a worker: its stack and that of its signals, each with a page that guards it, its buffers, what it reserved.
const MAPPINGS_A_WORKER: u64 = 5;
/// What `io_uring` maps for a worker.
const MAPPINGS_A_RING: u64 = 2;
/// Threads and files of the program itself: its record, the streams of it, what it watches.
const OWN_THREADS: u64 = 8;
const OWN_FILES: u64 = 32;

/// What is left of everything.
#[derive(Debug, Clone, Default)]
pub(super) struct Room {
    pub(super) memory: Option<Left>,
    pub(super) threads: Option<Left>,
    pub(super) mappings: Option<Left>,
    pub(super) aio_requests: Option<Left>,
    pub(super) files: Option<Left>,
}

impl Room {
    /// What this machine and this process have.
    pub(super) fn of(system: &SystemRoot) -> Self {
        Self {
            memory: room::memory(system),
            threads: room::threads(system),
            mappings: room::mappings(system),
            aio_requests: room::aio_requests(system),
            files: None,
        }
    }
}

/// Whether all that runs at the same time finds room on this machine, whose limit of open files is raised where that is
/// needed and allowed.
pub(super) fn check(system: &SystemRoot, plan: &Plan) -> anyhow::Result<()> {
    let room = Room::of(system);
    let held = held_files(plan);
    for needs in plan.needs() {
        let (files, _) = files_of(&needs, held);
        let OpenFiles { now, .. } = open_files();
        let now = if now.is_some_and(|now| now < files) {
            raise_open_files(files).now
        } else {
            now
        };
        let files = now.map(|amount| Left {
            amount,
            limit: String::from("ulimit -n"),
        });
        let room = Room {
            files,
            ..room.clone()
        };
        compare(&needs, held, &room)?;
    }
    Ok(())
}

/// Whether a modelled run finds room: it has no threads, files and queues of its own.
pub(super) fn check_memory_alone(system: &SystemRoot, plan: &Plan) -> anyhow::Result<()> {
    let room = Room {
        memory: room::memory(system),
        ..Room::default()
    };
    for needs in plan.needs() {
        // Nothing is moved: there are no buffers.
        let needs = Needs {
            buffer_bytes: 0,
            ..needs
        };
        compare(&needs, 0, &room)?;
    }
    Ok(())
}

/// Files that are held open beside those of the workers: each that is written.
fn held_files(plan: &Plan) -> u64 {
    plan.files.iter().filter(|file| file.touches()).count() as u64
}

/// Open files in all, and what they are.
fn files_of(needs: &Needs, held: u64) -> (u64, String) {
    let parts = [
        (needs.opens, "that workers open"),
        (needs.rings, "queues of io_uring"),
        (held, "that are held while they are written"),
        (OWN_FILES, "of fathom"),
    ];
    sum(&parts)
}

/// A sum in all, and in words.
fn sum(parts: &[(u64, &str)]) -> (u64, String) {
    let all = parts
        .iter()
        .fold(0u64, |sum, (part, _)| sum.saturating_add(*part));
    let words = parts.iter().filter(|(part, _)| *part > 0);
    let words = words.map(|&(part, what)| format!("{} {what}", grouped(part)));
    (all, words.collect::<Vec<_>>().join(" + "))
}

/// The first of all that does not fit.
pub(super) fn compare(needs: &Needs, held: u64, room: &Room) -> anyhow::Result<()> {
    let workers = format!(
        "{} worker{}",
        grouped(needs.workers),
        if needs.workers == 1 { " needs" } else { "s need" }
    );
    compare_memory(&workers, needs, room)?;
    let refuse = |what: &str, (need, terms): (u64, String), left: &Option<Left>, remedy: &str| match left {
        Some(left) if left.amount < need => bail!(
            "{workers} {} {what} = {terms}, there are {} ({}): {remedy}",
            grouped(need),
            grouped(left.amount),
            left.limit
        ),
        _ => Ok(()),
    };
    let threads = sum(&[(needs.workers, "of workers"), (OWN_THREADS, "of fathom")]);
    refuse(
        "threads",
        threads,
        &room.threads,
        "use fewer workers (numjobs=) with a higher iodepth, or raise the limit",
    )?;
    let of_workers = format!("of workers ({} × {MAPPINGS_A_WORKER})", grouped(needs.workers));
    let of_rings = format!("of io_uring ({} × {MAPPINGS_A_RING})", grouped(needs.rings));
    let mappings = sum(&[
        (needs.workers.saturating_mul(MAPPINGS_A_WORKER), &of_workers),
        (needs.rings.saturating_mul(MAPPINGS_A_RING), &of_rings),
        (needs.aio_queues, "of AIO"),
        (needs.mapped, "of files"),
    ]);
    refuse(
        "mappings",
        mappings,
        &room.mappings,
        "use fewer workers (numjobs=) with a higher iodepth, or raise it as root (sysctl vm.max_map_count=1000000)",
    )?;
    refuse(
        "open files",
        files_of(needs, held),
        &room.files,
        "use fewer files or workers, or raise the limit (ulimit -n; LimitNOFILE= in a systemd unit)",
    )?;
    let requests = (needs.aio_requests, String::from("iodepth of each, all together"));
    refuse(
        "AIO requests",
        requests,
        &room.aio_requests,
        "use fewer workers or a smaller iodepth, use ioengine=io_uring, or raise it as root (sysctl \
         fs.aio-max-nr=1048576)",
    )
}

/// Memory has a sum of its own: in bytes.
fn compare_memory(workers: &str, needs: &Needs, room: &Room) -> anyhow::Result<()> {
    if let Some(left) = room
        .memory
        .as_ref()
        .filter(|left| left.amount < needs.memory_bytes())
    {
        let mut terms = vec![format!("{} × {}", grouped(needs.workers), Bytes(WORKER_BYTES))];
        for (bytes, what) in [
            (needs.buffer_bytes, "of buffers"),
            (needs.map_bytes, "for the blocks that were visited"),
            (needs.zone_bytes, "for zones"),
        ] {
            if bytes > 0 {
                terms.push(format!("{} {what}", Bytes(bytes)));
            }
        }
        bail!(
            "{workers} {} of memory = {}, there are {} ({}): use fewer workers (numjobs=, or fewer sections at once, \
             with stonewall), a smaller iodepth or smaller blocks",
            Bytes(needs.memory_bytes()),
            terms.join(" + "),
            Bytes(left.amount),
            left.limit
        );
    }
    Ok(())
}

/// `10,000`.
fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let groups = digits.as_bytes().rchunks(3).rev();
    let groups: Vec<_> = groups.map(String::from_utf8_lossy).collect();
    groups.join(",")
}

#[cfg(test)]
mod tests;

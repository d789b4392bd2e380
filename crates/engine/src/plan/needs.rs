//! What a plan takes of the machine while it runs.
//!
//! Data in: the plan. Data out: sums, for whoever knows what there is. It must not know limits.

use super::{JobPlan, Kind, Plan};
use crate::pattern::map_bytes;
use crate::thread::depth_of;
use crate::zones::BYTES_A_ZONE;
use fathom_core::workload::EngineKind;
use std::collections::BTreeMap;
use std::path::Path;

/// The most memory that a worker takes beside its buffers, maps of visited blocks and stores: its thread's stack, its
/// intervals, its share of what is collected and recorded. A test of the program holds it.
pub const WORKER_BYTES: u64 = 256 << 10;

/// What all jobs that may run at the same time take together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Needs {
    /// Workers, each a thread.
    pub workers: u64,
    /// Buffers, and stores of what is written.
    pub buffer_bytes: u64,
    /// Maps of the blocks that were visited.
    pub map_bytes: u64,
    /// Tables of zones that are made up, all of the run. A device's own are few.
    pub zone_bytes: u64,
    /// Files that workers open, each for itself.
    pub opens: u64,
    /// Workers with an `io_uring` of their own: a descriptor and two mappings each.
    pub rings: u64,
    /// Files that workers have mapped.
    pub mapped: u64,
    /// Workers with a queue of AIO: a mapping each.
    pub aio_queues: u64,
    pub aio_requests: u64,
}

impl Needs {
    pub fn memory_bytes(&self) -> u64 {
        let workers = self.workers.saturating_mul(WORKER_BYTES);
        workers
            .saturating_add(self.buffer_bytes)
            .saturating_add(self.map_bytes)
            .saturating_add(self.zone_bytes)
    }

    fn add(&mut self, more: &Self) {
        let Self {
            workers,
            buffer_bytes,
            map_bytes,
            zone_bytes,
            opens,
            rings,
            mapped,
            aio_queues,
            aio_requests,
        } = self;
        let sums = [
            (workers, more.workers),
            (buffer_bytes, more.buffer_bytes),
            (map_bytes, more.map_bytes),
            (zone_bytes, more.zone_bytes),
            (opens, more.opens),
            (rings, more.rings),
            (mapped, more.mapped),
            (aio_queues, more.aio_queues),
            (aio_requests, more.aio_requests),
        ];
        for (sum, part) in sums {
            *sum = sum.saturating_add(part);
        }
    }
}

impl Plan {
    /// What is needed at once, for each stretch of jobs from one stonewall to the next.
    pub fn needs(&self) -> Vec<Needs> {
        let mut stretches: Vec<Needs> = Vec::new();
        for plan in &self.jobs {
            let need = of_job(plan);
            match stretches.last_mut() {
                Some(last) if !plan.job.start.stonewall => last.add(&need),
                _ => stretches.push(need),
            }
        }
        let zone_bytes = zone_bytes(&self.jobs);
        for stretch in &mut stretches {
            stretch.zone_bytes = zone_bytes;
        }
        stretches
    }
}

/// Of the tables of made-up zones: one a file, made before the run for the largest of its regions.
fn zone_bytes(jobs: &[JobPlan]) -> u64 {
    let mut zones: BTreeMap<&Path, u64> = BTreeMap::new();
    for plan in jobs {
        let Some(rules) = &plan.job.pattern.zones else {
            continue;
        };
        for file in plan.workers.iter().flat_map(|worker| &worker.files) {
            let end = file.span.start.saturating_add(file.span.bytes);
            let count = end.checked_div(rules.size_bytes).unwrap_or_default();
            let most = zones.entry(&file.path).or_default();
            *most = count.max(*most);
        }
    }
    let all = zones.values().fold(0u64, |sum, &count| sum.saturating_add(count));
    all.saturating_mul(BYTES_A_ZONE)
}

fn of_job(plan: &JobPlan) -> Needs {
    let job = &plan.job;
    let workers = plan.workers.len() as u64;
    let files = || plan.workers.iter().flat_map(|worker| &worker.files);
    let opened = files().filter(|file| !matches!(file.kind, Kind::Null | Kind::Modelled));
    let opens = opened.count() as u64;
    let only = |kind: EngineKind, n: u64| if job.engine.kind == kind { n } else { 0 };
    let played = if job.replay.is_some() {
        workers.saturating_mul(crate::replay::WORKER_BYTES)
    } else {
        0
    };
    Needs {
        workers,
        buffer_bytes: plan
            .buffer_bytes()
            .saturating_add(played)
            .saturating_add(workers.saturating_mul(job.lock_bytes)),
        map_bytes: files().fold(0, |sum, file| sum.saturating_add(map_bytes(job, file.span))),
        // Of the whole plan: two jobs may share a table.
        zone_bytes: 0,
        opens,
        rings: only(EngineKind::IoUring, workers).max(only(EngineKind::IoUringCmd, workers)),
        mapped: only(EngineKind::Mmap, opens),
        aio_queues: only(EngineKind::Libaio, workers),
        aio_requests: only(
            EngineKind::Libaio,
            workers.saturating_mul(u64::from(depth_of(job))),
        ),
    }
}

#[cfg(test)]
mod tests;

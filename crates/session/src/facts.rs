//! What the load will do to each file, in the few facts that the observer asks for.
//!
//! Data in: the plan. Data out: [`IoFacts`] for each file, apart for direct and buffered I/O. It must not look at files.

use fathom_core::workload::{BlockSize, Job};
use fathom_engine::plan::Plan;
use fathom_observe::validity::IoFacts;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The facts of each file, direct I/O apart from buffered, in path order. What is no file of this machine is left out, and so is
/// what is sent commands: it has neither holes nor pages in the cache.
pub(crate) fn of_plan(plan: &Plan) -> Vec<(PathBuf, IoFacts)> {
    let mut all: BTreeMap<(PathBuf, bool), IoFacts> = BTreeMap::new();
    for job_plan in &plan.jobs {
        let job = &job_plan.job;
        if job.engine.kind.needs_no_file() || job.engine.kind.sends_commands() {
            continue;
        }
        let direct = !job.uses_page_cache();
        for file in job_plan.workers.iter().flat_map(|worker| &worker.files) {
            let region = file.span.start..file.span.start + file.span.bytes;
            let new = facts(job, direct, region);
            all.entry((file.path.clone(), direct))
                .and_modify(|known| join(known, &new))
                .or_insert(new);
        }
    }
    all.into_iter().map(|((path, _), facts)| (path, facts)).collect()
}

fn facts(job: &Job, direct: bool, region: std::ops::Range<u64>) -> IoFacts {
    let reads = job.pattern.mix.uses()[0] || job.verify.as_ref().is_some_and(|verify| verify.only);
    let sizes = job.used_ops().map(|op| granule(&job.block_size[op])).reduce(gcd);
    let aligned = job.used_ops().map(|op| match job.block_align[op] {
        0 => job.block_size[op].min(),
        align => align,
    });
    IoFacts {
        reads,
        writes: job.writes(),
        direct,
        min_block_bytes: sizes.unwrap_or(1),
        alignment_bytes: aligned.chain([region.start]).reduce(gcd).unwrap_or(1).max(1),
        region,
    }
}

/// What all sizes are multiples of.
fn granule(size: &BlockSize) -> u64 {
    match size {
        BlockSize::Fixed(bytes) => *bytes,
        BlockSize::Range { unaligned: true, .. } => 1,
        BlockSize::Range { min, .. } => *min,
        BlockSize::Split(entries) => entries.iter().map(|entry| entry.bytes).reduce(gcd).unwrap_or(1),
    }
}

/// Both loads together.
fn join(known: &mut IoFacts, new: &IoFacts) {
    known.reads |= new.reads;
    known.writes |= new.writes;
    known.region = known.region.start.min(new.region.start)..known.region.end.max(new.region.end);
    known.min_block_bytes = gcd(known.min_block_bytes, new.min_block_bytes);
    known.alignment_bytes = gcd(known.alignment_bytes, new.alignment_bytes);
}

/// The greatest common divisor; of 0 and n it is n.
pub(crate) fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests;

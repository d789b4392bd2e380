//! Sizes that are larger than what they are to be found on.
//!
//! Data in: the plan, which has already clipped them. Data out: a warning for each, once a file. It must not plan.

use crate::merge::merge;
use fathom_core::run::Warning;
use fathom_core::workload::Amount;
use fathom_engine::plan::{FilePlan, JobPlan, Kind, Plan, WorkerFiles};
use std::collections::HashSet;

/// A warning for each size that the plan had to clip to its device, or to the sizes of its files (`filesize`).
pub(crate) fn clipped(plan: &Plan) -> Vec<Warning> {
    let mut known = HashSet::new();
    let mut found: Vec<Warning> = Vec::new();
    for job in &plan.jobs {
        for warning in job.workers.iter().flat_map(|worker| of_worker(job, worker)) {
            if known.insert(what_about(&warning)) {
                found.push(warning);
            }
        }
    }
    merge(found)
}

fn of_worker(job: &JobPlan, worker: &WorkerFiles) -> Vec<Warning> {
    let region = &job.job.region;
    let Some(Amount::Bytes(size)) = region.size else {
        return Vec::new();
    };
    let count = worker.files.len().max(1) as u64;
    if region.file_size.is_some() && worker.files.iter().all(|file| file.kind == Kind::Regular) {
        let all: u64 = worker
            .files
            .iter()
            .fold(0, |sum, file| sum.saturating_add(file.span.bytes));
        let first = worker.files.first();
        let first = first.map_or_else(String::new, |file| file.path.display().to_string());
        let path = match count {
            1 => first,
            n => format!("{first} and {} more files", n - 1),
        };
        return clip(path, size, 0, all, all).into_iter().collect();
    }
    if job.job.pattern.zones.is_some() {
        let files = worker.files.iter();
        return files
            .filter_map(|file| rounded(job, file, size / count))
            .collect();
    }
    let devices = worker.files.iter().filter(|file| file.kind != Kind::Regular);
    let of_device = |file: &FilePlan| {
        let path = match file.kind {
            Kind::Null => String::from("the null engine"),
            _ => file.path.display().to_string(),
        };
        let span = file.span;
        clip(
            path,
            size / count,
            span.start,
            span.start.saturating_add(span.bytes),
            span.bytes,
        )
    };
    devices.filter_map(of_device).collect()
}

/// Of what is used by zones: whether the region is another than the one asked for, as far as that is in bytes.
fn rounded(job: &JobPlan, file: &FilePlan, size: u64) -> Option<Warning> {
    let (region, span) = (&job.job.region, file.span);
    let begins = match (region.offset, region.offset_increment) {
        (None, None) => span.start == 0,
        (Some(Amount::Bytes(offset)), None) => span.start == offset,
        // A worker's own beginning; a share falls where it may.
        _ => true,
    };
    (!begins || span.bytes < size).then(|| Warning::RoundedToZones {
        path: file.path.display().to_string(),
        offset_bytes: span.start,
        used_bytes: span.bytes,
    })
}

fn clip(path: String, size: u64, offset: u64, whole: u64, used: u64) -> Option<Warning> {
    (used < size).then_some(Warning::SizeClipped {
        path,
        size_bytes: size,
        path_bytes: whole,
        offset_bytes: offset,
        used_bytes: used,
    })
}

/// Workers that begin one behind the other are clipped alike, if not to the same size.
fn what_about(warning: &Warning) -> Option<(String, u64)> {
    match warning {
        Warning::SizeClipped { path, size_bytes, .. } => Some((path.clone(), *size_bytes)),
        Warning::RoundedToZones {
            path, offset_bytes, ..
        } => Some((path.clone(), *offset_bytes)),
        _ => None,
    }
}

#[cfg(test)]
mod tests;

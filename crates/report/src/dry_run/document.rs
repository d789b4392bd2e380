//! The dry run as one JSON document.
//!
//! Data in: as for the text. Data out: the workload as typed and as resolved, where it goes, and the sums. It must not
//! say less than the text.

use super::DryRun;
use super::derive::{Bound, Derived, Time};
use super::placement::{PlacedFile, PlacedJob, Placement};
use fathom_core::workload::Job;
use serde_json::{Value, json as value};

/// The schema of the document, raised when a field changes its meaning or goes away.
pub const SCHEMA: &str = "fathom.workload/1";

/// The document, indented, with a newline at its end: `schema`, `written`, `workload`, `target`, `jobs`, `files`,
/// `totals`, `warnings`. Without a placement `target` is `null`, and `jobs` and `files` are empty. An amount is
/// `{"bound", "n"}`, where `bound` is `exactly`, `about`, `at_most`, `unbounded` (only time ends it) or `unknown`; for the
/// last two `n` is `null`.
pub fn json(dry_run: DryRun<'_>) -> String {
    let placement = dry_run.placement;
    let derived = Derived::of(dry_run.workload, placement);
    let jobs = dry_run.workload.jobs.iter();
    let placed = placement.map_or(&[][..], |placement| &placement.jobs);
    let jobs: Vec<Value> = jobs
        .zip(placed)
        .map(|(job, placed)| of_job(job, placed))
        .collect();
    let files: Vec<Value> = placement.map_or_else(Vec::new, |placement| {
        placement.files.iter().map(of_file).collect()
    });
    let document = value!({
        "schema": SCHEMA,
        "written": dry_run.written,
        "workload": dry_run.workload,
        "target": placement.map(|Placement { target, .. }| target),
        "jobs": jobs,
        "files": files,
        "totals": totals(&derived),
        "warnings": dry_run.warnings,
    });
    format!("{document:#}\n")
}

fn of_job(job: &Job, placed: &PlacedJob) -> Value {
    let workers = placed.workers.iter().map(|worker| {
        let regions = worker.regions.iter();
        let regions: Vec<Value> = regions
            .map(|&(offset, bytes)| value!({ "offset_bytes": offset, "size_bytes": bytes }))
            .collect();
        value!({ "regions": regions, "amount_bytes": worker.amount_bytes })
    });
    value!({ "name": job.name, "workers": workers.collect::<Vec<_>>() })
}

fn of_file(file: &PlacedFile) -> Value {
    value!({
        "path": file.path.display().to_string(),
        "size_bytes": file.size_bytes,
        "need_bytes": file.need_bytes,
        "filled_bytes": file.filled_bytes,
        "reserved_bytes": file.reserved_bytes,
    })
}

fn totals(derived: &Derived) -> Value {
    let files = derived.files.as_ref();
    value!({
        "workers": derived.workers,
        "in_flight": derived.in_flight,
        "buffer_bytes": derived.buffer_bytes,
        "files": files.map(|files| files.all),
        "filled_bytes": files.map(|files| files.filled_bytes),
        "reserved_bytes": files.map(|files| files.reserved_bytes),
        "ios": bound(derived.ios),
        "bytes": bound(derived.bytes),
        "written_bytes": bound(derived.written_bytes),
        "time_ns": time(derived.time),
    })
}

fn bound(bound: Bound) -> Value {
    let (word, n) = match bound {
        Bound::Exactly(n) => ("exactly", Some(n)),
        Bound::About(n) => ("about", Some(n)),
        Bound::AtMost(n) => ("at_most", Some(n)),
        Bound::Unbounded => ("unbounded", None),
        Bound::Unknown => ("unknown", None),
    };
    value!({ "bound": word, "n": n })
}

fn time(time: Time) -> Value {
    let (word, time) = match time {
        Time::Exactly(time) => ("exactly", time),
        Time::AtMost(time) => ("at_most", time),
        Time::AtLeast(time) => ("at_least", time),
    };
    value!({ "bound": word, "n": time })
}

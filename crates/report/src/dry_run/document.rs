//! The dry run as one JSON document.
//!
//! Data in: as for the text. Data out: the workload as typed and as resolved, where it goes, and the sums. It must not
//! say less than the text.

use super::DryRun;
use super::derive::{Bound, Derived, Time};
use super::placement::{PlacedFile, PlacedWorker};
use fathom_core::run::{Target, Warning};
use fathom_core::workload::{Workload, Written};
use serde::Serialize;
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
    let placed = placement.map_or(&[][..], |placement| &placement.jobs);
    let jobs = dry_run.workload.jobs.iter().zip(placed);
    let document = Document {
        schema: SCHEMA,
        written: dry_run.written,
        workload: dry_run.workload,
        target: placement.map(|placement| &placement.target),
        jobs: jobs
            .map(|(job, placed)| JobDocument {
                name: &job.name,
                workers: &placed.workers,
            })
            .collect(),
        files: placement.map_or(&[], |placement| &placement.files),
        totals: totals(&derived),
        warnings: dry_run.warnings,
    };
    crate::json::pretty(&document)
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'a str,
    written: &'a Written,
    workload: &'a Workload,
    target: Option<&'a Target>,
    jobs: Vec<JobDocument<'a>>,
    files: &'a [PlacedFile],
    totals: Value,
    warnings: &'a [Warning],
}

#[derive(Serialize)]
struct JobDocument<'a> {
    name: &'a str,
    workers: &'a [PlacedWorker],
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

//! The dry run as one JSON document.
//!
//! Data in: as for the text. Data out: the workload as typed and as resolved, where it goes, and the sums. It must not
//! say less than the text.

use super::DryRun;
use super::derive::{Bound, Derived, Time};
use super::placement::{PlacedFile, PlacedJob, Placement};
use fathom_core::run::{Target, Warning};
use fathom_core::workload::{Job, Workload, Written};
use serde::{Serialize, Serializer};
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
    let document = Document {
        schema: SCHEMA,
        written: dry_run.written,
        workload: dry_run.workload,
        target: placement.map(|Placement { target, .. }| target),
        jobs: Jobs {
            jobs: &dry_run.workload.jobs,
            placed: placement.map_or(&[], |placement| &placement.jobs),
        },
        files: Files(placement.map_or(&[], |placement| &placement.files)),
        totals: totals(&derived),
        warnings: dry_run.warnings,
    };
    crate::json::pretty(&document)
}

/// Written piece by piece: with many sections the parts in memory would be many times the text.
#[derive(Serialize)]
struct Document<'a> {
    schema: &'a str,
    written: &'a Written,
    workload: &'a Workload,
    target: Option<&'a Target>,
    jobs: Jobs<'a>,
    files: Files<'a>,
    totals: Value,
    warnings: &'a [Warning],
}

struct Jobs<'a> {
    jobs: &'a [Job],
    placed: &'a [PlacedJob],
}

impl Serialize for Jobs<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let jobs = self.jobs.iter().zip(self.placed);
        serializer.collect_seq(jobs.map(|(job, placed)| of_job(job, placed)))
    }
}

struct Files<'a>(&'a [PlacedFile]);

impl Serialize for Files<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(of_file))
    }
}

#[derive(Serialize)]
struct JobDocument<'a> {
    name: &'a str,
    workers: Vec<WorkerDocument>,
}

#[derive(Serialize)]
struct WorkerDocument {
    regions: Vec<Region>,
    amount_bytes: u64,
}

#[derive(Serialize)]
struct Region {
    offset_bytes: u64,
    size_bytes: u64,
}

#[derive(Serialize)]
struct FileDocument {
    path: String,
    size_bytes: Option<u64>,
    need_bytes: u64,
    filled_bytes: u64,
    reserved_bytes: u64,
}

fn of_job<'a>(job: &'a Job, placed: &PlacedJob) -> JobDocument<'a> {
    let region = |&(offset_bytes, size_bytes): &(u64, u64)| Region {
        offset_bytes,
        size_bytes,
    };
    let workers = placed.workers.iter().map(|worker| WorkerDocument {
        regions: worker.regions.iter().map(region).collect(),
        amount_bytes: worker.amount_bytes,
    });
    JobDocument {
        name: &job.name,
        workers: workers.collect(),
    }
}

fn of_file(file: &PlacedFile) -> FileDocument {
    FileDocument {
        path: file.path.display().to_string(),
        size_bytes: file.size_bytes,
        need_bytes: file.need_bytes,
        filled_bytes: file.filled_bytes,
        reserved_bytes: file.reserved_bytes,
    }
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

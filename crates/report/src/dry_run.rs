//! A workload before it runs: every setting that matters, and what follows from them.
//!
//! Data in: a workload as resolved and, where its files are known, what they give it. Data out: text, or JSON. It must
//! not open anything.

mod derive;
mod document;
mod job;
mod placement;

pub use document::{SCHEMA, json};
pub use placement::{PlacedFile, PlacedJob, PlacedWorker, Placement};

use crate::document::content::{Block, Document};
use crate::document::run::facts::warnings;
use crate::words::{duration, plural, told_if_any, when};
use crate::{Style, terminal};
use derive::{Bound, Derived, Layout, Time};
use fathom_core::run::Warning;
use fathom_core::units::{Bytes, Nanos};
use fathom_core::workload::{Workload, Written};

/// All that is known before the run.
#[derive(Debug, Clone, Copy)]
pub struct DryRun<'a> {
    /// The workload as typed.
    pub written: &'a Written,
    /// As resolved.
    pub workload: &'a Workload,
    /// On its files; `None` where it does not fit them.
    pub placement: Option<&'a Placement>,
    /// What to know before it runs.
    pub warnings: &'a [Warning],
}

/// The dry run as text. With a placement, shares of a file's size become bytes.
pub fn render(dry_run: DryRun<'_>, style: Style) -> String {
    let DryRun {
        workload, placement, ..
    } = dry_run;
    let on = placement.map(|placement| format!("on {}", placement.target.description));
    let mut document = Document::titled(on.unwrap_or_default());
    for (index, job) in workload.jobs.iter().enumerate() {
        let placed = placement.and_then(|placement| placement.jobs.get(index));
        document.add(&job.name, job::blocks(job, placed));
    }
    let derived = derived(&Derived::of(workload, placement));
    document.add("in all", [Block::Facts(derived)]);
    document.add("", warnings(dry_run.warnings));
    terminal::render(&document, style)
}

fn derived(derived: &Derived) -> Vec<(&'static str, String)> {
    let bytes = |amount: Bound| bound(amount, |bytes| Bytes(bytes).to_string());
    let done = match derived.ios {
        Bound::Unbounded | Bound::Unknown => bytes(derived.bytes),
        ios => format!(
            "{}, {}",
            bound(ios, |ios| plural(ios, "I/O")),
            bytes(derived.bytes)
        ),
    };
    let time = match derived.time {
        Time::Exactly(ns) => duration(ns),
        Time::AtMost(ns) => format!("at most {}", duration(ns)),
        Time::AtLeast(Nanos(0)) => String::from("until the work is done"),
        Time::AtLeast(ns) => format!("{} and until the rest of the work is done", duration(ns)),
    };
    let mut facts = derived.files.as_ref().map_or_else(Vec::new, files);
    facts.extend([
        ("workers", derived.workers.to_string()),
        (
            "in flight",
            format!("at most {}", plural(derived.in_flight, "I/O")),
        ),
        ("buffers", format!("{} of memory", Bytes(derived.buffer_bytes))),
        ("to be done", done),
        ("to be written", bytes(derived.written_bytes)),
        ("time", time),
    ]);
    facts
}

/// What is done to files.
fn files(files: &Layout) -> Vec<(&'static str, String)> {
    let changes = [(files.new, "to be made"), (files.extended, "to be extended")];
    let changes = told_if_any(changes, |n| n.to_string());
    let changes = when(!changes.is_empty(), || format!(" ({changes})"));
    let mut facts = vec![("files", format!("{}{changes}", files.all))];
    let before = [
        (files.filled_bytes, "written"),
        (files.reserved_bytes, "reserved"),
    ];
    let before = told_if_any(before, |bytes| Bytes(bytes).to_string());
    facts.extend((!before.is_empty()).then_some(("laid out before", before)));
    facts
}

fn bound(bound: Bound, words: impl Fn(u64) -> String) -> String {
    match bound {
        Bound::Exactly(0) => String::from("nothing"),
        Bound::Exactly(n) => words(n),
        Bound::About(n) => format!("about {}", words(n)),
        Bound::AtMost(n) => format!("at most {}", words(n)),
        Bound::Unbounded => String::from("as much as the disk takes in the time"),
        Bound::Unknown => String::from("as much as the files hold"),
    }
}

#[cfg(test)]
mod tests;

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

use crate::Style;
use crate::style::Look;
use crate::text::{Page, warnings};
use crate::words::{duration, plural};
use derive::{Bound, Derived, Time};
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
    let mut page = Page::new(style);
    if let Some(placement) = placement {
        page.painted(Look::Bold, &format!("on {}", placement.target.description), 2);
        page.gap();
    }
    for (index, job) in workload.jobs.iter().enumerate() {
        job::render(
            &mut page,
            job,
            placement.and_then(|placement| placement.jobs.get(index)),
        );
        page.gap();
    }
    derived(&mut page, &Derived::of(workload, placement));
    warnings(&mut page, dry_run.warnings);
    page.finish()
}

fn derived(page: &mut Page, derived: &Derived) {
    page.painted(Look::Bold, "in all", 2);
    let mut say = |label: &str, text: &str| page.paragraph(&format!("  {label}: {text}"), 4);
    if let Some(files) = &derived.files {
        let changes = [(files.new, "to be made"), (files.extended, "to be extended")];
        let changes = changes.iter().filter(|(n, _)| *n > 0);
        let changes: Vec<String> = changes.map(|(n, what)| format!("{n} {what}")).collect();
        let mut text = files.all.to_string();
        if !changes.is_empty() {
            text = format!("{text} ({})", changes.join(", "));
        }
        say("files", &text);
        let parts = [
            (files.filled_bytes, "written"),
            (files.reserved_bytes, "reserved"),
        ];
        let parts = parts.iter().filter(|(bytes, _)| *bytes > 0);
        let parts: Vec<String> = parts
            .map(|&(bytes, how)| format!("{} {how}", Bytes(bytes)))
            .collect();
        if !parts.is_empty() {
            say("laid out before", &parts.join(", "));
        }
    }
    say("workers", &derived.workers.to_string());
    say(
        "in flight",
        &format!("at most {}", plural(derived.in_flight, "I/O")),
    );
    say("buffers", &format!("{} of memory", Bytes(derived.buffer_bytes)));
    say("to be done", &done(derived));
    say(
        "to be written",
        &bound(derived.written_bytes, |bytes| Bytes(bytes).to_string()),
    );
    let time = match derived.time {
        Time::Exactly(ns) => duration(ns),
        Time::AtMost(ns) => format!("at most {}", duration(ns)),
        Time::AtLeast(Nanos(0)) => String::from("until the work is done"),
        Time::AtLeast(ns) => format!("{} and until the rest of the work is done", duration(ns)),
    };
    say("time", &time);
}

/// I/Os and bytes in one line.
fn done(derived: &Derived) -> String {
    let bytes = bound(derived.bytes, |bytes| Bytes(bytes).to_string());
    match derived.ios {
        Bound::Unbounded | Bound::Unknown => bytes,
        ios => format!("{}, {bytes}", bound(ios, |ios| plural(ios, "I/O"))),
    }
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

//! What limited a load, by its own figures: three lines and a table, where nothing else was recorded.
//!
//! Data in: an [`Outline`]. Data out: blocks and lines. It must not judge.

use super::super::content::Block;
use super::percent;
use super::usage::{TOLD_MAX, captioned, told};
use crate::words::plural;
use fathom_analysis::outline::{Outline, Pace};
use fathom_core::units::{Nanos, three_digits};

/// From this share of the time of I/Os on a limit of a model is told.
const HELD_MIN: f64 = 0.1;

/// What limited it, what disturbed it, what to do.
pub(crate) fn lines(outline: &Outline) -> Vec<String> {
    let held = outline.held.iter().filter(|(_, share)| *share >= HELD_MIN);
    let held =
        held.map(|(limit, share)| format!("{limit}, which held I/Os for {} of their time", percent(*share)));
    let short = outline.usage.short();
    let mut each: Vec<String> = held.take(TOLD_MAX).collect();
    each.extend(short.iter().take(TOLD_MAX).map(|row| told(row)));
    let is_limited = !each.is_empty();
    let limited = if is_limited {
        each.join("; ")
    } else {
        unlimited(outline)
    };
    let is_run = outline.disturbed.is_some();
    let disturbed = match outline.disturbed {
        None => String::from("not known: points keep means, and no record of their I/Os"),
        Some(found) if found.seconds == 0 => {
            String::from("nothing that its seconds show: in none an I/O took far longer than in those before")
        }
        Some(found) => format!(
            "in {} an I/O took far longer than in those before, the longest {}; why is not known, since neither its I/Os nor the requests \
             of its devices were recorded",
            plural(found.seconds, "second"),
            Nanos(found.lat_ns_max)
        ),
    };
    let faster = is_limited
        .then_some("a disk or a machine with a higher limit (fathom plan), or fewer and larger I/Os");
    let record = is_run.then_some("record it (fathom run --record) to see what its I/Os waited for");
    let remedy: Vec<&str> = faster.into_iter().chain(record).collect();
    let mut lines = vec![
        format!("What limited it: {limited}."),
        format!("What disturbed it: {disturbed}."),
    ];
    if remedy.is_empty() {
        lines.push(String::from(
            "What to do: see the conclusions; a single point with --record shows what its I/Os waited for.",
        ));
    } else {
        lines.push(format!("What to do: {}.", remedy.join("; ")));
    }
    lines
}

fn unlimited(outline: &Outline) -> String {
    match outline.pace {
        Pace::Kept => {
            String::from("its own pace: it got what it asked for, and reached no limit that is known")
        }
        Pace::Behind { ios } => format!(
            "not known: {} were due and not sent at its end, and no limit that is known was reached",
            plural(ios, "I/O")
        ),
        Pace::AsAnswered => format!(
            "nothing that its figures show: with {} in flight on average it reached no limit that is known",
            three_digits(outline.in_flight)
        ),
    }
}

/// The table of utilization, saturation and errors.
pub(crate) fn table(outline: &Outline) -> Option<Block> {
    let usage = &outline.usage;
    let caption = if outline.disturbed.is_some() {
        format!(
            "of the load itself, {} of {}; counters of the machine were not recorded",
            plural(usage.readings, "reading"),
            Nanos(usage.step_ns)
        )
    } else {
        format!(
            "of the load itself, a reading a point: {}; counters of the machine were not recorded",
            plural(usage.readings, "point")
        )
    };
    captioned(usage, caption)
}

/// The lines as a list, for a page.
pub(crate) fn lead(outline: &Outline) -> Block {
    Block::List(lines(outline))
}

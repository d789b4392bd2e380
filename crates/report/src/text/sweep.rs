//! A sweep as text for a terminal: what was measured on what, the conclusions with their evidence, the matrix.
//!
//! Data in: a plan, its results, the conclusions, what the terminal can show. Data out: lines of at most its width. It must
//! not judge, nor know where the sweep is stored.

mod matrix;

use crate::Style;
use crate::style::Look;
use crate::text::Page;
use crate::words::{duration, load, paragraphs, plural};
use fathom_analysis::sweep::findings::Conclusions;
use fathom_core::run::Status;
use fathom_core::sweep::{SweepPlan, SweepResults, Timing};
use fathom_core::units::{Bytes, Nanos};

/// The whole text.
pub fn sweep(plan: &SweepPlan, results: &SweepResults, conclusions: &Conclusions, style: Style) -> String {
    let mut page = Page::new(style);
    title(&mut page, plan, results, conclusions);
    page.gap();
    page.painted(Look::Bold, "Conclusions", 2);
    for paragraph in paragraphs(plan, results, conclusions) {
        page.gap();
        page.labelled(Look::Bold, &format!("{}:", paragraph.title), &paragraph.text);
        for evidence in &paragraph.evidence {
            page.paragraph(&format!("  - {evidence}"), 4);
        }
    }
    matrix::render(&mut page, plan, results);
    page.finish()
}

fn title(page: &mut Page, plan: &SweepPlan, results: &SweepResults, conclusions: &Conclusions) {
    let version = &plan.build.version;
    let on = &plan.target.description;
    page.painted(
        Look::Bold,
        &format!("fathom {version}: sweep {} on {on}", plan.name),
        2,
    );
    match results.status {
        Status::Complete => {}
        Status::Running => page.labelled(
            Look::Yellow,
            "unfinished:",
            "the sweep is under way or was killed.",
        ),
        Status::Interrupted => {
            page.labelled(Look::Yellow, "interrupted:", "the results are those up to then.");
        }
        Status::Failed => page.labelled(
            Look::Red,
            "failed:",
            "points could not be measured, or had I/O errors; see below.",
        ),
    }
    if !plan.about.is_empty() {
        page.paragraph(&plan.about, 2);
    }
    if plan.target.modelled {
        page.paragraph("The disk is a model and the time virtual.", 2);
    }
    page.paragraph(&axes(plan), 2);
    page.paragraph(&counts(plan, conclusions), 2);
}

/// The matrix in words.
fn axes(plan: &SweepPlan) -> String {
    let axes = &plan.axes;
    let mut loads: Vec<String> = Vec::new();
    for &random in &axes.random {
        let order = if random { "random" } else { "sequential" };
        loads.push(String::from(order));
    }
    let list = |values: &mut dyn Iterator<Item = String>| values.collect::<Vec<_>>().join(", ");
    let mixes = match axes.read_percent.as_slice() {
        [one] => load(false, *one)
            .replace("sequential", "")
            .trim_start_matches([',', ' '])
            .to_owned(),
        mixes => format!("{} % reads", list(&mut mixes.iter().map(ToString::to_string))),
    };
    format!(
        "{}; {mixes}; blocks of {}; depth {} a thread; {} threads; {}",
        loads.join(" and "),
        list(&mut axes.block_size_bytes.iter().map(|&size| Bytes(size).to_string())),
        list(&mut axes.iodepth.iter().map(ToString::to_string)),
        list(&mut axes.threads.iter().map(ToString::to_string)),
        timing(plan.timing),
    )
}

fn timing(timing: Timing) -> String {
    let parts = [
        (timing.idle_ns, "idle"),
        (timing.warmup_ns, "of warm-up"),
        (timing.duration_ns, "counted"),
        (timing.cooldown_ns, "of cooldown"),
    ];
    let parts = parts.into_iter().filter(|(ns, _)| *ns > 0);
    let parts = parts.map(|(ns, what)| format!("{} {what}", duration(Nanos(ns))));
    parts.collect::<Vec<_>>().join(", ")
}

fn counts(plan: &SweepPlan, conclusions: &Conclusions) -> String {
    let counts = conclusions.counts;
    let parts = [
        (counts.measured, "measured"),
        (counts.inferred, "inferred"),
        (counts.failed, "failed"),
        (counts.pending, "not yet measured"),
    ];
    let parts = parts.into_iter().filter(|(number, _)| *number > 0);
    let parts: Vec<String> = parts.map(|(number, what)| format!("{number} {what}")).collect();
    let repeats = if plan.repeats > 1 {
        format!(", {} times each", plan.repeats)
    } else {
        String::new()
    };
    format!(
        "{}: {}{repeats}",
        plural(u64::from(counts.planned), "point"),
        parts.join(", ")
    )
}

#[cfg(test)]
mod tests;

//! What was found about a run: what limits it, its spikes, what averages hid.
//!
//! Data in: an [`Explanation`] and the I/Os around its worst spikes. Data out: blocks. It must not judge.

pub(super) mod distributions;
mod groups;
mod lead;
pub(crate) mod outline;
mod ranges;
pub(super) mod spikes;
pub(crate) mod usage;

use super::Reader;
use super::content::{Block, Document, Table};
use super::origin::{modelled, on};
use crate::explanation::Evidence;
use fathom_analysis::explain::Explanation;
use fathom_analysis::outline::Outline;
use fathom_analysis::usage::Usage;
use fathom_core::run::Run;
use groups::{Group, groups};

/// Reasons for a limit that are given without being asked for.
const REASONS_SHORT: usize = 1;

/// Where there is nothing to look at, and what to do about it.
const NO_EVIDENCE: &str = "There is no evidence to explain this run by: nothing says what its I/Os waited for. Record it with \
                           fathom run --record, or its device with fathom record.";

/// The explanation alone, for a terminal, with as much evidence as asked for.
pub(crate) fn document(
    run: &Run,
    explanation: &Explanation,
    outline: Option<&Outline>,
    evidence: &Evidence,
) -> Document {
    let target = &run.summary.target;
    let on = on(&target.description);
    let mut document = Document::titled(format!("fathom {}{on}", run.build.version));
    document.add("", modelled(target).map(Block::Text));
    if explanation.has_no_evidence() {
        let text = Block::Text(String::from(NO_EVIDENCE));
        document.add("", [Block::Gap, text]);
        if let Some(outline) = outline {
            let lines = outline::lines(outline).into_iter().map(Block::Text);
            document.add("", std::iter::once(Block::Gap).chain(lines));
            document.add("Utilization, saturation, errors", outline::table(outline));
        }
    }
    let lead = lead::lines(explanation).into_iter();
    let lead: Vec<Block> = lead.map(Block::Text).collect();
    if !lead.is_empty() {
        document.add("", std::iter::once(Block::Gap).chain(lead));
    }
    let whole = *evidence == Evidence::All;
    document.add(
        "Utilization, saturation, errors",
        usage::blocks(&explanation.usage),
    );
    document.add("Limits", in_short(explanation, whole));
    document.add("Disturbances", spikes::told(explanation, evidence));
    document.add(
        "Averages against truth",
        distributions::blocks(explanation, Reader::Terminal),
    );
    document.add("Not in the record", missing(explanation));
    document
}

/// What a server's history of a machine says, for a terminal.
pub(crate) fn of_history(title: String, usage: &Usage) -> Document {
    let mut document = Document::titled(title);
    let lead = usage::lines(usage).into_iter().map(Block::Text);
    document.add("", std::iter::once(Block::Gap).chain(lead));
    document.add("Utilization, saturation, errors", usage::blocks(usage));
    document.add("Whose I/O it was", usage::pods(usage));
    document.add("What such averages cannot show", usage::hidden(usage));
    document
}

/// What limited it and what disturbed it, for a page.
pub(super) fn lead(explanation: &Explanation) -> Option<Block> {
    let lines = lead::lines(explanation);
    (!lines.is_empty()).then_some(Block::List(lines))
}

pub(super) fn limits(explanation: &Explanation) -> Vec<Block> {
    in_short(explanation, true)
}

/// The limits; with the figures and all reasons where the `whole` is asked for.
fn in_short(explanation: &Explanation, whole: bool) -> Vec<Block> {
    let groups = groups(&explanation.limits);
    groups.iter().flat_map(|group| limit(group, whole)).collect()
}

fn limit(group: &Group<'_>, whole: bool) -> Vec<Block> {
    let mut blocks = vec![Block::Heading(group.title())];
    let figures = group.figures();
    if whole && !figures.is_empty() {
        let table = Table::new(1, ["figure", "value"], figures);
        blocks.push(Block::Table(table.on_terminal(|layout| layout.sentence = true)));
    }
    let reasons = if whole { usize::MAX } else { REASONS_SHORT };
    blocks.push(Block::List(group.entries(reasons)));
    blocks
}

pub(super) fn missing(explanation: &Explanation) -> Option<Block> {
    let missing = Some(explanation.missing.clone());
    missing.filter(|missing| !missing.is_empty()).map(Block::List)
}

/// A share as a percentage: without decimals from 10 % on, and never 0 where it is not.
pub(crate) fn percent(share: f64) -> String {
    match share * 100.0 {
        p if p >= 10.0 => format!("{p:.0} %"),
        p if p >= 0.095 => format!("{p:.1} %"),
        p if p > 0.0 => format!("{p:.4} %"),
        _ => String::from("0 %"),
    }
}

//! What was found about a run: what limits it, its spikes, what averages hid.
//!
//! Data in: an [`Explanation`] and the I/Os around its worst spikes. Data out: blocks. It must not judge.

pub(super) mod distributions;
mod groups;
mod ranges;
pub(super) mod spikes;

use super::Reader;
use super::content::{Block, Document, Table};
use super::origin::{modelled, on};
use fathom_analysis::explain::Explanation;
use fathom_core::run::Run;
use groups::{Group, groups};

/// Where there is nothing to look at, and what to do about it.
const NO_EVIDENCE: &str = "There is no evidence to explain this run by: nothing says what its I/Os waited for. Record it with \
                           fathom run --record, or its device with fathom record.";

/// The explanation alone, for a terminal.
pub(crate) fn document(run: &Run, explanation: &Explanation) -> Document {
    let target = &run.summary.target;
    let on = on(&target.description);
    let mut document = Document::titled(format!("fathom {}{on}", run.build.version));
    document.add("", modelled(target).map(Block::Text));
    if explanation.has_no_evidence() {
        let text = Block::Text(String::from(NO_EVIDENCE));
        document.add("", [Block::Gap, text]);
    }
    document.add("What limits it", limits(explanation));
    document.add("Spikes", spikes::told(explanation));
    document.add(
        "Averages against truth",
        distributions::blocks(explanation, Reader::Terminal),
    );
    document.add("Not in the record", missing(explanation));
    document
}

pub(super) fn limits(explanation: &Explanation) -> Vec<Block> {
    groups(&explanation.limits).iter().flat_map(limit).collect()
}

fn limit(group: &Group<'_>) -> Vec<Block> {
    let mut blocks = vec![Block::Heading(group.title())];
    let figures = group.figures();
    if !figures.is_empty() {
        let table = Table::new(1, ["figure", "value"], figures);
        blocks.push(Block::Table(table.on_terminal(|layout| layout.sentence = true)));
    }
    blocks.push(Block::List(group.entries()));
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

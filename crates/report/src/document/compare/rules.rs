//! What was asked not to be (`--fail-if`), and how it came out.
//!
//! Data in: rules and figures. Data out: blocks, lines. It must not judge.

use super::super::content::{Block, Notice};
use super::words::{figure, interval};
use crate::compared::CompareReport;
use fathom_analysis::compare::{Outcome, Ruled};

pub(super) fn blocks(report: &CompareReport<'_>) -> Vec<Block> {
    let each = report.ruled.iter().map(|ruled| {
        let text = line(report, ruled);
        match ruled.outcome {
            Outcome::Broken => Block::Notice(Notice::Failed, text),
            Outcome::Undecided if report.strict => Block::Notice(Notice::Failed, text),
            Outcome::Undecided => Block::Notice(Notice::Warning, text),
            Outcome::Kept => Block::Text(text),
        }
    });
    each.collect()
}

/// A rule on a figure in a line: `p99 > +5% is shown: read p99 changes by +6.1 to +9.0 %`.
pub(crate) fn line(report: &CompareReport<'_>, ruled: &Ruled) -> String {
    let judged = &report.judged[ruled.figure];
    let seen = match &judged.difference {
        Some(found) => {
            let (low, high) = found.interval(0.05 / report.ruled.len().max(1) as f64);
            format!("changes by {}", interval(report, judged, low, high))
        }
        None => String::from("has one repeat on a side, which shows nothing"),
    };
    let outcome = match ruled.outcome {
        Outcome::Broken => "shown",
        Outcome::Kept => "shown not to be",
        Outcome::Undecided => "not decided",
    };
    format!("{} is {outcome}: {} {seen}", ruled.rule.text, figure(judged))
}

fn lines(report: &CompareReport<'_>, outcome: Outcome) -> Vec<String> {
    let some = report.ruled.iter().filter(|ruled| ruled.outcome == outcome);
    some.map(|ruled| line(report, ruled)).collect()
}

pub(crate) fn broken(report: &CompareReport<'_>) -> Vec<String> {
    lines(report, Outcome::Broken)
}

pub(crate) fn undecided(report: &CompareReport<'_>) -> Vec<String> {
    lines(report, Outcome::Undecided)
}

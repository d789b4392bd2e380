//! An explanation as text for a terminal and as JSON: what limited a run, where its spikes came from, what averages hid.
//!
//! Data in: an [`Explanation`], the run for its title, what the terminal can show. Data out: lines of at most its width, or
//! one JSON document. It must not judge.

pub(crate) mod groups;
pub(crate) mod limits;
mod ranges;
pub(crate) mod spikes;
pub(crate) mod truths;

use crate::Style;
use crate::style::Look;
use crate::text::Page;
use fathom_analysis::explain::Explanation;
use fathom_core::run::Run;

/// Where there is nothing to look at, and what to do about it.
const NO_EVIDENCE: &str = "There is no evidence to explain this run by: nothing says what its I/Os waited for. Record it with \
                           fathom run --record, or its device with fathom record.";

/// The explanation on a terminal.
pub fn text(run: &Run, explanation: &Explanation, style: Style) -> String {
    let mut page = Page::new(style);
    let target = &run.summary.target.description;
    let on = if target.is_empty() {
        String::new()
    } else {
        format!(" on {target}")
    };
    page.painted(Look::Bold, &format!("fathom {}{on}", run.build.version), 2);
    if run.summary.target.modelled {
        page.paragraph("The disk is a model and the time virtual.", 2);
    }
    if explanation.has_no_evidence() {
        page.gap();
        page.paragraph(NO_EVIDENCE, 2);
    }
    limits::render(&mut page, &explanation.limits);
    spikes::render(&mut page, explanation.spikes.as_ref());
    truths::render(&mut page, &explanation.truth);
    if !explanation.missing.is_empty() {
        page.gap();
        page.painted(Look::Bold, "Not in the record", 2);
        for missing in &explanation.missing {
            page.paragraph(&format!("  {missing}"), 4);
        }
    }
    page.finish()
}

/// The explanation as one JSON document, indented, with a newline at its end.
///
/// # Panics
/// Never: an explanation has only strings for keys and nothing else that JSON cannot say.
pub fn json(explanation: &Explanation) -> String {
    let mut text =
        serde_json::to_string_pretty(explanation).expect("an explanation has only strings for keys");
    text.push('\n');
    text
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

#[cfg(test)]
mod tests;

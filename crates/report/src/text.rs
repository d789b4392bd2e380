//! A run or a sweep as text for a terminal: what a person understands at a glance, then the details.

use crate::{Style, document, terminal};
use fathom_analysis::sweep::findings::Conclusions;
use fathom_core::run::Run;
use fathom_core::sweep::{SweepPlan, SweepResults};

pub use document::run::facts::error_texts;

/// The report of a run.
pub fn render(run: &Run, style: Style) -> String {
    terminal::render(&document::run::told(run), style)
}

/// The report of a sweep.
pub fn sweep(plan: &SweepPlan, results: &SweepResults, conclusions: &Conclusions, style: Style) -> String {
    terminal::render(&document::sweep::told(plan, results, conclusions), style)
}

#[cfg(test)]
mod tests;

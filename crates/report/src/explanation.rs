//! An explanation on its own, as text for a terminal and as JSON.

use crate::{Style, document, json, terminal};
use fathom_analysis::explain::Explanation;
use fathom_core::run::Run;

/// The explanation on a terminal.
pub fn text(run: &Run, explanation: &Explanation, style: Style) -> String {
    terminal::render(&document::explained::document(run, explanation), style)
}

/// The explanation as one JSON document, indented, with a newline at its end.
pub fn json(explanation: &Explanation) -> String {
    json::pretty(explanation)
}

#[cfg(test)]
mod tests;

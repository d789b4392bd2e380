//! An explanation on its own, as text for a terminal and as JSON.

use crate::{Style, document, json, terminal};
use fathom_analysis::explain::Explanation;
use fathom_core::run::Run;

/// Which evidence is told.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Evidence {
    /// None: what it comes to.
    #[default]
    None,
    /// That of the disturbances with these numbers, from 1, as the table has them.
    Of(Vec<usize>),
    /// All there is, that of the limits as well.
    All,
}

impl Evidence {
    pub(crate) fn is_of(&self, number: usize) -> bool {
        match self {
            Self::None => false,
            Self::Of(numbers) => numbers.contains(&number),
            Self::All => true,
        }
    }
}

/// The explanation on a terminal, with as much evidence as asked for.
pub fn text(run: &Run, explanation: &Explanation, evidence: &Evidence, style: Style) -> String {
    terminal::render(&document::explained::document(run, explanation, evidence), style)
}

/// The explanation as one JSON document, indented, with a newline at its end.
pub fn json(explanation: &Explanation) -> String {
    json::pretty(explanation)
}

#[cfg(test)]
pub(crate) mod tests;

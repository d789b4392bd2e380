//! An explanation on its own, as text for a terminal and as JSON.

use crate::{Style, document, json, terminal};
use fathom_analysis::explain::Explanation;
use fathom_analysis::outline::Outline;
use fathom_analysis::usage::Usage;
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
/// `outline`: what is told where there is no evidence.
pub fn text(
    run: &Run,
    explanation: &Explanation,
    outline: Option<&Outline>,
    evidence: &Evidence,
    style: Style,
) -> String {
    terminal::render(
        &document::explained::document(run, explanation, outline, evidence),
        style,
    )
}

/// What a server's history of a machine says, on a terminal.
pub fn history(title: &str, usage: &Usage, style: Style) -> String {
    terminal::render(&document::explained::of_history(title.to_owned(), usage), style)
}

/// The same as one JSON document.
pub fn history_json(usage: &Usage) -> String {
    #[derive(serde::Serialize)]
    struct History<'a> {
        schema: &'static str,
        #[serde(flatten)]
        usage: &'a Usage,
        hidden: Vec<String>,
    }
    json::pretty(&History {
        schema: "fathom.use/1",
        usage,
        hidden: usage.hidden(),
    })
}

/// The explanation as one JSON document, indented, with a newline at its end.
pub fn json(explanation: &Explanation) -> String {
    json::pretty(explanation)
}

#[cfg(test)]
pub(crate) mod tests;

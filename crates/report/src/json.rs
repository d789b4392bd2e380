//! The summary of a run as one JSON document: what `--json` prints.
//!
//! Data in: a run. Data out: JSON that always parses; what is no number (a rate over no time) is `null`. It must
//! not add or rename anything: the document is [`fathom_core::run::Summary`].

use fathom_core::run::Run;

/// The summary, indented, with a newline at its end.
///
/// # Panics
/// Never: a summary has only strings for keys and nothing else that JSON cannot say.
pub fn summary(run: &Run) -> String {
    let mut text = serde_json::to_string_pretty(&run.summary).expect("a summary has only strings for keys");
    text.push('\n');
    text
}

#[cfg(test)]
mod tests;

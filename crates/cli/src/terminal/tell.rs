//! Findings on stderr, where no report will have them.
//!
//! Data in: warnings, refusals. Data out: a line for each. It must not judge, nor know when it is called for.

use crate::terminal;
use fathom_core::run::Warning;
use fathom_dialect::{Diagnostic, Severity};
use fathom_session::{Refused, with_causes};
use std::path::Path;

/// What to know before trusting the numbers, each with its remedy.
pub(crate) fn warnings(warnings: &[Warning]) {
    for warning in warnings {
        terminal::warning(&warning.in_full());
    }
}

/// What the dialect found, without notes where it is `quiet`.
pub(crate) fn findings<'a>(findings: impl IntoIterator<Item = &'a Diagnostic>, quiet: bool) {
    for finding in findings {
        if !(quiet && finding.severity == Severity::Note) {
            terminal::say(&finding.to_string());
        }
    }
}

/// Where a run is kept, as something that stays.
pub(crate) fn kept(dir: Option<&Path>) -> Vec<String> {
    dir.map(|dir| format!("the run in {}", dir.display()))
        .into_iter()
        .collect()
}

/// Says where a run is kept, and what can be done with it: `purpose`, by a `command` on its directory.
pub(crate) fn place(dir: Option<&Path>, quiet: bool, purpose: &str, command: &str) {
    if let (Some(place), false) = (dir.map(Path::display), quiet) {
        terminal::say(&format!(
            "recorded in {place}; {purpose}:\n  fathom {command} {place}"
        ));
    }
}

/// The same of a run whose report was printed.
pub(crate) fn place_of_run(dir: Option<&Path>, quiet: bool) {
    place(dir, quiet, "to print this again", "show");
}

/// What ended a command: each refusal by itself.
pub(crate) fn error(error: &anyhow::Error) {
    match error.downcast_ref::<Refused>() {
        Some(Refused(refusals)) => {
            for refusal in refusals {
                terminal::error(&format!("refused: {refusal}"));
            }
        }
        None => terminal::error(&with_causes(error)),
    }
}

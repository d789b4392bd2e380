//! Findings on stderr, where no report will have them.
//!
//! Data in: warnings, refusals. Data out: a line for each. It must not judge, nor know when it is called for.

use crate::exit::Exit;
use crate::terminal;
use fathom_core::run::Warning;
use fathom_observe::safety::Refusal;

/// What to know before trusting the numbers, each with its remedy.
pub(crate) fn warnings(warnings: &[Warning]) {
    for warning in warnings {
        terminal::warning(&fathom_report::in_full(warning));
    }
}

/// Why nothing was touched, and how the program ends then.
pub(crate) fn refused(refusals: &[Refusal]) -> Exit {
    for refusal in refusals {
        terminal::error(&format!("refused: {refusal}"));
    }
    Exit::Refused
}

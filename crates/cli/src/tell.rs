//! Findings on stderr, where no report will have them.
//!
//! Data in: warnings, refusals. Data out: a line for each. It must not judge, nor know when it is called for.

use crate::terminal;
use fathom_core::run::Warning;
use fathom_session::{Refused, with_causes};

/// What to know before trusting the numbers, each with its remedy.
pub(crate) fn warnings(warnings: &[Warning]) {
    for warning in warnings {
        terminal::warning(&fathom_report::in_full(warning));
    }
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

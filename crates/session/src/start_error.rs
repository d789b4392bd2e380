//! Why a run could not start, and what to do.
//!
//! Data in: the engine's error. Data out: one message with its remedy. It must not start anything.

use fathom_analysis::failures::start_remedy;
use fathom_core::run::StartStep;
use fathom_engine::StartFailure;
use fathom_engine::run::RunError;
use fathom_observe::SystemRoot;
use fathom_observe::limits::{aio_exhausted, io_uring_blocked};

/// The message for `error`.
pub(crate) fn explain(system: &SystemRoot, error: &RunError) -> String {
    let remedy = match error {
        RunError::Start { failure, .. } => remedy(system, failure),
        RunError::Thread(_) => Some(String::from(
            "Use fewer workers (numjobs=), or raise the limit (ulimit -u)",
        )),
        _ => None,
    };
    match remedy {
        Some(remedy) => format!("{error}. {remedy}"),
        None => error.to_string(),
    }
}

fn remedy(system: &SystemRoot, failure: &StartFailure) -> Option<String> {
    let error = &failure.source;
    let advice = match failure.what {
        StartStep::SetUpUring => io_uring_blocked(system, error),
        StartStep::SetUpAio => aio_exhausted(system, error),
        _ => None,
    };
    if let Some(advice) = advice {
        return Some(advice.to_string());
    }
    start_remedy(Some(failure.what), error.raw_os_error()?).map(str::to_owned)
}

#[cfg(test)]
mod tests;

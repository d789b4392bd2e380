//! A small run for tests.

use fathom_core::run::{JobSummary, Run, RunError, Status};
use fathom_testkit::make;

/// A run that ended so, with so many errors.
pub(crate) fn run(status: Status, errors: u64) -> Run {
    let error = RunError {
        what: String::from("read"),
        errno: 5,
        message: String::from("Input/output error"),
        count: errors,
        path: String::from("F"),
        offset_bytes: 0,
        length_bytes: 4096,
    };
    let job = JobSummary {
        errors: (errors > 0).then_some(error).into_iter().collect(),
        ..JobSummary::default()
    };
    Run {
        status,
        ..make::run(Vec::new(), vec![job])
    }
}

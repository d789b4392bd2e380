//! Exits of runs.

use super::exit;
use crate::exit::Exit;
use crate::fixture::run;
use fathom_core::run::Status;

#[test]
fn errors_that_were_borne_still_show_in_the_exit() {
    assert_eq!(exit(&run(Status::Complete, 0)), Exit::Done);
    assert_eq!(exit(&run(Status::Complete, 3)), Exit::Errors);
    assert_eq!(exit(&run(Status::Failed, 0)), Exit::Errors);
}

#[test]
fn an_interruption_outranks_errors() {
    assert_eq!(exit(&run(Status::Interrupted, 3)), Exit::Interrupted);
}

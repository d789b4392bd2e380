//! How runs end.

use super::{End, end_of};
use crate::testing::run;
use fathom_core::run::Status;

#[test]
fn errors_that_were_borne_still_show_in_the_exit() {
    assert_eq!(end_of(&run(Status::Complete, 0)), End::Done);
    assert_eq!(end_of(&run(Status::Complete, 3)), End::Errors);
    assert_eq!(end_of(&run(Status::Failed, 0)), End::Errors);
}

#[test]
fn an_interruption_outranks_errors() {
    assert_eq!(end_of(&run(Status::Interrupted, 3)), End::Interrupted);
}

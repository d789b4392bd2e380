//! How the program ends.

use std::process::ExitCode;

/// The exit codes, the same for all commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// All was done as asked.
    Done = 0,
    /// Done, but with I/O errors, a failed verification, or a record that could not be kept.
    Errors = 1,
    /// The request was wrong or cannot be carried out; nothing was touched.
    Wrong = 2,
    /// Refused for safety; nothing was touched.
    Refused = 3,
    /// Ended by a signal; the results so far were kept.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

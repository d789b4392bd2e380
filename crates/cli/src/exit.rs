//! How the program ends: the one table of exit codes.
//!
//! Data in: how a command went. Data out: a number. It must not print; `--help` and the README say what [`TABLE`] says.

use fathom_disk::nbd::ListenError;
use fathom_door::OutputError;
use fathom_door::backing::BackingError;
use fathom_door::socket::SocketError;
use fathom_observe::safety::Refusal;
use fathom_session::{End, Refused, Touched, touched};
use std::process::ExitCode;

/// The exit codes, the same for all commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// All was done as asked.
    Done,
    /// Begun, and not all of it came out as asked.
    Errors,
    /// The request was wrong or cannot be carried out; nothing was touched.
    Wrong,
    /// Refused for safety, or a command line of diskspd's that is none; nothing was touched.
    Refused,
    /// Ended by a signal; the results so far were kept.
    Interrupted,
    /// As the tool that it stands for would end (`fathom fio`).
    Foreign(u8),
}

impl Exit {
    /// Its number.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Errors => 1,
            Self::Wrong => 2,
            Self::Refused => 3,
            Self::Interrupted => 130,
            Self::Foreign(code) => code,
        }
    }
}

/// Each code, and what it means.
pub(crate) const TABLE: [(u8, &str); 5] = [
    (0, "done"),
    (
        1,
        "done, but not all of it: I/O errors, a failed verification, an incomplete record, nothing to explain, a --fail-if \
         of `fathom compare` that is shown, or an error after something was written, which is named",
    ),
    (
        2,
        "the request was wrong or cannot be carried out, nothing was touched",
    ),
    (
        3,
        "refused for safety, nothing was touched; of `fathom diskspd` also, as of diskspd, a command line that is none",
    ),
    (
        130,
        "interrupted (SIGINT, SIGTERM, SIGHUP), the results so far are kept",
    ),
];

impl From<End> for Exit {
    fn from(end: End) -> Self {
        match end {
            End::Done => Self::Done,
            End::Errors => Self::Errors,
            End::Interrupted => Self::Interrupted,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// The table as a paragraph, for help.
pub(crate) fn sentence() -> String {
    let rows = TABLE.iter().map(|(code, meaning)| format!("{code} {meaning}"));
    format!("Exit codes: {}.", rows.collect::<Vec<_>>().join("; "))
}

/// How a run that could not start ends, and its message: files may have been laid out for it.
pub(crate) fn not_started(message: &str, left: Vec<String>) -> (Exit, String) {
    if left.is_empty() {
        return (Exit::Wrong, message.to_owned());
    }
    let error = touched(&anyhow::anyhow!("{message}"), left);
    (Exit::Errors, error.to_string())
}

/// How the program ends after `error`.
pub(crate) fn of_error(error: &anyhow::Error) -> Exit {
    if error.is::<Touched>() {
        return Exit::Errors;
    }
    if error.is::<Refused>() {
        return Exit::Refused;
    }
    let refused = |cause: &(dyn std::error::Error + 'static)| {
        cause.is::<Refusal>()
            || cause.downcast_ref().is_some_and(BackingError::is_refusal)
            || cause.downcast_ref().is_some_and(ListenError::is_refusal)
            || cause.downcast_ref().is_some_and(SocketError::is_refusal)
            || output_error(cause).is_some_and(OutputError::is_refusal)
    };
    if error.chain().any(refused) {
        Exit::Refused
    } else {
        Exit::Wrong
    }
}

/// The refusal of an output, by itself or within an error of the system.
fn output_error<'a>(cause: &'a (dyn std::error::Error + 'static)) -> Option<&'a OutputError> {
    let within = || cause.downcast_ref::<std::io::Error>()?.get_ref()?.downcast_ref();
    cause.downcast_ref().or_else(within)
}

#[cfg(test)]
mod tests;

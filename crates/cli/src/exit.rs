//! How the program ends: the one table of exit codes, and what makes an error one after which nothing is as it was.
//!
//! Data in: how a command went. Data out: a number. It must not print; `--help` and the README say what [`TABLE`] says.

use fathom_door::OutputError;
use std::fmt;
use std::process::ExitCode;

/// The exit codes, the same for all commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// All was done as asked.
    Done = 0,
    /// Begun, and not all of it came out as asked.
    Errors = 1,
    /// The request was wrong or cannot be carried out; nothing was touched.
    Wrong = 2,
    /// Refused for safety, or a command line of diskspd's that is none; nothing was touched.
    Refused = 3,
    /// Ended by a signal; the results so far were kept.
    Interrupted = 130,
}

/// Each code, and what it means.
pub(crate) const TABLE: [(u8, &str); 5] = [
    (0, "done"),
    (
        1,
        "done, but not all of it: I/O errors, a failed verification, an incomplete record, nothing to explain, or an error \
         after something was written, which is named",
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

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// The table as a paragraph, for help.
pub(crate) fn sentence() -> String {
    let rows = TABLE.iter().map(|(code, meaning)| format!("{code} {meaning}"));
    format!("Exit codes: {}.", rows.collect::<Vec<_>>().join("; "))
}

/// An error after something was written: what went wrong, and what stays.
#[derive(Debug)]
pub(crate) struct Touched {
    error: String,
    left: Vec<String>,
}

impl fmt::Display for Touched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.error)?;
        if self.left.is_empty() {
            return Ok(());
        }
        let end = if self.error.ends_with('.') { "" } else { "." };
        write!(f, "{end} What was written before stays: {}", self.left.join(", "))
    }
}

impl std::error::Error for Touched {}

/// Errors of a step behind the first one that writes.
pub(crate) trait AfterTouching<T> {
    /// The same, as an error that ends the program with [`Exit::Errors`]. `left`: what stays of what was written.
    ///
    /// # Errors
    /// Those that there were.
    fn after_touching(self, left: impl FnOnce() -> Vec<String>) -> anyhow::Result<T>;
}

impl<T> AfterTouching<T> for anyhow::Result<T> {
    fn after_touching(self, left: impl FnOnce() -> Vec<String>) -> Self {
        self.map_err(|error| {
            if error.is::<Touched>() {
                error
            } else {
                touched(&error, left())
            }
        })
    }
}

/// Errors of a step behind one that wrote `left`, or, where that is nothing, behind none.
pub(crate) fn behind<T>(left: &[String], result: anyhow::Result<T>) -> anyhow::Result<T> {
    if left.is_empty() {
        return result;
    }
    result.after_touching(|| left.to_vec())
}

/// How a run that could not start ends, and its message: files may have been laid out for it.
pub(crate) fn not_started(message: &str, left: Vec<String>) -> (Exit, String) {
    let error = anyhow::anyhow!("{message}");
    if left.is_empty() {
        return (Exit::Wrong, error.to_string());
    }
    (Exit::Errors, touched(&error, left).to_string())
}

/// `error`, after something was written of which `left` stays.
pub(crate) fn touched(error: &anyhow::Error, left: Vec<String>) -> anyhow::Error {
    Touched {
        error: with_causes(error),
        left,
    }
    .into()
}

/// The same error in other words.
pub(crate) fn reworded(error: anyhow::Error, words: impl Fn(&str) -> String) -> anyhow::Error {
    match error.downcast::<Touched>() {
        Ok(Touched { error, left }) => Touched {
            error: words(&error),
            left,
        }
        .into(),
        Err(error) => anyhow::anyhow!(words(&with_causes(&error))),
    }
}

/// How the program ends after `error`.
pub(crate) fn of_error(error: &anyhow::Error) -> Exit {
    if error.is::<Touched>() {
        return Exit::Errors;
    }
    let refusal = error
        .chain()
        .filter_map(output_error)
        .any(OutputError::is_refusal);
    if refusal { Exit::Refused } else { Exit::Wrong }
}

/// The refusal of an output, by itself or within an error of the system.
fn output_error<'a>(cause: &'a (dyn std::error::Error + 'static)) -> Option<&'a OutputError> {
    let within = || cause.downcast_ref::<std::io::Error>()?.get_ref()?.downcast_ref();
    cause.downcast_ref().or_else(within)
}

/// An error with its causes, outermost first; those that a message already quotes are not repeated.
pub(crate) fn with_causes(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if text.is_empty() {
            text = cause;
        } else if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

#[cfg(test)]
mod tests;

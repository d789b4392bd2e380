//! Errors after which something is no more as it was.

use std::fmt;

/// An error after something was written: what went wrong, and what stays.
#[derive(Debug)]
pub struct Touched {
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
pub trait AfterTouching<T> {
    /// The same, as an error that is no wrong request. `left`: what stays of what was written.
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
///
/// # Errors
/// Those that there were.
pub fn behind<T>(left: &[String], result: anyhow::Result<T>) -> anyhow::Result<T> {
    if left.is_empty() {
        return result;
    }
    result.after_touching(|| left.to_vec())
}

/// `error`, after something was written of which `left` stays.
pub fn touched(error: &anyhow::Error, left: Vec<String>) -> anyhow::Error {
    Touched {
        error: with_causes(error),
        left,
    }
    .into()
}

/// The same error in other words.
pub fn reworded(error: anyhow::Error, words: impl Fn(&str) -> String) -> anyhow::Error {
    match error.downcast::<Touched>() {
        Ok(Touched { error, left }) => Touched {
            error: words(&error),
            left,
        }
        .into(),
        Err(error) => anyhow::anyhow!(words(&with_causes(&error))),
    }
}

/// An error with its causes, outermost first; those that a message already quotes are not repeated.
pub fn with_causes(error: &anyhow::Error) -> String {
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

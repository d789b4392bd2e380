//! A program that a job runs in place of I/O (`ioengine=exec`).

use crate::units::Nanos;
use serde::{Deserialize, Serialize};

/// A program, and how it is run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// Its path, or its name in one of the directories of `PATH`; empty: there is none.
    pub path: String,
    /// What it is given, with spaces between: see [`Program::words`].
    pub arguments: String,
    /// How long it may take to end after SIGTERM; then comes SIGKILL.
    #[serde(rename = "grace_ns")]
    pub grace: Nanos,
    /// What it prints goes into files that are named after the job.
    pub keeps_output: bool,
}

impl Default for Program {
    /// No program; a second to end, and files.
    fn default() -> Self {
        Self {
            path: String::new(),
            arguments: String::new(),
            grace: Nanos::from_secs(1),
            keeps_output: true,
        }
    }
}

impl Program {
    /// What it is given in the job of this name and runtime (0 s: without one). As with fio, spaces divide arguments and
    /// nothing quotes them; `%r` is the runtime in whole seconds, `%n` the job's name.
    pub fn words(&self, job: &str, runtime: Option<Nanos>) -> Vec<String> {
        let seconds = (runtime.unwrap_or_default().0 / 1_000_000_000).to_string();
        let words = self.arguments.split_ascii_whitespace();
        // A name with a space in it stays one argument.
        words
            .map(|word| word.replace("%r", &seconds).replace("%n", job))
            .collect()
    }
}

#[cfg(test)]
mod tests;

//! A command that was run several times: the document beside its run directories.

use super::CommandSummary;
use serde::{Deserialize, Serialize};

/// The schema of [`Repeats`], raised when a field changes its meaning or goes away.
pub const REPEATS_SCHEMA: &str = "fathom.repeats/1";

/// Several runs of a command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Repeats {
    /// [`REPEATS_SCHEMA`].
    pub schema: String,
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// Runs before, that were not looked at.
    pub warmups: u32,
    /// What the shell did before each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prepare: Option<String>,
    /// What it did after each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cleanup: Option<String>,
    /// In the order in which they were.
    pub runs: Vec<RepeatedRun>,
    /// How long they took, in nanoseconds; `None`: there were none.
    pub duration_ns: Option<Spread>,
    /// Runs that took far longer or shorter than the others: from 0, as in `runs`.
    pub outliers: Vec<usize>,
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepeatedRun {
    /// Its run directory, within that of all.
    pub dir: String,
    pub command: CommandSummary,
}

/// How a figure is spread over several measurements.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Spread {
    pub n: usize,
    /// Arithmetic mean.
    pub mean: f64,
    /// Sample standard deviation; 0 of one.
    pub stddev: f64,
    pub min: f64,
    /// The middle one, or between the two in the middle.
    pub median: f64,
    pub max: f64,
}

impl Repeats {
    /// The run whose duration is nearest to the median: the one to look at.
    pub fn nearest_to_median(&self) -> Option<&RepeatedRun> {
        let median = self.duration_ns?.median;
        let away = |run: &RepeatedRun| (run.command.duration_ns() as f64 - median).abs();
        self.runs.iter().min_by(|a, b| away(a).total_cmp(&away(b)))
    }
}

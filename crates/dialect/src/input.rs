//! What goes into a parse and what comes out.

use crate::diagnostic::{Diagnostic, Severity};
use fathom_core::workload::{Workload, Written};
use std::fmt;
use std::path::Path;

/// One job file that the caller has read.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// Its path as typed: it begins every message, and `include` is relative to it.
    pub name: &'a str,
    pub text: &'a str,
}

/// Reads the file that an `include` line names; the error is a text for people.
pub type Include<'a> = &'a dyn Fn(&Path) -> Result<String, String>;

/// The value of an environment variable, if it is set.
pub type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

/// What a job file may ask about its surroundings.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// Reads included files.
    pub include: Include<'a>,
    /// Answers `${NAME}`.
    pub env: Environment<'a>,
    /// The value of `$pagesize`, in bytes.
    pub pagesize: u64,
    /// The value of `$mb_memory`: the size of memory in MiB.
    pub memory_mib: u64,
    /// The value of `$ncpus`.
    pub ncpus: u64,
    /// The seed of jobs that do not want to repeat themselves (`randrepeat=0`).
    pub seed: u64,
    /// Only the sections of these names (`--section`); empty: all.
    pub sections: &'a [String],
}

impl fmt::Debug for Context<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("pagesize", &self.pagesize)
            .field("memory_mib", &self.memory_mib)
            .field("ncpus", &self.ncpus)
            .field("seed", &self.seed)
            .field("sections", &self.sections)
            .finish_non_exhaustive()
    }
}

/// One flag of a command line, which means the job-file option of the same name. Its value is taken as it is:
/// no comment is cut off, no variable replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Override {
    /// The option: name, alias or unique prefix, without dashes.
    pub name: String,
    /// Its value; `None` for a bare flag.
    pub value: Option<String>,
}

impl Override {
    /// `--name=value`.
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            value: Some(value.into()),
        }
    }
    /// A bare `--name`.
    pub fn bare(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            value: None,
        }
    }
}

/// What a parse found.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    /// The workload, or `None` when there is any error.
    pub workload: Option<Workload>,
    /// The workload as written, for the record.
    pub written: Written,
    /// Errors, warnings and notes, in the order found.
    pub diagnostics: Vec<Diagnostic>,
}

impl Parsed {
    /// The errors among the diagnostics; not empty exactly if there is no workload.
    pub fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics.iter().filter(|d| d.severity == Severity::Error)
    }
}

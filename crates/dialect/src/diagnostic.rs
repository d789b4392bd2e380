//! What a parse has to say: errors, warnings and notes, each with its place and what to do about it.
//!
//! Data in: findings of the other stages. Data out: a list without repetitions, in the order found.
//! It must not know where the text is shown.

use std::collections::BTreeSet;
use std::fmt;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing: the run does what was asked, in another way or with an option that changes nothing.
    Note,
    /// The run goes ahead, but something asked for is missing or probably not meant.
    Warning,
    /// No workload comes out.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

/// Where a finding is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// In a job file.
    Text {
        /// The name of the file as the caller gave it.
        file: String,
        /// 1-based.
        line: u32,
        /// 1-based, in characters.
        column: u32,
    },
    /// A flag of the command line, without its dashes.
    Flag(String),
    /// A word of a command line whose flags have their values glued on (diskspd's), as typed.
    Word(String),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text { file, line, column } => write!(f, "{file}:{line}:{column}"),
            Self::Flag(name) => write!(f, "--{name}"),
            Self::Word(word) => f.write_str(word),
        }
    }
}

/// One finding. Prints as `jobs.fio:12:1: error: unknown option `blocksze`; did you mean `blocksize`?`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// Where it is; `None`: in the workload as a whole.
    pub at: Option<Place>,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub remedy: Option<String>,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(at) = &self.at {
            write!(f, "{at}: ")?;
        }
        write!(f, "{}: {}", self.severity, self.message)?;
        match &self.remedy {
            Some(remedy) => write!(f, "; {remedy}"),
            None => Ok(()),
        }
    }
}

/// A finding before its place is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) message: String,
    pub(crate) remedy: Option<String>,
}

impl Fault {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            remedy: None,
        }
    }
    pub(crate) fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }
}

/// Collects findings. An error is said once a place; all else once, at its first place, however many jobs it concerns.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    list: Vec<Diagnostic>,
    said: BTreeSet<Diagnostic>,
    /// Options whose support was already explained.
    explained: BTreeSet<&'static str>,
}

impl Findings {
    pub(crate) fn add(&mut self, severity: Severity, at: Option<Place>, fault: Fault) {
        let found = Diagnostic {
            severity,
            at,
            message: fault.message,
            remedy: fault.remedy,
        };
        let mut key = found.clone();
        if severity != Severity::Error {
            key.at = None;
        }
        if self.said.insert(key) {
            self.list.push(found);
        }
    }
    pub(crate) fn error(&mut self, at: impl Into<Option<Place>>, fault: Fault) {
        self.add(Severity::Error, at.into(), fault);
    }
    pub(crate) fn warning(&mut self, at: impl Into<Option<Place>>, fault: Fault) {
        self.add(Severity::Warning, at.into(), fault);
    }
    pub(crate) fn note(&mut self, at: impl Into<Option<Place>>, fault: Fault) {
        self.add(Severity::Note, at.into(), fault);
    }
    pub(crate) fn error_if(&mut self, is_so: bool, wrong: &str, remedy: &str) {
        if is_so {
            self.error(None, Fault::new(wrong).remedy(remedy));
        }
    }
    pub(crate) fn warning_if(&mut self, is_so: bool, wrong: &str, remedy: &str) {
        if is_so {
            self.warning(None, Fault::new(wrong).remedy(remedy));
        }
    }
    /// Says once a run why `option` is not carried out to the letter.
    pub(crate) fn explain(
        &mut self,
        severity: Severity,
        option: &'static str,
        at: &Place,
        fault: impl FnOnce() -> Fault,
    ) {
        if self.explained.insert(option) {
            self.add(severity, Some(at.clone()), fault());
        }
    }
    pub(crate) fn has_errors(&self) -> bool {
        self.list.iter().any(|d| d.severity == Severity::Error)
    }
    pub(crate) fn into_list(self) -> Vec<Diagnostic> {
        self.list
    }
}

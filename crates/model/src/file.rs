//! A model file: a modelled machine in TOML, whole or as changes to a target in words.
//!
//! ```toml
//! base = "azure/P15,vm=Standard_DS3_v2"   # optional: what is not said below is as there
//! seed = 7
//!
//! [guest]
//! submit_ns = 4000
//!
//! [disk.read]                             # of all disks; [[disks]] gives each for itself
//! quantiles_us = [[0, 2000], [50, 2400], [99, 5600], [100, 48000]]
//!
//! [[disk.outages]]
//! when = "once"
//! at_ns = 60_000_000_000
//! duration_ns = 3_000_000_000
//! ```
//!
//! The fields are those of [`Spec`]. Tables change what the base has field by field; all else (numbers, lists)
//! replaces it. `"off"` in place of the tables `vm`, `host_cache`, `seek`, `crowding`, `handling` and `burst` takes them away. Without a base
//! the file is a whole specification; `disk_count` then says how many of `[disk]` there are (1).
//!
//! Data in: the text of a file, the catalogue for its base. Data out: a valid [`Spec`], or what is wrong in which line.
//! And back: [`to_toml`]. It must not know where the text is from.

mod merge;

use crate::catalog::{Catalog, nearest};
use crate::spec::Spec;
use crate::target::{self, TargetError};
use crate::validate::Invalid;
use serde::Deserialize;
use std::ops::Range;
use std::path::Path;
use toml::Spanned;
use toml::de::DeTable;

/// What is wrong with a model file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    /// Something at a place in the file.
    #[error("{name}:{line}:{column}: {problem}")]
    At {
        /// The file.
        name: String,
        /// The line, from 1.
        line: usize,
        /// The character in the line, from 1.
        column: usize,
        /// What is wrong.
        problem: String,
    },
    /// Its base is no target.
    #[error("{name}:{line}:{column}: base: {source}")]
    Base {
        /// The file.
        name: String,
        /// The line, from 1.
        line: usize,
        /// The character in the line, from 1.
        column: usize,
        /// Why not.
        source: Box<TargetError>,
    },
    /// What it says as a whole cannot be run, or lacks something.
    #[error("{name}: {problem}")]
    Whole {
        /// The file.
        name: String,
        /// What is wrong.
        problem: String,
    },
    /// A field that the file does not name is at odds with what it says.
    #[error("{name}: {source}")]
    Invalid {
        /// The file.
        name: String,
        /// Which, and why.
        source: Invalid,
    },
}

/// What is wrong, and at which bytes of the text.
type Problem = (Range<usize>, String);

/// Reads a model file. `name` is for error messages; a file that changes a base and does not name itself is called by the last
/// part of it, and its base: `old.toml (azure/S30)`.
///
/// # Errors
/// The first thing that is wrong: no TOML, an unknown or missing field, a base that is no target, a value out of
/// bounds.
pub fn parse(name: &str, text: &str, catalog: &Catalog) -> Result<Spec, FileError> {
    let at = |(span, problem): Problem| place(name, text, &span, problem);
    let mut whole = DeTable::parse(text).map_err(|error| of_toml(name, text, &error))?;
    let base = match merge::take_base(whole.get_mut()).map_err(at)? {
        Some((span, words)) => {
            let base = target::parse(&words, catalog).map_err(|source| {
                let (line, column) = line_and_column(text, span.start);
                FileError::Base {
                    name: name.to_owned(),
                    line,
                    column,
                    source: Box::new(source),
                }
            })?;
            Some(to_toml(&base)?)
        }
        None => None,
    };
    // A base with nothing laid over it is that base.
    let another = base.is_some() && !whole.get_ref().is_empty() && !whole.get_ref().contains_key("name");
    let merged = match &base {
        Some(base) => {
            let table = DeTable::parse(base).map_err(|error| of_toml(name, text, &error))?;
            // Places in the base are none in the file: they point behind its end.
            merge::onto(merge::moved(table, text.len()), whole)
        }
        None => merge::standing_alone(whole),
    };
    let merged = merged.map_err(at)?;
    let mut spec = read(name, text, merged)?;
    if another {
        let file = Path::new(name).file_name().unwrap_or_default();
        spec.name = format!("{} ({})", file.display(), spec.name);
    }
    Ok(spec)
}

/// The merged table as a valid specification.
fn read(name: &str, text: &str, merged: Spanned<DeTable<'_>>) -> Result<Spec, FileError> {
    let kept = merged.get_ref().clone();
    let spec = Spec::deserialize(toml::de::Deserializer::from(merged));
    let spec = spec.map_err(|error| of_toml(name, text, &error))?;
    let invalid = |source: Invalid| match merge::place_of(&kept, &source.field, text.len()) {
        Some(span) => place(name, text, &span, source.to_string()),
        None => FileError::Invalid {
            name: name.to_owned(),
            source,
        },
    };
    spec.validate().map_err(invalid)?;
    Ok(spec)
}

/// A specification as a model file that says all of it.
///
/// # Errors
/// A number above 2^63, which no valid specification has, cannot be written in TOML.
pub fn to_toml(spec: &Spec) -> Result<String, FileError> {
    toml::to_string(spec).map_err(|error| FileError::Whole {
        name: spec.name.clone(),
        problem: error.to_string(),
    })
}

/// An error of the TOML reader, at its place, with the nearest name for an unknown one.
fn of_toml(name: &str, text: &str, error: &toml::de::Error) -> FileError {
    let mut problem = error.message().trim().replace('\n', ", ");
    for number in ["expected u64", "expected u32", "expected u8"] {
        problem = problem.replace(number, "expected a whole number");
    }
    problem = problem.replace("expected f64", "expected a number");
    if let Some(near) = suggestion(&problem) {
        problem = format!("{problem} (did you mean `{near}`?)");
    }
    match error.span() {
        Some(span) => place(name, text, &span, problem),
        None => FileError::Whole {
            name: name.to_owned(),
            problem,
        },
    }
}

/// The nearest of the names that an "unknown field `x`, expected one of `a`, `b`" expects.
fn suggestion(message: &str) -> Option<String> {
    if !message.starts_with("unknown field") && !message.starts_with("unknown variant") {
        return None;
    }
    let mut quoted = message.split('`').skip(1).step_by(2);
    let unknown = quoted.next()?;
    nearest(unknown, quoted).map(str::to_owned)
}

fn place(name: &str, text: &str, span: &Range<usize>, problem: String) -> FileError {
    let name = name.to_owned();
    // A table that is not there at all has no place; the whole file's place would say nothing.
    if span.start >= text.len() || (span.start == 0 && span.end >= text.len()) {
        return FileError::Whole { name, problem };
    }
    let (line, column) = line_and_column(text, span.start);
    FileError::At {
        name,
        line,
        column,
        problem,
    }
}

/// The line and the character in it, both from 1, of a byte of the text.
fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = before.matches('\n').count() + 1;
    (line, before[line_start..].chars().count() + 1)
}

#[cfg(test)]
mod tests;

//! Where the outputs of `fathom fio` go: stdout, or a file that the user named.
//!
//! Data in: texts as they come. Data out: the same there. A file gets its name once it is whole. What is there already is
//! replaced where it is an earlier output of fio's or fathom's, since scripts run again; anything else only where that was
//! allowed.

use crate::allowed::Allowed;
use crate::terminal;
use anyhow::Context;
use fathom_door::output::{self, Output, OutputError};
use std::io::{Read, Write};
use std::path::Path;

/// How much of a file is looked at to tell what it is.
const HEAD_BYTES: u64 = 4096;

/// What takes the texts.
#[derive(Debug)]
pub(super) enum Out {
    Stdout,
    /// Stderr, or nowhere: what a script names to be rid of them.
    Stderr,
    Nowhere,
    File(Output),
}

impl Out {
    /// `None`: stdout.
    ///
    /// # Errors
    /// The file cannot be made, or is something that must not be replaced.
    pub(super) fn open(path: Option<&Path>, force: bool, allowed: &Allowed) -> anyhow::Result<Self> {
        let Some(path) = path else { return Ok(Self::Stdout) };
        match path.to_str() {
            Some("/dev/null") => return Ok(Self::Nowhere),
            Some("/dev/stderr") => return Ok(Self::Stderr),
            _ => {}
        }
        Ok(Self::File(create(path, force, allowed, is_output)?))
    }

    /// # Errors
    /// It cannot be written.
    pub(super) fn text(&mut self, text: &str) -> anyhow::Result<()> {
        match self {
            Self::Stdout => terminal::print(text),
            Self::Stderr => {
                terminal::say(text.trim_end());
                Ok(())
            }
            Self::Nowhere => Ok(()),
            Self::File(file) => file
                .write_all(text.as_bytes())
                .context("cannot write to the file of --output"),
        }
    }

    /// All has been said.
    ///
    /// # Errors
    /// The file cannot get its name.
    pub(super) fn finish(self) -> anyhow::Result<()> {
        if let Self::File(file) = self {
            file.publish()?;
        }
        Ok(())
    }

    pub(super) fn is_stdout(&self) -> bool {
        matches!(self, Self::Stdout)
    }
}

/// Begins a file of the user's, in place of one that `ours` knows, that is empty or that may be overwritten.
///
/// # Errors
/// See [`OutputError`].
pub(crate) fn create(
    path: &Path,
    force: bool,
    allowed: &Allowed,
    ours: fn(&str) -> bool,
) -> Result<Output, OutputError> {
    let replaced = force || allowed.covers(path) || is_one(path, ours);
    Output::create(path, replaced)
}

/// Whether [`create`] would be allowed. Changes nothing.
///
/// # Errors
/// See [`OutputError`].
pub(super) fn check(
    path: &Path,
    force: bool,
    allowed: &Allowed,
    ours: fn(&str) -> bool,
) -> Result<(), OutputError> {
    output::check(path, force || allowed.covers(path) || is_one(path, ours))
}

/// Whether there is a regular file at `path` that is empty or that `ours` knows.
pub(crate) fn is_one(path: &Path, ours: fn(&str) -> bool) -> bool {
    if !std::fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file()) {
        return false;
    }
    let mut head = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(HEAD_BYTES).read_to_end(&mut head));
    read.is_ok() && (head.is_empty() || ours(&String::from_utf8_lossy(&head)))
}

/// Whether a text begins as an output of fio's does.
pub(super) fn is_output(head: &str) -> bool {
    let first = head.lines().next().unwrap_or_default();
    let terse = ["2;", "3;fio-", "4;fio-", "5;fio-"]
        .iter()
        .any(|begin| first.starts_with(begin));
    let json = head.trim_start().starts_with('{') && head.contains("\"fio version\" : \"fio-");
    terse || json || head.lines().any(|line| line.starts_with("fio-3.")) || first.starts_with("fio: ")
}

#[cfg(test)]
mod tests;

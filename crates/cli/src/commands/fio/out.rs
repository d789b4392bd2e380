//! Where the outputs of `fathom fio` go: stdout, or a file that the user named.
//!
//! Data in: texts as they come. Data out: the same there. A file gets its name once it is whole. What is there already is
//! replaced where it is an earlier output of fio's or fathom's, since scripts run again; anything else only where that was
//! allowed.

use crate::allowed::Allowed;
use crate::terminal;
use anyhow::Context;
use fathom_door::output::{self, Earlier, Output, OutputError};
use std::io::Write;
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
        Ok(Self::File(create(path, force, allowed, &is_output)?))
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

/// Whether how a file begins says that it is an earlier output.
pub(crate) type IsEarlier<'a> = &'a dyn Fn(&[u8]) -> bool;

/// Begins a file of the user's, in place of one that `ours` knows, that is empty or that may be overwritten.
///
/// # Errors
/// See [`OutputError`].
pub(crate) fn create(
    path: &Path,
    force: bool,
    allowed: &Allowed,
    ours: IsEarlier<'_>,
) -> Result<Output, OutputError> {
    if force || allowed.covers(path) {
        return Output::create(path, true);
    }
    match earlier(path, HEAD_BYTES, ours)? {
        Some(earlier) => Output::create_over(path, earlier),
        None => Output::create(path, false),
    }
}

/// Leaves `contents` as [`create`] would.
///
/// # Errors
/// See [`OutputError`].
pub(crate) fn leave(
    path: &Path,
    contents: &[u8],
    force: bool,
    allowed: &Allowed,
    ours: IsEarlier<'_>,
) -> Result<(), OutputError> {
    leave_known(path, contents, force, allowed, HEAD_BYTES, ours)
}

/// The same where more than a beginning is looked at: all of a file that has less than `look_bytes`.
///
/// # Errors
/// See [`OutputError`].
pub(super) fn leave_known(
    path: &Path,
    contents: &[u8],
    force: bool,
    allowed: &Allowed,
    look_bytes: u64,
    ours: IsEarlier<'_>,
) -> Result<(), OutputError> {
    if force || allowed.covers(path) {
        return output::leave(path, contents, true);
    }
    match earlier(path, look_bytes, ours)? {
        Some(earlier) => output::leave_over(path, contents, earlier),
        None => output::leave(path, contents, false),
    }
}

/// Whether [`create`] would be allowed. Changes nothing.
///
/// # Errors
/// See [`OutputError`].
pub(super) fn check(
    path: &Path,
    force: bool,
    allowed: &Allowed,
    ours: IsEarlier<'_>,
) -> Result<(), OutputError> {
    let replaced = force || allowed.covers(path) || earlier(path, HEAD_BYTES, ours)?.is_some();
    output::check(path, replaced)
}

/// The regular file at `path`, if it is empty or `ours` knows it.
fn earlier(path: &Path, look_bytes: u64, ours: IsEarlier<'_>) -> Result<Option<Earlier>, OutputError> {
    let found = Earlier::look(path, look_bytes).map_err(|source| OutputError::Io {
        path: path.to_path_buf(),
        source,
    })?;
    Ok(found.and_then(|(earlier, head)| (head.is_empty() || ours(&head)).then_some(earlier)))
}

/// The fields of a terse line of version 2, which does not name fio: more than any other line with semicolons has.
const TERSE_FIELDS_MIN: usize = 40;

/// Whether a text begins as an output of fio's does, and as nothing else.
pub(super) fn is_output(head: &[u8]) -> bool {
    let head = String::from_utf8_lossy(head);
    let first = head.lines().next().unwrap_or_default();
    let is_terse = ["3;fio-", "4;fio-", "5;fio-"]
        .iter()
        .any(|begin| first.starts_with(begin))
        || first.starts_with("2;") && first.split(';').count() >= TERSE_FIELDS_MIN;
    let json = head.trim_start().strip_prefix('{');
    let is_json = json.is_some_and(|rest| rest.trim_start().starts_with("\"fio version\" : \"fio-"));
    // What precedes it are lines of jobs, and of errors.
    let lines: Vec<&str> = head.lines().collect();
    let is_normal = is_job(first)
        || lines
            .array_windows()
            .any(|[version, next]| is_version(version) && next.starts_with("Starting "));
    // A run that did not begin has nothing but errors, and not many.
    let are_errors = (head.len() as u64) < HEAD_BYTES
        && lines
            .iter()
            .all(|line| line.starts_with("fio: ") && line.contains("err="));
    is_terse || is_json || is_normal || !lines.is_empty() && are_errors
}

/// `fio-3.33`, and nothing else.
fn is_version(line: &str) -> bool {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    line.strip_prefix("fio-3.")
        .is_some_and(|minor| is_number(minor.split('-').next().unwrap_or_default()))
        && !line.contains(' ')
}

/// `a: (g=0): rw=read, bs=…, ioengine=…, iodepth=…`
fn is_job(line: &str) -> bool {
    line.split_once(": (g=").is_some_and(|(_, rest)| {
        [": rw=", ", bs=", ", ioengine=", ", iodepth="]
            .iter()
            .all(|part| rest.contains(part))
    })
}

#[cfg(test)]
mod tests;

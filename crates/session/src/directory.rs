//! Where a run is kept: its directory, found and made before the run, removed where nothing came of it.
//!
//! Data in: what was asked for. Data out: an empty directory. It must not write the record; see `recorder`.

use crate::request::Output;
use anyhow::Context;
use fathom_door::own;
use fathom_store::{RUN_FILE, StoreError};
use std::path::{Path, PathBuf};

/// Where runs are kept without `-o`.
const DEFAULT_PARENT: &str = "fathom-runs";

/// A directory for a record. Dropped while nothing is in it, it is removed again, where it was not there before.
#[derive(Debug)]
pub struct Reserved {
    dir: PathBuf,
    made: bool,
}

impl std::ops::Deref for Reserved {
    type Target = Path;
    fn deref(&self) -> &Path {
        &self.dir
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        if self.made {
            // It holds a record, as a rule, and stays.
            let _removed = own::remove_directory(&self.dir);
        }
    }
}

/// The directory to use, made and empty; `None` for no record.
///
/// # Errors
/// It holds something, or cannot be made.
pub fn reserve(output: &Output, first_job: &str) -> anyhow::Result<Option<Reserved>> {
    check(output)?;
    let dir = match output {
        Output::None => return Ok(None),
        Output::Directory(dir) => dir.clone(),
        Output::Default => {
            let time = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%SZ").to_string();
            unused(&Path::new(DEFAULT_PARENT).join(format!("{time}-{}", file_name(first_job))))
        }
    };
    let made = !dir.exists();
    own::make_directories(&dir).with_context(|| {
        let name = dir.display();
        format!("cannot make the run directory {name} (choose another one with -o, or -o none for no record)")
    })?;
    check_empty(&dir)?;
    Ok(Some(Reserved { dir, made }))
}

/// Whether [`reserve`] would find the directory that was asked for free. Makes nothing.
///
/// # Errors
/// It would not.
pub fn check(output: &Output) -> anyhow::Result<()> {
    match output {
        Output::Directory(dir) if dir.is_dir() => check_empty(dir),
        Output::Directory(dir) if dir.exists() => {
            anyhow::bail!(
                "cannot make the run directory {}: it is a file (choose another one with -o, or -o none for no record)",
                dir.display()
            )
        }
        _ => Ok(()),
    }
}

fn check_empty(dir: &Path) -> anyhow::Result<()> {
    let dir = dir.to_owned();
    if dir.join(RUN_FILE).exists() {
        return Err(StoreError::RunExists { dir }.into());
    }
    let entries = std::fs::read_dir(&dir).with_context(|| format!("cannot read {}", dir.display()));
    if entries?.next().is_some() {
        return Err(StoreError::NotEmpty { dir }.into());
    }
    Ok(())
}

/// The path itself, or with a number behind it where it exists.
fn unused(path: &Path) -> PathBuf {
    let numbered = (2..).map(|n| PathBuf::from(format!("{}-{n}", path.display())));
    std::iter::once(path.to_owned())
        .chain(numbered)
        .find(|path| !path.exists())
        .unwrap_or_else(|| path.to_owned())
}

/// A job's name as part of a file name: letters, digits and a few signs, at most 40 of them.
fn file_name(job: &str) -> String {
    let keep = |letter: char| {
        if letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.') {
            letter
        } else {
            '-'
        }
    };
    job.chars().map(keep).take(40).collect()
}

#[cfg(test)]
mod tests;

//! Where a run is kept: its directory, found and made before the run, removed where nothing came of it.
//!
//! Data in: what was asked for. Data out: an empty directory. It must not write the record; see [`crate::recorder`].

use crate::args::Output;
use anyhow::Context;
use fathom_core::record::StreamKind;
use fathom_store::{RUN_FILE, SERIES_STREAM_FILE, StoreError};
use std::path::{Path, PathBuf};

/// Where runs are kept without `-o`.
const DEFAULT_PARENT: &str = "fathom-runs";

/// The directory to use, made and empty; `None` for no record.
pub(crate) fn reserve(output: &Output, first_job: &str) -> anyhow::Result<Option<PathBuf>> {
    check(output)?;
    let dir = match output {
        Output::None => return Ok(None),
        Output::Directory(dir) => dir.clone(),
        Output::Default => {
            let time = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%SZ").to_string();
            unused(&Path::new(DEFAULT_PARENT).join(format!("{time}-{}", file_name(first_job))))
        }
    };
    let name = dir.display();
    std::fs::create_dir_all(&dir).with_context(|| {
        format!("cannot make the run directory {name} (choose another one with -o, or -o none for no record)")
    })?;
    check_empty(&dir)?;
    Ok(Some(dir))
}

/// Whether [`reserve`] would find the directory that was asked for free. Makes nothing.
pub(crate) fn check(output: &Output) -> anyhow::Result<()> {
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

/// Removes a directory that [`reserve`] made and nothing was put into.
pub(crate) fn release(dir: Option<&Path>) {
    if let Some(dir) = dir {
        // It is empty, or not ours alone any more.
        drop(std::fs::remove_dir(dir));
    }
}

/// Removes a record that was only begun.
pub(crate) fn remove(dir: &Path) {
    for name in [RUN_FILE, SERIES_STREAM_FILE] {
        // What cannot be removed stays, as the record of a run that was killed.
        drop(std::fs::remove_file(dir.join(name)));
    }
    for kind in StreamKind::ALL {
        // The directory was empty when it was taken: what is in there is of this record.
        drop(std::fs::remove_dir_all(dir.join(kind.name())));
    }
    release(Some(dir));
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

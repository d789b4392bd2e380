//! Removes a run directory that came to nothing.
//!
//! Data in: a directory that a run was recorded in, or was to be. Data out: it is gone, or what is in it that no run leaves is
//! still there, and said. It removes names that it knows, never a tree.

use crate::table::temporary_name;
use crate::{HISTOGRAMS_FILE, HISTOGRAMS_SO_FAR_FILE, RUN_FILE, SERIES_FILE, SERIES_STREAM_FILE, StoreError};
use fathom_core::record::StreamKind;
use fathom_door::own;
use std::io;
use std::path::Path;

/// Removes what a run leaves in `dir`, and `dir` itself. That it is not there is no error.
///
/// # Errors
/// Something else is in it, which stays, or the system refused.
pub fn remove_run(dir: &Path) -> Result<(), StoreError> {
    match std::fs::symlink_metadata(dir) {
        Ok(found) if found.is_dir() => {}
        // A link, or anything else that no run is: what it leads to is somebody else's.
        Ok(_) => return Err(StoreError::NotOurs { dir: dir.to_owned() }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(source) => return Err(StoreError::io("look at", dir, source)),
    }
    remove_record(dir)?;
    own::remove_directory(dir).map_err(|source| match source.kind() {
        io::ErrorKind::DirectoryNotEmpty => StoreError::NotOurs { dir: dir.to_owned() },
        _ => StoreError::io("remove", dir, source),
    })
}

/// Removes what a run leaves in `dir`.
///
/// # Errors
/// The system refused.
pub fn remove_record(dir: &Path) -> Result<(), StoreError> {
    for name in [
        RUN_FILE,
        SERIES_FILE,
        SERIES_STREAM_FILE,
        HISTOGRAMS_FILE,
        HISTOGRAMS_SO_FAR_FILE,
    ] {
        for name in [name.to_owned(), temporary_name(name)] {
            let path = dir.join(name);
            own::remove(&path).map_err(|source| StoreError::io("remove", &path, source))?;
        }
    }
    for kind in StreamKind::ALL {
        remove_stream(&dir.join(kind.name()))?;
    }
    Ok(())
}

/// A folder of segments. A link to one is somebody else's.
fn remove_stream(folder: &Path) -> Result<(), StoreError> {
    if !std::fs::symlink_metadata(folder).is_ok_and(|found| found.is_dir()) {
        return Ok(());
    }
    let io = |source| StoreError::io("remove", folder, source);
    for entry in std::fs::read_dir(folder).map_err(io)? {
        let name = entry.map_err(io)?.file_name();
        if name.to_str().is_some_and(is_segment) {
            own::remove(&folder.join(name)).map_err(io)?;
        }
    }
    match own::remove_directory(folder) {
        // What else is in it stays, and the directory with it.
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
        removed => removed.map_err(io),
    }
}

/// `000001.parquet`, `000001.arrows`, `.000001.parquet.tmp`.
fn is_segment(name: &str) -> bool {
    let plain = name
        .strip_prefix('.')
        .and_then(|rest| rest.strip_suffix(".tmp"))
        .unwrap_or(name);
    let number = [".parquet", ".arrows", ".parquet.damaged"]
        .iter()
        .find_map(|form| plain.strip_suffix(form));
    number.is_some_and(|number| number.len() >= 6 && number.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests;

//! Where many paths of few directories lie.
//!
//! Data in: paths, of which thousands may be in one directory. Data out: their places without links, each directory looked at
//! once. It must not know what the paths are for. What changes meanwhile is not seen: for one look at a plan, not for its run.

use crate::root::{FileStat, SystemRoot};
use std::cell::RefCell;
use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Directories that were looked at.
pub(crate) struct Parents<'r> {
    root: &'r SystemRoot,
    known: RefCell<HashMap<PathBuf, Option<PathBuf>>>,
    stats: RefCell<HashMap<PathBuf, FileStat>>,
}

/// What is at a path, if it can be told without following it.
pub(crate) enum Plain {
    /// A file or device, at this place.
    There(PathBuf),
    /// Nothing, and it would be made at this place.
    Missing(PathBuf),
}

impl<'r> Parents<'r> {
    pub(crate) fn new(root: &'r SystemRoot) -> Self {
        Self {
            root,
            known: RefCell::default(),
            stats: RefCell::default(),
        }
    }

    /// What the directory is that something missing would be made in.
    pub(crate) fn stat(&self, directory: &Path) -> io::Result<FileStat> {
        if let Some(known) = self.stats.borrow().get(directory) {
            return Ok(*known);
        }
        let found = self.root.stat(directory)?;
        self.stats.borrow_mut().insert(directory.to_owned(), found);
        Ok(found)
    }

    /// `None`: it is a link, its directory is missing, or this is a recorded system, where links lead to numbers.
    pub(crate) fn plain(&self, path: &Path) -> Option<Plain> {
        if !self.root.is_running_system() {
            return None;
        }
        let name = path.file_name()?;
        let place = self.of(path.parent()?)?.join(name);
        match fs::symlink_metadata(path) {
            Ok(found) if found.is_symlink() => None,
            Ok(_) => Some(Plain::There(place)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Some(Plain::Missing(place)),
            Err(_) => None,
        }
    }

    fn of(&self, parent: &Path) -> Option<PathBuf> {
        if let Some(known) = self.known.borrow().get(parent) {
            return known.clone();
        }
        let here = if parent.as_os_str().is_empty() {
            Path::new(".")
        } else {
            parent
        };
        let found = fs::canonicalize(here).ok();
        self.known.borrow_mut().insert(parent.to_owned(), found.clone());
        found
    }
}

#[cfg(test)]
mod tests;

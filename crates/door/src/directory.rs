//! Directories that a load makes and removes: only such as hold nothing, and only fathom's own.
//!
//! Data in: a path that a job names. Data out: a directory made there, or removed again. What is in a directory is never
//! touched: the system removes none that holds anything. It must not know what the load is for.

use crate::mark::MARK;
use rustix::fs::XattrFlags;
use rustix::io::Errno;
use std::fs;
use std::io;
use std::path::Path;

/// What the mark of a directory says.
const MADE: &[u8] = b"2d";

/// Makes a directory, and marks it.
///
/// # Errors
/// Something is there already, or the system refused.
pub fn make(path: &Path) -> io::Result<()> {
    fs::create_dir(path)?;
    match rustix::fs::lsetxattr(path, MARK, MADE, XattrFlags::empty()) {
        // Where there is no place for a mark, it can be removed only by the run that made it.
        Ok(()) | Err(Errno::OPNOTSUPP) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Makes a directory where there is none. `false`: it was there.
///
/// # Errors
/// The system refused.
pub fn make_missing(path: &Path) -> io::Result<bool> {
    match make(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(false),
        made => made.map(|()| true),
    }
}

/// Removes an empty directory that fathom made: in this run (`made_now`), or in an earlier one. `false`: it did not make it.
///
/// # Errors
/// Something is in it, or the system refused.
pub fn remove_own(path: &Path, made_now: bool) -> io::Result<bool> {
    let mut value = [0; 8];
    let marked = match rustix::fs::lgetxattr(path, MARK, &mut value[..]) {
        Ok(length) => value[..length] == *MADE,
        Err(Errno::NODATA | Errno::OPNOTSUPP | Errno::RANGE) => false,
        Err(error) => return Err(error.into()),
    };
    if !marked && !made_now {
        return Ok(false);
    }
    fs::remove_dir(path).map(|()| true)
}

#[cfg(test)]
mod tests;

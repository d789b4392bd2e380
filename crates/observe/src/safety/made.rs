//! The mark on files that fathom made.

use rustix::fs::{XattrFlags, fgetxattr, fsetxattr};
use rustix::io::Errno;
use std::fs::File;
use std::io;

/// The extended attribute that says that fathom made a file: it may be overwritten without asking.
pub const MARK: &str = "user.fathom.made";

/// What the attribute holds; a later version may mean something else by another value.
const VALUE: &[u8] = b"1";

/// Marks a file that was just created by fathom. `false`: the file system has no user attributes (tmpfs
/// before Linux 6.6, NFS before 4.2, FAT), so the next run on this file needs `--allow-overwrite`: tell the
/// user.
///
/// # Errors
/// The attribute could not be set for another reason (no space, read-only, not the owner).
pub fn mark_made(file: &File) -> io::Result<bool> {
    match fsetxattr(file, MARK, VALUE, XattrFlags::empty()) {
        Ok(()) => Ok(true),
        Err(Errno::OPNOTSUPP) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Whether a file carries the mark.
///
/// # Errors
/// Its attributes cannot be read.
pub fn is_made(file: &File) -> io::Result<bool> {
    let mut value = [0u8; 16];
    match fgetxattr(file, MARK, &mut value[..]) {
        Ok(length) => Ok(value.get(..length) == Some(VALUE)),
        // No such attribute; no attributes at all; a longer value than any that is ours.
        Err(Errno::NODATA | Errno::OPNOTSUPP | Errno::RANGE) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

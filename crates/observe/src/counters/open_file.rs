//! Files that are read again and again.
//!
//! Duty: keep a file of `/proc` or `/sys` open and read it whole from its beginning. Data in: a path. Data out: bytes. It
//! must not know what they say.

use crate::root::SystemRoot;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// As much as most of these files hold.
const FIRST_BYTES: usize = 8 << 10;

/// More than any of these files holds; a file that grows without end is not read to it.
const MAX_BYTES: usize = 4 << 20;

/// A file that stays open.
#[derive(Debug)]
pub(super) struct OpenFile {
    file: File,
}

impl OpenFile {
    /// Opens it.
    ///
    /// # Errors
    /// It is not there, or may not be read.
    pub(super) fn open(root: &SystemRoot, path: impl AsRef<Path>) -> io::Result<Self> {
        let file = File::open(root.at(path.as_ref()))?;
        Ok(Self { file })
    }

    /// Opens it and reads it once: some files open and then refuse.
    ///
    /// # Errors
    /// It is not there, or cannot be read.
    pub(super) fn open_readable(root: &SystemRoot, path: impl AsRef<Path>) -> io::Result<Self> {
        let file = Self::open(root, path)?;
        file.read(&mut Vec::new())?;
        Ok(file)
    }

    /// What it says now; `buffer` is used for it and may grow.
    ///
    /// # Errors
    /// It cannot be read any more: `ENODEV` where its device is gone.
    pub(super) fn read<'b>(&self, buffer: &'b mut Vec<u8>) -> io::Result<&'b [u8]> {
        let mut filled = 0;
        loop {
            if filled == buffer.len() {
                if filled >= MAX_BYTES {
                    return Err(io::ErrorKind::FileTooLarge.into());
                }
                buffer.resize((filled * 2).max(FIRST_BYTES), 0);
            }
            match self.file.read_at(&mut buffer[filled..], filled as u64) {
                Ok(0) => return Ok(&buffer[..filled]),
                Ok(bytes) => filled += bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

//! Opens files of a run directory, which may come from anywhere: regular files of its own alone.
//!
//! Data in: a path. Data out: an open file, or why there is none. It must not know what is in it.

use fathom_core::units::Bytes;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

/// Opens a regular file. What else may have its name is left alone: a link may lead out of the directory, and reading a pipe or a
/// device may never end.
///
/// # Errors
/// There is none, it is something else, or the system refuses.
pub(crate) fn regular(path: &Path) -> io::Result<File> {
    let bad = |detail| Err(io::Error::new(io::ErrorKind::InvalidInput, detail));
    // Without NONBLOCK a pipe is waited for until somebody writes to it.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(Errno::LOOP) => return bad("it is a link, and links are not followed"),
        // A socket.
        Err(Errno::NXIO) => return bad("it is no regular file"),
        Err(error) => return Err(error.into()),
    };
    if !file.metadata()?.is_file() {
        return bad("it is no regular file");
    }
    Ok(file)
}

/// What a regular file of at most so many bytes holds.
///
/// # Errors
/// As [`regular`], or it is larger: it would only fill memory.
pub(crate) fn whole(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let file = regular(path)?;
    let size = file.metadata()?.len();
    if size > bytes_max {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let (size, most) = (Bytes(size), Bytes(bytes_max));
        let detail = format!("it has {size}, and no {name} has more than {most}");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, detail));
    }
    let mut bytes = Vec::new();
    // It may grow meanwhile: what is beyond is not read.
    file.take(bytes_max).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests;

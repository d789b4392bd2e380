//! What a served disk keeps its data in: memory, or a sparse file.
//!
//! Data in: a path and a size. Data out: an open file of that size. A file that is there is only taken if it was made here, which
//! a mark on it says, or the user named it as one that may be overwritten; and nobody else may have it locked. It must not know
//! what is kept.

use crate::identity;
use rustix::fs::{FallocateFlags, MemfdFlags, Mode, OFlags, SeekFrom, XattrFlags};
use rustix::io::Errno;
use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// Says that a file was made to keep a served disk, and of which size.
const MARK: &str = "user.fathom.disk";

/// Why there is no such file.
#[derive(Debug, thiserror::Error)]
pub enum BackingError {
    /// Somebody else's.
    #[error(
        "{} is there, and no disk was served from it before: name another file, or add --allow-overwrite {} if nothing in it is \
         needed", path.display(), path.display()
    )]
    NotOurs { path: PathBuf },
    /// It is no file.
    #[error("{} is {kind}: a disk is kept in a regular file", path.display())]
    WrongKind {
        path: PathBuf,
        /// What it is, with its article.
        kind: &'static str,
    },
    /// It has another size than the one asked for.
    #[error(
        "{} has {there} bytes, and the disk is to have {wanted}: leave --size out, or name another file", path.display()
    )]
    Size { path: PathBuf, there: u64, wanted: u64 },
    /// A file system is to be made over it.
    #[error(
        "--mkfs: {} holds data: leave --mkfs out to mount what is there, name another file, or add --allow-overwrite {} if \
         nothing in it is needed", path.display(), path.display()
    )]
    HoldsData { path: PathBuf },
    /// Another server has it.
    #[error("{} is locked: another disk is served from it", path.display())]
    Locked { path: PathBuf },
    /// The system refused.
    #[error("cannot {doing} {}: {source}", path.display())]
    Io {
        doing: &'static str,
        path: PathBuf,
        source: io::Error,
    },
}

impl BackingError {
    /// Whether it was refused for safety, and not by the system.
    pub fn is_refusal(&self) -> bool {
        matches!(
            self,
            Self::NotOurs { .. } | Self::WrongKind { .. } | Self::HoldsData { .. }
        )
    }
}

/// Memory of `size_bytes`, of which only what was written takes any.
///
/// # Errors
/// The system refused.
pub fn memory(name: &str, size_bytes: u64) -> io::Result<File> {
    let file = File::from(rustix::fs::memfd_create(name, MemfdFlags::CLOEXEC)?);
    file.set_len(size_bytes)?;
    Ok(file)
}

/// The size of the file at `path`, where there is one.
///
/// # Errors
/// See [`BackingError`].
pub fn size_of(path: &Path) -> Result<Option<u64>, BackingError> {
    let io = |source| failed("look at", path, source);
    let Some(held) = identity::hold(path, true).map_err(io)? else {
        return Ok(None);
    };
    if !held.identity.is_regular() {
        return Err(BackingError::WrongKind {
            path: path.to_owned(),
            kind: held.identity.in_words(),
        });
    }
    let file = held.open(OFlags::RDONLY).map_err(io)?;
    Ok(Some(file.metadata().map_err(io)?.len()))
}

/// The file at `path`, with `size_bytes`: a new sparse one where nothing is there. `overwrite`: one that was not made here may be
/// taken. It stays locked for as long as it is open.
///
/// # Errors
/// See [`BackingError`]; nothing was changed then.
pub fn file(path: &Path, size_bytes: u64, overwrite: bool) -> Result<File, BackingError> {
    let Some(there) = size_of(path)? else {
        return make(path, size_bytes);
    };
    let io = |source| failed("open", path, source);
    let held = identity::hold(path, true).map_err(io)?;
    let held = held.ok_or_else(|| io(Errno::NOENT.into()))?;
    let file = held.open(OFlags::RDWR).map_err(io)?;
    if !overwrite && !is_marked(&file) {
        return Err(BackingError::NotOurs {
            path: path.to_owned(),
        });
    }
    if there != size_bytes {
        return Err(BackingError::Size {
            path: path.to_owned(),
            there,
            wanted: size_bytes,
        });
    }
    lock(&file, path)?;
    Ok(file)
}

/// Refuses a file that something was written to: of what a guest or a copy left there, no mark tells. Where the file system does
/// not say what is written, all of it is.
///
/// # Errors
/// [`BackingError::HoldsData`], or the system refused.
pub fn refuse_data(file: &File, path: &Path) -> Result<(), BackingError> {
    match rustix::fs::seek(file, SeekFrom::Data(0)) {
        Err(Errno::NXIO) => Ok(()),
        Ok(_) => Err(BackingError::HoldsData {
            path: path.to_owned(),
        }),
        Err(error) => Err(failed("look at", path, error.into())),
    }
}

fn make(path: &Path, size_bytes: u64) -> Result<File, BackingError> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = rustix::fs::open(path, flags, Mode::from_raw_mode(0o600));
    let file = File::from(opened.map_err(|error| failed("make", path, error.into()))?);
    let sized = lock(&file, path).and_then(|()| {
        let sized = file.set_len(size_bytes);
        sized.map_err(|source| failed("give its size to", path, source))
    });
    if let Err(error) = sized {
        // It was made a moment ago, and holds nothing.
        let _removed = std::fs::remove_file(path);
        return Err(error);
    }
    // Where there is no place for a mark, the file has to be named as one that may be overwritten when it is used again.
    let _marked = rustix::fs::fsetxattr(
        &file,
        MARK,
        size_bytes.to_string().as_bytes(),
        XattrFlags::empty(),
    );
    Ok(file)
}

fn is_marked(file: &File) -> bool {
    rustix::fs::fgetxattr(file, MARK, &mut [0u8; 32][..]).is_ok()
}

fn lock(file: &File, path: &Path) -> Result<(), BackingError> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(BackingError::Locked {
            path: path.to_owned(),
        }),
        Err(TryLockError::Error(source)) => Err(failed("lock", path, source)),
    }
}

fn failed(doing: &'static str, path: &Path, source: io::Error) -> BackingError {
    BackingError::Io {
        doing,
        path: path.to_owned(),
        source,
    }
}

/// Gives a range of a served disk's data back to the system: it reads as zeros.
///
/// # Errors
/// The system refused.
pub fn punch(file: &File, offset_bytes: u64, len_bytes: u64) -> io::Result<()> {
    let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    Ok(rustix::fs::fallocate(file, flags, offset_bytes, len_bytes)?)
}

#[cfg(test)]
mod tests;

//! What a path or a handle really is, so that it can be told from whatever else may come to stand at its place.
//!
//! Data in: a path or an open file. Data out: an [`Identity`]. It changes nothing: a path is looked at through a
//! handle that can neither read nor write.

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Statx, StatxFlags, openat, statx};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::Path;

/// One file or device, whatever it is called.
#[derive(Debug, Clone, Copy)]
pub struct Identity {
    kind: FileType,
    /// Of a device node: the device that it stands for. Of anything else: the device that it is stored on.
    device: (u32, u32),
    /// 0 for a device node: many nodes may stand for one device.
    inode: u64,
    /// When it was made, where the file system keeps that: an inode's number is given again once it is free.
    born: Option<(i64, u32)>,
}

impl Identity {
    /// Of an open file, also one that was opened with `O_PATH`.
    ///
    /// # Errors
    /// The system does not tell.
    pub fn of(file: impl AsFd) -> io::Result<Self> {
        let wanted = StatxFlags::BASIC_STATS | StatxFlags::BTIME;
        let found = statx(file, "", AtFlags::EMPTY_PATH, wanted)?;
        Ok(Self::from_statx(&found))
    }

    fn from_statx(found: &Statx) -> Self {
        let kind = FileType::from_raw_mode(found.stx_mode.into());
        let node = matches!(kind, FileType::BlockDevice | FileType::CharacterDevice);
        let knows_birth = found.stx_mask & StatxFlags::BTIME.bits() != 0;
        Self {
            kind,
            device: if node {
                (found.stx_rdev_major, found.stx_rdev_minor)
            } else {
                (found.stx_dev_major, found.stx_dev_minor)
            },
            inode: if node { 0 } else { found.stx_ino },
            born: (knows_birth && !node).then_some((found.stx_btime.tv_sec, found.stx_btime.tv_nsec)),
        }
    }

    /// Whether both are one file, or nodes of one device.
    pub fn same_as(&self, other: &Self) -> bool {
        let born_alike = match (self.born, other.born) {
            (Some(one), Some(other)) => one == other,
            _ => true,
        };
        self.kind == other.kind && self.device == other.device && self.inode == other.inode && born_alike
    }

    /// Whether it is a regular file.
    pub fn is_regular(&self) -> bool {
        self.kind == FileType::RegularFile
    }

    /// Whether it is a socket's name.
    pub fn is_socket(&self) -> bool {
        self.kind == FileType::Socket
    }

    /// Whether both are on one file system.
    pub(crate) fn is_beside(&self, other: &Self) -> bool {
        self.device == other.device
    }

    /// What tells it from all others that are or were on its file system, as a text.
    pub(crate) fn on_its_file_system(&self) -> String {
        let (seconds, nanoseconds) = self.born.unwrap_or_default();
        format!("{} {seconds}.{nanoseconds:09}", self.inode)
    }

    /// What it is, in words with their article.
    pub fn in_words(&self) -> &'static str {
        match self.kind {
            FileType::RegularFile => "a regular file",
            FileType::Directory => "a directory",
            FileType::Symlink => "a symbolic link",
            FileType::Fifo => "a named pipe (FIFO)",
            FileType::Socket => "a socket",
            FileType::CharacterDevice => "a character device",
            FileType::BlockDevice => "a block device",
            FileType::Unknown => "of no known kind",
        }
    }
}

/// A hold on what a path leads to, or on the link itself: it can neither be read nor written through, but nothing can take its
/// place any more.
#[derive(Debug)]
pub(crate) struct Held {
    handle: OwnedFd,
    pub(crate) identity: Identity,
}

/// Takes hold of what is at `path`; `None`: nothing is.
pub(crate) fn hold(path: &Path, follow: bool) -> io::Result<Option<Held>> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let flags = if follow { flags } else { flags | OFlags::NOFOLLOW };
    let handle = match openat(rustix::fs::CWD, path, flags, Mode::empty()) {
        Ok(handle) => handle,
        Err(Errno::NOENT) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let identity = Identity::of(&handle)?;
    Ok(Some(Held { handle, identity }))
}

impl Held {
    /// Opens what is held, and nothing else.
    pub(crate) fn open(&self, flags: OFlags) -> io::Result<File> {
        reopen(&self.handle, flags)
    }
}

/// Opens again what a handle is of, whatever its path leads to by now.
pub(crate) fn reopen(handle: impl AsFd, flags: OFlags) -> io::Result<File> {
    let handle = handle.as_fd();
    let again = format!("/proc/self/fd/{}", handle.as_raw_fd());
    match openat(rustix::fs::CWD, again, flags | OFlags::CLOEXEC, Mode::empty()) {
        Ok(file) => Ok(File::from(file)),
        Err(Errno::NOENT) => Err(io::Error::new(
            io::ErrorKind::NotFound,
            "it cannot be opened by its handle: /proc is not mounted, or it was removed",
        )),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests;

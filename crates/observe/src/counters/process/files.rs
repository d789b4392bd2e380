//! The files of processes.
//!
//! Duty: read a file of one process whole. Data in: `/proc`, a number and a name. Data out: bytes. To open a file of `/proc`
//! costs more than to read it, so those of some processes stay open. It must not know what they say.

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::collections::HashMap;
use std::os::fd::OwnedFd;

/// How many files stay open: few beside the 1,024 that most systems allow, and most machines have no more processes of
/// their own than that.
const OPEN_MAX: usize = 128;

/// Which file of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Name {
    Stat,
    Io,
    Schedstat,
}

impl Name {
    fn of(self) -> &'static str {
        match self {
            Self::Stat => "stat",
            Self::Io => "io",
            Self::Schedstat => "schedstat",
        }
    }
}

/// The directory of processes, and what is open in it.
#[derive(Debug)]
pub(super) struct Files {
    proc: OwnedFd,
    kept: HashMap<(u32, Name), OwnedFd>,
}

impl Files {
    pub(super) fn new(proc: OwnedFd) -> Self {
        Self {
            proc,
            kept: HashMap::new(),
        }
    }

    /// What the file says now. With `keep` it stays open, if there is room.
    ///
    /// # Errors
    /// The process has ended (`ENOENT`, `ESRCH`), or its file may not be read.
    pub(super) fn read<'b>(
        &mut self,
        pid: u32,
        name: Name,
        keep: bool,
        buffer: &'b mut [u8],
    ) -> Result<&'b [u8], Errno> {
        // A file of an ended process refuses forever, and never speaks of another process of the same number.
        if let Some(file) = self.kept.get(&(pid, name)) {
            let length = rustix::io::pread(file, &mut *buffer, 0)?;
            return Ok(&buffer[..length]);
        }
        let file = self.open(&format!("{pid}/{}", name.of()))?;
        let length = rustix::io::pread(&file, &mut *buffer, 0)?;
        if keep && self.kept.len() < OPEN_MAX {
            self.kept.insert((pid, name), file);
        }
        Ok(&buffer[..length])
    }

    /// Whether this program may read such a file of itself.
    ///
    /// # Errors
    /// It may not, or this kernel has none.
    pub(super) fn probe(&self, name: Name, buffer: &mut [u8]) -> Result<(), Errno> {
        let file = self.open(&format!("self/{}", name.of()))?;
        rustix::io::pread(&file, buffer, 0).map(|_| ())
    }

    fn open(&self, path: &str) -> Result<OwnedFd, Errno> {
        rustix::fs::openat(&self.proc, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
    }

    /// Closes what is open of a process that is gone.
    pub(super) fn close(&mut self, pid: u32) {
        for name in [Name::Stat, Name::Io, Name::Schedstat] {
            self.kept.remove(&(pid, name));
        }
    }
}

#[cfg(test)]
mod tests;

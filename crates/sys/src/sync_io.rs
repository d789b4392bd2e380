//! One I/O, one system call: what the synchronous engines do.
//!
//! Data in: an open file, a buffer, an offset in bytes. Data out: the bytes moved, or the errno. Nothing is
//! retried or completed here: a short transfer is the caller's to see. It must not know slots or queues.
//! The calls go straight to the kernel (`rustix`'s `linux_raw`), without a C library between.

use crate::outcome;
use fathom_core::backend::{Errno, Op, Outcome};
use rustix::fs::{FallocateFlags, FileType, SeekFrom};
use rustix::io as sys;
use std::fs::File;
use std::io::{IoSlice, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

pub use rustix::io::ReadWriteFlags;

/// `pread`: reads into `buffer` from `offset`.
///
/// # Errors
/// The call's errno.
#[inline]
pub fn pread(file: &File, buffer: &mut [u8], offset: u64) -> Outcome {
    outcome(sys::pread(file, buffer, offset))
}

/// `pwrite`: writes `buffer` at `offset`.
///
/// # Errors
/// The call's errno.
#[inline]
pub fn pwrite(file: &File, buffer: &[u8], offset: u64) -> Outcome {
    outcome(sys::pwrite(file, buffer, offset))
}

/// `lseek` and `read`: two system calls, and the file's position moves.
///
/// # Errors
/// The errno of the call that failed.
#[inline]
pub fn seek_read(file: &File, buffer: &mut [u8], offset: u64) -> Outcome {
    seek(file, offset)?;
    outcome(sys::read(file, buffer))
}

/// `lseek` and `write`: two system calls, and the file's position moves.
///
/// # Errors
/// The errno of the call that failed.
#[inline]
pub fn seek_write(file: &File, buffer: &[u8], offset: u64) -> Outcome {
    seek(file, offset)?;
    outcome(sys::write(file, buffer))
}

/// `preadv` with one buffer.
///
/// # Errors
/// The call's errno.
#[inline]
pub fn preadv(file: &File, buffer: &mut [u8], offset: u64) -> Outcome {
    outcome(sys::preadv(file, &mut [IoSliceMut::new(buffer)], offset))
}

/// `pwritev` with one buffer.
///
/// # Errors
/// The call's errno.
#[inline]
pub fn pwritev(file: &File, buffer: &[u8], offset: u64) -> Outcome {
    outcome(sys::pwritev(file, &[IoSlice::new(buffer)], offset))
}

/// `preadv2` with one buffer and `flags` (`HIPRI`: poll for it; `NOWAIT`: `EAGAIN` instead of blocking).
///
/// # Errors
/// The call's errno; `EOPNOTSUPP` where the file cannot do what a flag asks.
#[inline]
pub fn preadv2(file: &File, buffer: &mut [u8], offset: u64, flags: ReadWriteFlags) -> Outcome {
    place(offset)?;
    outcome(sys::preadv2(file, &mut [IoSliceMut::new(buffer)], offset, flags))
}

/// `pwritev2` with one buffer and `flags` (as [`preadv2`]; `DSYNC`: durable when it returns).
///
/// # Errors
/// The call's errno; `EOPNOTSUPP` where the file cannot do what a flag asks.
#[inline]
pub fn pwritev2(file: &File, buffer: &[u8], offset: u64, flags: ReadWriteFlags) -> Outcome {
    place(offset)?;
    outcome(sys::pwritev2(file, &[IoSlice::new(buffer)], offset, flags))
}

/// `fsync`, or `fdatasync` if `data_only`. Moves no bytes: `Ok(0)`.
///
/// # Errors
/// The call's errno.
#[inline]
pub fn sync(file: &File, data_only: bool) -> Outcome {
    let synced = if data_only {
        rustix::fs::fdatasync(file)
    } else {
        rustix::fs::fsync(file)
    };
    outcome(synced.map(|()| 0))
}

/// `sync_file_range`: writes `bytes` from `offset` back, as `flags` say.
///
/// # Errors
/// The call's errno.
pub fn sync_part(file: &File, offset: u64, bytes: u64, flags: u32) -> Outcome {
    let length = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
    // SAFETY: the call reads no memory, and the file is open.
    let result = unsafe { libc::sync_file_range(file.as_raw_fd(), length(offset), length(bytes), flags) };
    if result == 0 {
        return Ok(0);
    }
    Err(Errno(
        std::io::Error::last_os_error()
            .raw_os_error()
            .unwrap_or(libc::EIO),
    ))
}

/// Discards `len` bytes at `offset`: `BLKDISCARD` on a block device, a punched hole (the size kept) in a
/// regular file. `Ok(len)` when done.
///
/// # Errors
/// The call's errno; `EOPNOTSUPP` where the device or file system has no discard.
pub fn trim(file: &File, offset: u64, len: u32) -> Outcome {
    let stat = rustix::fs::fstat(file).map_err(|e| Errno(e.raw_os_error()))?;
    let trimmed = if FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice {
        crate::file::blk_discard(file, offset, u64::from(len))
            .map_err(|e| Errno(e.raw_os_error().unwrap_or(libc::EIO)))
    } else {
        let punch = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        rustix::fs::fallocate(file, punch, offset, u64::from(len)).map_err(|e| Errno(e.raw_os_error()))
    };
    trimmed.map(|()| len)
}

/// `fallocate`: a write reserves `len` bytes at `offset`, a read does so without changing the file's size, a trim punches a
/// hole. `Ok(len)` when done.
///
/// # Errors
/// The call's errno.
pub fn reserve(file: &File, op: Op, offset: u64, len: u32) -> Outcome {
    let flags = match op {
        Op::Write => FallocateFlags::empty(),
        Op::Trim => FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE,
        Op::Read | Op::Sync | Op::DataSync => FallocateFlags::KEEP_SIZE,
    };
    let reserved = rustix::fs::fallocate(file, flags, offset, u64::from(len));
    outcome(reserved.map(|()| len as usize))
}

/// A pipe that data passes through on its way between a file and a buffer.
#[derive(Debug)]
pub struct Pipe {
    from: OwnedFd,
    to: OwnedFd,
}

impl Pipe {
    /// Makes one.
    ///
    /// # Errors
    /// What the system said.
    pub fn new() -> std::io::Result<Self> {
        let (from, to) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
        Ok(Self { from, to })
    }

    /// Splices from `file` at `offset` into the pipe, and reads the pipe into `buffer`, until it is full or the file ends.
    ///
    /// # Errors
    /// The errno of the call that failed.
    pub fn read(&self, file: &File, buffer: &mut [u8], offset: u64) -> Outcome {
        let mut done = 0;
        while done < buffer.len() {
            let mut at = offset + done as u64;
            let room = buffer.len() - done;
            let moved = splice(file, Some(&mut at), &self.to, None, room)?;
            if moved == 0 {
                break;
            }
            let mut left = moved;
            while left > 0 {
                let part = &mut buffer[done..done + left];
                let read = sys::read(&self.from, part).map_err(|error| Errno(error.raw_os_error()))?;
                done += read;
                left -= read;
            }
        }
        Ok(done as u32)
    }

    /// Writes `buffer` into the pipe, and splices it into `file` at `offset`.
    ///
    /// # Errors
    /// The errno of the call that failed.
    pub fn write(&self, file: &File, buffer: &[u8], offset: u64) -> Outcome {
        /// No more than a pipe has room for, or writing to it would wait for ever.
        const ROOM: usize = 64 << 10;
        let mut done = 0;
        while done < buffer.len() {
            let end = buffer.len().min(done + ROOM);
            let mut left =
                sys::write(&self.to, &buffer[done..end]).map_err(|error| Errno(error.raw_os_error()))?;
            while left > 0 {
                let mut at = offset + done as u64;
                let moved = splice(&self.from, None, file, Some(&mut at), left)?;
                if moved == 0 {
                    return Ok(done as u32);
                }
                done += moved;
                left -= moved;
            }
        }
        Ok(done as u32)
    }
}

/// One `splice` between a pipe and a file.
fn splice(
    from: impl AsFd,
    from_at: Option<&mut u64>,
    to: impl AsFd,
    to_at: Option<&mut u64>,
    len: usize,
) -> Result<usize, Errno> {
    let flags = rustix::pipe::SpliceFlags::MOVE;
    rustix::pipe::splice(from, from_at, to, to_at, len, flags).map_err(|error| Errno(error.raw_os_error()))
}

/// To `preadv2` and `pwritev2`, −1 is not a place but the file's position: it must not be asked for by chance.
#[inline]
fn place(offset: u64) -> Result<(), Errno> {
    if i64::try_from(offset).is_ok() {
        Ok(())
    } else {
        Err(Errno(libc::EINVAL))
    }
}

#[inline]
fn seek(file: &File, offset: u64) -> Result<(), Errno> {
    match rustix::fs::seek(file, SeekFrom::Start(offset)) {
        Ok(_) => Ok(()),
        Err(error) => Err(Errno(error.raw_os_error())),
    }
}

#[cfg(test)]
mod tests;

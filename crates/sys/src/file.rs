//! What a file or a block device is: extents, sizes, cache residency; and the ioctls that change it.
//!
//! Data in: an open file. Data out: numbers in bytes. It must not know why they are asked for, and it asks
//! nobody whether a device may be discarded: that is decided before.

use rustix::ioctl::{Getter, NoArg, Opcode, Setter, Updater, ioctl, opcode};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;

mod cache;
mod extents;

pub use cache::page_cache_resident;
pub use extents::{Extent, fiemap};

// linux/fs.h; BLKGETSIZE64 is declared with size_t and gives bytes.
const BLKFLSBUF: Opcode = opcode::none(0x12, 97);
const BLKGETSIZE64: Opcode = opcode::read::<usize>(0x12, 114);
const BLKDISCARD: Opcode = opcode::none(0x12, 119);

/// The size of a block device in bytes.
///
/// # Errors
/// `ENOTTY` if it is not a block device.
pub fn block_device_size(device: &File) -> io::Result<u64> {
    // SAFETY: BLKGETSIZE64 writes one u64 and reads nothing (linux/fs.h).
    let request = unsafe { Getter::<BLKGETSIZE64, u64>::new() };
    // SAFETY: `request` describes the ioctl rightly; other files refuse it with ENOTTY.
    Ok(unsafe { ioctl(device, request) }?)
}

/// The logical block size (smallest addressable unit, the alignment of direct I/O) of a block device in
/// bytes.
///
/// # Errors
/// `ENOTTY` if it is not a block device.
pub fn logical_block_size(device: &File) -> io::Result<u32> {
    Ok(rustix::fs::ioctl_blksszget(device)?)
}

/// Discards `len_bytes` at `offset_bytes` of a block device. The data there is gone.
///
/// # Errors
/// `ENOTTY` if it is not a block device, `EOPNOTSUPP` if it has no discard, `EBADF` if it is not open for
/// writing, `EINVAL` if the range is not aligned to its logical blocks or ends beyond it.
pub fn blk_discard(device: &File, offset_bytes: u64, len_bytes: u64) -> io::Result<()> {
    // SAFETY: BLKDISCARD reads two u64, start and length (block/ioctl.c), and writes nothing.
    let request = unsafe { Setter::<BLKDISCARD, [u64; 2]>::new([offset_bytes, len_bytes]) };
    // SAFETY: `request` describes the ioctl rightly; other files refuse it with ENOTTY.
    Ok(unsafe { ioctl(device, request) }?)
}

/// Writes a block device's dirty cache back and drops it (`BLKFLSBUF`).
///
/// # Errors
/// `ENOTTY` if it is not a block device, `EACCES` without `CAP_SYS_ADMIN`.
pub fn blk_flush_buffers(device: &File) -> io::Result<()> {
    // SAFETY: BLKFLSBUF takes no argument (linux/fs.h).
    let request = unsafe { NoArg::<BLKFLSBUF>::new() };
    // SAFETY: `request` describes the ioctl rightly; other files refuse it with ENOTTY.
    Ok(unsafe { ioctl(device, request) }?)
}

/// Tells the system how long what is written to a file will live: 2 short, 3 medium, 4 long, 5 extreme
/// (`linux/fcntl.h`).
///
/// # Errors
/// What `fcntl` said: `EINVAL` where it knows none of it.
pub fn set_write_life(file: &File, life: u64) -> io::Result<()> {
    /// `F_SET_RW_HINT`.
    const SET_RW_HINT: libc::c_int = 1024 + 12;
    // SAFETY: this command reads a u64 at its argument, which lives until it returns.
    let result = unsafe { libc::fcntl(file.as_raw_fd(), SET_RW_HINT, &raw const life) };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Sends `value` through an ioctl that reads and rewrites it.
///
/// # Safety
/// `OPCODE` must read and write no more than a `T` at its argument, whatever `value` holds.
unsafe fn update<const OPCODE: Opcode, T>(file: &File, value: &mut T) -> rustix::io::Result<()> {
    // SAFETY: the caller says that the ioctl fits `T`.
    let request = unsafe { Updater::<OPCODE, T>::new(value) };
    // SAFETY: as above; a file that does not know the ioctl refuses it.
    unsafe { ioctl(file, request) }
}

#[cfg(test)]
mod tests;

//! The operating system: the only crate with `unsafe`, behind safe wrappers that own what the kernel uses.
//!
//! Duty: time from the processor's counter, page-aligned buffers, `io_uring` and Linux AIO queues, commands passed through to
//! `NVMe` and SCSI disks, memory-mapped files that survive truncation, and the ioctls and process calls that `rustix` lacks.
//! Data in: open files and plain numbers. Data out: completions, times and facts. It must not know workloads, job files,
//! statistics, paths given by the user, or text for the user.
//!
//! Each `unsafe` block is one operation and says which invariant makes it sound and who keeps it. A buffer
//! that the kernel may still write to cannot be freed, moved or borrowed: the queues own buffers and files and
//! wait for their last I/O when they are dropped.

pub mod aio;
pub mod arena;
pub mod child;
pub mod clock;
pub mod counting_allocator;
mod deadline;
pub mod file;
pub mod heap;
pub mod limits;
pub mod mapping;
pub mod nvme;
pub mod parallel;
pub mod process;
pub mod queue;
pub mod sg;
pub mod slots;
pub mod source;
pub mod sync_io;
#[cfg(test)]
mod testing;
pub mod uring;
pub mod zoned;

use fathom_core::backend::{Errno, Outcome};

/// The outcome of a call that moves bytes. The kernel moves at most 2 GiB − 4 KiB a call, so `u32` holds it.
#[inline]
pub(crate) fn outcome(result: rustix::io::Result<usize>) -> Outcome {
    match result {
        Ok(bytes) => Ok(bytes as u32),
        Err(error) => Err(Errno(error.raw_os_error())),
    }
}

/// The errno that the last libc call left.
pub(crate) fn last_errno() -> i32 {
    // Every libc call reached from here sets errno when it fails; 0 would be a broken libc.
    std::io::Error::last_os_error()
        .raw_os_error()
        .unwrap_or(libc::EIO)
}

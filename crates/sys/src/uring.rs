//! A queue of I/Os through `io_uring`.
//!
//! Data in: I/Os in numbered slots. Data out: completions of slots. One `io_uring_enter` a batch in the steady
//! state to commit it and one to wait for its completions; those that have arrived are taken without one. Driven
//! through [`Queue`].
//! It must not know what the I/Os are for, nor measure them.
//!
//! The ring belongs to the thread that made it: the kernel is promised a single issuer, and refuses others
//! (`EEXIST`). So `Uring` is not `Send`; make it in its worker's thread.

use crate::arena::Arena;
use crate::queue::Queue;
use crate::source::{self, Source};
use fathom_core::backend::Op;
use io_uring::types::{Fd, Fixed, FsyncFlags};
use io_uring::{cqueue, opcode, squeue};
use ring::{KernelThreads, Ring, Tag};
use std::fs::File;
use std::io;
use std::marker::PhantomData;
use std::ptr;
use std::sync::Arc;
use std::time::Duration;

pub use crate::slots::PushError;

pub mod nvme;
mod ring;
mod setup;

const PUNCH_HOLE: i32 = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;

/// How a ring is made. [`UringConfig::new`] gives the plain one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UringConfig {
    /// The most I/Os in flight; the arena has at least as many slots.
    pub iodepth: u32,
    /// A kernel thread submits, and sleeps after so many ms without work.
    pub sqpoll_idle_ms: Option<u32>,
    /// The CPU of that thread.
    pub sqpoll_cpu: Option<u32>,
    /// Completions are polled for (`O_DIRECT` on devices with poll queues only).
    pub iopoll: bool,
    /// The buffers are pinned once, at the start. They count against `RLIMIT_MEMLOCK`.
    pub fixed_buffers: bool,
    /// The files are registered: no lookup in the descriptor table an I/O.
    pub registered_files: bool,
    /// READ and WRITE; `false` for READV and WRITEV with one buffer each.
    pub nonvectored: bool,
    /// Reads and writes that would block fail with `EAGAIN` (`RWF_NOWAIT`).
    pub nowait: bool,
    /// Every so many reads and writes are carried out by threads of the kernel; 0: none is made to.
    pub kernel_threads_every: u32,
}

impl UringConfig {
    /// A ring of depth `iodepth` that neither polls nor registers anything, with READ and WRITE.
    pub fn new(iodepth: u32) -> Self {
        Self {
            iodepth,
            sqpoll_idle_ms: None,
            sqpoll_cpu: None,
            iopoll: false,
            fixed_buffers: false,
            registered_files: false,
            nonvectored: true,
            nowait: false,
            kernel_threads_every: 0,
        }
    }
}

/// How a file is named in an entry.
#[derive(Debug, Clone, Copy)]
struct Target {
    fd: i32,
    block_device: bool,
}

/// An `io_uring` with its files and buffers, which it keeps until nothing is in flight.
pub struct Uring {
    ring: Ring<squeue::Entry, cqueue::Entry>,
    fixed_buffers: bool,
    registered_files: bool,
    nonvectored: bool,
    /// What each read and write carries besides.
    rw_flags: i32,
    /// Of what is pushed; 0: that of the thread.
    priority: u16,
    kernel_threads: KernelThreads,
    targets: Box<[Target]>,
    /// One a slot, for READV and WRITEV; the kernel may read them until the I/O completes. Empty otherwise.
    vectors: Box<[libc::iovec]>,
    files: Vec<File>,
    arena: Arena,
    /// What writes may be taken from in place of the arena.
    source: Option<Arc<Source>>,
    /// Not `Send`: see the module.
    thread_bound: PhantomData<*const ()>,
}

impl Uring {
    /// Makes the ring; call it in the thread that will use it. Nothing is allocated after it returns.
    ///
    /// # Errors
    /// `InvalidInput` if the arena has fewer slots than `iodepth` or `iodepth` is 0; `Unsupported` before
    /// Linux 5.11; else what the kernel said: `ENOSYS` or `EPERM` where `io_uring` is missing or forbidden
    /// (`kernel.io_uring_disabled`, a container's seccomp profile), `ENOMEM` where `RLIMIT_MEMLOCK` is too
    /// low for fixed buffers.
    pub fn new(config: UringConfig, files: Vec<File>, arena: Arena) -> io::Result<Self> {
        setup::build(&config, files, arena)
    }

    /// The submission entry of an I/O from or to `buffer`.
    #[inline]
    fn entry(
        &mut self,
        slot: u32,
        op: Op,
        file: u32,
        offset: u64,
        (buffer, len): (*mut u8, u32),
    ) -> squeue::Entry {
        let vector = if self.nonvectored || self.fixed_buffers {
            ptr::null_mut()
        } else {
            let vector = &mut self.vectors[slot as usize];
            vector.iov_base = buffer.cast();
            vector.iov_len = len as usize;
            ptr::from_mut(vector)
        };
        // Each transfer is a type of its own to the library, and so are a registered file and a descriptor.
        macro_rules! at {
            ($transfer:expr) => {
                $transfer
                    .offset(offset)
                    .rw_flags(self.rw_flags)
                    .ioprio(self.priority)
                    .build()
            };
        }
        macro_rules! entry_for {
            ($file:expr) => {
                match op {
                    Op::Read if self.fixed_buffers => {
                        at!(opcode::ReadFixed::new($file, buffer, len, slot as u16))
                    }
                    Op::Write if self.fixed_buffers => {
                        at!(opcode::WriteFixed::new($file, buffer, len, slot as u16))
                    }
                    Op::Read if self.nonvectored => at!(opcode::Read::new($file, buffer, len)),
                    Op::Write if self.nonvectored => at!(opcode::Write::new($file, buffer, len)),
                    Op::Read => at!(opcode::Readv::new($file, vector, 1)),
                    Op::Write => at!(opcode::Writev::new($file, vector, 1)),
                    Op::Sync => opcode::Fsync::new($file).build(),
                    Op::DataSync => opcode::Fsync::new($file)
                        .flags(FsyncFlags::DATASYNC)
                        .build(),
                    Op::Trim => opcode::Fallocate::new($file, u64::from(len))
                        .offset(offset)
                        .mode(PUNCH_HOLE)
                        .build(),
                }
            };
        }
        if self.registered_files {
            entry_for!(Fixed(file))
        } else {
            entry_for!(Fd(self.targets[file as usize].fd))
        }
    }

    /// Queues an I/O from or to `buffer`, which is at least `len` bytes of the arena's slot, or, where it writes, of the
    /// source.
    #[inline]
    fn push_with(
        &mut self,
        slot: u32,
        op: Op,
        file: u32,
        offset: u64,
        (buffer, len): (*mut u8, u32),
    ) -> Result<(), PushError> {
        assert!(offset != u64::MAX, "offset 2^64 - 1 is no place");
        if self.ring.slots.is_full() {
            return Err(PushError::Full);
        }
        assert!(
            !self.ring.slots.contains(slot),
            "slot {slot} is in flight already"
        );
        let tag = Tag::new(slot, if op == Op::Trim { len } else { 0 });
        let mut entry = self.entry(slot, op, file, offset, (buffer, len)).user_data(tag.0);
        if self.kernel_threads.take_next() {
            entry = entry.flags(squeue::Flags::ASYNC);
        }
        // SAFETY: the entry's buffer (at least `len` bytes of the slot's, or to be read of the source, which never
        // changes), vector and file belong to `self`; while the slot is marked in flight, which it is from here on,
        // `buffer` lends it to nobody, and `drop` waits for it or leaks it.
        unsafe { self.ring.push(slot, &entry) }
    }
}

impl Queue for Uring {
    const SUBMIT_CALL: &'static str = "io_uring_enter";
    const REAP_CALL: &'static str = "io_uring_enter";

    /// Synchronous here: a trim of a block device, or anything but reads and writes on a polled ring. An offset
    /// of `u64::MAX` is no place: to the kernel it is the file's position.
    #[inline]
    fn push(&mut self, slot: u32, op: Op, file: u32, offset: u64, len: u32) -> Result<(), PushError> {
        let target = self.targets[file as usize];
        let transfers = matches!(op, Op::Read | Op::Write);
        if !transfers && (self.ring.iopoll || (op == Op::Trim && target.block_device)) {
            return Err(PushError::Synchronous);
        }
        assert!(
            !transfers || len as usize <= self.arena.slot_bytes(),
            "{len} bytes do not fit the buffer"
        );
        self.push_with(slot, op, file, offset, (self.arena.slot_ptr(slot), len))
    }

    #[inline]
    fn prioritise(&mut self, priority: u16) {
        self.priority = priority;
    }

    fn use_source(&mut self, source: Arc<Source>) {
        self.source = Some(source);
    }

    /// Not with `fixed_buffers`.
    #[inline]
    fn push_from(&mut self, slot: u32, file: u32, offset: u64, len: u32, at: usize) -> Result<(), PushError> {
        assert!(!self.fixed_buffers, "only the arena's buffers are registered");
        let place = source::place(self.source.as_deref(), at, len);
        self.push_with(slot, Op::Write, file, offset, (place, len))
    }

    /// With SQPOLL the count is always 0.
    #[inline]
    fn commit(&mut self) -> io::Result<u32> {
        self.ring.commit()
    }

    #[inline]
    fn in_flight(&self) -> u32 {
        self.ring.slots.count()
    }

    fn take_files(&mut self, files: Vec<File>) -> io::Result<()> {
        if self.in_flight() > 0 || files.len() != self.files.len() {
            return Err(io::Error::from(io::ErrorKind::InvalidInput));
        }
        if self.registered_files {
            return Err(io::Error::from(io::ErrorKind::Unsupported));
        }
        // What is told of files that are gone must never be sent.
        self.targets = setup::targets_of(&files)?;
        self.files = files;
        Ok(())
    }

    fn files(&self) -> &[File] {
        &self.files
    }

    #[inline]
    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        self.ring.slots.lend(&mut self.arena, slot)
    }

    #[inline]
    fn drain(&mut self, max: u32, done: &mut impl FnMut(u32, i32)) -> u32 {
        self.ring.drain(max, |result| result, done)
    }

    #[inline]
    fn hides_completions(&mut self) -> bool {
        self.ring.hides_completions()
    }

    #[inline]
    fn wait(
        &mut self,
        reaped: u32,
        want: u32,
        max: u32,
        timeout: Option<Duration>,
        done: &mut impl FnMut(u32, i32),
    ) -> io::Result<u32> {
        self.ring.wait(want.saturating_sub(reaped), timeout)?;
        Ok(reaped + self.drain(max - reaped, done))
    }
}

impl Drop for Uring {
    /// Waits for what the kernel was given. What was only pushed is not carried out.
    fn drop(&mut self) {
        if !self.ring.settle() {
            // Better lost memory than memory that a late I/O overwrites.
            self.arena.leak();
            std::mem::forget(std::mem::take(&mut self.vectors));
            std::mem::forget(self.source.take());
        }
    }
}

#[cfg(test)]
mod tests;

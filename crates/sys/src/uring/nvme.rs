//! A queue of `NVMe` commands through `io_uring`, past the block layer (`/dev/ng0n1`; `IORING_OP_URING_CMD`, Linux 5.19).
//!
//! Data in: I/Os in numbered slots. Data out: completions of slots. The ring's entries are of the large kinds: 128 bytes to
//! hold a command, 32 for its result. It must not know what the I/Os are for, nor whether they may be done.

use super::ring::{KernelThreads, Ring, Tag};
use super::{PushError, UringConfig, setup};
use crate::arena::Arena;
use crate::nvme::{COMMAND_BYTES, Command, Namespace, deallocate, errno_of, flush, namespace};
use crate::queue::Queue;
use crate::source::{self, Source};
use fathom_core::backend::{Op, Outcome};
use io_uring::types::{Fd, Fixed};
use io_uring::{cqueue, opcode, squeue};
use std::fs::File;
use std::io;
use std::marker::PhantomData;
use std::os::fd::AsRawFd as _;
use std::ptr;
use std::sync::Arc;
use std::time::Duration;

// linux/nvme_ioctl.h: _IOWR('N', 0x80, struct nvme_uring_cmd), and the same with a vector.
const URING_COMMAND: u32 = 0xc048_4e80;
const URING_COMMAND_VECTORED: u32 = 0xc048_4e81;

/// A ring of commands with its devices and buffers, which it keeps until nothing is in flight.
pub struct NvmeUring {
    ring: Ring<squeue::Entry128, cqueue::Entry32>,
    fixed_buffers: bool,
    registered_files: bool,
    vectored: bool,
    kernel_threads: KernelThreads,
    namespaces: Box<[Namespace]>,
    /// One a slot, for vectored commands; the kernel may read them until the command completes.
    vectors: Box<[libc::iovec]>,
    files: Vec<File>,
    arena: Arena,
    /// What writes may be taken from in place of the arena.
    source: Option<Arc<Source>>,
    /// Not `Send`: the ring belongs to the thread that made it.
    thread_bound: PhantomData<*const ()>,
}

impl NvmeUring {
    /// Makes the ring; call it in the thread that will use it. Nothing is allocated after it returns. `nowait` is nothing that a
    /// command knows.
    ///
    /// # Errors
    /// As [`super::Uring::new`] (`EINVAL` before Linux 5.19), and as [`namespace`].
    pub fn new(config: UringConfig, files: Vec<File>, arena: Arena) -> io::Result<Self> {
        let namespaces = files.iter().map(namespace).collect::<io::Result<_>>()?;
        let setup::Parts { ring, vectors, .. } = setup::parts(&config, &files, &arena)?;
        Ok(Self {
            ring,
            fixed_buffers: config.fixed_buffers,
            registered_files: config.registered_files,
            vectored: !config.nonvectored && !config.fixed_buffers,
            kernel_threads: KernelThreads::new(config.kernel_threads_every),
            namespaces,
            vectors,
            files,
            arena,
            source: None,
            thread_bound: PhantomData,
        })
    }

    /// The entry of a command.
    #[inline]
    fn entry(&mut self, slot: u32, file: u32, mut command: Command) -> squeue::Entry128 {
        let mut operation = URING_COMMAND;
        if self.vectored {
            let vector = &mut self.vectors[slot as usize];
            vector.iov_base = command.address as *mut libc::c_void;
            vector.iov_len = command.data_bytes as usize;
            command.address = ptr::from_mut(vector) as u64;
            command.data_bytes = 1;
            operation = URING_COMMAND_VECTORED;
        }
        let mut bytes = [0; 80];
        bytes[..COMMAND_BYTES].copy_from_slice(&command.bytes());
        let registered = self.fixed_buffers.then_some(slot as u16);
        // A registered file and a descriptor are types of their own to the library.
        let entry = if self.registered_files {
            opcode::UringCmd80::new(Fixed(file), operation)
                .cmd(bytes)
                .buf_index(registered)
                .build()
        } else {
            opcode::UringCmd80::new(Fd(self.files[file as usize].as_raw_fd()), operation)
                .cmd(bytes)
                .buf_index(registered)
                .build()
        };
        if self.kernel_threads.take_next() {
            entry.flags(squeue::Flags::ASYNC)
        } else {
            entry
        }
    }

    /// Queues a command from or to `buffer`, which is at least `len` bytes of the arena's slot, or, where it writes, of the
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
        if self.ring.slots.is_full() {
            return Err(PushError::Full);
        }
        assert!(
            !self.ring.slots.contains(slot),
            "slot {slot} is in flight already"
        );
        let command = self.namespaces[file as usize].transfer(op, offset, (buffer, len));
        let command = command.ok_or(PushError::Invalid)?;
        let entry = self.entry(slot, file, command).user_data(Tag::new(slot, len).0);
        // SAFETY: the command's buffer (at least `len` bytes of the slot's, or to be read of the source, which never
        // changes), vector and file belong to `self`; the slot is not in flight, and while it is, which is from here on,
        // `buffer` lends it to nobody, and `drop` waits for it or leaks it.
        unsafe { self.ring.push(slot, &entry) }
    }
}

/// What a command's completion says: an errno as it is, of the device's status the errno that stands for it.
#[inline]
fn read_result(result: i32) -> i32 {
    if result > 0 { -errno_of(result) } else { result }
}

impl Queue for NvmeUring {
    const SUBMIT_CALL: &'static str = "io_uring_enter";
    const REAP_CALL: &'static str = "io_uring_enter";

    /// Synchronous here: anything but reads and writes.
    #[inline]
    fn push(&mut self, slot: u32, op: Op, file: u32, offset: u64, len: u32) -> Result<(), PushError> {
        if !matches!(op, Op::Read | Op::Write) {
            return Err(PushError::Synchronous);
        }
        assert!(
            len as usize <= self.arena.slot_bytes(),
            "{len} bytes do not fit the buffer"
        );
        self.push_with(slot, op, file, offset, (self.arena.slot_ptr(slot), len))
    }

    /// Commands have none.
    #[inline]
    fn prioritise(&mut self, _priority: u16) {}

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

    /// Nobody makes a device anew.
    fn take_files(&mut self, _files: Vec<File>) -> io::Result<()> {
        Err(io::Error::from(io::ErrorKind::Unsupported))
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
        self.ring.drain(max, read_result, done)
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

    fn trim_sync(&self, file: u32, offset: u64, len: u32) -> Outcome {
        let file = file as usize;
        deallocate(&self.files[file], &self.namespaces[file], offset, len)
    }

    fn sync_now(&self, file: u32, _data_only: bool) -> Outcome {
        flush(&self.files[file as usize], &self.namespaces[file as usize])
    }
}

impl Drop for NvmeUring {
    /// Waits for what the kernel was given. What was only pushed is not carried out.
    fn drop(&mut self) {
        if !self.ring.settle() {
            // Better lost memory than memory that a late command overwrites.
            self.arena.leak();
            std::mem::forget(std::mem::take(&mut self.vectors));
            std::mem::forget(self.source.take());
        }
    }
}

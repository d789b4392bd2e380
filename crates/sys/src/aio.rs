//! A queue of I/Os through Linux AIO, by bare system calls.
//!
//! Data in: I/Os in numbered slots. Data out: completions of slots. driven through [`Queue`]; completions that have arrived are taken from the ring that the kernel maps
//! into the process, without a system call. It must not know what the I/Os are for, nor measure them.
//!
//! AIO is asynchronous with `O_DIRECT` only: elsewhere `io_submit` itself does the I/O.

use crate::arena::Arena;
use crate::deadline::Deadline;
use crate::queue::Queue;
use crate::slots::InFlight;
use crate::source::{self, Source};
use abi::{Event, Iocb};
use fathom_core::backend::Op;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr;
use std::sync::Arc;
use std::time::Duration;

pub use crate::slots::PushError;

mod abi;

/// How a context is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AioConfig {
    /// The most I/Os in flight; the arena has at least as many slots.
    pub iodepth: u32,
    /// Reads and writes that would block fail with `EAGAIN` (`RWF_NOWAIT`).
    pub nowait: bool,
}

impl AioConfig {
    /// A context of depth `iodepth` whose I/Os may block.
    pub fn new(iodepth: u32) -> Self {
        Self {
            iodepth,
            nowait: false,
        }
    }
}

/// An AIO context with its files and buffers, which it keeps until nothing is in flight.
#[derive(Debug)]
pub struct Aio {
    context: abi::Context,
    slots: InFlight,
    /// The control blocks of what was pushed, in order; `queued_from..queued_to` still awaits its commit.
    queue: Box<[Iocb]>,
    queued_from: usize,
    queued_to: usize,
    /// Room for the pointers that `io_submit` takes.
    pointers: Box<[*mut Iocb]>,
    /// Room for what `io_getevents` gives.
    events: Box<[Event]>,
    /// I/Os that `io_submit` itself refused, with the negative errno; the next reap reports them.
    refused: Vec<(u32, i32)>,
    /// What each read and write carries besides.
    rw_flags: i32,
    /// Of what is pushed; 0: that of the thread.
    priority: u16,
    files: Vec<File>,
    arena: Arena,
    /// What writes may be taken from in place of the arena.
    source: Option<Arc<Source>>,
}

// SAFETY: `pointers` is scratch room, filled and used within one call; the context may be used from any
// thread of the process.
unsafe impl Send for Aio {}

impl Aio {
    /// Makes the context. Nothing is allocated after it returns.
    ///
    /// # Errors
    /// `EAGAIN` (`raw_os_error`) when `fs.aio-max-nr` is spent: no other call here gives it; `InvalidInput` if
    /// the arena has fewer slots than `iodepth` or that is 0; else what `io_setup` said (`ENOSYS`, or `EPERM`
    /// in a sandbox).
    pub fn new(config: AioConfig, files: Vec<File>, arena: Arena) -> io::Result<Self> {
        let iodepth = config.iodepth;
        let slots = InFlight::new(&arena, iodepth)?;
        let depth = iodepth as usize;
        Ok(Self {
            context: abi::Context::new(iodepth)?,
            slots,
            queue: vec![Iocb::default(); depth].into_boxed_slice(),
            queued_from: 0,
            queued_to: 0,
            pointers: vec![ptr::null_mut(); depth].into_boxed_slice(),
            events: vec![Event::default(); depth].into_boxed_slice(),
            refused: Vec::with_capacity(depth),
            rw_flags: if config.nowait { libc::RWF_NOWAIT } else { 0 },
            priority: 0,
            files,
            arena,
            source: None,
        })
    }

    /// How many I/Os were pushed and not yet taken by the kernel.
    #[inline]
    pub fn queued(&self) -> u32 {
        (self.queued_to - self.queued_from) as u32
    }

    /// One `io_submit` of all that is queued: how many it took, or its errno.
    fn submit_queued(&mut self) -> Result<usize, i32> {
        let count = self.queued_to - self.queued_from;
        let first = self.queue[self.queued_from..].as_mut_ptr();
        for (index, pointer) in self.pointers[..count].iter_mut().enumerate() {
            *pointer = first.wrapping_add(index);
        }
        // SAFETY: the first `count` pointers are to blocks in `queue`, which the kernel copies (and marks)
        // during the call. Each block names a file of `files` and a buffer of `arena` with room for its
        // length (checked in `push`), or, to be read, a place in `source`, which never changes; all stay until the
        // slot's completion: while a slot is in flight, `buffer` lends it to nobody, and `drop` waits for it.
        unsafe { self.context.submit(&mut self.pointers[..count]) }
    }

    /// Queues a transfer from or to `buffer`, which is at least `len` bytes of the arena's slot, or, where it writes, of the
    /// source.
    #[inline]
    fn push_with(
        &mut self,
        slot: u32,
        opcode: u16,
        file: u32,
        offset: u64,
        (buffer, len): (*mut u8, u32),
    ) -> Result<(), PushError> {
        let descriptor = self.files[file as usize].as_raw_fd();
        if self.slots.is_full() {
            return Err(PushError::Full);
        }
        self.slots.start(slot);
        if self.queued_to == self.queue.len() {
            // Only after a commit that the kernel took in part.
            self.queue.copy_within(self.queued_from..self.queued_to, 0);
            self.queued_to -= self.queued_from;
            self.queued_from = 0;
        }
        self.queue[self.queued_to] = Iocb::new(slot, opcode, descriptor, buffer, len, offset, self.rw_flags);
        if self.priority != 0 {
            self.queue[self.queued_to].prioritise(self.priority);
        }
        self.queued_to += 1;
        Ok(())
    }
}

impl Queue for Aio {
    const SUBMIT_CALL: &'static str = "io_submit";
    const REAP_CALL: &'static str = "io_getevents";

    /// Syncs and trims are synchronous here.
    #[inline]
    fn push(&mut self, slot: u32, op: Op, file: u32, offset: u64, len: u32) -> Result<(), PushError> {
        let opcode = match op {
            Op::Read => abi::PREAD,
            Op::Write => abi::PWRITE,
            Op::Trim | Op::Sync | Op::DataSync => return Err(PushError::Synchronous),
        };
        assert!(
            len as usize <= self.arena.slot_bytes(),
            "{len} bytes do not fit the buffer"
        );
        self.push_with(slot, opcode, file, offset, (self.arena.slot_ptr(slot), len))
    }

    fn prioritise(&mut self, priority: u16) {
        self.priority = priority;
    }

    fn use_source(&mut self, source: Arc<Source>) {
        self.source = Some(source);
    }

    #[inline]
    fn push_from(&mut self, slot: u32, file: u32, offset: u64, len: u32, at: usize) -> Result<(), PushError> {
        let place = source::place(self.source.as_deref(), at, len);
        self.push_with(slot, abi::PWRITE, file, offset, (place, len))
    }

    /// With one `io_submit` if it takes all; no room is `EAGAIN`. An I/O that it refuses is reported by the next
    /// reap with its errno, as a completion.
    #[inline]
    fn commit(&mut self) -> io::Result<u32> {
        let before = self.queued();
        while self.queued_from < self.queued_to {
            match self.submit_queued() {
                Ok(taken) => self.queued_from += taken,
                Err(libc::EINTR) => {}
                Err(libc::EAGAIN) => return Ok(before - self.queued()),
                Err(errno @ (libc::ENOSYS | libc::EFAULT)) => {
                    return Err(io::Error::from_raw_os_error(errno));
                }
                Err(errno) => {
                    // With nothing taken, the errno is that of the first block.
                    let slot = self.queue[self.queued_from].slot();
                    self.refused.push((slot, -errno));
                    self.queued_from += 1;
                }
            }
        }
        self.queued_from = 0;
        self.queued_to = 0;
        Ok(before)
    }

    #[inline]
    fn in_flight(&self) -> u32 {
        self.slots.count()
    }

    fn take_files(&mut self, files: Vec<File>) -> io::Result<()> {
        if self.in_flight() > 0 || files.len() != self.files.len() {
            return Err(io::Error::from(io::ErrorKind::InvalidInput));
        }
        self.files = files;
        Ok(())
    }

    fn files(&self) -> &[File] {
        &self.files
    }

    #[inline]
    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        self.slots.lend(&mut self.arena, slot)
    }

    #[inline]
    fn drain(&mut self, max: u32, done: &mut impl FnMut(u32, i32)) -> u32 {
        let mut reaped = 0;
        while reaped < max {
            let Some((slot, result)) = self.refused.pop().or_else(|| self.context.pop_event()) else {
                break;
            };
            self.slots.finish(slot);
            reaped += 1;
            done(slot, result);
        }
        reaped
    }

    #[inline]
    fn hides_completions(&mut self) -> bool {
        !self.context.has_ring() && self.slots.count() > 0
    }

    fn wait(
        &mut self,
        mut reaped: u32,
        want: u32,
        max: u32,
        timeout: Option<Duration>,
        done: &mut impl FnMut(u32, i32),
    ) -> io::Result<u32> {
        self.commit()?;
        reaped += self.drain(max - reaped, done); // What the commit refused, and what came meanwhile.
        if reaped > 0 && reaped >= want {
            return Ok(reaped);
        }
        let deadline = Deadline::after(timeout);
        let mut left = timeout;
        loop {
            let min = want.saturating_sub(reaped);
            // What the kernel has no room for cannot complete.
            let possible = self.slots.count() - self.queued();
            if min > 0 && timeout.is_none() && possible == 0 {
                return Ok(reaped);
            }
            let min = if timeout.is_none() { min.min(possible) } else { min };
            let room = ((max - reaped) as usize).min(self.events.len());
            let got = self.context.wait_events(min, &mut self.events[..room], left)?;
            for index in 0..got {
                let (slot, result) = self.events[index].completion();
                self.slots.finish(slot);
                reaped += 1;
                done(slot, result);
            }
            left = deadline.left();
            if reaped >= want || left.is_some_and(|left| left.is_zero()) {
                return Ok(reaped);
            }
        }
    }
}

impl Drop for Aio {
    /// Waits for what the kernel was given. What was only pushed is not carried out.
    fn drop(&mut self) {
        self.refused.clear();
        // io_destroy returns when the last I/O has completed.
        if !self.context.destroy() {
            // Better lost memory than memory that a late I/O overwrites.
            self.arena.leak();
            std::mem::forget(self.source.take());
        }
    }
}

#[cfg(test)]
mod tests;

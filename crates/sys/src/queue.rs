//! What the asynchronous queues have in common: the contract that a backend drives them by, and the rules by
//! which completions are taken.
//!
//! Data in: I/Os in numbered slots. Data out: completions of slots, each with the bytes moved or a negative
//! errno. It must not know which kernel interface is behind it.

use crate::slots::PushError;
use crate::source::Source;
use fathom_core::backend::{Op, Outcome, PartSync};
use std::fs::File;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// A kernel queue with its files and buffers: [`Queue::push`] each I/O, [`Queue::commit`] once a batch,
/// [`Queue::reap`]. Dispatched statically. There is deliberately no call that submits and waits at once: the
/// moment between the two ends an I/O's submission latency.
pub trait Queue {
    /// The system call behind [`Queue::commit`], for messages.
    const SUBMIT_CALL: &'static str;
    /// The system call behind [`Queue::reap`], for messages.
    const REAP_CALL: &'static str;

    /// Queues one I/O; the kernel sees it at the next commit (a polling kernel thread: at once). Its result
    /// will be the bytes moved or trimmed, 0 for a sync, or a negative errno.
    ///
    /// # Errors
    /// [`PushError::Full`] when `iodepth` are in flight; [`PushError::Synchronous`] for what this queue cannot
    /// do on this file.
    ///
    /// # Panics
    /// The slot is in flight, the slot or file does not exist, `len` is more than the buffer holds, or `offset`
    /// is no place.
    fn push(&mut self, slot: u32, op: Op, file: u32, offset: u64, len: u32) -> Result<(), PushError>;

    /// What is pushed from here on has this priority (`linux/ioprio.h`); 0: that of the thread.
    fn prioritise(&mut self, priority: u16);

    /// What [`Queue::push_from`] writes from; to be said before the first push.
    fn use_source(&mut self, source: Arc<Source>);

    /// Queues a write as [`Queue::push`] does, of the `len` bytes at `at` of the source: nothing is copied. The buffer of the
    /// slot is left alone, and lent to nobody meanwhile.
    ///
    /// # Errors
    /// As [`Queue::push`].
    ///
    /// # Panics
    /// As [`Queue::push`]; there is no source or it ends before; or the queue writes from registered buffers alone.
    fn push_from(&mut self, slot: u32, file: u32, offset: u64, len: u32, at: usize) -> Result<(), PushError>;

    /// Hands what was pushed to the kernel, with one system call if it takes all. Returns how many it took. If
    /// it has no room for now, the rest stays queued for the next call.
    ///
    /// # Errors
    /// The queue itself failed.
    fn commit(&mut self) -> io::Result<u32>;

    /// How many I/Os were pushed and not yet reaped.
    fn in_flight(&self) -> u32;

    /// The files, as given when the queue was made.
    fn files(&self) -> &[File];

    /// The buffer of `slot`: to fill before a write, to look at after a read.
    ///
    /// # Panics
    /// The slot is in flight (the kernel owns the buffer) or does not exist.
    fn buffer(&mut self, slot: u32) -> &mut [u8];

    /// A part of [`Queue::reap`]: reports what has arrived, up to `max`, without a system call.
    fn drain(&mut self, max: u32, done: &mut impl FnMut(u32, i32)) -> u32;

    /// A part of [`Queue::reap`]: whether completions may exist that only a system call brings to light.
    fn hides_completions(&mut self) -> bool;

    /// A part of [`Queue::reap`]: commits what is queued and goes on from `reaped` to `want` reported ones by
    /// asking the kernel; with no more wanted it looks without waiting. Returns how many were reported in all.
    ///
    /// # Errors
    /// The queue itself failed.
    fn wait(
        &mut self,
        reaped: u32,
        want: u32,
        max: u32,
        timeout: Option<Duration>,
        done: &mut impl FnMut(u32, i32),
    ) -> io::Result<u32>;

    /// Reports up to `max` completions to `done(slot, result)`, waiting until at least `min` were reported.
    /// Returns how many were. Without a system call where enough have arrived; else what is queued is
    /// committed too.
    ///
    /// `min` 0 never waits. Without a timeout it waits for no more than are in flight: waiting for others would
    /// never end. With one, it returns fewer than `min` when that has passed, and waits for it even when nothing
    /// is in flight. It also returns fewer when the kernel has no room for what is queued. Signals do not end
    /// the wait.
    ///
    /// # Errors
    /// The queue itself failed.
    #[inline]
    fn reap(
        &mut self,
        min: u32,
        max: u32,
        timeout: Option<Duration>,
        done: &mut impl FnMut(u32, i32),
    ) -> io::Result<u32> {
        let mut want = min.min(max);
        if timeout.is_none() {
            want = want.min(self.in_flight());
        }
        let reaped = self.drain(max, done);
        if reaped < want || (reaped == 0 && max > 0 && self.hides_completions()) {
            return self.wait(reaped, want, max, timeout, done);
        }
        Ok(reaped)
    }

    /// A trim that the queue cannot do, at once. See [`crate::sync_io::trim`].
    ///
    /// # Errors
    /// The call's errno.
    fn trim_sync(&self, file: u32, offset: u64, len: u32) -> Outcome {
        crate::sync_io::trim(&self.files()[file as usize], offset, len)
    }

    /// Takes these files in place of those it has, as many of them; nothing may be in flight.
    ///
    /// # Errors
    /// Something is, or the kernel does not take them.
    fn take_files(&mut self, files: Vec<File>) -> io::Result<()>;

    /// A part of a file, written back at once.
    ///
    /// # Errors
    /// The call's errno.
    fn sync_part_now(&self, file: u32, offset: u64, part: PartSync) -> Outcome {
        crate::sync_io::sync_part(&self.files()[file as usize], offset, part.bytes, part.flags)
    }

    /// A sync that the queue cannot do, at once.
    ///
    /// # Errors
    /// The call's errno.
    fn sync_now(&self, file: u32, data_only: bool) -> Outcome {
        crate::sync_io::sync(&self.files()[file as usize], data_only)
    }
}

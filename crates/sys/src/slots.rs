//! Which slots are in flight: the bookkeeping that makes the queues sound.
//!
//! A slot is a numbered buffer with at most one I/O. While it is in flight the kernel owns its memory, and
//! nobody may borrow it. Data in: pushes and completions. Data out: whether a push has room. It must not know
//! which kernel interface carries the I/O.

use crate::arena::Arena;
use std::{fmt, io};

/// Why a queue did not take an I/O. A value, not a failure: nothing was queued or lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PushError {
    /// As many I/Os as the queue's depth are in flight: reap first.
    Full,
    /// The interface cannot do this operation on this file asynchronously (a trim of a block device, a sync
    /// of AIO or of a polled ring): call `sync_now` or `trim_sync`.
    Synchronous,
    /// It is no I/O that the device can do, such as a part of a block: it fails with `EINVAL`.
    Invalid,
}

impl fmt::Display for PushError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full => "the queue is full: reap before pushing more",
            Self::Synchronous => "this operation cannot be queued here: do it synchronously",
            Self::Invalid => "the device cannot do this: it is not of whole blocks, or too large",
        })
    }
}

impl std::error::Error for PushError {}

/// The slots in flight, at most `depth` of them.
#[derive(Debug)]
pub(crate) struct InFlight {
    busy: Box<[bool]>,
    count: u32,
    depth: u32,
}

impl InFlight {
    /// The slots of `arena`, of which none is in flight.
    ///
    /// # Errors
    /// `InvalidInput` if it has fewer than `depth`, or that is 0.
    pub(crate) fn new(arena: &Arena, depth: u32) -> io::Result<Self> {
        let slots = arena.slots();
        if depth == 0 || slots < depth {
            let message = format!("iodepth {depth} with {slots} buffers");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        Ok(Self {
            busy: vec![false; slots as usize].into_boxed_slice(),
            count: 0,
            depth,
        })
    }

    /// How many slots are in flight.
    #[inline]
    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    /// Whether as many are in flight as may be.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.count >= self.depth
    }

    /// Whether `slot` is in flight. Panics for a slot that does not exist.
    #[inline]
    pub(crate) fn contains(&self, slot: u32) -> bool {
        self.busy[slot as usize]
    }

    /// The buffer of `slot`, which nobody else uses.
    ///
    /// # Panics
    /// The slot is in flight (the kernel owns the buffer) or does not exist.
    #[inline]
    pub(crate) fn lend<'a>(&self, arena: &'a mut Arena, slot: u32) -> &'a mut [u8] {
        assert!(!self.contains(slot), "the buffer of slot {slot} is in flight");
        arena.slot_mut(slot)
    }

    /// `slot` is now the kernel's. The caller has checked [`InFlight::is_full`].
    ///
    /// # Panics
    /// The slot is in flight already: two I/Os would share a buffer.
    #[inline]
    pub(crate) fn start(&mut self, slot: u32) {
        let busy = &mut self.busy[slot as usize];
        assert!(!*busy, "slot {slot} is in flight already");
        *busy = true;
        self.count += 1;
    }

    /// `slot` is the caller's again.
    ///
    /// # Panics
    /// The slot was not in flight: a completion came twice.
    #[inline]
    pub(crate) fn finish(&mut self, slot: u32) {
        let busy = &mut self.busy[slot as usize];
        assert!(*busy, "slot {slot} completed without being in flight");
        *busy = false;
        self.count -= 1;
    }
}

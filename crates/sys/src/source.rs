//! Bytes that many writes are taken from, without copying them.
//!
//! Data in: how many bytes, and who fills them. Data out: slices, and places for the kernel to read. Once made it never
//! changes, so that any number of queues in any number of threads may hold it. It must not know what the bytes mean.

use crate::arena::{Arena, PageKind};
use std::io;

/// A store of bytes, aligned to a page.
#[derive(Debug)]
pub struct Source {
    arena: Arena,
}

// SAFETY: `new` gives the only value out after the last change to its bytes; all else takes `&self` and reads.
unsafe impl Sync for Source {}

impl Source {
    /// A store of `bytes` bytes as `fill` leaves them.
    ///
    /// # Errors
    /// There is no memory for it.
    pub fn new(bytes: usize, fill: impl FnOnce(&mut [u8])) -> io::Result<Self> {
        let mut arena = Arena::new(1, bytes, PageKind::Normal)?;
        fill(arena.slot_mut(0));
        Ok(Self { arena })
    }

    #[inline]
    pub fn bytes(&self) -> &[u8] {
        self.arena.slot(0)
    }
}

/// The byte at `at` of what a queue was given, for the kernel to read `len` bytes from there.
///
/// # Panics
/// It was given none, or they are not all there.
#[inline]
pub(crate) fn place(source: Option<&Source>, at: usize, len: u32) -> *mut u8 {
    let source = source.expect("a source");
    source.bytes()[at..][..len as usize].as_ptr().cast_mut()
}

#[cfg(test)]
mod tests;

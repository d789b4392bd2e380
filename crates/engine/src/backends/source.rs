//! Where a write takes its bytes from, when they come from a store.

use fathom_core::rng::Rng;
use fathom_sys::source::Source;
use std::sync::Arc;

/// Places are multiples of this: enough for `O_DIRECT` on sectors up to 4 KiB.
const PLACE_BYTES: u64 = 4096;

/// A store that all workers of a job share, and one worker's way through it: a place at random for each write.
#[derive(Debug, Clone)]
pub struct WriteSource {
    store: Arc<Source>,
    rng: Rng,
}

impl WriteSource {
    /// A way of its own for each seed.
    pub fn new(store: Arc<Source>, seed: u64) -> Self {
        Self {
            store,
            rng: Rng::new(seed),
        }
    }

    /// The store itself.
    pub(super) fn store(&self) -> &Arc<Source> {
        &self.store
    }

    /// Where the next write of `len` bytes, no more than the store has, takes them from.
    #[inline]
    pub(super) fn place(&mut self, len: u32) -> usize {
        let room = (self.store.bytes().len() as u64).saturating_sub(u64::from(len));
        (self.rng.below(room / PLACE_BYTES + 1) * PLACE_BYTES) as usize
    }

    /// The bytes of the next write of `len`.
    #[inline]
    pub fn take(&mut self, len: u32) -> &[u8] {
        let at = self.place(len);
        &self.store.bytes()[at..][..len as usize]
    }
}

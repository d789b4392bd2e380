//! Sequences that are not one worker's alone, or not one: a pointer shared by many workers, or one for each slot.
//!
//! Data in: how large the region is, and how far each I/O goes. Data out: where it begins. A worker's own single sequence
//! is in [`super::order`]. It must not know who else holds a shared pointer.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How one I/O of a sequence moves on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stride {
    /// The region's length in bytes.
    pub region: u64,
    /// The least room that an I/O needs, in bytes.
    pub smallest: u64,
    /// From the beginning of this I/O to that of the next, in bytes; at least 1.
    pub bytes: u64,
    /// Whether the sequence begins again at the end of the region.
    pub wraps: bool,
}

/// Sequences over one file.
#[derive(Debug, Clone)]
pub enum Walk {
    /// One for all who hold the pointer. It only grows: rounds times the length of the region, and the place within it.
    Shared {
        /// The next place.
        pointer: Arc<AtomicU64>,
        /// The round that this worker's pass is about; it takes nothing of later ones, unless its sequence wraps.
        round: u64,
        /// A new pass joins the others in their round, however far they are.
        joins: bool,
    },
    EachSlot {
        /// The next place of each.
        next: Box<[u64]>,
        /// Whose turn it is.
        slot: usize,
        /// Where each begins.
        first: u64,
    },
}

impl Walk {
    /// A pointer that nobody shares yet. `joins`: passes follow one another without end.
    pub(super) fn shared(joins: bool) -> Self {
        Self::Shared {
            pointer: Arc::default(),
            round: 0,
            joins,
        }
    }

    /// A sequence for each of so many slots, from `first` on, in bytes.
    pub(super) fn each_slot(slots: u32, first: u64) -> Self {
        Self::EachSlot {
            next: vec![first; slots.max(1) as usize].into_boxed_slice(),
            slot: 0,
            first,
        }
    }

    /// Goes on with a pointer that others hold too.
    pub(super) fn share(&mut self, with: &Arc<AtomicU64>) {
        if let Self::Shared { pointer, .. } = self {
            *pointer = Arc::clone(with);
        }
    }

    /// The next I/O is that of this slot.
    pub(super) fn turn_to(&mut self, of: u32) {
        if let Self::EachSlot { next, slot, .. } = self {
            *slot = of as usize % next.len();
        }
    }

    /// Where the next I/O begins, in bytes from the start of the region; `None`: this pass is over.
    pub(super) fn take(&mut self, stride: Stride) -> Option<u64> {
        match self {
            Self::Shared { pointer, round, .. } => take_shared(pointer, *round, stride),
            Self::EachSlot { next, slot, first } => {
                let first = *first;
                if let Some(at) = take_own(&mut next[*slot], first, stride) {
                    return Some(at);
                }
                // This slot is through; it helps one that is not.
                next.iter_mut().find_map(|next| take_own(next, first, stride))
            }
        }
    }

    /// Begins a new pass.
    pub(super) fn restart(&mut self, region: u64) {
        match self {
            Self::Shared {
                pointer,
                round,
                joins,
            } => {
                *round += 1;
                if *joins {
                    *round = (*round).max(pointer.load(Ordering::Relaxed) / region.max(1));
                }
            }
            Self::EachSlot { next, first, .. } => next.fill(*first),
        }
    }
}

fn take_own(next: &mut u64, first: u64, stride: Stride) -> Option<u64> {
    let mut at = *next;
    if stride.region.saturating_sub(at) < stride.smallest {
        if !stride.wraps {
            return None;
        }
        at = first % stride.bytes;
    }
    *next = at.saturating_add(stride.bytes);
    Some(at)
}

/// Without a lock: who is overtaken between looking and taking looks again.
fn take_shared(pointer: &AtomicU64, round: u64, stride: Stride) -> Option<u64> {
    let mut seen = pointer.load(Ordering::Relaxed);
    loop {
        let mut at = seen % stride.region;
        let mut start = seen - at;
        if stride.region - at < stride.smallest {
            start += stride.region;
            at = 0;
        }
        if !stride.wraps && start / stride.region > round {
            return None;
        }
        // What goes beyond the end begins the next round at its beginning.
        let next = start + at.saturating_add(stride.bytes).min(stride.region);
        // Only the place itself is shared, and no other memory with it.
        match pointer.compare_exchange_weak(seen, next, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => return Some(at),
            Err(now) => seen = now,
        }
    }
}

#[cfg(test)]
mod tests;

//! A global allocator that counts: how a test proves that the measured loop allocates nothing.
//!
//! Data in: every allocation of the program, once a test binary has made [`CountingAllocator`] its
//! `#[global_allocator]`. Data out: how many a thread made between [`start`] and [`stop`]. It must not know what
//! is counted, and without `start` it is the system's allocator.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    // Constant and without a destructor: touching it allocates nothing, also while a thread ends.
    static COUNTS: Cell<Option<Counts>> = const { Cell::new(None) };
}

/// What a thread asked of the allocator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Blocks allocated, or resized.
    pub allocations: u64,
    /// Blocks given back.
    pub frees: u64,
}

/// The system's allocator with a count a thread.
#[derive(Debug, Clone, Copy, Default)]
pub struct CountingAllocator;

/// Counts from now on what this thread allocates.
pub fn start() {
    COUNTS.set(Some(Counts::default()));
}

/// Ends the count of this thread and gives it; nothing where none was begun.
pub fn stop() -> Counts {
    COUNTS.take().unwrap_or_default()
}

fn count(change: impl FnOnce(&mut Counts)) {
    // The thread's storage is gone when its last destructors run: nobody counts then.
    let _gone = COUNTS.try_with(|counts| {
        if let Some(mut now) = counts.get() {
            change(&mut now);
            counts.set(Some(now));
        }
    });
}

// SAFETY: every method hands its arguments to the system's allocator unchanged and returns what that returns;
// counting touches a plain thread-local cell, and neither allocates nor unwinds.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(|counts| counts.allocations += 1);
        // SAFETY: the caller keeps the contract of `GlobalAlloc::alloc`, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(|counts| counts.allocations += 1);
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count(|counts| counts.allocations += 1);
        // SAFETY: `block` came from this allocator, and so from the system's, with this layout.
        unsafe { System.realloc(block, layout, new_size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        count(|counts| counts.frees += 1);
        // SAFETY: `block` came from this allocator, and so from the system's, with this layout.
        unsafe { System.dealloc(block, layout) }
    }
}

#[cfg(test)]
mod tests;

use super::{CountingAllocator, Counts, start, stop};
use std::alloc::{GlobalAlloc, Layout};

/// One block of 64 bytes, grown to 128 and given back.
fn use_it() {
    let layout = Layout::from_size_align(64, 8).expect("a layout");
    // SAFETY: the layout has a size.
    let block = unsafe { CountingAllocator.alloc(layout) };
    assert!(!block.is_null());
    // SAFETY: the block is 64 bytes long and ours.
    unsafe { block.write_bytes(7, 64) };
    // SAFETY: the block came from this allocator with this layout; the new size is not zero.
    let block = unsafe { CountingAllocator.realloc(block, layout, 128) };
    assert!(!block.is_null());
    // SAFETY: the block is 128 bytes long.
    let last = unsafe { block.add(63) };
    // SAFETY: the first 64 bytes were written above.
    assert_eq!(unsafe { last.read() }, 7);
    let grown = Layout::from_size_align(128, 8).expect("a layout");
    // SAFETY: the block came from this allocator and has this layout now.
    unsafe { CountingAllocator.dealloc(block, grown) };
}

#[test]
fn it_counts_between_start_and_stop_on_this_thread_only() {
    use_it();
    assert_eq!(stop(), Counts::default());
    start();
    use_it();
    std::thread::spawn(use_it).join().expect("the other thread");
    let counts = stop();
    assert_eq!(
        counts,
        Counts {
            allocations: 2,
            frees: 1
        }
    );
    use_it();
    assert_eq!(stop(), Counts::default());
}

//! How the heap gives memory back.
//!
//! Data in: nothing. Data out: nothing; the allocator behaves differently from then on. It must not know who allocates.

/// From this size on each block is a mapping of its own. The threshold that glibc begins with; left alone it rises with
/// each such block that is freed (mallopt(3)).
#[cfg(target_env = "gnu")]
const MAPPED_FROM_BYTES: libc::c_int = 128 << 10;

/// Large blocks go back to the system when they are freed, for the rest of the program's life: buffers of some hundred
/// KiB that come and go would else leave holes behind in which nothing fits. Costs a system call for each such block.
/// Does nothing with an allocator other than glibc's.
pub fn return_large_blocks() {
    #[cfg(target_env = "gnu")]
    for parameter in [libc::M_MMAP_THRESHOLD, libc::M_TRIM_THRESHOLD] {
        // SAFETY: mallopt takes two integers and changes nothing but how the allocator goes on; it may be called at any
        // time and from any thread. It refuses values by returning 0, and then all stays as it was.
        let _accepted = unsafe { libc::mallopt(parameter, MAPPED_FROM_BYTES) };
    }
}

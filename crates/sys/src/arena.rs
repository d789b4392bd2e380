//! Page-aligned buffers, one a slot, in one mapping.
//!
//! Data in: how many slots of how many bytes. Data out: slices. Pages that are never touched cost no memory.
//! It must not know what is in the buffers; which of them the kernel uses is the queues' business.

use rustix::mm::{MapFlags, ProtFlags, mlock, mmap_anonymous, munmap};
use std::io;
use std::ptr::{self, NonNull};

/// Each slot starts on a multiple of this: enough for `O_DIRECT` on every device with sectors up to 4 KiB.
pub const SLOT_ALIGN_BYTES: usize = 4096;

const HUGE_PAGE_BYTES: usize = 2 << 20;

/// Which pages hold the buffers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageKind {
    /// Pages of the base size.
    Normal,
    /// Pages of 2 MiB from the system's pool (`vm.nr_hugepages`, where its own huge pages have that size).
    Huge,
    /// Whole pages of so many bytes, a power of two, from the pool of that size.
    HugeOf(usize),
}

/// `slots` buffers of `slot_bytes` bytes, zero at first, each aligned to [`SLOT_ALIGN_BYTES`].
#[derive(Debug)]
pub struct Arena {
    base: NonNull<u8>,
    /// 0 once leaked.
    mapped_bytes: usize,
    stride_bytes: usize,
    slot_bytes: usize,
    slots: u32,
}

// SAFETY: the mapping belongs to this value alone and any thread may use or unmap it.
unsafe impl Send for Arena {}

impl Arena {
    /// So many bytes that stay in memory: nobody else has them meanwhile.
    ///
    /// # Errors
    /// As [`Arena::new`]; and what `mlock` said: `ENOMEM` above the limit of locked memory.
    pub fn locked(bytes: usize) -> io::Result<Self> {
        let arena = Self::new(1, bytes, PageKind::Normal)?;
        // SAFETY: the mapping is the arena's own, and has that length; locking changes no contents.
        unsafe { mlock(arena.base.as_ptr().cast(), arena.mapped_bytes) }?;
        Ok(arena)
    }

    /// Maps the buffers.
    ///
    /// # Errors
    /// `InvalidInput` if the size overflows; else what `mmap` said: `ENOMEM` with [`PageKind::Huge`] means
    /// that the pool has too few free huge pages.
    pub fn new(slots: u32, slot_bytes: usize, kind: PageKind) -> io::Result<Self> {
        let page_bytes = match kind {
            PageKind::Normal => SLOT_ALIGN_BYTES,
            PageKind::Huge => HUGE_PAGE_BYTES,
            PageKind::HugeOf(bytes) => bytes.next_power_of_two().max(SLOT_ALIGN_BYTES),
        };
        let size = |slots: usize| {
            let stride = slot_bytes.max(1).checked_next_multiple_of(SLOT_ALIGN_BYTES)?;
            let bytes = stride
                .checked_mul(slots.max(1))?
                .checked_next_multiple_of(page_bytes)?;
            (isize::try_from(bytes).is_ok()).then_some((stride, bytes))
        };
        let (stride_bytes, mapped_bytes) = size(slots as usize).ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("{slots} buffers of {slot_bytes} bytes do not fit the address space"),
            )
        })?;
        let flags = match kind {
            PageKind::Normal => MapFlags::PRIVATE | MapFlags::NORESERVE,
            PageKind::Huge => MapFlags::PRIVATE | MapFlags::HUGETLB | MapFlags::HUGE_2MB,
            // The size stands in the flags as its logarithm.
            PageKind::HugeOf(_) => {
                let size = page_bytes.trailing_zeros() << libc::MAP_HUGE_SHIFT;
                MapFlags::PRIVATE | MapFlags::HUGETLB | MapFlags::from_bits_retain(size)
            }
        };
        let prot = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: with a null hint the kernel picks a range that nothing else uses.
        let base = unsafe { mmap_anonymous(ptr::null_mut(), mapped_bytes, prot, flags) }?;
        let base = NonNull::new(base.cast()).ok_or_else(|| io::Error::other("mmap gave page 0"))?;
        Ok(Self {
            base,
            mapped_bytes,
            stride_bytes,
            slot_bytes,
            slots,
        })
    }

    /// The buffer of `slot`.
    ///
    /// # Panics
    /// There is no such slot.
    #[inline]
    pub fn slot(&self, slot: u32) -> &[u8] {
        let start = self.slot_ptr(slot);
        // SAFETY: `slot_ptr` gives `slot_bytes` mapped, initialised bytes that live as long as `self`; writers
        // need `&mut self`, and a queue that lends a slot to the kernel lends no reference to it meanwhile.
        unsafe { std::slice::from_raw_parts(start, self.slot_bytes) }
    }

    /// The buffer of `slot`, to write.
    ///
    /// # Panics
    /// There is no such slot.
    #[inline]
    pub fn slot_mut(&mut self, slot: u32) -> &mut [u8] {
        let start = self.slot_ptr(slot);
        // SAFETY: as in `slot`; `&mut self` makes this the only reference into the arena.
        unsafe { std::slice::from_raw_parts_mut(start, self.slot_bytes) }
    }

    /// The size of each buffer in bytes.
    #[inline]
    pub fn slot_bytes(&self) -> usize {
        self.slot_bytes
    }

    /// How many buffers there are.
    #[inline]
    pub fn slots(&self) -> u32 {
        self.slots
    }

    /// The first byte of `slot`, for the kernel; `slot_bytes` bytes from there are mapped.
    #[inline]
    pub(crate) fn slot_ptr(&self, slot: u32) -> *mut u8 {
        assert!(slot < self.slots, "slot {slot} of {}", self.slots);
        // SAFETY: slot < slots, so the offset is inside the mapping of `stride_bytes * slots` bytes or more.
        unsafe { self.base.as_ptr().add(slot as usize * self.stride_bytes) }
    }

    /// Gives the memory up for good: what a queue must do when it cannot learn whether the kernel still
    /// writes to it.
    pub(crate) fn leak(&mut self) {
        self.mapped_bytes = 0;
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        if self.mapped_bytes == 0 {
            return;
        }
        // SAFETY: the range is this value's own since `new`, and no reference outlives `self`.
        let unmapped = unsafe { munmap(self.base.as_ptr().cast(), self.mapped_bytes) };
        debug_assert!(unmapped.is_ok(), "munmap of an own mapping: {unmapped:?}");
    }
}

#[cfg(test)]
mod tests;

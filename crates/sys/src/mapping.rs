//! A file mapped into memory, copied from and to, that survives what happens to the file.
//!
//! Data in: an open file and a range. Data out: bytes, or an errno. It must not know who reads or why.
//!
//! A page that cannot be brought in (the file was truncated under the mapping, the disk failed or is full)
//! raises SIGBUS, which ends a process. Here a handler maps an anonymous page over the faulting one and marks
//! the mapping; the copy goes on, sees the mark, throws its bytes away and gives `EIO`. Then the file is mapped
//! anew, so that the next access finds the file again, not the anonymous page.

use fathom_core::backend::{Errno, Outcome};
use rustix::mm::{Advice, MapFlags, MsyncFlags, ProtFlags, madvise, mmap, msync, munmap};
use std::cell::Cell;
use std::fs::File;
use std::io;
use std::marker::PhantomData;
use std::ptr::{self, NonNull};

mod fault;

/// How a mapping will be accessed, for the kernel's read-ahead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// No advice.
    Normal,
    /// Here and there: no read-ahead.
    Random,
    /// From the start to the end: much read-ahead.
    Sequential,
}

/// A range of a file in memory, shared with the file. Offsets are from the start of the range.
#[derive(Debug)]
pub struct Mapping {
    /// A multiple of the page size at or before the range.
    base: NonNull<u8>,
    mapped_bytes: usize,
    /// From `base` to the range.
    lead_bytes: usize,
    len_bytes: usize,
    writable: bool,
    access: Access,
    /// Kept to map anew after a fault.
    file: File,
    file_offset: u64,
    fault: fault::Registration,
    /// Not `Sync`: the mark of a fault is the mapping's, not the access's.
    one_thread: PhantomData<Cell<()>>,
}

// SAFETY: the mapping belongs to this value alone; any one thread may use it.
unsafe impl Send for Mapping {}

impl Mapping {
    /// Maps `len_bytes` of `file` from `offset_bytes`, to read and, if `writable`, to write. The first mapping
    /// in the process installs the SIGBUS handler; one that was there before still sees other faults.
    ///
    /// # Errors
    /// `InvalidInput` for an empty range or one that does not fit the address space; `ENOSPC`
    /// (`StorageFull`) when 4096 mappings exist; `EACCES` if the file is not open for it; `ENODEV` where it
    /// cannot be mapped.
    pub fn new(file: &File, offset_bytes: u64, len_bytes: u64, writable: bool) -> io::Result<Self> {
        let invalid = || io::Error::new(io::ErrorKind::InvalidInput, "an empty or too long range to map");
        let lead_bytes = (offset_bytes % rustix::param::page_size() as u64) as usize;
        let len_bytes = usize::try_from(len_bytes)
            .ok()
            .filter(|&len| len > 0)
            .ok_or_else(invalid)?;
        let mapped_bytes = len_bytes
            .checked_add(lead_bytes)
            .filter(|&bytes| isize::try_from(bytes).is_ok())
            .ok_or_else(invalid)?;
        let file = file.try_clone()?;
        let file_offset = offset_bytes - lead_bytes as u64;
        fault::install()?;
        // SAFETY: with a null hint the kernel picks a range that nothing else uses.
        let base = unsafe {
            mmap(
                ptr::null_mut(),
                mapped_bytes,
                protection(writable),
                MapFlags::SHARED,
                &file,
                file_offset,
            )
        }?;
        let base = NonNull::new(base.cast::<u8>()).ok_or_else(|| io::Error::other("mmap gave page 0"))?;
        let registered = fault::Registration::new(base.addr().get(), mapped_bytes);
        let Some(fault) = registered else {
            // SAFETY: mapped above, and nothing refers to it.
            unsafe { munmap(base.as_ptr().cast(), mapped_bytes) }?;
            return Err(io::Error::from(io::ErrorKind::StorageFull));
        };
        let (access, one_thread) = (Access::Normal, PhantomData);
        Ok(Self {
            base,
            mapped_bytes,
            lead_bytes,
            len_bytes,
            writable,
            access,
            file,
            file_offset,
            fault,
            one_thread,
        })
    }

    /// The length of the range in bytes.
    pub fn len_bytes(&self) -> u64 {
        self.len_bytes as u64
    }

    /// Copies from `offset_bytes` into `buffer`, all of it.
    ///
    /// # Errors
    /// `EIO` if a page could not be brought in, whose place in `buffer` then holds anything; `EINVAL` beyond
    /// the range.
    #[inline]
    pub fn read(&self, offset_bytes: u64, buffer: &mut [u8]) -> Outcome {
        let source = self.checked(offset_bytes, buffer.len())?;
        // SAFETY: `checked` says that the range is mapped, and it stays so while `self` is borrowed; the
        // buffer is not part of it, for no reference into the mapping is ever given out. Other processes may
        // write the file meanwhile: the bytes are then a mix, as with `read(2)`.
        unsafe { ptr::copy_nonoverlapping(source.as_ptr(), buffer.as_mut_ptr(), buffer.len()) };
        self.verdict(buffer.len())
    }

    /// Copies `buffer` to `offset_bytes`, all of it. It is in the page cache then; see [`Mapping::sync`].
    ///
    /// # Errors
    /// `EIO` if a page could not be brought in or given room on the disk, `EINVAL` beyond the range, `EACCES`
    /// if the mapping is not writable.
    #[inline]
    pub fn write(&mut self, offset_bytes: u64, buffer: &[u8]) -> Outcome {
        if !self.writable {
            return Err(Errno(libc::EACCES));
        }
        let target = self.checked(offset_bytes, buffer.len())?;
        // SAFETY: as in `read`, and the mapping is writable.
        unsafe { ptr::copy_nonoverlapping(buffer.as_ptr(), target.as_ptr(), buffer.len()) };
        self.verdict(buffer.len())
    }

    /// Writes the dirty pages of `len_bytes` at `offset_bytes` to the disk (`msync`). Moves no bytes: `Ok(0)`.
    ///
    /// # Errors
    /// `EINVAL` beyond the range; else what `msync` said.
    pub fn sync(&self, offset_bytes: u64, len_bytes: u64) -> Outcome {
        let len = usize::try_from(len_bytes).map_err(|_| Errno(libc::EINVAL))?;
        let start = self.checked(offset_bytes, len)?;
        let within_page = start.addr().get() % rustix::param::page_size();
        let start = start.as_ptr().wrapping_sub(within_page);
        // SAFETY: the pages from `start` belong to the mapping (its base is on a page boundary).
        let synced = unsafe { msync(start.cast(), len + within_page, MsyncFlags::SYNC) };
        crate::outcome(synced.map(|()| 0))
    }

    /// Tells the kernel how the mapping will be accessed.
    ///
    /// # Errors
    /// What `madvise` said.
    pub fn advise(&mut self, access: Access) -> io::Result<()> {
        self.access = access;
        self.apply_advice()?;
        Ok(())
    }

    /// Asks for huge pages, where the file system has them (`MADV_HUGEPAGE`).
    ///
    /// # Errors
    /// What `madvise` said: `EINVAL` where the kernel has none.
    pub fn ask_for_huge_pages(&self) -> io::Result<()> {
        // SAFETY: the range is this mapping; this advice changes no contents.
        unsafe {
            madvise(
                self.base.as_ptr().cast(),
                self.mapped_bytes,
                Advice::LinuxHugepage,
            )
        }?;
        Ok(())
    }

    fn apply_advice(&self) -> rustix::io::Result<()> {
        let advice = match self.access {
            Access::Normal => Advice::Normal,
            Access::Random => Advice::Random,
            Access::Sequential => Advice::Sequential,
        };
        // SAFETY: the range is this mapping; these kinds of advice change no contents.
        unsafe { madvise(self.base.as_ptr().cast(), self.mapped_bytes, advice) }
    }

    /// Where `len` bytes at `offset_bytes` of the range lie in memory.
    #[inline]
    fn checked(&self, offset_bytes: u64, len: usize) -> Result<NonNull<u8>, Errno> {
        let offset = usize::try_from(offset_bytes).map_err(|_| Errno(libc::EINVAL))?;
        if offset.checked_add(len).is_none_or(|end| end > self.len_bytes) {
            return Err(Errno(libc::EINVAL));
        }
        // SAFETY: lead + offset + len ≤ mapped_bytes, since lead + len_bytes = mapped_bytes.
        Ok(unsafe { self.base.add(self.lead_bytes + offset) })
    }

    /// What an access of `len` bytes came to.
    #[inline]
    fn verdict(&self, len: usize) -> Outcome {
        if self.fault.take() {
            return Err(self.after_fault());
        }
        u32::try_from(len).map_err(|_| Errno(libc::EOVERFLOW))
    }

    /// Maps the file over the anonymous pages that the handler put there.
    #[cold]
    fn after_fault(&self) -> Errno {
        let flags = MapFlags::SHARED | MapFlags::FIXED;
        let start = self.base.as_ptr().cast();
        // SAFETY: the range is this mapping's own, and no references point into it.
        let mapped = unsafe {
            mmap(
                start,
                self.mapped_bytes,
                protection(self.writable),
                flags,
                &self.file,
                self.file_offset,
            )
        };
        match mapped.and_then(|_| self.apply_advice()) {
            Ok(()) => Errno(libc::EIO),
            Err(error) => {
                // The anonymous pages are still there: the next access must fail too, and try again.
                self.fault.renew();
                Errno(error.raw_os_error())
            }
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // First, so that the handler never takes a later mapping at this address for this one.
        self.fault.withdraw();
        // SAFETY: the range is this value's own since `new`, and nothing refers to it.
        let unmapped = unsafe { munmap(self.base.as_ptr().cast(), self.mapped_bytes) };
        debug_assert!(unmapped.is_ok(), "munmap of an own mapping: {unmapped:?}");
    }
}

fn protection(writable: bool) -> ProtFlags {
    if writable {
        ProtFlags::READ | ProtFlags::WRITE
    } else {
        ProtFlags::READ
    }
}

#[cfg(test)]
mod tests;

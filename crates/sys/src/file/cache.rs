//! How much of a file is in the page cache.

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::ffi::c_void;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr;

/// `cachestat(2)`, Linux 6.5; the number is the same on every architecture.
const SYS_CACHESTAT: libc::c_long = 451;

/// How much is mapped at a time where `cachestat` is missing: 64 Ki pages, so a vector of 64 KiB.
const WINDOW_PAGES: usize = 64 << 10;

/// `struct cachestat_range` of linux/mman.h.
#[repr(C)]
struct Range {
    offset: u64,
    len: u64,
}

/// `struct cachestat` of linux/mman.h; all in pages.
#[repr(C)]
#[derive(Default)]
struct Stat {
    cache: u64,
    dirty: u64,
    writeback: u64,
    evicted: u64,
    recently_evicted: u64,
}

const _: () = assert!(size_of::<Range>() == 16 && size_of::<Stat>() == 40);

/// How many bytes of `len_bytes` at `offset_bytes` are in the page cache, in whole pages.
///
/// # Errors
/// `EPERM` where the caller could not write the file (the kernel keeps it from spying); `EOPNOTSUPP` for
/// files without a page cache.
pub fn page_cache_resident(file: &File, offset_bytes: u64, len_bytes: u64) -> io::Result<u64> {
    if len_bytes == 0 {
        return Ok(0); // To cachestat it would mean "to the end".
    }
    match by_cachestat(file, offset_bytes, len_bytes) {
        Err(error) if error.raw_os_error() == Some(libc::ENOSYS) => by_mincore(file, offset_bytes, len_bytes),
        other => other,
    }
}

fn by_cachestat(file: &File, offset: u64, len: u64) -> io::Result<u64> {
    let range = Range { offset, len };
    let mut stat = Stat::default();
    let stat_ptr = ptr::from_mut(&mut stat);
    // SAFETY: the kernel reads one `Range` and writes one `Stat` (sizes asserted above); both outlive the call.
    let result = unsafe { libc::syscall(SYS_CACHESTAT, file.as_raw_fd(), &raw const range, stat_ptr, 0) };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(stat.cache * rustix::param::page_size() as u64)
}

/// The same by mapping the file and asking `mincore`. The mapping is never touched.
pub(super) fn by_mincore(file: &File, offset: u64, len: u64) -> io::Result<u64> {
    let page = rustix::param::page_size();
    let end = offset
        .checked_add(len)
        .ok_or_else(|| io::Error::from_raw_os_error(libc::EINVAL))?;
    let mut start = offset - offset % page as u64;
    let mut resident_pages = 0;
    while start < end {
        let bytes = usize::try_from(end - start)
            .unwrap_or(usize::MAX)
            .min(WINDOW_PAGES * page);
        resident_pages += window_resident_pages(file, start, bytes, bytes.div_ceil(page))?;
        start += bytes as u64;
    }
    Ok(resident_pages * page as u64)
}

/// How many of the `pages` pages at `start` (a multiple of the page size) are resident.
fn window_resident_pages(file: &File, start: u64, bytes: usize, pages: usize) -> io::Result<u64> {
    // SAFETY: with a null hint the kernel picks a range that nothing else uses.
    let base = unsafe {
        mmap(
            ptr::null_mut(),
            bytes,
            ProtFlags::READ,
            MapFlags::SHARED,
            file,
            start,
        )
    }?;
    let resident = mincore(base, bytes, pages);
    // SAFETY: the range was mapped above, and nothing refers to it.
    unsafe { munmap(base, bytes) }?;
    resident
}

fn mincore(base: *mut c_void, bytes: usize, pages: usize) -> io::Result<u64> {
    let mut states = vec![0u8; pages];
    // SAFETY: `base` is a mapping of `bytes` bytes by the caller, and `states` has a byte for each page.
    let result = unsafe { libc::mincore(base, bytes, states.as_mut_ptr()) };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(states.iter().filter(|&&state| state & 1 != 0).count() as u64)
}

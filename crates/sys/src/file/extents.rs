//! Where a file's bytes lie on its device (`FS_IOC_FIEMAP`), and whether they were ever written.

use rustix::ioctl::{Opcode, opcode};
use std::fs::File;
use std::io;

/// One contiguous piece of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Where it starts in the file, in bytes.
    pub logical_bytes: u64,
    /// Where it starts on the device, in bytes; 0 if it has no place yet.
    pub physical_bytes: u64,
    /// How long it is, in bytes.
    pub length_bytes: u64,
    /// `FIEMAP_EXTENT_*` of linux/fiemap.h.
    pub flags: u32,
}

impl Extent {
    const LAST: u32 = 0x1;
    const DELALLOC: u32 = 0x4;
    const UNWRITTEN: u32 = 0x800;

    /// Allocated but never written: it reads as zeros without any device I/O.
    pub fn is_unwritten(&self) -> bool {
        self.flags & Self::UNWRITTEN != 0
    }
    /// Written to the page cache only; it has no place on the device yet.
    pub fn is_delalloc(&self) -> bool {
        self.flags & Self::DELALLOC != 0
    }
    /// The last extent of the file.
    pub fn is_last(&self) -> bool {
        self.flags & Self::LAST != 0
    }
}

/// `struct fiemap` of linux/fiemap.h without its flexible array.
#[repr(C)]
struct Header {
    start: u64,
    length: u64,
    flags: u32,
    mapped_extents: u32,
    extent_count: u32,
    reserved: u32,
}

/// `struct fiemap_extent` of linux/fiemap.h.
#[repr(C)]
#[derive(Clone, Copy)]
struct RawExtent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved64: [u64; 2],
    flags: u32,
    reserved: [u32; 3],
}

const _: () = assert!(size_of::<Header>() == 32 && size_of::<RawExtent>() == 56);

const BATCH: usize = 64;
const FS_IOC_FIEMAP: Opcode = opcode::read_write::<Header>(b'f', 11);

/// What the ioctl reads and writes: the header, then `extent_count` extents.
#[repr(C)]
struct Request {
    header: Header,
    extents: [RawExtent; BATCH],
}

/// The extents that overlap `len_bytes` at `start_bytes`, in the order of the file; holes are simply absent.
/// At most `max_extents` are given. Nothing is flushed first: see [`Extent::is_delalloc`].
///
/// # Errors
/// `EOPNOTSUPP` or `ENOTTY` where the file system cannot say (tmpfs, NFS, a device).
pub fn fiemap(file: &File, start_bytes: u64, len_bytes: u64, max_extents: usize) -> io::Result<Vec<Extent>> {
    let end = start_bytes.saturating_add(len_bytes);
    let mut start = start_bytes;
    let mut found = Vec::new();
    while start < end && found.len() < max_extents {
        let count = BATCH.min(max_extents - found.len());
        let batch = query(file, start, end - start, count)?;
        let Some(last) = batch.last().copied() else { break };
        found.extend(batch);
        start = last.logical_bytes.saturating_add(last.length_bytes.max(1));
        if last.is_last() {
            break;
        }
    }
    Ok(found)
}

/// One call: at most `count` (≤ `BATCH`) extents.
fn query(file: &File, start: u64, length: u64, count: usize) -> io::Result<Vec<Extent>> {
    let empty = RawExtent {
        logical: 0,
        physical: 0,
        length: 0,
        reserved64: [0; 2],
        flags: 0,
        reserved: [0; 3],
    };
    let header = Header {
        start,
        length,
        flags: 0,
        mapped_extents: 0,
        extent_count: count as u32,
        reserved: 0,
    };
    let mut request = Request {
        header,
        extents: [empty; BATCH],
    };
    // SAFETY: FS_IOC_FIEMAP reads the header and writes it and at most `extent_count` ≤ BATCH extents, which
    // `Request` holds right behind it; `count` was limited by the caller in this module.
    unsafe { super::update::<FS_IOC_FIEMAP, Request>(file, &mut request) }?;
    let mapped = (request.header.mapped_extents as usize).min(count);
    let extent = |raw: &RawExtent| Extent {
        logical_bytes: raw.logical,
        physical_bytes: raw.physical,
        length_bytes: raw.length,
        flags: raw.flags,
    };
    Ok(request.extents[..mapped].iter().map(extent).collect())
}

//! The door of files: a FUSE file system with one file a disk.
//!
//! Data in: the kernel's requests. Data out: I/O for the bench, its answers for the kernel. It must not know the model.
//!
//! What must be set, or the file does not behave as a disk (measured; `docs/disk.md`): `FUSE_ASYNC_DIO` (without it, asynchronous
//! direct I/O is synchronous), `FOPEN_PARALLEL_DIRECT_WRITES` (without it, writes wait for each other), as many background
//! requests as a disk has in flight, `FOPEN_DIRECT_IO` (without it, buffered programs share a page cache).

mod mount;

use crate::bench::{Answer, Bench, Io, IoKind, Outcome};
use fathom_core::record::Comm;
use fuser::{
    BsdFileFlags, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo,
    InitFlags, KernelConfig, LockOwner, OpenFlags, ReplyAttr, ReplyData, ReplyDirectory, ReplyEmpty,
    ReplyEntry, ReplyOpen, ReplyWrite, Request, TimeOrNow, Version, WriteFlags,
};
use rustix::fs::OFlags;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub use mount::{FuseOptions, MountError, Mounted};

/// Requests that the kernel sends before it waits for answers: a striped volume's loads have a thousand in flight.
const IN_FLIGHT_MAX: u16 = 1024;
/// The protocol of Linux 6.9. From 6.6 on there are shared mappings of a file past the page cache, but before 6.9 who asks for them
/// has direct writes wait for each other.
const MAPS_BESIDE_PARALLEL_WRITES: Version = Version(7, 40);
/// The largest request; the kernel's own limit on most systems.
const REQUEST_BYTES_MAX: u32 = 1 << 20;
/// Nothing but this program changes anything.
const FOR_EVER: Duration = Duration::from_hours(1);
/// Of the disks' files; the root is 1.
const FIRST_INODE: u64 = 2;
/// Names of processes that are remembered.
const NAMES_MAX: usize = 1024;

/// The file system.
#[derive(Debug)]
struct Disks {
    bench: Arc<Bench>,
    writeback: bool,
    owner: (u32, u32),
    /// Names of those who ask, by the number of their process.
    names: Mutex<HashMap<u32, Comm>>,
}

impl Disks {
    fn new(bench: &Arc<Bench>, writeback: bool) -> Self {
        Self {
            bench: Arc::clone(bench),
            writeback,
            owner: (
                rustix::process::geteuid().as_raw(),
                rustix::process::getegid().as_raw(),
            ),
            names: Mutex::default(),
        }
    }

    /// The number of the disk that an inode is of.
    fn disk(&self, inode: INodeNo) -> Option<usize> {
        let number = usize::try_from(inode.0.checked_sub(FIRST_INODE)?).ok()?;
        (number < self.bench.disks()).then_some(number)
    }

    fn attributes(&self, inode: INodeNo) -> Option<FileAttr> {
        let (kind, perm, size) = match self.disk(inode) {
            Some(disk) => (FileType::RegularFile, 0o600, self.bench.store(disk).size_bytes()),
            None if inode == INodeNo::ROOT => (FileType::Directory, 0o700, 0),
            None => return None,
        };
        Some(FileAttr {
            ino: inode,
            size,
            blocks: size / 512,
            atime: UNIX_EPOCH,
            mtime: UNIX_EPOCH,
            ctime: UNIX_EPOCH,
            crtime: UNIX_EPOCH,
            kind,
            perm,
            nlink: 1,
            uid: self.owner.0,
            gid: self.owner.1,
            rdev: 0,
            blksize: 4096,
            flags: 0,
        })
    }

    fn comm(&self, pid: u32) -> Comm {
        if pid == 0 {
            return Comm::default();
        }
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(name) = names.get(&pid) {
            return *name;
        }
        let name = std::fs::read(format!("/proc/{pid}/comm")).unwrap_or_default();
        let name = Comm::new(name.trim_ascii_end());
        // Numbers are used again in the end.
        if names.len() >= NAMES_MAX {
            names.clear();
        }
        names.insert(pid, name);
        name
    }

    fn submit(&self, request: &Request, disk: usize, offset_bytes: u64, kind: IoKind<'_>, answer: Answer) {
        self.bench.raise_thread();
        let pid = request.pid();
        let io = Io {
            disk,
            offset_bytes,
            kind,
            pid,
            comm: self.comm(pid),
        };
        self.bench.submit(io, answer);
    }
}

/// Whether shared mappings cost nothing else.
fn may_ask_for_maps(kernel: Version) -> bool {
    kernel >= MAPS_BESIDE_PARALLEL_WRITES
}

/// Whether a write is to be on the medium when it is complete: the file was opened with `O_DSYNC` or `O_SYNC`, or this write alone
/// asks for it (`RWF_DSYNC`). The kernel sends no fsync after a direct write; the flags are all that tells.
fn is_forced(flags: OpenFlags) -> bool {
    OFlags::from_bits_retain(flags.0.cast_unsigned()).contains(OFlags::DSYNC)
}

fn done(reply: ReplyEmpty) -> Answer {
    Box::new(move |outcome: Outcome| match outcome {
        Ok(_) => reply.ok(),
        Err(error) => reply.error(Errno::from_i32(error.0)),
    })
}

impl Filesystem for Disks {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        // Refused values are replaced by the nearest: there is nothing to do about them.
        let _previous = config.set_max_background(IN_FLIGHT_MAX);
        let _previous = config.set_congestion_threshold(IN_FLIGHT_MAX);
        let _previous = config.set_max_write(REQUEST_BYTES_MAX);
        if may_ask_for_maps(config.kernel_abi()) {
            // Every such kernel has them.
            let _missing = config.add_capabilities(InitFlags::FUSE_DIRECT_IO_ALLOW_MMAP);
        }
        let mut needed = vec![(
            InitFlags::FUSE_ASYNC_DIO,
            "asynchronous direct I/O (FUSE_ASYNC_DIO)",
        )];
        if self.writeback {
            needed.push((
                InitFlags::FUSE_WRITEBACK_CACHE,
                "a page cache for writes (FUSE_WRITEBACK_CACHE)",
            ));
        }
        for (capability, what) in needed {
            let added = config.add_capabilities(capability);
            added.map_err(|_| io::Error::other(format!("this kernel's FUSE has no {what}")))?;
        }
        Ok(())
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let named = (0..self.bench.disks()).find(|&disk| name == self.bench.name(disk));
        let inode = named.map(|disk| INodeNo(FIRST_INODE + disk as u64));
        match inode.and_then(|inode| self.attributes(inode)) {
            Some(attributes) if parent == INodeNo::ROOT => {
                reply.entry(&FOR_EVER, &attributes, Generation(0));
            }
            _ => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _: &Request, inode: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.attributes(inode) {
            Some(attributes) => reply.attr(&FOR_EVER, &attributes),
            None => reply.error(Errno::ENOENT),
        }
    }

    /// Times are not kept; a disk has the size that it has.
    fn setattr(
        &self,
        _: &Request,
        inode: INodeNo,
        _: Option<u32>,
        _: Option<u32>,
        _: Option<u32>,
        size: Option<u64>,
        _: Option<TimeOrNow>,
        _: Option<TimeOrNow>,
        _: Option<SystemTime>,
        _: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        match self.attributes(inode) {
            Some(attributes) if size.is_none_or(|size| size == attributes.size) => {
                reply.attr(&FOR_EVER, &attributes);
            }
            Some(_) => reply.error(Errno::EPERM),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn readdir(&self, _: &Request, _: INodeNo, _: FileHandle, offset: u64, mut reply: ReplyDirectory) {
        let dots = [(INodeNo::ROOT, "."), (INodeNo::ROOT, "..")];
        let dots = dots.map(|(inode, name)| (inode, FileType::Directory, name));
        let files = (0..self.bench.disks()).map(|disk| {
            let inode = INodeNo(FIRST_INODE + disk as u64);
            (inode, FileType::RegularFile, self.bench.name(disk))
        });
        let entries = (1..).zip(dots.into_iter().chain(files));
        for (next, (inode, kind, name)) in entries.skip(offset as usize) {
            if reply.add(inode, next, kind, name) {
                break;
            }
        }
        reply.ok();
    }

    fn open(&self, _: &Request, inode: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        let flags = match (self.disk(inode), self.writeback) {
            (None, _) => return reply.error(Errno::EISDIR),
            (Some(_), false) => FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES,
            (Some(_), true) => FopenFlags::FOPEN_KEEP_CACHE | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES,
        };
        reply.opened(FileHandle(0), flags);
    }

    fn read(
        &self,
        request: &Request,
        inode: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let Some(disk) = self.disk(inode) else {
            return reply.error(Errno::EISDIR);
        };
        let there = self
            .bench
            .store(disk)
            .size_bytes()
            .saturating_sub(offset)
            .min(size.into());
        if there == 0 {
            return reply.data(&[]);
        }
        let kind = IoKind::Read {
            len_bytes: there as u32,
            headroom: 0,
        };
        let answer = move |outcome: Outcome| match outcome {
            Ok(data) => reply.data(&data),
            Err(error) => reply.error(Errno::from_i32(error.0)),
        };
        self.submit(request, disk, offset, kind, Box::new(answer));
    }

    fn write(
        &self,
        request: &Request,
        inode: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        flags: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let Some(disk) = self.disk(inode) else {
            return reply.error(Errno::EISDIR);
        };
        if offset.saturating_add(data.len() as u64) > self.bench.store(disk).size_bytes() {
            return reply.error(Errno::ENOSPC);
        }
        let written = data.len() as u32;
        let answer = move |outcome: Outcome| match outcome {
            Ok(_) => reply.written(written),
            Err(error) => reply.error(Errno::from_i32(error.0)),
        };
        let forced = is_forced(flags);
        self.submit(
            request,
            disk,
            offset,
            IoKind::Write { data, forced },
            Box::new(answer),
        );
    }

    /// A close: nothing is kept back here.
    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }

    fn fsync(&self, request: &Request, inode: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        match self.disk(inode) {
            Some(disk) => self.submit(request, disk, 0, IoKind::Flush, done(reply)),
            None => reply.ok(),
        }
    }

    /// A discard of the loop device, or its zeroes: the range is given back.
    fn fallocate(
        &self,
        request: &Request,
        inode: INodeNo,
        _: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        use rustix::fs::FallocateFlags as Flags;
        let Some(disk) = self.disk(inode) else {
            return reply.error(Errno::EISDIR);
        };
        let size = self.bench.store(disk).size_bytes();
        if offset.checked_add(length).is_none_or(|end| end > size) {
            return reply.error(Errno::ENOSPC);
        }
        let mode = Flags::from_bits_retain(mode.cast_unsigned());
        let zeroes = mode.contains(Flags::PUNCH_HOLE) || mode.contains(Flags::ZERO_RANGE);
        if mode.is_empty() || mode == Flags::KEEP_SIZE {
            // All of it is there.
            return reply.ok();
        }
        if !zeroes {
            return reply.error(Errno::EOPNOTSUPP);
        }
        self.submit(
            request,
            disk,
            offset,
            IoKind::Trim { len_bytes: length },
            done(reply),
        );
    }
}

#[cfg(test)]
mod tests;

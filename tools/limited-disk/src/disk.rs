//! The file system with its one file.
//!
//! Duty: answer the kernel. Data in: requests. Data out: the data at once, the answers through [`Replies`] at the time that
//! the limits say. It must not know the limits.

use crate::clock::monotonic_ns;
use crate::limit::Limiter;
use crate::replies::{Answer, Replies};
use fuser::{
    Errno, FileAttr, FileHandle, FileType, Filesystem, Generation, INodeNo, InitFlags, KernelConfig,
    LockOwner, OpenFlags, ReplyAttr, ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyWrite, Request,
    WriteFlags,
};
use rustix::fs::FallocateFlags;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, UNIX_EPOCH};

pub(crate) const FILE_NAME: &str = "disk";

const FILE: INodeNo = INodeNo(2);

/// Nothing but this program changes anything.
const FOR_EVER: Duration = Duration::from_hours(1);

/// Requests that the kernel sends before it waits for answers: more than any device has in flight.
const IN_FLIGHT_MAX: u16 = 4096;

/// The file system.
#[derive(Debug)]
pub(crate) struct Disk {
    file: File,
    size_bytes: u64,
    limiter: Arc<Mutex<Limiter>>,
    replies: Replies,
}

impl Disk {
    pub(crate) fn new(file: File, size_bytes: u64, limiter: Arc<Mutex<Limiter>>, replies: Replies) -> Self {
        Self {
            file,
            size_bytes,
            limiter,
            replies,
        }
    }

    fn attributes(&self, inode: INodeNo) -> Option<FileAttr> {
        let (kind, perm, size) = match inode {
            INodeNo::ROOT => (FileType::Directory, 0o700, 0),
            FILE => (FileType::RegularFile, 0o600, self.size_bytes),
            _ => return None,
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
            uid: 0,
            gid: 0,
            rdev: 0,
            blksize: 4096,
            flags: 0,
        })
    }

    /// When what the limiter is asked for now is complete.
    fn due_ns(&self, ask: impl FnOnce(&mut Limiter, u64) -> u64) -> u64 {
        let mut limiter = self.limiter.lock().unwrap_or_else(PoisonError::into_inner);
        ask(&mut limiter, monotonic_ns())
    }

    /// What is there of `size` bytes from `offset`.
    fn read_at(&self, offset: u64, size: u32) -> io::Result<Vec<u8>> {
        let there = self.size_bytes.saturating_sub(offset).min(size.into());
        let mut data = vec![0; there as usize];
        self.file.read_exact_at(&mut data, offset)?;
        Ok(data)
    }
}

impl Filesystem for Disk {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        // Refused values are replaced by the nearest: there is nothing to do about them.
        let _previous = config.set_max_background(IN_FLIGHT_MAX);
        let _previous = config.set_congestion_threshold(IN_FLIGHT_MAX);
        config.add_capabilities(InitFlags::FUSE_ASYNC_DIO).map_err(|_| {
            io::Error::other("this kernel's FUSE has no asynchronous direct I/O (FUSE_ASYNC_DIO)")
        })
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        match self.attributes(FILE) {
            Some(attributes) if parent == INodeNo::ROOT && name == FILE_NAME => {
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

    fn readdir(&self, _: &Request, _: INodeNo, _: FileHandle, offset: u64, mut reply: ReplyDirectory) {
        let entries = [
            (INodeNo::ROOT, FileType::Directory, "."),
            (INodeNo::ROOT, FileType::Directory, ".."),
            (FILE, FileType::RegularFile, FILE_NAME),
        ];
        for (next, (inode, kind, name)) in (1..).zip(entries).skip(offset as usize) {
            if reply.add(inode, next, kind, name) {
                break;
            }
        }
        reply.ok();
    }

    fn read(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let due_ns = self.due_ns(|limiter, now_ns| limiter.read_or_write(now_ns, size.into()));
        match self.read_at(offset, size) {
            Ok(data) => self.replies.at(due_ns, Answer::Read(reply, data)),
            Err(error) => reply.error(error.into()),
        }
    }

    fn write(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        if offset.saturating_add(data.len() as u64) > self.size_bytes {
            return reply.error(Errno::ENOSPC);
        }
        let bytes = data.len() as u32;
        let due_ns = self.due_ns(|limiter, now_ns| limiter.read_or_write(now_ns, bytes.into()));
        match self.file.write_all_at(data, offset) {
            Ok(()) => self.replies.at(due_ns, Answer::Written(reply, bytes)),
            Err(error) => reply.error(error.into()),
        }
    }

    fn fsync(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        let due_ns = self.due_ns(Limiter::flush);
        self.replies.at(due_ns, Answer::Done(reply));
    }

    /// A discard of the loop device, or its zeroes: the range is given back to the file.
    fn fallocate(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        let Some(mode) = FallocateFlags::from_bits(mode.cast_unsigned()) else {
            return reply.error(Errno::EOPNOTSUPP);
        };
        if offset.saturating_add(length) > self.size_bytes {
            return reply.error(Errno::ENOSPC);
        }
        let due_ns = self.due_ns(|limiter, now_ns| limiter.discard(now_ns, length));
        match rustix::fs::fallocate(&self.file, mode, offset, length) {
            Ok(()) => self.replies.at(due_ns, Answer::Done(reply)),
            Err(error) => reply.error(io::Error::from(error).into()),
        }
    }
}

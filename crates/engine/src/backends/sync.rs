//! The synchronous system calls: `read`, `pread`, `preadv`, `preadv2` and their writing twins.

use super::WriteSource;
use fathom_core::backend::{Backend, Capabilities, Errno, Op, Outcome, PartSync, Request, Submit};
use fathom_core::units::MonoTime;
use fathom_core::workload::EngineKind;
use fathom_door::target;
use fathom_sys::arena::Arena;
use fathom_sys::sync_io::{self, Pipe, ReadWriteFlags};
use std::fs::File;
use std::os::fd::OwnedFd;

/// One I/O at a time, complete when `submit` returns.
#[derive(Debug)]
pub struct SyncBackend {
    kind: EngineKind,
    flags: ReadWriteFlags,
    files: Vec<File>,
    arena: Arena,
    source: Option<WriteSource>,
    /// What `splice` passes through.
    pipe: Option<Pipe>,
    /// What the next data sync is one of; `None`: of all.
    part: Option<PartSync>,
}

impl SyncBackend {
    /// Over `files`, with a buffer in `arena`. `kind` is one of the synchronous engines; `flags` go to
    /// `preadv2` and `pwritev2`.
    pub fn new(kind: EngineKind, flags: ReadWriteFlags, files: Vec<File>, arena: Arena) -> Self {
        Self {
            kind,
            flags,
            files,
            arena,
            source: None,
            pipe: None,
            part: None,
        }
    }

    /// With a pipe, for `splice`.
    ///
    /// # Errors
    /// None can be made.
    pub fn with_pipe(mut self) -> std::io::Result<Self> {
        if self.kind == EngineKind::Splice {
            self.pipe = Some(Pipe::new()?);
        }
        Ok(self)
    }

    /// Writes what is in `source` in place of the slots' buffers; with none, those buffers.
    #[must_use]
    pub fn writing_from(mut self, source: Option<WriteSource>) -> Self {
        self.source = source;
        self
    }
}

/// `ftruncate` to the offset of a write.
fn cut(file: &File, request: &Request) -> Outcome {
    match target::resize(file, request.offset) {
        Ok(()) => Ok(request.len),
        Err(error) => Err(Errno(
            error
                .raw_os_error()
                .unwrap_or(rustix::io::Errno::IO.raw_os_error()),
        )),
    }
}

impl Backend for SyncBackend {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            asynchronous: false,
            has_buffers: true,
        }
    }

    #[inline]
    fn submit(&mut self, request: Request, _now: MonoTime) -> Submit {
        let Self {
            kind,
            flags,
            files,
            arena,
            source,
            pipe,
            part,
        } = self;
        let file = &files[request.file as usize];
        let outcome = match request.op {
            Op::Read | Op::Write | Op::Trim if *kind == EngineKind::Falloc => {
                sync_io::reserve(file, request.op, request.offset, request.len)
            }
            Op::Write if *kind == EngineKind::Ftruncate => cut(file, &request),
            Op::Read | Op::Trim if *kind == EngineKind::Ftruncate => {
                Err(Errno(rustix::io::Errno::INVAL.raw_os_error()))
            }
            Op::Read => {
                let buffer = &mut arena.slot_mut(request.slot)[..request.len as usize];
                match kind {
                    EngineKind::Splice if let Some(pipe) = pipe => pipe.read(file, buffer, request.offset),
                    EngineKind::Sync => sync_io::seek_read(file, buffer, request.offset),
                    EngineKind::Pvsync => sync_io::preadv(file, buffer, request.offset),
                    EngineKind::Pvsync2 => sync_io::preadv2(file, buffer, request.offset, *flags),
                    _ => sync_io::pread(file, buffer, request.offset),
                }
            }
            Op::Write => {
                let buffer = match source {
                    Some(source) => source.take(request.len),
                    None => &arena.slot(request.slot)[..request.len as usize],
                };
                match kind {
                    EngineKind::Splice if let Some(pipe) = pipe => pipe.write(file, buffer, request.offset),
                    EngineKind::Sync => sync_io::seek_write(file, buffer, request.offset),
                    EngineKind::Pvsync => sync_io::pwritev(file, buffer, request.offset),
                    EngineKind::Pvsync2 => sync_io::pwritev2(file, buffer, request.offset, *flags),
                    _ => sync_io::pwrite(file, buffer, request.offset),
                }
            }
            Op::Trim => sync_io::trim(file, request.offset, request.len),
            Op::Sync => sync_io::sync(file, false),
            Op::DataSync => match part.take() {
                Some(part) => sync_io::sync_part(file, request.offset, part.bytes, part.flags),
                None => sync_io::sync(file, true),
            },
        };
        Submit::Done(outcome)
    }

    fn take_files(&mut self, files: Vec<OwnedFd>) -> std::io::Result<()> {
        self.files = files.into_iter().map(File::from).collect();
        Ok(())
    }

    fn sync_part(&mut self, part: PartSync) {
        self.part = Some(part);
    }

    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        self.arena.slot_mut(slot)
    }
}

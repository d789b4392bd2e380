//! The synchronous system calls: `read`, `pread`, `preadv`, `preadv2` and their writing twins.

use super::WriteSource;
use fathom_core::backend::{Backend, Capabilities, Op, Request, Submit};
use fathom_core::units::MonoTime;
use fathom_core::workload::EngineKind;
use fathom_sys::arena::Arena;
use fathom_sys::sync_io::{self, ReadWriteFlags};
use std::fs::File;

/// One I/O at a time, complete when `submit` returns.
#[derive(Debug)]
pub struct SyncBackend {
    kind: EngineKind,
    flags: ReadWriteFlags,
    files: Vec<File>,
    arena: Arena,
    source: Option<WriteSource>,
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
        }
    }

    /// Writes what is in `source` in place of the slots' buffers; with none, those buffers.
    #[must_use]
    pub fn writing_from(mut self, source: Option<WriteSource>) -> Self {
        self.source = source;
        self
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
        } = self;
        let file = &files[request.file as usize];
        let outcome = match request.op {
            Op::Read => {
                let buffer = &mut arena.slot_mut(request.slot)[..request.len as usize];
                match kind {
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
                    EngineKind::Sync => sync_io::seek_write(file, buffer, request.offset),
                    EngineKind::Pvsync => sync_io::pwritev(file, buffer, request.offset),
                    EngineKind::Pvsync2 => sync_io::pwritev2(file, buffer, request.offset, *flags),
                    _ => sync_io::pwrite(file, buffer, request.offset),
                }
            }
            Op::Trim => sync_io::trim(file, request.offset, request.len),
            Op::Sync => sync_io::sync(file, false),
            Op::DataSync => sync_io::sync(file, true),
        };
        Submit::Done(outcome)
    }

    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        self.arena.slot_mut(slot)
    }
}

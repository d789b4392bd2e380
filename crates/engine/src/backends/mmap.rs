//! Copies from and to a memory mapping.

use fathom_core::backend::{Backend, BackendError, Capabilities, Op, Outcome, Request, Submit};
use fathom_core::units::MonoTime;
use fathom_sys::arena::Arena;
use fathom_sys::mapping::Mapping;
use fathom_sys::sync_io;
use std::fs::File;

/// One I/O at a time, through mappings of whole files.
#[derive(Debug)]
pub struct MmapBackend {
    files: Vec<File>,
    mappings: Vec<Mapping>,
    arena: Arena,
}

impl MmapBackend {
    /// Maps `files` from their starts to the given lengths in bytes.
    ///
    /// # Errors
    /// A file cannot be mapped.
    pub fn new(files: Vec<(File, u64)>, writable: bool, arena: Arena) -> std::io::Result<Self> {
        let mappings = files
            .iter()
            .map(|(file, len)| Mapping::new(file, 0, *len, writable));
        let mappings = mappings.collect::<std::io::Result<_>>()?;
        Ok(Self {
            mappings,
            files: files.into_iter().map(|(file, _)| file).collect(),
            arena,
        })
    }
}

impl Backend for MmapBackend {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            asynchronous: false,
            has_buffers: true,
        }
    }

    #[inline]
    fn submit(&mut self, request: Request, _now: MonoTime) -> Submit {
        let Self {
            files,
            mappings,
            arena,
        } = self;
        let at = request.file as usize;
        let len = request.len as usize;
        Submit::Done(match request.op {
            Op::Read => mappings[at].read(request.offset, &mut arena.slot_mut(request.slot)[..len]),
            Op::Write => mappings[at].write(request.offset, &arena.slot(request.slot)[..len]),
            Op::Trim => sync_io::trim(&files[at], request.offset, request.len),
            // What was written to the mapping is in the page cache: fsync finds it there.
            Op::Sync => sync_io::sync(&files[at], false),
            Op::DataSync => sync_io::sync(&files[at], true),
        })
    }

    fn commit(&mut self) -> Result<(), BackendError> {
        Ok(())
    }

    fn reap(
        &mut self,
        _min: u32,
        _max: u32,
        _until: MonoTime,
        _done: &mut impl FnMut(u32, Outcome),
    ) -> Result<u32, BackendError> {
        Ok(0)
    }

    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        self.arena.slot_mut(slot)
    }
}

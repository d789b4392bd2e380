//! Copies from and to a memory mapping.

use super::WriteSource;
use fathom_core::backend::{Backend, Capabilities, Errno, Op, PartSync, Request, Submit};
use fathom_core::units::MonoTime;
use fathom_sys::arena::Arena;
use fathom_sys::mapping::Mapping;
use fathom_sys::sync_io;
use std::fs::File;

/// What a page that cannot be brought in gives.
const EIO: Errno = Errno(rustix::io::Errno::IO.raw_os_error());

/// One I/O at a time, through mappings of whole files.
#[derive(Debug)]
pub struct MmapBackend {
    files: Vec<File>,
    mappings: Vec<Mapping>,
    /// The size in bytes that a file was found to have shrunk to when an access to its mapping failed.
    shrunk_to: Vec<Option<u64>>,
    arena: Arena,
    source: Option<WriteSource>,
    /// What the next data sync is one of; `None`: of all.
    part: Option<PartSync>,
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
        let mappings = mappings.collect::<std::io::Result<Vec<Mapping>>>()?;
        Ok(Self {
            shrunk_to: vec![None; mappings.len()],
            mappings,
            files: files.into_iter().map(|(file, _)| file).collect(),
            arena,
            source: None,
            part: None,
        })
    }

    /// Asks for huge pages for all mappings.
    ///
    /// # Errors
    /// The kernel has none.
    pub fn ask_for_huge_pages(&self) -> std::io::Result<()> {
        self.mappings.iter().try_for_each(Mapping::ask_for_huge_pages)
    }

    /// Copies what is in `source` in place of the slots' buffers; with none, those buffers.
    #[must_use]
    pub fn writing_from(mut self, source: Option<WriteSource>) -> Self {
        self.source = source;
        self
    }
}

impl MmapBackend {
    /// A page that cannot be brought in is a failing disk, or a file that is shorter than it was: its size tells.
    #[cold]
    fn look_after_fault(&mut self, at: usize) {
        let bytes = self.files[at].metadata().map(|metadata| metadata.len());
        // Where it cannot be learned, the errno says what is known.
        if let Ok(bytes) = bytes
            && bytes < self.mappings[at].len_bytes()
        {
            self.shrunk_to[at] = Some(bytes);
        }
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
            source,
            part,
            ..
        } = self;
        let at = request.file as usize;
        let len = request.len as usize;
        let outcome = match request.op {
            Op::Read => mappings[at].read(request.offset, &mut arena.slot_mut(request.slot)[..len]),
            Op::Write => {
                let bytes = match source {
                    Some(source) => source.take(request.len),
                    None => &arena.slot(request.slot)[..len],
                };
                mappings[at].write(request.offset, bytes)
            }
            Op::Trim => sync_io::trim(&files[at], request.offset, request.len),
            // What was written to the mapping is in the page cache: fsync finds it there.
            Op::Sync => sync_io::sync(&files[at], false),
            Op::DataSync => match part.take() {
                Some(part) => sync_io::sync_part(&files[at], request.offset, part.bytes, part.flags),
                None => sync_io::sync(&files[at], true),
            },
        };
        if outcome == Err(EIO) {
            self.look_after_fault(at);
        }
        Submit::Done(outcome)
    }

    fn remark(&self, file: u32, errno: Errno) -> Option<String> {
        let bytes = (*self.shrunk_to.get(file as usize)?)?;
        (errno == EIO).then(|| format!("the file shrank to {bytes} bytes while mapped ({errno})"))
    }

    fn sync_part(&mut self, part: PartSync) {
        self.part = Some(part);
    }

    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        self.arena.slot_mut(slot)
    }
}

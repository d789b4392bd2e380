//! What is done to names: files and directories made, looked at, removed; each with the first I/O on it.

use fathom_core::backend::{Backend, Capabilities, Errno, Outcome, Request, Submit};
use fathom_core::units::MonoTime;
use fathom_core::workload::EngineKind;
use fathom_door::{Permit, directory};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// One name at a time, done when `submit` returns. I/Os after the first on a file do nothing, as with fio.
#[derive(Debug)]
pub struct NamesBackend {
    kind: EngineKind,
    files: Vec<Name>,
}

/// A file or a directory by its name.
#[derive(Debug)]
pub struct Name {
    pub path: PathBuf,
    /// Leave to make and to remove it; `None`: it is only looked at.
    pub permit: Option<Arc<Permit>>,
    /// A directory that was made for this load.
    pub made: bool,
    /// Its turn has come.
    pub done: bool,
}

impl NamesBackend {
    /// Over `files`, which must not be open. `kind` is one of those that are about names.
    pub fn new(kind: EngineKind, files: Vec<Name>) -> Self {
        Self { kind, files }
    }

    fn carry_out(&mut self, file: usize) -> io::Result<()> {
        let Name {
            path,
            permit,
            made,
            done,
        } = &mut self.files[file];
        if std::mem::replace(done, true) {
            return Ok(());
        }
        match (self.kind, permit) {
            (EngineKind::FileCreate, Some(permit)) => permit.make().map(drop),
            (EngineKind::FileDelete, Some(permit)) => removed(permit.remove_own()?),
            (EngineKind::DirCreate, _) => directory::make(path),
            (EngineKind::DirDelete, _) => removed(directory::remove_own(path, *made)?),
            _ => path.metadata().map(drop),
        }
    }
}

/// Whether it was fathom's to remove.
fn removed(own: bool) -> io::Result<()> {
    if own {
        Ok(())
    } else {
        Err(io::Error::from(rustix::io::Errno::PERM))
    }
}

impl Backend for NamesBackend {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            asynchronous: false,
            has_buffers: false,
        }
    }

    fn submit(&mut self, request: Request, _now: MonoTime) -> Submit {
        let outcome: Outcome = match self.carry_out(request.file as usize) {
            Ok(()) => Ok(request.len),
            Err(error) => Err(Errno(
                error
                    .raw_os_error()
                    .unwrap_or(rustix::io::Errno::IO.raw_os_error()),
            )),
        };
        Submit::Done(outcome)
    }

    fn buffer(&mut self, _slot: u32) -> &mut [u8] {
        &mut []
    }
}

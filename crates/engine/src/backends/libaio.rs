//! Linux native asynchronous I/O: `io_submit` and `io_getevents`.

use super::{outcome, timeout};
use fathom_core::backend::{Backend, BackendError, Capabilities, Op, Outcome, Request, Submit};
use fathom_core::units::MonoTime;
use fathom_sys::aio::{Aio, PushError};
use fathom_sys::arena::Arena;
use std::fs::File;

/// A context of its own for each worker.
#[derive(Debug)]
pub struct LibaioBackend {
    queue: Aio,
}

impl LibaioBackend {
    /// Over `files`, with `iodepth` buffers in `arena`.
    ///
    /// # Errors
    /// `EAGAIN` where `fs.aio-max-nr` is spent; see [`Aio::new`].
    pub fn new(iodepth: u32, files: Vec<File>, arena: Arena) -> std::io::Result<Self> {
        Ok(Self {
            queue: Aio::new(iodepth, files, arena)?,
        })
    }
}

impl Backend for LibaioBackend {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            asynchronous: true,
            has_buffers: true,
        }
    }

    #[inline]
    fn submit(&mut self, request: Request, _now: MonoTime) -> Submit {
        let Request {
            slot,
            op,
            file,
            offset,
            len,
        } = request;
        match self.queue.push(slot, op, file, offset, len) {
            Ok(()) => Submit::Queued,
            Err(PushError::Full) => Submit::Busy,
            Err(PushError::Synchronous) => Submit::Done(match op {
                Op::Trim => self.queue.trim_sync(file, offset, len),
                other => self.queue.sync_now(file, other == Op::DataSync),
            }),
        }
    }

    #[inline]
    fn commit(&mut self) -> Result<(), BackendError> {
        self.queue.commit().map(drop).map_err(|source| BackendError {
            call: "io_submit",
            source,
        })
    }

    #[inline]
    fn reap(
        &mut self,
        min: u32,
        max: u32,
        until: MonoTime,
        done: &mut impl FnMut(u32, Outcome),
    ) -> Result<u32, BackendError> {
        let mut report = |slot, result: i32| done(slot, outcome(result));
        self.queue
            .reap(
                min,
                max,
                if min == 0 { None } else { timeout(until) },
                &mut report,
            )
            .map_err(|source| BackendError {
                call: "io_getevents",
                source,
            })
    }

    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        self.queue.buffer(slot)
    }
}

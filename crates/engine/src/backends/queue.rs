//! The asynchronous engines: `io_uring` and Linux native AIO, one backend over both.

use super::{WriteSource, outcome, timeout};
use fathom_core::backend::{
    Backend, BackendError, Capabilities, Errno, Op, Outcome, PartSync, Request, Submit,
};
use fathom_core::units::MonoTime;
use fathom_sys::queue::Queue;
use fathom_sys::slots::PushError;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// What is no I/O of the device's.
const INVALID: Errno = Errno(rustix::io::Errno::INVAL.raw_os_error());

/// A kernel queue of its own for each worker: [`fathom_sys::uring::Uring`], [`fathom_sys::aio::Aio`], or one of commands.
#[derive(Debug)]
pub struct QueueBackend<Q> {
    queue: Q,
    source: Option<WriteSource>,
    /// What the next data sync is one of; `None`: of all.
    part: Option<PartSync>,
}

impl<Q: Queue> QueueBackend<Q> {
    /// Over `queue`, made in the thread that runs the loop.
    pub fn new(queue: Q) -> Self {
        Self {
            queue,
            source: None,
            part: None,
        }
    }

    /// Writes what is in `source` in place of the slots' buffers, without copying it; with none, those buffers.
    #[must_use]
    pub fn writing_from(mut self, source: Option<WriteSource>) -> Self {
        if let Some(source) = &source {
            self.queue.use_source(Arc::clone(source.store()));
        }
        self.source = source;
        self
    }
}

impl<Q: Queue> Backend for QueueBackend<Q> {
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
        let pushed = match &mut self.source {
            Some(source) if op == Op::Write => {
                let at = source.place(len);
                self.queue.push_from(slot, file, offset, len, at)
            }
            _ if op == Op::DataSync && self.part.is_some() => {
                // At once: what the range says is in the page cache, or on its way.
                let part = self.part.take();
                return Submit::Done(part.map_or(Ok(0), |part| self.queue.sync_part_now(file, offset, part)));
            }
            _ => self.queue.push(slot, op, file, offset, len),
        };
        match pushed {
            Ok(()) => Submit::Queued,
            Err(PushError::Full) => Submit::Busy,
            Err(PushError::Synchronous) => Submit::Done(match op {
                Op::Trim => self.queue.trim_sync(file, offset, len),
                other => self.queue.sync_now(file, other == Op::DataSync),
            }),
            Err(PushError::Invalid) => Submit::Done(Err(INVALID)),
        }
    }

    #[inline]
    fn prioritise(&mut self, priority: u16) {
        self.queue.prioritise(priority);
    }

    fn take_files(&mut self, files: Vec<OwnedFd>) -> std::io::Result<()> {
        self.queue.take_files(files.into_iter().map(File::from).collect())
    }

    fn sync_part(&mut self, part: PartSync) {
        self.part = Some(part);
    }

    #[inline]
    fn commit(&mut self) -> Result<(), BackendError> {
        self.queue.commit().map(drop).map_err(|source| BackendError {
            call: Q::SUBMIT_CALL,
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
        let timeout = if min == 0 { None } else { timeout(until) };
        self.queue
            .reap(min, max, timeout, &mut report)
            .map_err(|source| BackendError {
                call: Q::REAP_CALL,
                source,
            })
    }

    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        self.queue.buffer(slot)
    }
}

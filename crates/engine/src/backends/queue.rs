//! The asynchronous engines: `io_uring` and Linux native AIO, one backend over both.

use super::{outcome, timeout};
use fathom_core::backend::{Backend, BackendError, Capabilities, Op, Outcome, Request, Submit};
use fathom_core::units::MonoTime;
use fathom_sys::queue::Queue;
use fathom_sys::slots::PushError;

/// A kernel queue of its own for each worker: [`fathom_sys::uring::Uring`] or [`fathom_sys::aio::Aio`].
#[derive(Debug)]
pub struct QueueBackend<Q> {
    queue: Q,
}

impl<Q: Queue> QueueBackend<Q> {
    /// Over `queue`, made in the thread that runs the loop.
    pub fn new(queue: Q) -> Self {
        Self { queue }
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

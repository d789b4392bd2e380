//! Does nothing: measures the tool itself.

use fathom_core::backend::{Backend, BackendError, Capabilities, Outcome, Request, Submit};
use fathom_core::units::MonoTime;

/// Completes every I/O at once. With a depth above 1 it behaves as an asynchronous engine does: queued,
/// committed, reaped.
#[derive(Debug)]
pub struct NullBackend {
    asynchronous: bool,
    queued: Vec<(u32, u32)>,
}

impl NullBackend {
    /// For `iodepth` slots.
    pub fn new(iodepth: u32) -> Self {
        Self {
            asynchronous: iodepth > 1,
            queued: Vec::with_capacity(iodepth as usize),
        }
    }
}

impl Backend for NullBackend {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            asynchronous: self.asynchronous,
            has_buffers: false,
        }
    }

    #[inline]
    fn submit(&mut self, request: Request, _now: MonoTime) -> Submit {
        if !self.asynchronous {
            return Submit::Done(Ok(request.len));
        }
        if self.queued.len() == self.queued.capacity() {
            return Submit::Busy;
        }
        self.queued.push((request.slot, request.len));
        Submit::Queued
    }

    #[inline]
    fn reap(
        &mut self,
        _min: u32,
        max: u32,
        _until: MonoTime,
        done: &mut impl FnMut(u32, Outcome),
    ) -> Result<u32, BackendError> {
        let count = self.queued.len().min(max as usize);
        for (slot, len) in self.queued.drain(..count) {
            done(slot, Ok(len));
        }
        Ok(count as u32)
    }

    fn buffer(&mut self, _slot: u32) -> &mut [u8] {
        &mut []
    }
}

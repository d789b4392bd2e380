//! Whole bodies, sent piece by piece: a connection holds a piece, not the whole.
//!
//! What lasts is there once, whoever reads it. What is made for one who asks is counted until it is sent: however many ask and do not read,
//! memory is bounded.

use hyper::body::{Body, Bytes, Frame, SizeHint};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// What goes to a connection at a time.
const PIECE_BYTES: usize = 16 << 10;
/// From this size on a body is counted.
const LARGE_BYTES: usize = 64 << 10;
/// All that are counted together.
const ROOM_KIB: usize = 64 << 10;

/// A body.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    rest: Bytes,
    /// Given back when it is sent, or who asked is gone.
    _held: Option<OwnedSemaphorePermit>,
}

impl From<Bytes> for Pieces {
    fn from(whole: Bytes) -> Self {
        Self {
            rest: whole,
            _held: None,
        }
    }
}

/// Room for what is made for one who asks.
#[derive(Debug)]
pub(super) struct Room(Arc<Semaphore>);

impl Default for Room {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(ROOM_KIB)))
    }
}

impl Room {
    /// `None`: there is none at the moment. One body there always is room for, however large.
    pub(super) fn hold(&self, whole: Vec<u8>) -> Option<Pieces> {
        let held = if whole.len() < LARGE_BYTES {
            None
        } else {
            let kib = whole.len().div_ceil(1 << 10).min(ROOM_KIB) as u32;
            Some(Arc::clone(&self.0).try_acquire_many_owned(kib).ok()?)
        };
        Some(Pieces {
            rest: whole.into(),
            _held: held,
        })
    }
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.rest.is_empty() {
            return Poll::Ready(None);
        }
        let piece = PIECE_BYTES.min(self.rest.len());
        Poll::Ready(Some(Ok(Frame::data(self.rest.split_to(piece)))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.rest.len() as u64)
    }
}

#[cfg(test)]
mod tests;

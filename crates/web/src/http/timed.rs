//! A connection whose other side has to read: who does not for a while, or reads so little at a time that it takes for ever, is cut off.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

/// How long somebody may be waited for, and what has to be read meanwhile.
#[derive(Debug, Clone, Copy)]
struct Patience {
    /// At most, at a time or piece by piece.
    most: Duration,
    /// Who reads so much has earned a second of it again.
    bytes_per_second: u32,
}

const PATIENCE: Patience = Patience {
    most: Duration::from_secs(10),
    bytes_per_second: 32 << 10,
};

pub(super) struct Timed<S> {
    stream: S,
    patience: Patience,
    /// What is left of it.
    left: Duration,
    /// Since when something waits to be read.
    since: Option<Instant>,
    /// When `left` is over; boxed, because a deadline is fixed to its place.
    deadline: Pin<Box<Sleep>>,
}

impl<S> Timed<S> {
    pub(super) fn new(stream: S) -> Self {
        Self::with(stream, PATIENCE)
    }

    fn with(stream: S, patience: Patience) -> Self {
        Self {
            stream,
            patience,
            left: patience.most,
            since: None,
            deadline: Box::pin(sleep(patience.most)),
        }
    }

    /// Counts what was `read` of what is written, or that it waits.
    fn timed<T>(
        &mut self,
        cx: &mut Context<'_>,
        polled: Poll<io::Result<T>>,
        read: impl Fn(&T) -> usize,
    ) -> Poll<io::Result<T>> {
        let Poll::Ready(done) = polled else {
            if self.since.is_none() {
                let now = Instant::now();
                self.since = Some(now);
                self.deadline.as_mut().reset(now + self.left);
            }
            return match self.deadline.as_mut().poll(cx) {
                Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
                Poll::Pending => Poll::Pending,
            };
        };
        if let Some(since) = self.since.take() {
            self.left = self.left.saturating_sub(since.elapsed());
        }
        let earned = done.as_ref().map_or(0, read) as f64 / f64::from(self.patience.bytes_per_second);
        self.left = (self.left + Duration::from_secs_f64(earned)).min(self.patience.most);
        Poll::Ready(done)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Timed<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Timed<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.timed(cx, polled, |&bytes| bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_flush(cx);
        self.timed(cx, polled, |()| 0)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_shutdown(cx);
        self.timed(cx, polled, |()| 0)
    }
}

#[cfg(test)]
mod tests;

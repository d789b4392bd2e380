//! Server-sent events: a body that goes on as long as somebody looks.

use super::connection::Served;
use hyper::body::{Body, Bytes, Frame};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// Batches between the feed and the connection: a viewer that reads slowly holds no more than these.
const BATCHES: usize = 2;
/// A line now and then, so that a connection that is gone is noticed.
const ALIVE_EVERY: Duration = Duration::from_secs(15);

/// Events as they come.
#[derive(Debug)]
pub(crate) struct EventBody(Option<Receiver<Bytes>>);

impl EventBody {
    /// For who asks for the head alone.
    pub(super) fn empty() -> Self {
        Self(None)
    }
}

impl Body for EventBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut self.0 {
            Some(batches) => batches
                .poll_recv(cx)
                .map(|batch| batch.map(|batch| Ok(Frame::data(batch)))),
            None => Poll::Ready(None),
        }
    }
}

/// Begins to tell of what came after event `had`; `None`: as many look as may, or there is nothing to look at.
pub(super) fn begin(served: &Arc<Served>, had: u64) -> Option<EventBody> {
    let permit = Arc::clone(&served.viewers).try_acquire_owned().ok()?;
    served.site.feed()?;
    let (send, batches) = channel(BATCHES);
    let served = Arc::clone(served);
    tokio::spawn(async move {
        tell(&served, had, &send).await;
        drop(permit);
    });
    Some(EventBody(Some(batches)))
}

/// Tells until who looks is gone.
async fn tell(served: &Served, had: u64, send: &Sender<Bytes>) {
    let Some(feed) = served.site.feed() else { return };
    let mut newest = feed.subscribe();
    // Numbers of another run of the program mean nothing here.
    let mut had = if feed.knows(had) { had } else { 0 };
    loop {
        newest.mark_unchanged();
        // Looked at first: all that came before the end is then told.
        let ended = feed.has_ended();
        while let Some(batch) = feed.after(had) {
            had = batch.last;
            if send.send(Bytes::from(batch.text)).await.is_err() {
                return;
            }
        }
        if ended {
            return;
        }
        let alive = tokio::time::sleep(ALIVE_EVERY);
        tokio::select! {
            changed = newest.changed() => if changed.is_err() { return },
            () = alive => {
                if send.send(Bytes::from_static(b": still here\n\n")).await.is_err() {
                    return;
                }
            }
            () = send.closed() => return,
        }
    }
}

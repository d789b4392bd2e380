//! A thread that writes, behind a bounded queue: a disk that stalls must not hold up who measures it.
//!
//! Data in: batches. Data out: what its body leaves, or that it did not end in time. It must not know what is written.

use anyhow::Context;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

/// How long the end of a run waits for what is in a queue. Longer than a disk without burst credit takes; a disk that takes
/// longer may never come back.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// A thread that takes batches of `B`, and leaves a `T` once nobody gives any more.
pub(crate) struct Writer<B, T> {
    batches: SyncSender<B>,
    left: Receiver<T>,
}

/// Why a thread left nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unfinished {
    /// The disk has not taken what waits for it.
    Stuck,
    /// It panicked.
    Panicked,
}

impl Unfinished {
    /// What a report says of it.
    pub(crate) fn in_words(self, what: &str, patience: Duration) -> String {
        match self {
            Self::Stuck => format!(
                "{what} has not been taken by its disk for {} s, and is left unfinished",
                patience.as_secs()
            ),
            Self::Panicked => {
                format!("the thread that wrote {what} panicked, a bug in fathom: please report it")
            }
        }
    }
}

impl<B: Send + 'static, T: Send + 'static> Writer<B, T> {
    /// Starts the thread. So many batches may wait for it.
    ///
    /// # Errors
    /// There is no thread.
    pub(crate) fn begin(
        name: &str,
        places: usize,
        body: impl FnOnce(&Receiver<B>) -> T + Send + 'static,
    ) -> anyhow::Result<Self> {
        let (batches, received) = sync_channel(places);
        let (last_word, left) = sync_channel(1);
        let thread = std::thread::Builder::new().name(name.to_owned());
        // Nobody waits for the last word any more where the disk took too long.
        thread
            .spawn(move || drop(last_word.send(body(&received))))
            .with_context(|| format!("cannot start the thread {name}"))?;
        Ok(Self { batches, left })
    }

    /// Where batches go.
    pub(crate) fn batches(&self) -> &SyncSender<B> {
        &self.batches
    }

    /// What the thread leaves, once no other sender is left either.
    pub(crate) fn end(self, patience: Duration) -> Result<T, Unfinished> {
        drop(self.batches);
        self.left.recv_timeout(patience).map_err(|error| match error {
            RecvTimeoutError::Timeout => Unfinished::Stuck,
            RecvTimeoutError::Disconnected => Unfinished::Panicked,
        })
    }
}

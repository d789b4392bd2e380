//! The last events, for those who look: each has a number, and who lost the connection goes on where that was.
//!
//! Bounded: the oldest go when there are too many, or when they are too large together; who was away for longer is told how many
//! are missing. An event is written once, for all that look.

use serde::Serialize;
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// Two hours of a run with its machine's counters.
const EVENTS_MAX: usize = 14_400;
const BYTES_MAX: usize = 16 << 20;
/// What is handed over at a time.
const BATCH_BYTES: usize = 64 << 10;

/// The events.
#[derive(Debug)]
pub(crate) struct Feed {
    ring: Mutex<Ring>,
    ended: AtomicBool,
    newest: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct Ring {
    /// The first one, which says what is measured: it never goes.
    first: Option<Arc<str>>,
    events: VecDeque<Arc<str>>,
    /// The number of the first of `events`; numbers begin at 1.
    begins: u64,
    bytes: usize,
}

/// Events for somebody who has had all up to a number.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Batch {
    /// As they are sent.
    pub text: String,
    /// The number of the last one.
    pub last: u64,
}

impl Default for Feed {
    fn default() -> Self {
        Self {
            ring: Mutex::default(),
            ended: AtomicBool::new(false),
            newest: watch::Sender::new(0),
        }
    }
}

impl Feed {
    fn ring(&self) -> MutexGuard<'_, Ring> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an event of a kind.
    pub(crate) fn push(&self, kind: &str, data: &impl Serialize) {
        // Data are plain: they have only strings for keys.
        let Ok(data) = serde_json::to_string(data) else {
            return;
        };
        let mut ring = self.ring();
        let number = *self.newest.borrow() + 1;
        let text: Arc<str> = format!("id: {number}\nevent: {kind}\ndata: {data}\n\n").into();
        if ring.first.is_none() {
            ring.first = Some(Arc::clone(&text));
            ring.begins = number + 1;
        } else {
            ring.bytes += text.len();
            ring.events.push_back(text);
            while ring.events.len() > EVENTS_MAX || ring.bytes > BYTES_MAX {
                let Some(oldest) = ring.events.pop_front() else {
                    break;
                };
                ring.bytes -= oldest.len();
                ring.begins += 1;
            }
        }
        drop(ring);
        self.newest.send_replace(number);
    }

    /// Adds the last event: who has had it is told nothing more.
    pub(crate) fn end(&self, kind: &str, data: &impl Serialize) {
        self.push(kind, data);
        self.ended.store(true, Ordering::Release);
        // Who looked between the two looks again.
        self.newest.send_modify(|_| {});
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    /// The number of the newest event, and who waits for the next.
    pub(crate) fn subscribe(&self) -> watch::Receiver<u64> {
        self.newest.subscribe()
    }

    /// Some of what came after number `had`; `None`: nothing did.
    pub(crate) fn after(&self, had: u64) -> Option<Batch> {
        let ring = self.ring();
        let mut batch = Batch {
            text: String::new(),
            last: had,
        };
        if had == 0
            && let Some(first) = &ring.first
        {
            batch.text.push_str(first);
            batch.last = 1;
        }
        let next = (batch.last + 1).max(2);
        if next < ring.begins {
            let missing = ring.begins - next;
            // Writing to a string does not fail.
            let _ = write!(batch.text, "event: gap\ndata: {{\"missing\":{missing}}}\n\n");
        }
        let from = next.max(ring.begins);
        for (number, event) in (ring.begins..)
            .zip(&ring.events)
            .skip((from - ring.begins) as usize)
        {
            if batch.text.len() + event.len() > BATCH_BYTES && !batch.text.is_empty() {
                break;
            }
            batch.text.push_str(event);
            batch.last = number;
        }
        (batch.last > had).then_some(batch)
    }

    /// Whether a number can be one of this program's events.
    pub(crate) fn knows(&self, number: u64) -> bool {
        number <= *self.newest.borrow()
    }
}

#[cfg(test)]
mod tests;

//! What goes to a client: answers as they come, without waiting for who does not take them.
//!
//! Data in: answers, from any thread. Data out: the same bytes on the connection, in the order in which they came. What the
//! connection does not take at once is left to a thread of its own. How much may be outstanding is bounded where requests are
//! taken ([`Output::admit`]). It must not know what the bytes say.

use super::Stream;
use super::secret::Tls;
use rustix::net::{SendFlags, send};
use std::collections::VecDeque;
use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Requests that were taken and whose answers are not on their way.
const REQUESTS_MAX: usize = 256;
/// Their bytes, in either direction; one request always fits.
const BYTES_MAX: u64 = 64 << 20;

/// How often who waits looks whether the server ends.
const LOOK: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub(super) struct Output {
    stream: Arc<Stream>,
    /// Seals what is sent, in the order in which it is sent.
    tls: Option<Arc<Tls>>,
    state: Mutex<State>,
    changed: Condvar,
    /// Set when the server ends: nobody waits any more.
    stop: Arc<AtomicBool>,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<(Vec<u8>, Outstanding)>,
    /// Somebody writes: who comes now comes after.
    writing: bool,
    requests: usize,
    bytes: u64,
    /// Nothing more can be sent.
    broken: bool,
    /// Nothing more will come.
    ended: bool,
}

/// A request that was admitted, of so many bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outstanding(u64);

impl Output {
    pub(super) fn new(stream: Arc<Stream>, tls: Option<Arc<Tls>>, stop: Arc<AtomicBool>) -> Self {
        Self {
            stream,
            tls,
            stop,
            state: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until something changes, or it is time to look whether the server ends.
    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        let waited = self.changed.wait_timeout(state, LOOK);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner).0;
        state.broken |= self.stop.load(Ordering::Acquire);
        state
    }

    /// Waits until another request of so many bytes may be taken; `None`: the connection is broken.
    pub(super) fn admit(&self, bytes: u64) -> Option<Outstanding> {
        let mut state = self.lock();
        while !state.broken
            && (state.requests >= REQUESTS_MAX || (state.requests > 0 && state.bytes + bytes > BYTES_MAX))
        {
            state = self.wait(state);
        }
        if state.broken {
            return None;
        }
        state.requests += 1;
        state.bytes += bytes;
        Some(Outstanding(bytes))
    }

    /// Sends the answer to a request; does not wait.
    pub(super) fn answer(&self, mut bytes: Vec<u8>, of: Outstanding) {
        let mut state = self.lock();
        if state.broken {
            return self.settle(state, of);
        }
        if let Some(tls) = &self.tls {
            let Ok(sealed) = tls.seal(&bytes) else {
                state.broken = true;
                self.stream.close();
                return self.settle(state, of);
            };
            bytes = sealed;
        }
        if !state.writing && state.waiting.is_empty() {
            match send(&self.stream, &bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
                Ok(sent) if sent == bytes.len() => return self.settle(state, of),
                Ok(sent) => drop(bytes.drain(..sent)),
                Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => {}
                Err(_) => {
                    state.broken = true;
                    self.stream.close();
                    return self.settle(state, of);
                }
            }
        }
        state.waiting.push_back((bytes, of));
        drop(state);
        self.changed.notify_all();
    }

    fn settle(&self, mut state: MutexGuard<'_, State>, of: Outstanding) {
        state.requests -= 1;
        state.bytes -= of.0;
        drop(state);
        self.changed.notify_all();
    }

    /// The thread that writes what was not taken at once.
    pub(super) fn run(&self) {
        let mut state = self.lock();
        loop {
            if let Some((bytes, of)) = state.waiting.pop_front() {
                state.writing = true;
                drop(state);
                let sent = (&*self.stream).write_all(&bytes);
                state = self.lock();
                state.writing = false;
                if sent.is_err() {
                    state.broken = true;
                    self.stream.close();
                }
                self.settle(state, of);
                state = self.lock();
                continue;
            }
            if state.ended || state.broken {
                return;
            }
            state = self.wait(state);
        }
    }

    /// Nothing more is read: waits until all that was taken is answered, then ends the thread.
    pub(super) fn drain(&self) {
        let mut state = self.lock();
        while !state.broken && state.requests > 0 {
            state = self.wait(state);
        }
        state.ended = true;
        drop(state);
        self.changed.notify_all();
    }

    /// Nothing more is sent.
    pub(super) fn give_up(&self) {
        let mut state = self.lock();
        state.broken = true;
        drop(state);
        self.stream.close();
        self.changed.notify_all();
    }
}

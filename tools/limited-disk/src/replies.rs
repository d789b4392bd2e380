//! Answers that are given when their time has come.
//!
//! Duty: keep any number of answers and give each at its time, whatever the order they came in. Data in: answers and times.
//! Data out: replies to the kernel. It must not know why they wait.

use crate::clock::monotonic_ns;
use fuser::{ReplyData, ReplyEmpty, ReplyWrite};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::io;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// What is to be said.
#[derive(Debug)]
pub(crate) enum Answer {
    Read(ReplyData, Vec<u8>),
    Written(ReplyWrite, u32),
    /// A flush or a discard.
    Done(ReplyEmpty),
}

impl Answer {
    fn give(self) {
        match self {
            Self::Read(reply, data) => reply.data(&data),
            Self::Written(reply, bytes) => reply.written(bytes),
            Self::Done(reply) => reply.ok(),
        }
    }
}

#[derive(Debug)]
struct Waiting {
    due_ns: u64,
    /// Of those due together the first one that came goes first.
    number: u64,
    answer: Answer,
}

impl Waiting {
    fn key(&self) -> (u64, u64) {
        (self.due_ns, self.number)
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Waiting {}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

#[derive(Debug, Default)]
struct Queue {
    waiting: Mutex<(BinaryHeap<Reverse<Waiting>>, u64)>,
    changed: Condvar,
}

/// The answers that wait. One thread gives them.
#[derive(Debug)]
pub(crate) struct Replies {
    queue: Arc<Queue>,
}

impl Replies {
    pub(crate) fn start() -> io::Result<Self> {
        let queue = Arc::new(Queue::default());
        let theirs = Arc::clone(&queue);
        std::thread::Builder::new()
            .name("replies".to_owned())
            .spawn(move || theirs.run())?;
        Ok(Self { queue })
    }

    /// Gives `answer` at `due_ns`.
    pub(crate) fn at(&self, due_ns: u64, answer: Answer) {
        let mut guard = self.queue.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let (heap, number) = &mut *guard;
        *number += 1;
        let number = *number;
        let is_next = heap.peek().is_none_or(|Reverse(next)| due_ns < next.due_ns);
        heap.push(Reverse(Waiting {
            due_ns,
            number,
            answer,
        }));
        drop(guard);
        if is_next {
            self.queue.changed.notify_one();
        }
    }
}

impl Queue {
    fn run(&self) {
        let mut guard = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let now_ns = monotonic_ns();
            let next_ns = guard.0.peek().map(|Reverse(next)| next.due_ns);
            let left = next_ns.map_or(Duration::MAX, |due_ns| {
                Duration::from_nanos(due_ns.saturating_sub(now_ns))
            });
            if left.is_zero() {
                let next = guard.0.pop();
                drop(guard);
                if let Some(Reverse(next)) = next {
                    next.answer.give();
                }
                guard = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            } else if next_ns.is_none() {
                guard = self.changed.wait(guard).unwrap_or_else(PoisonError::into_inner);
            } else {
                let waited = self.changed.wait_timeout(guard, left);
                guard = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
        }
    }
}

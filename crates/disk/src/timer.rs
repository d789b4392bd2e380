//! A thread that does things at their time, to some microseconds.
//!
//! Data in: items and when each is due. Data out: each item, when its time has come, in the order of those times; of equal ones
//! the first that came. A thread that sleeps is late by the timer's slack (50 µs, set to 1 ns here) and by what it takes to be
//! woken: the last 60 µs are spent looking at the clock. It must not know what the items are.

use fathom_sys::clock::monotonic_ns;
use fathom_sys::process;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering as Memory};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// The last of a wait is spent looking at the clock.
const SPIN_NS: u64 = 60_000;
/// Before all that is not in real time, and after what an administrator has put higher.
pub(crate) const PRIORITY: i32 = 10;

/// What waits for its time.
#[derive(Debug)]
pub struct Timer<T> {
    queue: Mutex<Queue<T>>,
    changed: Condvar,
    /// When the first is due, for the thread while it looks at the clock.
    first_ns: AtomicU64,
    ended: AtomicBool,
}

#[derive(Debug)]
struct Queue<T> {
    waiting: BinaryHeap<Reverse<Waiting<T>>>,
    count: u64,
}

#[derive(Debug)]
struct Waiting<T> {
    due_ns: u64,
    number: u64,
    item: T,
}

impl<T> Waiting<T> {
    fn key(&self) -> (u64, u64) {
        (self.due_ns, self.number)
    }
}

impl<T> PartialEq for Waiting<T> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl<T> Eq for Waiting<T> {}

impl<T> PartialOrd for Waiting<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Waiting<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl<T> Default for Timer<T> {
    fn default() -> Self {
        Self {
            queue: Mutex::new(Queue {
                waiting: BinaryHeap::new(),
                count: 0,
            }),
            changed: Condvar::new(),
            first_ns: AtomicU64::new(u64::MAX),
            ended: AtomicBool::new(false),
        }
    }
}

/// The thread of a timer. Dropped, it ends, and what still waits is dropped with it.
#[derive(Debug)]
pub struct TimerThread<T> {
    timer: Arc<Timer<T>>,
    thread: Option<JoinHandle<()>>,
}

impl<T: Send + 'static> Timer<T> {
    fn lock(&self) -> MutexGuard<'_, Queue<T>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives `item` to the thread at `due_ns` of `CLOCK_MONOTONIC`.
    pub fn at(&self, due_ns: u64, item: T) {
        let mut queue = self.lock();
        let number = queue.count;
        queue.count += 1;
        queue.waiting.push(Reverse(Waiting { due_ns, number, item }));
        let is_first = due_ns < self.first_ns.load(Memory::Relaxed);
        if is_first {
            self.first_ns.store(due_ns, Memory::Release);
        }
        drop(queue);
        if is_first {
            self.changed.notify_one();
        }
    }

    /// Starts the thread. `real_time`: it runs before all that is not in real time, where the system allows it; what it says where
    /// it does not comes back with it.
    ///
    /// # Errors
    /// There is no thread.
    pub fn start(
        self: &Arc<Self>,
        real_time: bool,
        fire: impl FnMut(T) + Send + 'static,
    ) -> io::Result<(TimerThread<T>, io::Result<()>)> {
        let timer = Arc::clone(self);
        let (tell, told) = std::sync::mpsc::sync_channel(1);
        let body = move || {
            // Without it, each wait ends up to 50 µs later; the lateness that is measured then says so.
            let _slack = process::set_timer_slack_ns(1);
            let set = if real_time {
                process::set_real_time(PRIORITY)
            } else {
                Ok(())
            };
            let _gone = tell.send(set);
            timer.run(fire);
        };
        let thread = std::thread::Builder::new()
            .name(String::from("fathom-timer"))
            .spawn(body)?;
        let set = told.recv().unwrap_or(Ok(()));
        let thread = TimerThread {
            timer: Arc::clone(self),
            thread: Some(thread),
        };
        Ok((thread, set))
    }

    fn run(&self, mut fire: impl FnMut(T)) {
        let mut queue = self.lock();
        while !self.ended.load(Memory::Acquire) {
            let Some(due_ns) = queue.waiting.peek().map(|Reverse(first)| first.due_ns) else {
                self.first_ns.store(u64::MAX, Memory::Relaxed);
                queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            self.first_ns.store(due_ns, Memory::Relaxed);
            let left_ns = due_ns.saturating_sub(monotonic_ns());
            if left_ns > SPIN_NS {
                let pause = Duration::from_nanos(left_ns - SPIN_NS);
                let waited = self.changed.wait_timeout(queue, pause);
                queue = waited.unwrap_or_else(PoisonError::into_inner).0;
            } else if left_ns > 0 {
                drop(queue);
                self.look_at_the_clock(due_ns);
                queue = self.lock();
            } else if let Some(Reverse(first)) = queue.waiting.pop() {
                let next_ns = queue.waiting.peek().map_or(u64::MAX, |Reverse(next)| next.due_ns);
                self.first_ns.store(next_ns, Memory::Relaxed);
                drop(queue);
                fire(first.item);
                queue = self.lock();
            }
        }
    }

    /// Returns at `due_ns`, or when something earlier came.
    fn look_at_the_clock(&self, due_ns: u64) {
        while monotonic_ns() < due_ns && self.first_ns.load(Memory::Acquire) >= due_ns {
            std::hint::spin_loop();
        }
    }
}

impl<T> Drop for TimerThread<T> {
    fn drop(&mut self) {
        self.timer.ended.store(true, Memory::Release);
        // Taken, so that the thread is either before its look at the flag or asleep.
        drop(self.timer.queue.lock());
        self.timer.changed.notify_one();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            // Its panic has been printed; what waits is dropped below, and each waiter told so.
        }
        let mut queue = self.timer.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let waiting = std::mem::take(&mut queue.waiting);
        drop(queue);
        drop(waiting);
    }
}

#[cfg(test)]
mod tests;

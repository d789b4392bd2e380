//! A witness on each CPU: a thread that sleeps for a moment again and again.
//!
//! Duty: have each CPU set a timer every [`PERIOD_NS`], so that what the scheduler's events say of it tells whether it came in
//! time. Data in: nothing. Data out: a name, by which the events are known. It must not read a clock's lateness itself: a
//! thread that was stopped cannot tell that from a machine that stood still.

use super::standstill::PERIOD_NS;
use fathom_core::record::Comm;
use fathom_sys::clock::monotonic_ns;
use fathom_sys::process;
use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::{Builder, JoinHandle};

/// Above all tasks but the kernel's own of the same: what has a CPU for a few microseconds each two milliseconds is in nobody's way.
const PRIORITY: i32 = 99;

/// Witnesses until they are dropped.
#[derive(Debug)]
pub struct Witnesses {
    name: String,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

/// How a witness began.
type Began = (usize, io::Result<io::Result<()>>);

impl Witnesses {
    /// One on each CPU that the calling thread may run on. Also says, a sentence each, what will not be noticed.
    ///
    /// # Errors
    /// The CPUs are not known, or there are no threads to be had.
    pub fn begin() -> io::Result<(Self, Vec<String>)> {
        let cpus = process::allowed_cpus()?;
        // No other program has tasks of this name, unless it means to.
        let mixed =
            (monotonic_ns() ^ u64::from(std::process::id()) << 32).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mut witnesses = Self {
            name: format!("fathom-w-{:06x}", mixed >> 40),
            stop: Arc::new(AtomicBool::new(false)),
            threads: Vec::new(),
        };
        let (began, begun) = channel();
        for &cpu in &cpus {
            let (stop, began) = (Arc::clone(&witnesses.stop), began.clone());
            let thread = Builder::new().name(witnesses.name.clone());
            let thread = thread
                .stack_size(64 << 10)
                .spawn(move || witness(cpu, &stop, began))?;
            witnesses.threads.push(thread);
        }
        drop(began);
        Ok((witnesses, remarks(begun.into_iter().collect())))
    }

    /// What they are called.
    pub fn name(&self) -> Comm {
        Comm::from(self.name.as_str())
    }
}

impl Drop for Witnesses {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            if let Err(panic) = thread.join() {
                std::panic::resume_unwind(panic);
            }
        }
    }
}

/// What is not noticed since a witness could not begin as it should.
fn remarks(mut begun: Vec<Began>) -> Vec<String> {
    begun.sort_by_key(|(cpu, _)| *cpu);
    let not_there = begun.iter().find_map(|(cpu, began)| {
        let error = began.as_ref().err()?;
        Some(format!(
            "whether CPU {cpu} (or another one) stood still is not known: no thread may run on it alone ({error})"
        ))
    });
    let not_first = begun.iter().find_map(|(_, began)| {
        let error = began.as_ref().ok()?.as_ref().err()?;
        Some(format!(
            "that a CPU stood still is not noticed while others have it: no real-time priority ({error}; it takes CAP_SYS_NICE)"
        ))
    });
    not_there.into_iter().chain(not_first).collect()
}

/// The body of a witness.
fn witness(cpu: usize, stop: &AtomicBool, began: Sender<Began>) {
    let alone = process::set_affinity(&[cpu]);
    let there = alone.is_ok();
    let _sent = began.send((cpu, alone.map(|()| process::set_real_time(PRIORITY))));
    // Who began it goes on once none is left.
    drop(began);
    while there && !stop.load(Ordering::Relaxed) {
        // At the same moments on all CPUs.
        let until_ns = (monotonic_ns() / PERIOD_NS + 1) * PERIOD_NS;
        let until = Timespec {
            tv_sec: (until_ns / 1_000_000_000) as i64,
            tv_nsec: (until_ns % 1_000_000_000) as _,
        };
        // One that is woken before that sleeps again.
        let _woken_early = clock_nanosleep_absolute(ClockId::Monotonic, &until);
    }
}

#[cfg(test)]
mod tests;

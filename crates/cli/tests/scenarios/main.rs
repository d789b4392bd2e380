//! Causes that are injected for real, and what `fathom explain` says of them.
//!
//! Each scenario makes a disk with known limits or hurts a load in a known way at known times, records the load with the real
//! program, and compares the verdicts with the truth. They have a program of their own, since each needs the machine for
//! itself: cargo runs one test program after the other, and a lock runs one scenario after the other. A scenario that needs
//! a capability that is missing prints `SKIPPED: <test>: <what is missing>` and returns.
#![forbid(unsafe_code)]

#[path = "../it/harness.rs"]
#[expect(
    dead_code,
    reason = "it is shared with the other test program, and each uses a part of it"
)]
mod harness;

mod culprits;
mod disk;
mod disturb;
mod judge;
mod real;

use fathom_testkit::Needs;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Each scenario needs the machine for itself.
static MACHINE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    MACHINE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// CPUs and a disk of its own, so that what is done to the load is all that happens to it.
fn quiet() -> Needs {
    Needs::cpus().disk(Path::new(env!("CARGO_TARGET_TMPDIR")))
}

fn pause(ms: u64) {
    std::thread::sleep(Duration::from_millis(ms));
}

/// Now, in nanoseconds of the clock that all stamps are on.
fn monotonic_ns() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// A time in which something was done to the load, on the clock of [`monotonic_ns`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Window {
    start_ns: u64,
    end_ns: u64,
}

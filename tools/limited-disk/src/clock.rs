//! The one clock: `CLOCK_MONOTONIC`, in nanoseconds.

use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

pub(crate) const MS: u64 = 1_000_000;
pub(crate) const SECOND: u64 = 1_000_000_000;

pub(crate) fn monotonic_ns() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * SECOND + time.tv_nsec as u64
}

/// Returns at `at_ns`, or at once where that is past.
pub(crate) fn sleep_until(at_ns: u64) {
    loop {
        let left = at_ns.saturating_sub(monotonic_ns());
        if left == 0 {
            return;
        }
        std::thread::sleep(Duration::from_nanos(left));
    }
}

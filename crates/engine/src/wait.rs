//! Waiting for a point in time without holding up a stop for long.

use fathom_core::clock::Clock;
use fathom_core::units::{MonoTime, Nanos};
use std::time::Duration;

/// A sleep is cut into pieces of this length at most, so that a stop is noticed.
const LONGEST_SLEEP: Nanos = Nanos::from_millis(50);

/// Sleeps until `until`, or for a twentieth of a second, whichever is shorter: callers look around and call
/// again. Returns at once where `until` has passed.
pub fn sleep_until(clock: &impl Clock, until: MonoTime) {
    let left = until.since(clock.now());
    if !left.is_zero() {
        std::thread::sleep(Duration::from_nanos(left.min(LONGEST_SLEEP).get()));
    }
}

//! Where the time of a test went.
//!
//! Data in: how long each part of it took. Data out: what carrying it out took beside its load and its volume's way to the pod and back.
//! It must not measure.

use serde::{Deserialize, Serialize};

/// The parts of a test in their order, in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phases {
    /// Until its objects were made.
    pub making_ms: u64,
    /// From there until its pod was seen to run: the cluster's.
    pub starting_ms: u64,
    /// From there until it was heard that all its work is done.
    pub working_ms: u64,
    /// Until what it left was here.
    pub fetching_ms: u64,
    /// Until its pod was gone and its volume at no node: the cluster's.
    pub detaching_ms: u64,
    /// Until all else of it was deleted.
    pub removing_ms: u64,
}

impl Phases {
    /// What is neither the cluster's nor that of steps which took `steps_ms`.
    pub fn overhead_ms(&self, steps_ms: u64) -> u64 {
        self.making_ms + self.working_ms.saturating_sub(steps_ms) + self.fetching_ms + self.removing_ms
    }
}

#[cfg(test)]
mod tests;

//! Crowding: each I/O in service makes a new one take longer.
//!
//! Data in: when services begin, in order, and when they end. Data out: what the others add. Without it the low
//! percentiles of a full queue come out as those of depth 1, which no published figure shows. It must not know limits:
//! what waits for them is not in service.

use crate::spec::CrowdingSpec;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The I/Os in service.
#[derive(Debug, Clone)]
pub(crate) struct Crowd {
    spec: CrowdingSpec,
    /// When each ends, the earliest on top.
    ends: BinaryHeap<Reverse<u64>>,
}

impl Crowd {
    /// Nobody is in service.
    pub(crate) fn new(spec: CrowdingSpec) -> Self {
        Self {
            spec,
            ends: BinaryHeap::new(),
        }
    }

    /// What the others add to a service that begins at `start_ns`.
    #[inline]
    pub(crate) fn extra_ns(&mut self, start_ns: u64) -> u64 {
        while self.ends.peek().is_some_and(|&Reverse(end)| end <= start_ns) {
            self.ends.pop();
        }
        (self.ends.len() as u64).min(u64::from(self.spec.most)) * self.spec.ns_per_io
    }

    /// A service that ends at `end_ns` begins.
    #[inline]
    pub(crate) fn enter(&mut self, end_ns: u64) {
        self.ends.push(Reverse(end_ns));
    }
}

#[cfg(test)]
mod tests;

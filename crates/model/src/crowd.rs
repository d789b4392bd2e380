//! Crowding: each I/O in service makes a new one take longer.
//!
//! Data in: when services begin, in order, and when they end. Data out: what the others add. Without it the low
//! percentiles of a full queue come out as those of depth 1, which no published figure shows. It must not know limits:
//! what waits for them is not in service.

use crate::spec::CrowdingSpec;

/// Room beyond those that count, so that all rarely have to be moved to the front.
const SLACK: usize = 64;

/// The I/Os in service.
#[derive(Debug, Clone)]
pub(crate) struct Crowd {
    spec: CrowdingSpec,
    /// When each ends, ascending, from `first` to `last`: those that end last, as many as count. Whatever is left out ends
    /// before all of these, so that it could only count where they all do, and that is the most already.
    ends: Vec<u64>,
    first: usize,
    last: usize,
}

impl Crowd {
    /// Nobody is in service.
    pub(crate) fn new(spec: CrowdingSpec) -> Self {
        Self {
            spec,
            ends: vec![0; spec.most as usize + SLACK],
            first: 0,
            last: 0,
        }
    }

    /// What the others add to a service that begins at `start_ns`.
    #[inline]
    pub(crate) fn extra_ns(&mut self, start_ns: u64) -> u64 {
        while self.first < self.last && self.ends[self.first] <= start_ns {
            self.first += 1;
        }
        (self.last - self.first) as u64 * self.spec.ns_per_io
    }

    /// A service that ends at `end_ns` begins.
    #[inline]
    pub(crate) fn enter(&mut self, end_ns: u64) {
        if self.last - self.first == self.spec.most as usize {
            if end_ns <= self.ends[self.first] {
                return;
            }
            self.first += 1;
        }
        if self.last == self.ends.len() {
            self.ends.copy_within(self.first..self.last, 0);
            self.last -= self.first;
            self.first = 0;
        }
        // Mostly it ends last, or nearly.
        let mut at = self.last;
        while at > self.first && self.ends[at - 1] > end_ns {
            self.ends[at] = self.ends[at - 1];
            at -= 1;
        }
        self.ends[at] = end_ns;
        self.last += 1;
    }
}

#[cfg(test)]
mod tests;

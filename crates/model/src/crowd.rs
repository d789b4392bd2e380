//! Crowding: each I/O in service makes a new one take longer.
//!
//! Data in: when services begin, in order, and when they end. Data out: what the others add. Without it the low
//! percentiles of a full queue come out as those of depth 1, which no published figure shows. It must not know limits:
//! what waits for them is not in service.

use crate::spec::CrowdingSpec;

/// Room beyond those that count, so that all rarely have to be moved to the front.
const SLACK: usize = 64;
/// So many from the end on are put in order without a branch: nearly always the new end belongs among these, and where
/// among them cannot be foreseen.
const NEAR: usize = 4;
/// So many that began at the same time are kept as they come.
const FRESH: usize = 256;

/// The I/Os in service.
#[derive(Debug, Clone)]
pub(crate) struct Crowd {
    spec: CrowdingSpec,
    /// When each ends, ascending, from `first` to `last`: those that end last, as many as count. Whatever is left out ends
    /// before all of these, so that it could only count where they all do, and that is the most already. What is below
    /// `first` ends no later than these either, or is 0; the first [`NEAR`] are never used.
    ends: Vec<u64>,
    first: usize,
    last: usize,
    /// When the latest service began.
    start_ns: u64,
    /// The ends of those that began then, in any order. Limits let many through at once, and most of these have ended when
    /// the next ones begin: they need no order.
    fresh: [u64; FRESH],
    fresh_count: usize,
}

impl Crowd {
    /// Nobody is in service.
    pub(crate) fn new(spec: CrowdingSpec) -> Self {
        Self {
            spec,
            ends: vec![0; NEAR + spec.most as usize + SLACK],
            first: NEAR,
            last: NEAR,
            start_ns: 0,
            fresh: [0; FRESH],
            fresh_count: 0,
        }
    }

    /// What the others add to a service that begins at `start_ns`.
    #[inline]
    pub(crate) fn extra_ns(&mut self, start_ns: u64) -> u64 {
        if start_ns != self.start_ns {
            self.start_ns = start_ns;
            while self.first < self.last && self.ends[self.first] <= start_ns {
                self.first += 1;
            }
            if self.fresh_count == 1 && self.fresh[0] > start_ns {
                self.fresh_count = 0;
                self.put(self.fresh[0]);
            } else {
                self.put_fresh();
            }
        }
        let others = (self.last - self.first + self.fresh_count) as u64;
        others.min(u64::from(self.spec.most)) * self.spec.ns_per_io
    }

    /// The service that began last ends at `end_ns`, later than it began.
    #[inline]
    pub(crate) fn enter(&mut self, end_ns: u64) {
        if self.fresh_count == FRESH {
            self.put_fresh();
        }
        self.fresh[self.fresh_count] = end_ns;
        self.fresh_count += 1;
    }

    /// Puts those in order that have not ended.
    #[inline(never)]
    fn put_fresh(&mut self) {
        for at in 0..std::mem::take(&mut self.fresh_count) {
            let end_ns = self.fresh[at];
            if end_ns > self.start_ns {
                self.put(end_ns);
            }
        }
    }

    #[inline]
    fn put(&mut self, end_ns: u64) {
        if self.last - self.first == self.spec.most as usize {
            if end_ns <= self.ends[self.first] {
                return;
            }
            self.first += 1;
        }
        if self.last == self.ends.len() {
            self.move_to_front();
        }
        self.last += 1;
        let near = self.ends[..self.last].last_chunk_mut::<{ NEAR + 1 }>();
        match near {
            // The last place is free; what is above the new end goes one up.
            Some(near) if near[0] <= end_ns => {
                near[NEAR] = end_ns.max(near[NEAR - 1]);
                for at in (1..NEAR).rev() {
                    near[at] = end_ns.min(near[at]).max(near[at - 1]);
                }
            }
            _ => self.put_far(end_ns),
        }
    }

    #[cold]
    fn move_to_front(&mut self) {
        self.ends.copy_within(self.first..self.last, NEAR);
        self.last = NEAR + self.last - self.first;
        self.first = NEAR;
    }

    /// Puts `end_ns` where it belongs, the place before `last` being free.
    fn put_far(&mut self, end_ns: u64) {
        let mut at = self.last - 1;
        while at > self.first && self.ends[at - 1] > end_ns {
            self.ends[at] = self.ends[at - 1];
            at -= 1;
        }
        self.ends[at] = end_ns;
    }
}

#[cfg(test)]
mod tests;

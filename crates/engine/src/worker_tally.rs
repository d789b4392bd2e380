//! What one worker did by itself: distributions of its counted time, and samples of its rates.
//!
//! Data in: its intervals, in order. Data out: the parts of a [`WorkerAccount`](fathom_core::run::WorkerAccount). It must not know the other workers.

use crate::interval::{Derived, Interval, OpCounts, Phase};
use fathom_core::run::{LeftOut, OpAccount, Samples};
use fathom_core::units::Nanos;

/// What of a sampling time an interval may lack: the ends of intervals are those of the run's seconds, not the worker's.
const TOLERANCE_PERCENT: u64 = 1;

/// One worker's tally.
#[derive(Debug, Clone)]
pub(crate) struct WorkerTally {
    totals: Box<Interval>,
    bw: Sampler,
    iops: Sampler,
    /// Where its last counted interval ended; 0: there was none.
    last_end_ns: u64,
}

/// Takes samples of a rate, each over the same time at least.
#[derive(Debug, Clone)]
struct Sampler {
    window_ns: u64,
    /// What was counted since the last sample, and in which time.
    counts: [u64; 3],
    ns: u64,
    samples: [Samples; 3],
}

impl Sampler {
    fn new(window: Nanos) -> Self {
        Self {
            window_ns: window.0.max(1),
            counts: [0; 3],
            ns: 0,
            samples: [Samples::default(); 3],
        }
    }

    /// Takes in what was counted in `ns`; `used`: the directions that have samples.
    fn add(&mut self, counts: [u64; 3], ns: u64, used: [bool; 3]) {
        for (sum, more) in self.counts.iter_mut().zip(counts) {
            *sum += more;
        }
        self.ns += ns;
        if self.ns < self.window_ns - self.window_ns * TOLERANCE_PERCENT / 100 {
            return;
        }
        for op in (0..3).filter(|&op| used[op]) {
            let a_second = u128::from(self.counts[op]) * 1_000_000_000 / u128::from(self.ns);
            self.samples[op].record(a_second as u64);
        }
        (self.counts, self.ns) = ([0; 3], 0);
    }
}

impl WorkerTally {
    /// Of a worker that has done nothing, with samples of bandwidth and IOPS over these times.
    pub(crate) fn new(bw: Nanos, iops: Nanos) -> Self {
        Self {
            totals: Box::default(),
            bw: Sampler::new(bw),
            iops: Sampler::new(iops),
            last_end_ns: 0,
        }
    }

    /// Takes its next interval in.
    pub(crate) fn add(&mut self, interval: &Interval) {
        if interval.phase != Phase::Counted {
            return;
        }
        for (sum, part) in self.totals.ops.iter_mut().zip(&interval.ops) {
            sum.merge(part);
        }
        // Silence between two intervals belongs to the later one.
        let begin = match self.last_end_ns {
            0 => interval.start.0,
            end => end.min(interval.start.0),
        };
        self.last_end_ns = interval.end.0;
        let ns = interval.end.0.saturating_sub(begin);
        let of = |count: fn(&OpCounts) -> u64| [0, 1, 2].map(|op: usize| count(&interval.ops[op]));
        let used = [0, 1, 2].map(|op: usize| self.totals.ops[op].lat.n() > 0);
        self.bw.add(of(|counts| counts.bytes / 1024), ns, used);
        self.iops.add(of(|counts| counts.lat.n()), ns, used);
    }

    /// Fills in slat and clat, where they follow from lat.
    pub(crate) fn derive(&mut self, derived: Derived) {
        self.totals
            .ops
            .iter_mut()
            .for_each(|counts| counts.derive(derived));
    }

    /// What it did so far.
    pub(crate) fn ops(&self) -> [OpAccount; 4] {
        [0, 1, 2, 3].map(|op: usize| {
            let counts = &self.totals.ops[op];
            let samples = |sampler: &Sampler| sampler.samples.get(op).copied().unwrap_or_default();
            OpAccount {
                bytes: counts.bytes,
                short_ios: counts.short,
                lost_ios: counts.lost,
                errors: counts.errors,
                left_out: LeftOut::default(),
                slat: counts.slat.clone(),
                clat: counts.clat.clone(),
                lat: counts.lat.clone(),
                bw: samples(&self.bw),
                iops: samples(&self.iops),
            }
        })
    }
}

#[cfg(test)]
mod tests;

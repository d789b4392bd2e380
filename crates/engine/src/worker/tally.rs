//! What a worker did on each of its files.
//!
//! Data in: completed reads and writes. Data out: counts that add up exactly over workers. It must not know paths.

use super::WorkerPlan;
use crate::interval::Stamps;
use fathom_core::backend::{Op, Outcome, Request};
use fathom_core::histogram::Histogram;
use fathom_core::run::{FileCount, FileInterval};

/// No more intervals are kept apart: a day of seconds, and more.
const INTERVALS_MAX: u64 = 1 << 17;

/// One direction on one file: sums that merge without loss.
#[derive(Debug, Clone, Default)]
pub struct OpTally {
    ios: u64,
    bytes: u64,
    clat_ns: u128,
    /// Of the squares of clat.
    clat_ns2: u128,
    /// Created to completed.
    lat: Histogram,
    /// The same by interval of the counted time.
    intervals: Vec<IntervalTally>,
}

/// One interval: sums of lat.
#[derive(Debug, Clone, Copy, Default)]
struct IntervalTally {
    ios: u64,
    min_ns: u64,
    max_ns: u64,
    sum_ns: u128,
    sum_ns2: u128,
}

/// Where in the counted time a completion lies.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clocked {
    /// Since the counted time began.
    pub since_ns: u64,
    /// How long an interval is.
    pub interval_ns: u64,
}

/// One file: reads and writes.
#[derive(Debug, Clone, Default)]
pub struct FileTally {
    pub read: OpTally,
    /// Writes.
    pub write: OpTally,
}

/// Counts one I/O of the counted time that ended so. One that moved less than it should counts too, unless what was read is
/// `checked`: it is then an error.
#[inline]
pub(super) fn count(
    files: &mut [FileTally],
    request: &Request,
    outcome: Outcome,
    (stamps, at): (&Stamps, Clocked),
    checked: bool,
) {
    let bytes = match outcome {
        Ok(bytes) if bytes == request.len || (bytes > 0 && !checked) => bytes,
        _ => return,
    };
    let file = &mut files[request.file as usize];
    let tally = match request.op {
        Op::Read => &mut file.read,
        Op::Write => &mut file.write,
        Op::Trim | Op::Sync | Op::DataSync => return,
    };
    let clat = u128::from(stamps.completed.saturating_sub(stamps.submitted));
    tally.ios += 1;
    tally.bytes += u64::from(bytes);
    tally.clat_ns += clat;
    tally.clat_ns2 += clat * clat;
    let lat_ns = stamps.completed.saturating_sub(stamps.created);
    tally.lat.record(lat_ns);
    let interval = (at.since_ns / at.interval_ns.max(1)) as usize;
    if let Some(interval) = tally.intervals.get_mut(interval) {
        interval.count(lat_ns);
    }
}

impl IntervalTally {
    #[inline]
    fn count(&mut self, lat_ns: u64) {
        self.min_ns = if self.ios == 0 {
            lat_ns
        } else {
            self.min_ns.min(lat_ns)
        };
        self.max_ns = self.max_ns.max(lat_ns);
        self.ios += 1;
        self.sum_ns += u128::from(lat_ns);
        self.sum_ns2 += u128::from(lat_ns) * u128::from(lat_ns);
    }

    fn merge(&mut self, other: &Self) {
        if other.ios == 0 {
            return;
        }
        self.min_ns = if self.ios == 0 {
            other.min_ns
        } else {
            self.min_ns.min(other.min_ns)
        };
        self.max_ns = self.max_ns.max(other.max_ns);
        self.ios += other.ios;
        self.sum_ns += other.sum_ns;
        self.sum_ns2 += other.sum_ns2;
    }

    fn told(&self) -> FileInterval {
        let n = self.ios.max(1) as f64;
        let mean = self.sum_ns as f64 / n;
        FileInterval {
            ios: self.ios,
            lat_ns_min: self.min_ns,
            lat_ns_max: self.max_ns,
            lat_ns_mean: mean,
            lat_ns_stddev: (self.sum_ns2 as f64 / n - mean * mean).max(0.0).sqrt(),
        }
    }
}

impl OpTally {
    fn merge(&mut self, other: &Self) {
        self.ios += other.ios;
        self.bytes += other.bytes;
        self.clat_ns += other.clat_ns;
        self.clat_ns2 += other.clat_ns2;
        self.lat.merge(&other.lat);
        if self.intervals.len() < other.intervals.len() {
            self.intervals
                .resize(other.intervals.len(), IntervalTally::default());
        }
        for (sum, part) in self.intervals.iter_mut().zip(&other.intervals) {
            sum.merge(part);
        }
    }

    /// With mean and population standard deviation.
    pub(crate) fn count(&self) -> FileCount {
        if self.ios == 0 {
            return FileCount::default();
        }
        // As in a series, they end with the last one in which anything was done.
        let used = self
            .intervals
            .iter()
            .rposition(|interval| interval.ios > 0)
            .map_or(0, |last| last + 1);
        let n = self.ios as f64;
        let mean = self.clat_ns as f64 / n;
        // The sum of the squares of the distances from the mean, taken in integers where they have room.
        let squares = u128::from(self.ios)
            .checked_mul(self.clat_ns2)
            .zip(self.clat_ns.checked_mul(self.clat_ns))
            .map_or_else(
                || (self.clat_ns2 as f64 / n - mean * mean).max(0.0),
                |(first, second)| first.saturating_sub(second) as f64 / n / n,
            );
        FileCount {
            ios: self.ios,
            bytes: self.bytes,
            clat_ns_mean: mean,
            clat_ns_stddev: squares.sqrt(),
            lat_ns: self.lat.summary(&[]),
            lat_buckets: self.lat.occupied().collect(),
            intervals: self.intervals[..used].iter().map(IntervalTally::told).collect(),
        }
    }
}

impl FileTally {
    /// With room for the intervals of a run by `plan`, and for whatever latency: nothing is allocated while it counts.
    pub(super) fn from_plan(plan: &WorkerPlan) -> Self {
        let runtime_ns = plan.runtime.map_or(0, |runtime| runtime.0);
        let intervals = runtime_ns.div_ceil(plan.interval.0.max(1)).min(INTERVALS_MAX);
        let tally = || OpTally {
            intervals: vec![IntervalTally::default(); intervals as usize],
            lat: Histogram::reserved(),
            ..OpTally::default()
        };
        Self {
            read: tally(),
            write: tally(),
        }
    }

    /// Adds what another worker did on the same file.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.read.merge(&other.read);
        self.write.merge(&other.write);
    }
}

//! What was asked of the disks, interval by interval, as a load's series has it: a disk stands for a job section.
//!
//! Data in: a bench that keeps intervals, looked at once a second. Data out: rows and all latencies. It must not know who shows them.

use crate::bench::Bench;
use fathom_core::backend::Op;
use fathom_core::histogram::Histogram;
use fathom_core::run::{IntervalLatency, SERIES_PERCENTILES, SeriesRow};
use fathom_core::units::MonoTime;
use fathom_sys::clock::monotonic_ns;

/// In the order of [`Op::index`].
const OPS: [Op; 4] = [Op::Read, Op::Write, Op::Trim, Op::Sync];

/// Looks at a bench again and again.
#[derive(Debug)]
pub struct Series {
    since_ns: u64,
    /// Which kinds of I/O each disk has had: reads and writes have rows from the beginning, others from their first I/O on.
    had: Vec<[bool; 4]>,
}

/// An interval: all latencies, and the rows of the series.
#[derive(Debug, Default)]
pub struct Seen {
    pub latencies: Vec<IntervalLatency>,
    pub rows: Vec<SeriesRow>,
}

impl Series {
    /// From now on.
    pub fn new(bench: &Bench) -> Self {
        for disk in 0..bench.disks() {
            // What was before is nobody's interval.
            let _before = bench.take_interval(disk);
        }
        Self {
            since_ns: monotonic_ns(),
            had: vec![[true, true, false, false]; bench.disks()],
        }
    }

    /// What went on since the last look.
    pub fn look(&mut self, bench: &Bench) -> Seen {
        let now_ns = monotonic_ns();
        let duration_ns = (now_ns - self.since_ns).max(1);
        let second = ((self.since_ns - bench.origin_ns()) / 1_000_000_000) as u32;
        self.since_ns = now_ns;
        let mut seen = Seen::default();
        for (disk, had) in self.had.iter_mut().enumerate() {
            let ops = bench.take_interval(disk).into_iter().flatten();
            for ((op, of_op), had) in OPS.into_iter().zip(ops).zip(had) {
                *had |= of_op.ios > 0;
                if !*had {
                    continue;
                }
                seen.rows.push(SeriesRow {
                    second,
                    end: MonoTime(now_ns),
                    duration_ns,
                    job: disk as u32,
                    ramp: false,
                    op,
                    ios: of_op.ios,
                    bytes: of_op.bytes,
                    errors: of_op.errors,
                    lat: of_op.lat_ns.summary(&SERIES_PERCENTILES),
                    response: Histogram::new().summary(&SERIES_PERCENTILES),
                    backlog: 0,
                    late_ios: 0,
                });
                seen.latencies.push(IntervalLatency {
                    second,
                    job: disk as u32,
                    op,
                    lat: of_op.lat_ns,
                    response: Histogram::new(),
                });
            }
        }
        seen
    }
}

#[cfg(test)]
mod tests;

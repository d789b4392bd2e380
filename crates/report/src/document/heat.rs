//! A latency heat map over time: how many I/Os of each latency ended in each span of time.
//!
//! Data in: I/Os in any order, or the seconds of a run. Data out: counts by span and latency, in memory that does not grow with
//! the length of the run: when there are too many spans, two become one. It must not know how it is drawn.

use crate::chart::heat::Grid;
use fathom_core::backend::Op;
use fathom_core::record::IoRecord;
use fathom_core::run::SeriesRow;

/// Buckets an octave, as a power of two: each is 9 % wide.
const SUB_BITS: u32 = 3;
/// Latencies below 256 ns share the first bucket.
const FIRST_OCTAVE: u32 = 8;
/// Up to 2^38 ns, more than four minutes; longer ones share the last bucket.
const BUCKETS: usize = 30 << SUB_BITS;
/// Spans of time at most.
const COLUMNS_MAX: u64 = 960;
/// How long a span is at first.
const COLUMN_NS: u64 = 100_000_000;

/// Where the counts come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeatSource {
    /// Each I/O was counted.
    Ios,
    /// Each second's I/Os were spread between its percentiles.
    Series,
}

/// Counts of I/Os by time and latency, for reads, writes, trims and syncs.
#[derive(Debug, Clone)]
pub struct LatencyHeat {
    source: HeatSource,
    start_ns: u64,
    column_ns: u64,
    /// For each kind of I/O, for each span, for each latency.
    counts: [Vec<Vec<f64>>; 4],
}

impl LatencyHeat {
    /// For I/Os whose stamps are on a clock that showed `start_ns` when the run began (0 in virtual time).
    pub fn new(start_ns: u64) -> Self {
        Self {
            source: HeatSource::Ios,
            start_ns,
            column_ns: COLUMN_NS,
            counts: Default::default(),
        }
    }

    /// Counts I/Os that did not fail, by when they were completed and how long that took from when they were due.
    pub fn feed(&mut self, rows: &[IoRecord]) {
        for row in rows.iter().filter(|row| row.errno == 0) {
            let at = row.completed_ns.saturating_sub(self.start_ns);
            let latency = row.completed_ns.saturating_sub(row.intended_ns);
            self.add(row.op.index(), at, bucket(latency), 1.0);
        }
    }

    /// What the seconds of a run tell: between two percentiles of a second, its I/Os are spread evenly over the (logarithmic)
    /// range of latencies.
    pub(crate) fn estimate(series: &[SeriesRow]) -> Self {
        let mut heat = Self::new(0);
        heat.source = HeatSource::Series;
        heat.column_ns = 1_000_000_000;
        for row in series {
            let latency = if row.response.n > 0 {
                &row.response
            } else {
                &row.lat
            };
            if latency.n == 0 {
                continue;
            }
            let at = u64::from(row.second) * 1_000_000_000;
            let mut before = (0.0, latency.min);
            let steps = latency.percentiles.iter().copied();
            for (percentile, value) in steps.chain([(100.0, latency.max)]) {
                let ios = latency.n as f64 * (percentile - before.0) / 100.0;
                let (low, high) = (bucket(before.1), bucket(value).max(bucket(before.1)));
                for bucket in low..=high {
                    heat.add(row.op.index(), at, bucket, ios / (high - low + 1) as f64);
                }
                before = (percentile, value);
            }
        }
        heat
    }

    fn add(&mut self, op: usize, at_ns: u64, bucket: usize, ios: f64) {
        while at_ns / self.column_ns >= COLUMNS_MAX {
            self.halve();
        }
        let column = (at_ns / self.column_ns) as usize;
        let columns = &mut self.counts[op];
        if columns.len() <= column {
            columns.resize_with(column + 1, Vec::new);
        }
        let counts = &mut columns[column];
        if counts.is_empty() {
            counts.resize(BUCKETS, 0.0);
        }
        counts[bucket] += ios;
    }

    /// Makes one span of each two.
    fn halve(&mut self) {
        self.column_ns *= 2;
        for columns in &mut self.counts {
            let all = std::mem::take(columns);
            let mut all = all.into_iter();
            while let Some(mut first) = all.next() {
                match all.next() {
                    Some(second) if first.is_empty() => first = second,
                    Some(second) => first.iter_mut().zip(&second).for_each(|(a, b)| *a += b),
                    None => {}
                }
                columns.push(first);
            }
        }
    }

    /// Where the counts come from.
    pub fn source(&self) -> HeatSource {
        self.source
    }

    /// How long a span is, in nanoseconds.
    pub fn column_ns(&self) -> u64 {
        self.column_ns
    }

    /// The counts of one kind of I/O, from its shortest to its longest latency; `None` where there were none.
    pub(crate) fn grid(&self, op: Op) -> Option<Grid> {
        let columns = &self.counts[op.index()];
        let met = |bucket: &usize| {
            columns
                .iter()
                .any(|counts| counts.get(*bucket).is_some_and(|&n| n > 0.0))
        };
        let low = (0..BUCKETS).find(met)?;
        let high = (0..BUCKETS).rev().find(met)?;
        let width_s = self.column_ns as f64 / 1e9;
        let row = |bucket: usize| {
            columns
                .iter()
                .map(|counts| counts.get(bucket).copied().unwrap_or(0.0))
                .collect()
        };
        Some(Grid {
            time_edges_s: (0..=columns.len())
                .map(|column| column as f64 * width_s)
                .collect(),
            latency_edges_ms: (low..=high + 1)
                .map(|bucket| edge_ns(bucket) as f64 / 1e6)
                .collect(),
            counts: (low..=high).map(row).collect(),
        })
    }
}

fn bucket(latency_ns: u64) -> usize {
    let value = latency_ns.max(1 << FIRST_OCTAVE);
    let octave = value.ilog2();
    let sub = (value >> (octave - SUB_BITS)) as usize & ((1 << SUB_BITS) - 1);
    ((((octave - FIRST_OCTAVE) as usize) << SUB_BITS) + sub).min(BUCKETS - 1)
}

/// The lowest latency of a bucket.
fn edge_ns(bucket: usize) -> u64 {
    let octave = FIRST_OCTAVE + (bucket >> SUB_BITS) as u32;
    let sub = (bucket & ((1 << SUB_BITS) - 1)) as u64;
    (1 << octave) + (sub << (octave - SUB_BITS))
}

#[cfg(test)]
mod tests;

//! A recording compared: the requests of its devices as if one load had sent them.
//!
//! Data in: requests in the order in which they are stored, in batches. Data out: [`Measured`]. It must not know whose load it
//! was: two recordings are comparable only as far as the programs in them did the same.
//!
//! Memory: a histogram for each of the last seconds, one for the whole, and a row a second.

use super::measured::{LoadMeasured, Measured, direction_of};
use fathom_core::backend::Op;
use fathom_core::histogram::Histogram;
use fathom_core::record::{BlockOp, BlockRequest};
use fathom_core::run::{LatencySummary, OpSummary, SERIES_PERCENTILES, SeriesRow};
use fathom_core::units::MonoTime;
use std::collections::BTreeMap;

/// Requests are stored in about the order of their ends: a second is over once one that ended so much later was seen.
const SECONDS_OPEN: u32 = 30;
const SECOND_NS: u64 = 1_000_000_000;

/// Reads and writes of a recording.
#[derive(Debug)]
pub struct Requests {
    start_ns: u64,
    open: BTreeMap<u32, [Counted; 2]>,
    whole: [Counted; 2],
    rows: [Vec<SeriesRow>; 2],
}

#[derive(Debug, Clone, Default)]
struct Counted {
    latencies: Histogram,
    bytes: u64,
}

impl Counted {
    fn take(&mut self, ns: u64, bytes: u64) {
        self.latencies.record(ns);
        self.bytes += bytes;
    }
}

const OPS: [Op; 2] = [Op::Read, Op::Write];

impl Requests {
    /// Of a recording that began at this moment of the monotonic clock.
    pub fn new(start_ns: u64) -> Self {
        Self {
            start_ns,
            open: BTreeMap::new(),
            whole: Default::default(),
            rows: Default::default(),
        }
    }

    /// Counts a request: reads and writes, from when they were queued to their end.
    pub fn take(&mut self, request: &BlockRequest) {
        let side = match request.op {
            BlockOp::Read => 0,
            BlockOp::Write => 1,
            BlockOp::Discard | BlockOp::Flush | BlockOp::Other => return,
        };
        let ns = request.completed_ns.saturating_sub(request.begun_ns());
        let bytes = u64::from(request.len_bytes);
        let second = (request.completed_ns.saturating_sub(self.start_ns) / SECOND_NS) as u32;
        self.whole[side].take(ns, bytes);
        self.open.entry(second).or_default()[side].take(ns, bytes);
        while let Some(first) = self.open.first_entry()
            && first.key() + SECONDS_OPEN < second
        {
            let (second, counted) = first.remove_entry();
            self.close(second, &counted);
        }
    }

    fn close(&mut self, second: u32, counted: &[Counted; 2]) {
        for (side, counted) in counted.iter().enumerate() {
            self.rows[side].push(SeriesRow {
                second,
                end: MonoTime(self.start_ns + u64::from(second + 1) * SECOND_NS),
                duration_ns: SECOND_NS,
                job: 0,
                ramp: false,
                op: OPS[side],
                ios: counted.latencies.n(),
                bytes: counted.bytes,
                errors: 0,
                lat: counted.latencies.summary(&SERIES_PERCENTILES),
                response: LatencySummary::default(),
                backlog: 0,
                late_ios: 0,
            });
        }
    }

    /// What all of it comes to; `None` where there is no read and no write.
    pub fn finish(mut self, name: String, started_unix_ns: u64) -> Option<Measured> {
        for (second, counted) in std::mem::take(&mut self.open) {
            self.close(second, &counted);
        }
        let last = self.rows.iter().flatten().map(|row| row.second).max()?;
        let seconds = f64::from(last + 1);
        let Self { whole, rows, .. } = self;
        let directions = OPS
            .into_iter()
            .zip(whole)
            .zip(rows)
            .filter_map(|((op, whole), rows)| {
                let ios = whole.latencies.n();
                let summary = OpSummary {
                    ios,
                    bytes: whole.bytes,
                    iops: ios as f64 / seconds,
                    bytes_per_second: whole.bytes as f64 / seconds,
                    lat_ns: whole.latencies.summary(&SERIES_PERCENTILES),
                    ..OpSummary::default()
                };
                let rows: Vec<&SeriesRow> = rows.iter().collect();
                (ios > 0).then(|| direction_of(op, &summary, &rows, whole.latencies))
            });
        let load = LoadMeasured {
            name: String::new(),
            directions: directions.collect(),
        };
        (!load.directions.is_empty()).then(|| Measured {
            name,
            started_unix_ns: Some(started_unix_ns),
            loads: vec![load],
        })
    }
}

#[cfg(test)]
mod tests;

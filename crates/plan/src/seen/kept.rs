//! What was seen of a load, as it is kept where it ran for those who put many together.
//!
//! Data in: [`Seen`]. Data out: [`KeptSeen`], which becomes text and back; of that again [`Seen`], and [`Span`]s that stand for the
//! I/Os. Which places were touched is not kept, only how much.

use super::spans::Span;
use super::{Amounts, PIECE_BYTES, PIECES_MAX, SECOND_NS, SECONDS_MAX, Seen, Source};
use fathom_core::histogram::Histogram;
use serde::{Deserialize, Serialize};

/// A [`Seen`] as a document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeptSeen {
    /// What it was made of.
    pub of: Source,
    pub start_ns: u64,
    each_seconds: u64,
    /// Reads, writes, units of 256 KiB, bytes read and bytes written, row by row.
    seconds: Vec<[u64; 5]>,
    read_len: Histogram,
    write_len: Histogram,
    latency: Histogram,
    waited: u64,
    flushes: u64,
    discards: u64,
    in_flight_ns: u64,
    touched_bytes: u64,
    pub end_bytes: u64,
}

impl Seen {
    /// The same as a document.
    pub fn kept(&self) -> KeptSeen {
        let row = |row: &Amounts| [row.reads, row.writes, row.units, row.read_bytes, row.write_bytes];
        KeptSeen {
            of: self.source,
            start_ns: self.start_ns,
            each_seconds: self.each_seconds,
            seconds: self.seconds.iter().map(row).collect(),
            read_len: self.read_len.clone(),
            write_len: self.write_len.clone(),
            latency: self.latency.clone(),
            waited: self.waited,
            flushes: self.flushes,
            discards: self.discards,
            in_flight_ns: u64::try_from(self.in_flight_ns).unwrap_or(u64::MAX),
            touched_bytes: self.touched_bytes(),
            end_bytes: self.end_bytes,
        }
    }

    /// Stretches of time that stand for its seconds.
    pub fn spans(&self) -> Vec<Span> {
        let each_ns = self.each_seconds * SECOND_NS;
        let all = self.total().ios().max(1);
        let rows = (0..).zip(&self.seconds).filter(|(_, row)| row.ios() > 0);
        rows.map(|(number, row): (u64, _)| Span {
            from_ns: self.start_ns + number * each_ns,
            to_ns: self.start_ns + (number + 1) * each_ns,
            amounts: *row,
            in_flight_ns: (self.in_flight_ns * u128::from(row.ios()) / u128::from(all)) as u64,
        })
        .collect()
    }
}

impl KeptSeen {
    /// What was seen; `None`: nothing can have been seen so.
    pub fn seen(self) -> Option<Seen> {
        let sums = |row: [u64; 5]| {
            let [reads, writes, units, read_bytes, write_bytes] = row;
            // Of a second, and nobody's total overflows.
            let fits = row.iter().all(|&amount| amount < 1 << 43);
            fits.then_some(Amounts {
                reads,
                writes,
                units,
                read_bytes,
                write_bytes,
            })
        };
        let pieces = (self.touched_bytes / PIECE_BYTES).min(PIECES_MAX);
        let seconds_all = self.each_seconds.saturating_mul(self.seconds.len() as u64);
        let fits = self.each_seconds > 0
            && self.seconds.len() <= SECONDS_MAX
            && seconds_all < 1 << 32
            && self.start_ns < 1 << 62;
        let seconds: Option<Vec<Amounts>> = self.seconds.into_iter().map(sums).collect();
        let mut touched = vec![u64::MAX; (pieces / 64) as usize];
        touched.push((1 << (pieces % 64)) - 1);
        fits.then_some(Seen {
            source: Source::Sums,
            start_ns: self.start_ns,
            each_seconds: self.each_seconds,
            seconds: seconds?,
            read_len: self.read_len,
            write_len: self.write_len,
            latency: self.latency,
            waited: self.waited,
            flushes: self.flushes,
            discards: self.discards,
            in_flight_ns: u128::from(self.in_flight_ns),
            touched,
            end_bytes: self.end_bytes,
        })
    }
}

//! What a worker did on each of its files.
//!
//! Data in: completed reads and writes. Data out: counts that add up exactly over workers. It must not know paths.

use crate::interval::Stamps;
use fathom_core::backend::{Op, Outcome, Request};
use fathom_core::run::FileCount;

/// One direction on one file: sums that merge without loss.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OpTally {
    ios: u64,
    bytes: u64,
    clat_ns: u128,
    /// Of the squares of clat.
    clat_ns2: u128,
}

/// One file: reads and writes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FileTally {
    /// Reads.
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
    stamps: &Stamps,
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
}

impl OpTally {
    fn merge(&mut self, other: &Self) {
        self.ios += other.ios;
        self.bytes += other.bytes;
        self.clat_ns += other.clat_ns;
        self.clat_ns2 += other.clat_ns2;
    }

    /// With mean and population standard deviation.
    pub(crate) fn count(&self) -> FileCount {
        if self.ios == 0 {
            return FileCount::default();
        }
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
        }
    }
}

impl FileTally {
    /// Adds what another worker did on the same file.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.read.merge(&other.read);
        self.write.merge(&other.write);
    }
}

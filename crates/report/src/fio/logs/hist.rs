//! The histogram log: what each direction's completion latencies were since its last row.

use super::{push_number, time_ms};
use crate::fio::bins;
use fathom_core::record::IoRecord;

/// fio's buckets.
const BUCKETS: usize = 29 * 64;

/// A log under way.
pub(super) struct HistLog {
    file: usize,
    window_ms: u64,
    /// So many buckets become one.
    stride: usize,
    clock_offset_ns: i128,
    directions: [Direction; 3],
}

#[derive(Clone)]
struct Direction {
    counts: Box<[u32]>,
    /// When the last row was, milliseconds since the start; `None`: there was no I/O yet.
    last_ms: Option<u64>,
}

impl HistLog {
    pub(super) fn new(file: usize, window_ms: u32, coarseness: u8, clock_offset_ns: i128) -> Self {
        let direction = Direction {
            counts: vec![0; BUCKETS].into_boxed_slice(),
            last_ms: None,
        };
        Self {
            file,
            window_ms: u64::from(window_ms),
            stride: 1 << coarseness,
            clock_offset_ns,
            directions: [direction.clone(), direction.clone(), direction],
        }
    }

    /// Which file it is written to.
    pub(super) fn file(&self) -> usize {
        self.file
    }

    /// Takes one I/O in; the row that it ends is appended to `rows`.
    pub(super) fn take(&mut self, io: &IoRecord, direction: usize, start_ns: u64, rows: &mut Vec<u8>) {
        let elapsed_ms = io.completed_ns.saturating_sub(start_ns) / 1_000_000;
        let of = &mut self.directions[direction];
        let clat_ns = io.completed_ns.saturating_sub(io.submitted_ns);
        of.counts[bins::index_of(clat_ns)] += 1;
        let last_ms = *of.last_ms.get_or_insert(elapsed_ms);
        if elapsed_ms - last_ms < self.window_ms {
            return;
        }
        of.last_ms = Some(elapsed_ms - elapsed_ms % self.window_ms);
        push_number(rows, time_ms(io.completed_ns, start_ns, self.clock_offset_ns));
        for number in [direction as u64, u64::from(io.len_bytes)] {
            rows.extend_from_slice(b", ");
            push_number(rows, number);
        }
        for counts in of.counts.chunks(self.stride) {
            rows.extend_from_slice(b", ");
            push_number(rows, counts.iter().map(|&count| u64::from(count)).sum());
        }
        rows.push(b'\n');
        of.counts.fill(0);
    }
}

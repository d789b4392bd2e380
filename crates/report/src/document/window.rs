//! The I/Os around a spike, to be drawn one by one.
//!
//! Data in: a spike, then the rows of its window. Data out: a bounded number of them, the slow ones first. It must not know
//! where rows are stored.

use fathom_analysis::explain::answer::{Spike, SpikeReport};
use fathom_core::backend::Op;
use fathom_core::record::{BlockRequest, IoRecord};
use std::ops::Range;

/// Spikes that are drawn: the worst ones.
pub const WINDOWS_MAX: usize = 12;

/// I/Os that are drawn of a window: of those that were slow, and of the others.
const DRAWN_MAX: usize = 1500;

/// Time before and after a spike that is drawn with it, at least and at most.
const MARGIN_MIN_NS: u64 = 100_000_000;
const MARGIN_MAX_NS: u64 = 10_000_000_000;

/// One I/O of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Drawn {
    /// When it was completed, since the start of the run.
    pub(crate) at_ns: u64,
    /// From when it was due to when it was completed.
    pub(crate) latency_ns: u64,
    /// What it did.
    pub(crate) op: &'static str,
}

/// The window of one spike and the I/Os in it.
#[derive(Debug, Clone)]
pub struct SpikeWindow {
    /// Which of [`SpikeReport::kept`] it is of.
    spike: usize,
    /// From when to when, since the start of the run.
    range_ns: Range<u64>,
    threshold_ns: u64,
    pub(crate) slow: Thinned,
    pub(crate) usual: Thinned,
}

/// Rows of which each n-th is kept.
#[derive(Debug, Clone, Default)]
pub(crate) struct Thinned {
    pub(crate) kept: Vec<Drawn>,
    /// All that there were.
    pub(crate) met: u64,
    /// The logarithm of n.
    log_every: u32,
}

impl Thinned {
    fn take(&mut self, row: Drawn) {
        let number = self.met;
        self.met += 1;
        if !number.is_multiple_of(1 << self.log_every) {
            return;
        }
        if self.kept.len() >= DRAWN_MAX {
            let mut index = 0;
            self.kept.retain(|_| {
                index += 1;
                index % 2 == 1
            });
            self.log_every += 1;
            if !number.is_multiple_of(1 << self.log_every) {
                return;
            }
        }
        self.kept.push(row);
    }
}

impl SpikeWindow {
    /// The windows of the worst spikes, in the order of time, still empty.
    pub fn worst(report: &SpikeReport) -> Vec<Self> {
        let mut order: Vec<usize> = (0..report.kept.len()).collect();
        order.sort_by_key(|&index| std::cmp::Reverse(report.kept[index].worst.response_ns));
        order.truncate(WINDOWS_MAX);
        order.sort_unstable();
        order
            .into_iter()
            .map(|index| Self::of(index, &report.kept[index]))
            .collect()
    }

    fn of(index: usize, spike: &Spike) -> Self {
        let margin = spike.duration_ns.clamp(MARGIN_MIN_NS, MARGIN_MAX_NS);
        let end = spike
            .start_ns
            .saturating_add(spike.duration_ns)
            .saturating_add(margin);
        Self {
            spike: index,
            range_ns: spike.start_ns.saturating_sub(margin)..end,
            threshold_ns: spike.threshold_ns,
            slow: Thinned::default(),
            usual: Thinned::default(),
        }
    }

    /// Which of [`SpikeReport::kept`] it is of.
    pub fn spike(&self) -> usize {
        self.spike
    }

    /// The nanoseconds since the start of the run that it covers. Rows that were completed in it belong to it.
    pub fn range_ns(&self) -> Range<u64> {
        self.range_ns.clone()
    }

    /// Takes the I/Os of a load that were completed in the window; others are passed over. `start_ns` is what the clock of their
    /// stamps showed when the run began (0 in virtual time).
    pub fn feed_ios(&mut self, rows: &[IoRecord], start_ns: u64) {
        for row in rows.iter().filter(|row| row.errno == 0) {
            let op = if row.op == Op::DataSync {
                "sync"
            } else {
                row.op.name()
            };
            let latency_ns = row.completed_ns.saturating_sub(row.intended_ns);
            self.take(row.completed_ns.saturating_sub(start_ns), latency_ns, op);
        }
    }

    /// Takes the requests of devices, likewise: for records without a load.
    pub fn feed_requests(&mut self, rows: &[BlockRequest], start_ns: u64) {
        for row in rows {
            let begun = row
                .queued_ns
                .or(row.allocated_ns)
                .or(row.inserted_ns)
                .or(row.issued_ns);
            let Some(begun) = begun else { continue };
            let latency_ns = row.completed_ns.saturating_sub(begun);
            self.take(
                row.completed_ns.saturating_sub(start_ns),
                latency_ns,
                row.op.name(),
            );
        }
    }

    fn take(&mut self, at_ns: u64, latency_ns: u64, op: &'static str) {
        if !self.range_ns.contains(&at_ns) {
            return;
        }
        let row = Drawn {
            at_ns,
            latency_ns,
            op,
        };
        if latency_ns >= self.threshold_ns {
            self.slow.take(row);
        } else {
            self.usual.take(row);
        }
    }
}

#[cfg(test)]
mod tests;

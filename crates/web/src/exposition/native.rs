//! A histogram in Prometheus' native buckets: exponential ones, 256 an octave.
//!
//! Data in: ours, of 512 linear buckets an octave. Data out: spans of buckets and their counts. Bucket i holds values above
//! 2^((i-1)/256) and up to 2^(i/256) seconds. Each of our buckets counts where its middle lies, so that a quantile is off by no more
//! than half of ours (1/2048) and one of theirs (0.27 %).

use fathom_core::histogram::Histogram;

/// Buckets an octave as a power of two: the finest that there is.
pub(super) const SCHEMA: i32 = 8;
const PER_OCTAVE: f64 = 256.0;
/// What is no longer than this counts as zero: as Prometheus' own client has it.
pub(super) const ZERO_THRESHOLD: f64 = 2.938_735_877_055_719e-39;

/// Consecutive buckets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    /// Of the first one the index of its first bucket, of others how many are left out before it.
    pub offset: i32,
    pub length: u32,
}

/// The buckets of a histogram.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Native {
    /// Values of 0.
    pub zero: u64,
    pub spans: Vec<Span>,
    /// Of all spans, one behind the other.
    pub counts: Vec<u64>,
}

/// The bucket of a latency.
pub(super) fn index_of(ns: u64) -> i32 {
    ((ns as f64 / 1e9).log2() * PER_OCTAVE).ceil() as i32
}

impl Native {
    pub(super) fn of(histogram: &Histogram) -> Self {
        let mut native = Self::default();
        let mut last: Option<i32> = None;
        for (low, high, count) in histogram.occupied() {
            let middle = low + (high - low) / 2;
            if middle == 0 {
                native.zero += count;
                continue;
            }
            let index = index_of(middle);
            match (last, native.spans.last_mut(), native.counts.last_mut()) {
                (Some(before), _, Some(known)) if before == index => *known += count,
                (Some(before), Some(span), _) if before + 1 == index => {
                    span.length += 1;
                    native.counts.push(count);
                }
                _ => {
                    let offset = last.map_or(index, |before| index - before - 1);
                    native.spans.push(Span { offset, length: 1 });
                    native.counts.push(count);
                }
            }
            last = Some(index);
        }
        native
    }
}

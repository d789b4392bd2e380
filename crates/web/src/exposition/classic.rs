//! A histogram in the few buckets that servers without native histograms read.

use fathom_core::histogram::Histogram;

/// Upper bounds in nanoseconds: 1, 2.5 and 5 times the powers of ten, from 10 µs to a minute.
pub(super) const BOUNDS_NS: [u64; 21] = [
    10_000,
    25_000,
    50_000,
    100_000,
    250_000,
    500_000,
    1_000_000,
    2_500_000,
    5_000_000,
    10_000_000,
    25_000_000,
    50_000_000,
    100_000_000,
    250_000_000,
    500_000_000,
    1_000_000_000,
    2_500_000_000,
    5_000_000_000,
    10_000_000_000,
    25_000_000_000,
    60_000_000_000,
];

/// How many values are at most each bound. A bucket of ours that a bound cuts counts where its middle lies.
pub(super) fn cumulative(histogram: &Histogram) -> [u64; BOUNDS_NS.len()] {
    let mut counts = [0; BOUNDS_NS.len()];
    for (low, high, count) in histogram.occupied() {
        let middle = low + (high - low) / 2;
        let place = BOUNDS_NS.partition_point(|&bound| bound < middle);
        if let Some(known) = counts.get_mut(place) {
            *known += count;
        }
    }
    let mut sum = 0;
    for count in &mut counts {
        sum += *count;
        *count = sum;
    }
    counts
}

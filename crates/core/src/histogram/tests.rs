//! The histogram against a sorted vector.

use super::*;
use proptest::prelude::*;

/// The oracle: nearest rank in a sorted vector.
fn oracle(sorted: &[u64], percentile: f64) -> u64 {
    let exact = percentile / 100.0 * sorted.len() as f64;
    let rank = ((exact - exact * 1e-12).ceil() as usize).clamp(1, sorted.len());
    sorted[rank - 1]
}

fn of(values: &[u64]) -> Histogram {
    let mut histogram = Histogram::new();
    for &value in values {
        histogram.record(value);
    }
    histogram
}

/// Values over all magnitudes: a random number of random bits.
fn any_value() -> impl Strategy<Value = u64> {
    (any::<u64>(), 0u32..64).prop_map(|(bits, shift)| bits >> shift)
}

proptest! {
    #[test]
    fn percentiles_match_a_sorted_vector(
        mut values in prop::collection::vec(any_value(), 1..500),
        percentile in 0.001f64..=100.0,
    ) {
        let histogram = of(&values);
        values.sort_unstable();
        let want = oracle(&values, percentile);
        let got = histogram.percentile(percentile);
        let error = got.abs_diff(want);
        prop_assert!(u128::from(error) * 1024 <= u128::from(want), "p{percentile}: got {got}, want {want}");
        prop_assert!(got >= values[0] && got <= values[values.len() - 1]);
    }

    #[test]
    fn merging_is_recording_both(
        a in prop::collection::vec(any_value(), 0..100),
        b in prop::collection::vec(any_value(), 0..100),
    ) {
        let mut merged = of(&a);
        merged.merge(&of(&b));
        let both: Vec<u64> = a.iter().chain(&b).copied().collect();
        prop_assert_eq!(merged, of(&both));
    }

    #[test]
    fn what_came_since_has_the_counts_of_what_came(
        before in prop::collection::vec(any_value(), 0..100),
        later in prop::collection::vec(any_value(), 0..100),
    ) {
        let (earlier, later) = (of(&before), of(&later));
        let mut all = earlier.clone();
        all.merge(&later);
        let since = all.since(&earlier);
        prop_assert!(since.occupied().eq(later.occupied()));
        prop_assert_eq!((since.n(), since.sum()), (later.n(), later.sum()));
        for (got, want) in [(since.min(), later.min()), (since.max(), later.max())] {
            let (got, want) = (got.unwrap_or(0), want.unwrap_or(0));
            prop_assert!(u128::from(got.abs_diff(want)) * 512 <= u128::from(want), "{} for {}", got, want);
        }
    }

    #[test]
    fn clearing_leaves_nothing(values in prop::collection::vec(any_value(), 0..100)) {
        let mut histogram = of(&values);
        histogram.clear();
        prop_assert_eq!(histogram, Histogram::new());
    }

    #[test]
    fn mean_is_exact_and_stddev_close(values in prop::collection::vec(0u64..1 << 40, 1..300)) {
        let histogram = of(&values);
        let n = values.len() as f64;
        let mean = values.iter().sum::<u64>() as f64 / n;
        let variance = values.iter().map(|&v| (v as f64 - mean).powi(2)).sum::<f64>() / n;
        prop_assert!((histogram.mean() - mean).abs() <= mean * 1e-12);
        let largest = values.iter().max().copied().unwrap_or(0) as f64;
        prop_assert!((histogram.stddev() - variance.sqrt()).abs() <= largest / 1024.0 + 1e-6);
    }

    #[test]
    fn buckets_tile_the_line(value in any_value()) {
        let (low, high) = bounds_of(index_of(value));
        prop_assert!((low..=high).contains(&value));
        if high < u64::MAX {
            prop_assert_eq!(index_of(high + 1), index_of(value) + 1);
            prop_assert_eq!(bounds_of(index_of(value) + 1).0, high + 1);
        }
    }
}

#[test]
fn covers_every_latency() {
    assert_eq!(index_of(u64::MAX), BUCKETS - 1);
    assert_eq!(index_of(0), 0);
    let mut histogram = of(&[94_000_000_000, 3, u64::MAX]);
    assert_eq!(histogram.percentile(100.0), u64::MAX);
    assert_eq!(histogram.percentile(1.0), 3);
    histogram.clear();
    assert_eq!(
        (histogram.min(), histogram.max(), histogram.percentile(50.0)),
        (None, None, 0)
    );
}

#[test]
fn nearest_rank_is_not_off_by_one() {
    let histogram = of(&(1..=1000).collect::<Vec<u64>>());
    assert_eq!(histogram.percentile(99.9), 999);
    assert_eq!(histogram.percentile(50.0), 500);
    assert_eq!(histogram.percentile(0.1), 1);
}

#[test]
fn many_are_as_many_as_one_by_one() {
    let (mut one_by_one, mut many) = (Histogram::new(), Histogram::new());
    for (value, count) in [(7, 3), (123_456, 0), (1 << 40, 5), (0, 1)] {
        (0..count).for_each(|_| one_by_one.record(value));
        many.record_many(value, count);
    }
    assert_eq!(many, one_by_one);
}

#[test]
fn memory_grows_with_what_is_seen_and_reserved_memory_does_not() {
    let mut grown = Histogram::new();
    assert_eq!((grown.counts.capacity(), grown.places.len()), (0, 0));
    let mut reserved = Histogram::reserved();
    let (capacity, place) = (reserved.counts.capacity(), reserved.counts.as_ptr());
    for value in (0..64).map(|shift| u64::MAX >> shift) {
        grown.record(value);
        reserved.record(value);
    }
    assert!(grown.counts.len() <= 64 * CHUNK);
    assert_eq!(grown, reserved);
    // All buckets there are: each of its chunks finds room where the first one did.
    reserved.clear();
    (0..BUCKETS).for_each(|bucket| reserved.record(bounds_of(bucket).0));
    assert_eq!(reserved.n(), BUCKETS as u64);
    assert_eq!(reserved.occupied().count(), BUCKETS);
    assert_eq!(
        (reserved.counts.capacity(), reserved.counts.as_ptr()),
        (capacity, place)
    );
}

#[test]
fn the_order_of_counting_does_not_matter() {
    assert_eq!(of(&[1, 5_000_000, 70]), of(&[70, 1, 5_000_000]));
    assert_ne!(of(&[1, 3, 4_000]), of(&[1, 2, 4_001]));
}

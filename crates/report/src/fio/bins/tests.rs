//! fio's buckets.

use super::{Distribution, LAST, Shares, index_of, value_of};
use fathom_core::histogram::Histogram;
use fathom_core::rng::Rng;
use fathom_testkit::seed;

#[test]
fn a_bucket_is_told_by_its_middle() {
    // As fio 3.33 prints them with --output-format=json+.
    for (value, told) in [
        (0, 0),
        (127, 127),
        (128, 129),
        (77_341, 77_312),
        (497_277, 497_664),
        (1_095_000, 1_089_536),
    ] {
        assert_eq!(value_of(index_of(value)), told, "{value}");
    }
    assert_eq!(index_of(u64::MAX), LAST);
}

#[test]
fn buckets_of_the_histogram_lie_within_fios() {
    let mut rng = Rng::new(seed());
    for _ in 0..20_000 {
        let value = rng.next_u64() >> rng.below(64);
        let mut histogram = Histogram::new();
        histogram.record(value);
        let (low, high, _) = histogram.occupied().next().expect("one");
        assert_eq!(index_of(low), index_of(high), "{value}");
        assert_eq!(index_of(low), index_of(value), "{value}");
    }
}

#[test]
fn percentiles_are_those_of_a_sorted_list() {
    let mut rng = Rng::new(seed());
    let mut values: Vec<u64> = (0..997)
        .map(|_| {
            let octaves = rng.below(20);
            1_000 + rng.below(1 << (10 + octaves))
        })
        .collect();
    let mut histogram = Histogram::new();
    for &value in &values {
        histogram.record(value);
    }
    values.sort_unstable();
    let list = [1.0, 50.0, 99.0, 99.9, 100.0];
    let told = Distribution::new(&histogram).percentiles(&list);
    for (percentile, told) in list.into_iter().zip(told) {
        let rank = (percentile / 100.0 * 997.0_f64).ceil() as usize;
        assert_eq!(told, value_of(index_of(values[rank - 1])), "{percentile}");
    }
}

#[test]
fn each_latency_is_in_one_share() {
    let mut histogram = Histogram::new();
    for value in [
        1,
        2,
        999,
        1_000,
        1_999,
        2_000,
        999_999,
        1_001_000,
        1_999_999_999,
        2_010_000_000,
        60_000_000_000,
    ] {
        histogram.record(value);
    }
    let mut shares = Shares::default();
    shares.add(&histogram);
    assert_eq!(shares.ns, [1, 1, 0, 0, 0, 0, 0, 0, 0, 1]);
    assert_eq!(shares.us, [2, 1, 0, 0, 0, 0, 0, 0, 0, 1]);
    assert_eq!(shares.ms, [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2]);
}

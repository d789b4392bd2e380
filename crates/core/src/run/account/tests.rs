//! Accounts: samples and depths.

use super::{Depths, Samples};

#[test]
fn samples_are_what_a_list_of_them_says() {
    let list = [8_000_u64, 8_016, 8_000, 7_900, 9_123];
    let mut samples = Samples::default();
    for value in list {
        samples.record(value);
    }
    let mean = list.iter().sum::<u64>() as f64 / 5.0;
    let squares: f64 = list.iter().map(|&value| (value as f64 - mean).powi(2)).sum();
    assert_eq!((samples.n, samples.min, samples.max), (5, 7_900, 9_123));
    assert!((samples.mean - mean).abs() < 1e-9);
    assert!((samples.deviation() - (squares / 4.0).sqrt()).abs() < 1e-9);
}

#[test]
fn one_sample_has_no_deviation() {
    let mut samples = Samples::default();
    samples.record(7);
    assert!(samples.deviation().abs() < f64::EPSILON);
    assert!(Samples::default().deviation().abs() < f64::EPSILON);
}

#[test]
fn depths_and_batches_fall_into_their_buckets() {
    let mut depths = Depths::default();
    for depth in [1, 2, 3, 4, 7, 8, 63, 64, 4096] {
        depths.sent(depth);
    }
    assert_eq!(depths.level, [1, 2, 2, 1, 0, 1, 2]);
    let batches = [0, 1, 4, 5, 8, 9, 16, 17, 32, 33, 64, 65].map(Depths::batch);
    assert_eq!(batches, [0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6]);
}

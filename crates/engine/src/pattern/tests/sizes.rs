//! Block sizes.

use crate::pattern::Sizes;
use crate::testing::{chi_square, chi_square_limit, seed};
use fathom_core::rng::Rng;
use fathom_core::workload::{BlockSize, SplitEntry};
use std::collections::BTreeMap;

const DRAWS: u64 = 100_000;

fn seen(block_size: &BlockSize) -> BTreeMap<u32, u64> {
    let sizes = Sizes::new(block_size);
    let mut rng = Rng::new(seed());
    let mut seen = BTreeMap::new();
    for _ in 0..DRAWS {
        *seen.entry(sizes.draw(&mut rng)).or_insert(0) += 1;
    }
    seen
}

#[test]
fn one_size_is_always_that() {
    assert_eq!(seen(&BlockSize::Fixed(4096)), BTreeMap::from([(4096, DRAWS)]));
    let range = BlockSize::Range {
        min: 512,
        max: 512,
        unaligned: true,
    };
    assert_eq!(seen(&range), BTreeMap::from([(512, DRAWS)]));
}

#[test]
fn a_range_is_uniform_over_multiples_of_its_least() {
    let seen = seen(&BlockSize::Range {
        min: 4096,
        max: 65536,
        unaligned: false,
    });
    let keys: Vec<u32> = seen.keys().copied().collect();
    assert_eq!(keys, (1..=16).map(|k| k * 4096).collect::<Vec<_>>());
    let counts: Vec<u64> = seen.into_values().collect();
    let statistic = chi_square(&counts, &[DRAWS as f64 / 16.0; 16]);
    assert!(statistic < chi_square_limit(15), "{statistic}");
}

#[test]
fn an_unaligned_range_has_every_number_of_bytes() {
    let seen = seen(&BlockSize::Range {
        min: 1000,
        max: 1099,
        unaligned: true,
    });
    let keys: Vec<u32> = seen.keys().copied().collect();
    assert_eq!(keys, (1000..1100).collect::<Vec<_>>());
    let counts: Vec<u64> = seen.into_values().collect();
    let statistic = chi_square(&counts, &[DRAWS as f64 / 100.0; 100]);
    assert!(statistic < chi_square_limit(99), "{statistic}");
}

#[test]
fn a_split_has_its_percentages() {
    let shares = [(4096, 10), (8192, 65), (65536, 20), (1 << 20, 5)];
    let entries = shares.map(|(bytes, percent)| SplitEntry { bytes, percent });
    let seen = seen(&BlockSize::Split(entries.to_vec()));
    let counts: Vec<u64> = shares.iter().map(|(bytes, _)| seen[&(*bytes as u32)]).collect();
    let expected = shares.map(|(_, percent)| DRAWS as f64 * f64::from(percent) / 100.0);
    let statistic = chi_square(&counts, &expected);
    assert!(statistic < chi_square_limit(3), "{counts:?}");
    assert_eq!(counts.iter().sum::<u64>(), DRAWS);
}

#[test]
fn a_size_is_cut_to_what_fits() {
    let fit = |block_size: &BlockSize, len, room| Sizes::new(block_size).fit(len, room);
    let range = |unaligned| BlockSize::Range {
        min: 4096,
        max: 65536,
        unaligned,
    };
    assert_eq!(fit(&range(false), 65536, 10_000), 8192);
    assert_eq!(fit(&range(true), 65536, 10_000), 10_000);
    assert_eq!(fit(&range(false), 8192, 8192), 8192);
    assert_eq!(fit(&range(false), 65536, 5 << 40), 65536);
}

use super::Strided;
use fathom_core::rng::Rng;
use fathom_core::workload::Strides;
use std::collections::BTreeSet;

const K: u64 = 1024;

fn offsets(strides: Strides, region: u64, random: (bool, bool), ios: usize) -> Vec<u64> {
    let mut rng = Rng::new(5);
    let mut zones = Strided::new(strides, region, 4 * K, random, 9);
    let take = |_| zones.take(4096, &mut rng).expect("room").0;
    (0..ios).map(take).collect()
}

#[test]
fn in_sequence_zone_after_zone() {
    let strides = Strides {
        amount_bytes: 8 * K,
        range_bytes: 16 * K,
        skip_bytes: 4 * K,
    };
    let found = offsets(strides, 64 * K, (false, false), 8);
    let expected = [0, 4, 20, 24, 40, 44, 60, 0].map(|k| k * K);
    assert_eq!(found[..7], expected[..7]);
    // The last zone has room for one block, and is gone round until its amount is done.
    assert_eq!(found[7], 60 * K);
}

#[test]
fn more_than_a_zone_goes_round_within_it() {
    let strides = Strides {
        amount_bytes: 16 * K,
        range_bytes: 8 * K,
        skip_bytes: 0,
    };
    let found = offsets(strides, 32 * K, (false, false), 8);
    assert_eq!(found, [0, 4, 0, 4, 8, 12, 8, 12].map(|k| k * K));
}

#[test]
fn at_random_each_block_of_a_zone_once() {
    let strides = Strides {
        amount_bytes: 64 * K,
        range_bytes: 64 * K,
        skip_bytes: 64 * K,
    };
    let found = offsets(strides, 512 * K, (true, true), 64);
    for (zone, offsets) in found.chunks(16).enumerate() {
        let start = zone as u64 * 128 * K;
        let expected: BTreeSet<u64> = (0..16).map(|block| start + block * 4 * K).collect();
        assert_eq!(offsets.iter().copied().collect::<BTreeSet<_>>(), expected);
    }
    let any = offsets(strides, 512 * K, (true, false), 64);
    for (zone, offsets) in any.chunks(16).enumerate() {
        let start = zone as u64 * 128 * K;
        assert!(offsets.iter().all(|&at| (start..start + 64 * K).contains(&at)));
    }
}

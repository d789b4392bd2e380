//! The reference sequence and the statistics of the generator.

use super::*;

/// First outputs of xoshiro256++ from the state {1, 2, 3, 4}, as the reference code prints them.
#[test]
fn follows_the_reference_sequence() {
    let mut rng = Rng { state: [1, 2, 3, 4] };
    let got: Vec<u64> = (0..4).map(|_| rng.next_u64()).collect();
    assert_eq!(
        got,
        [
            41_943_041,
            58_720_359,
            3_588_806_011_781_223,
            3_591_011_842_654_386
        ]
    );
}

#[test]
fn below_is_uniform() {
    let mut rng = Rng::new(7);
    let mut counts = [0u32; 10];
    for _ in 0..100_000 {
        counts[rng.below(10) as usize] += 1;
    }
    // Chi-square with 9 degrees of freedom: 33.7 is the 0.0001 quantile.
    let chi: f64 = counts
        .iter()
        .map(|&c| (f64::from(c) - 10_000.0).powi(2) / 10_000.0)
        .sum();
    assert!(chi < 33.7, "chi-square {chi}, seed 7");
}

#[test]
fn streams_differ_and_repeat() {
    let draw = |seed, stream| Rng::stream(seed, stream).next_u64();
    assert_eq!(draw(1, 2), draw(1, 2));
    assert_ne!(draw(1, 2), draw(1, 3));
    assert_ne!(draw(1, 2), draw(2, 2));
}

#[test]
fn unit_stays_in_its_interval() {
    let mut rng = Rng::new(3);
    for _ in 0..10_000 {
        assert!((0.0..1.0).contains(&rng.unit()));
        let u = rng.unit_open_low();
        assert!(u > 0.0 && u <= 1.0);
    }
}

#[test]
fn fill_writes_every_byte() {
    let mut rng = Rng::new(1);
    for len in [0usize, 1, 7, 8, 9, 4096] {
        let mut bytes = vec![0u8; len];
        for _ in 0..64 {
            let mut again = vec![0u8; len];
            rng.fill(&mut again);
            bytes.iter_mut().zip(&again).for_each(|(b, a)| *b |= a);
        }
        assert!(bytes.iter().all(|&b| b == 0xff), "length {len}");
    }
}

use super::*;
use fathom_core::rng::Rng;

const SECOND: u64 = 1_000_000_000;

#[test]
fn a_clock_is_found_to_the_nanosecond() {
    let starts: Vec<u64> = (0..10).map(|number| 3 * SECOND + number * 7 * SECOND).collect();
    let regular = find(&starts).unwrap();
    assert!((regular.period_ns - 7e9).abs() < 1.0 && (regular.phase_ns - 3e9).abs() < 1.0);
    assert_eq!((regular.hits, regular.missed), (10, 0));
}

/// Jitter, missing ones, and strays between.
#[test]
fn misses_jitter_and_strays_are_tolerated() {
    for seed in 0..50 {
        let mut rng = Rng::new(seed);
        let mut starts: Vec<u64> = (0..30)
            .filter(|number| *number == 0 || number % 6 != 3)
            .map(|number| number * 10 * SECOND + rng.below(SECOND / 5))
            .collect();
        starts.extend((0..3).map(|_| rng.below(300 * SECOND)));
        starts.sort_unstable();
        let regular = find(&starts).unwrap_or_else(|| panic!("seed {seed}: {starts:?}"));
        assert!(
            (regular.period_ns / 1e10 - 1.0).abs() < 0.02,
            "seed {seed}: {regular:?}"
        );
        assert!(regular.hits >= 20, "seed {seed}: {regular:?}");
    }
}

/// The bar is that chance is hardly ever taken for a rule.
#[test]
fn chance_is_no_rule() {
    let mut found = 0;
    for seed in 0..300 {
        let mut rng = Rng::new(1000 + seed);
        let mut starts: Vec<u64> = (0..6 + seed % 20).map(|_| rng.below(600 * SECOND)).collect();
        starts.sort_unstable();
        found += usize::from(find(&starts).is_some());
    }
    assert!(found <= 9, "{found} of 300 by chance");
}

#[test]
fn too_few_are_no_rule() {
    assert!(find(&[0, SECOND, 2 * SECOND, 3 * SECOND]).is_none());
    assert!(find(&[5; 20]).is_none());
}

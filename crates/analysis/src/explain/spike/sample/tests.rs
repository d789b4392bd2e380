use super::*;
use fathom_core::rng::Rng;

#[test]
fn few_are_all_looked_at() {
    let chosen = chosen(&[5, 1, 3]);
    assert_eq!(chosen, [(0, 1.0), (1, 1.0), (2, 1.0)]);
}

#[test]
fn the_worst_of_many_are_all_looked_at_and_the_sum_is_kept() {
    let mut rng = Rng::new(fathom_testkit::seed());
    // Forty of a hundred thousand take most of the time.
    let mut times: Vec<u64> = (0..100_000).map(|_| 1_000 + rng.below(500)).collect();
    for nth in 0..40 {
        times[nth * 2_500] = 80_000_000;
    }
    let chosen = chosen(&times);
    assert!(chosen.len() <= LOOKED_AT && chosen.is_sorted_by_key(|(place, _)| *place));
    let number: f64 = chosen.iter().map(|(_, weight)| weight).sum();
    assert!((number - 100_000.0).abs() < 1e-3, "{number}");
    assert_eq!(
        chosen
            .iter()
            .filter(|(place, _)| times[*place] > 1_000_000)
            .count(),
        40
    );
    let sum: f64 = chosen
        .iter()
        .map(|(place, weight)| times[*place] as f64 * weight)
        .sum();
    let truth = times.iter().sum::<u64>() as f64;
    assert!((sum / truth - 1.0).abs() < 0.01, "{sum} of {truth}");
}

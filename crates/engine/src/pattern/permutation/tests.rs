use super::Permutation;
use crate::testing::{chi_square, chi_square_limit, seed};
use fathom_core::rng::Rng;

fn all(permutation: &mut Permutation) -> Vec<u64> {
    std::iter::from_fn(|| permutation.next()).collect()
}

/// Each of `0..n` once.
fn check(n: u64, seed: u64) -> Vec<u64> {
    let mut permutation = Permutation::new(n, seed);
    let order = all(&mut permutation);
    assert_eq!(
        permutation.next(),
        None,
        "the end comes again: n {n}, seed {seed}"
    );
    let mut met = vec![false; n as usize];
    for &element in &order {
        assert!(element < n, "{element} of {n}, seed {seed}");
        assert!(
            !std::mem::replace(&mut met[element as usize], true),
            "{element} twice, n {n}, seed {seed}"
        );
    }
    assert_eq!(order.len() as u64, n, "seed {seed}");
    order
}

#[test]
fn each_element_comes_once() {
    let mut rng = Rng::new(seed());
    for n in 0..200 {
        check(n, rng.next_u64());
    }
    for power in 8..18 {
        let n = 1 << power;
        for n in [n - 1, n, n + 1] {
            check(n, rng.next_u64());
        }
    }
    check(100_000, rng.next_u64());
}

#[test]
fn at_is_the_order_of_next() {
    let seed = seed();
    let order = check(1000, seed);
    let permutation = Permutation::new(1000, seed);
    for (index, element) in order.into_iter().enumerate() {
        assert_eq!(permutation.at(index as u64), element);
    }
}

#[test]
fn huge_regions_stay_within() {
    let mut rng = Rng::new(seed());
    for n in [(1 << 40) - 1, 1 << 40, (1 << 40) + 1, u64::MAX] {
        let mut permutation = Permutation::new(n, rng.next_u64());
        let mut met = std::collections::HashSet::new();
        for _ in 0..1000 {
            let element = permutation.next().expect("far from the end");
            assert!(element < n);
            assert!(met.insert(element));
        }
    }
}

#[test]
fn a_restart_gives_another_order_and_a_clone_replays() {
    let mut rng = Rng::new(seed());
    for n in [16, 100, 4096, 10_007] {
        let mut permutation = Permutation::new(n, rng.next_u64());
        let mut replay = permutation.clone();
        let first = all(&mut permutation);
        assert_eq!(all(&mut replay), first);
        permutation.restart(rng.next_u64());
        let second = all(&mut permutation);
        assert_ne!(second, first, "n {n}");
        let same = first.iter().zip(&second).filter(|(a, b)| a == b).count();
        // A random order keeps one element in place on average (Poisson).
        assert!(same <= 12, "{same} of {n} kept their places");
    }
}

/// Whatever the seed, each element is as likely in one place as in another.
#[test]
fn places_are_uniform_over_seeds() {
    const N: u64 = 37;
    const SEEDS: u64 = 20_000;
    let mut rng = Rng::new(seed());
    for index in [0, 1, 17, N - 1] {
        let mut seen = [0; N as usize];
        for _ in 0..SEEDS {
            seen[Permutation::new(N, rng.next_u64()).at(index) as usize] += 1;
        }
        let expected = [SEEDS as f64 / N as f64; N as usize];
        let statistic = chi_square(&seen, &expected);
        assert!(
            statistic < chi_square_limit(N as usize - 1),
            "index {index}: {statistic}"
        );
    }
}

/// Neighbours in the order are not neighbours on the disk: the serial correlation of n numbers has a standard
/// deviation of 1/sqrt(n).
#[test]
fn serial_correlation_is_small() {
    let mut rng = Rng::new(seed());
    for n in [1000u64, 65_536, 100_000] {
        let order = check(n, rng.next_u64());
        let mean = (n - 1) as f64 / 2.0;
        let variance: f64 = order.iter().map(|&x| (x as f64 - mean).powi(2)).sum();
        for lag in [1, 2, 3, 16, 64] {
            let pairs = order.iter().zip(&order[lag..]);
            let covariance: f64 = pairs.map(|(&a, &b)| (a as f64 - mean) * (b as f64 - mean)).sum();
            let correlation = covariance / variance;
            assert!(
                correlation.abs() < 5.5 / (n as f64).sqrt(),
                "n {n}, lag {lag}: {correlation}"
            );
        }
    }
}

/// The first tenth of the order covers the region evenly, as any tenth of a random order does.
#[test]
fn a_part_of_the_order_is_spread_evenly() {
    const CELLS: usize = 50;
    let n = 100_000u64;
    let mut permutation = Permutation::new(n, seed());
    let mut seen = [0; CELLS];
    for _ in 0..n / 10 {
        let element = permutation.next().expect("not at the end");
        seen[(element * CELLS as u64 / n) as usize] += 1;
    }
    let expected = [n as f64 / 10.0 / CELLS as f64; CELLS];
    // Without replacement the spread is smaller than chi-square's, never larger.
    assert!(chi_square(&seen, &expected) < chi_square_limit(CELLS - 1));
}

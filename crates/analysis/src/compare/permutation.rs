//! Exact permutation tests: how many ways of dealing the same numbers out to two sides give as large a difference.
//!
//! Data in: two groups. Data out: a probability that assumes nothing of their distribution but that the order of the labels is
//! chance. It must not know what the numbers are.

use fathom_core::rng::Rng;

/// Ways that are gone through at most: those of 9 and 9 repeats.
const WAYS_MAX: u64 = 48_620;
/// Ways that are drawn where there are more.
const DRAWN: u64 = 999;
/// So that equal numbers always have the same answer.
const SEED: u64 = 0x6661_7468_6f6d;

/// How many ways there are of dealing `n` numbers out to two sides, one of which gets `k`; `None`: too many to go through.
pub fn ways(n: usize, k: usize) -> Option<u64> {
    let mut ways: u64 = 1;
    for step in 0..k.min(n - k) as u64 {
        ways = ways * (n as u64 - step) / (step + 1);
        if ways > WAYS_MAX {
            return None;
        }
    }
    Some(ways)
}

/// The two-sided probability of means as far apart as these, if labels meant nothing. `None` where there are too many ways,
/// or a side is empty.
pub fn of_means(a: &[f64], b: &[f64]) -> Option<f64> {
    let (extreme, all) = counted(a, b)?;
    Some(extreme as f64 / all as f64)
}

/// As extreme ways, all ways.
pub(super) fn counted(a: &[f64], b: &[f64]) -> Option<(u64, u64)> {
    if a.is_empty() || b.is_empty() {
        return None;
    }
    let values: Vec<f64> = a.iter().chain(b).copied().collect();
    let all = ways(values.len(), a.len())?;
    let total: f64 = values.iter().sum();
    let k = a.len();
    // The difference of means is a straight line of the sum of one side: that sum's distance from its expectation decides.
    let expected = total * k as f64 / values.len() as f64;
    let seen = (a.iter().sum::<f64>() - expected).abs();
    // Sums in another order differ in their last digits.
    let slack = 1e-9
        * values
            .iter()
            .map(|value| value.abs())
            .sum::<f64>()
            .max(f64::MIN_POSITIVE);
    let mut walk = Walk {
        values: &values,
        expected,
        least: seen - slack,
        extreme: 0,
    };
    walk.deal(0, k, 0.0);
    Some((walk.extreme, all))
}

/// As [`of_means`]; where there are too many ways, of some drawn by chance.
pub fn drawn_of_means(a: &[f64], b: &[f64]) -> Option<f64> {
    if a.is_empty() || b.is_empty() || ways(a.len() + b.len(), a.len()).is_some() {
        return of_means(a, b);
    }
    let mut values: Vec<f64> = a.iter().chain(b).copied().collect();
    let expected = values.iter().sum::<f64>() * a.len() as f64 / values.len() as f64;
    let seen = (a.iter().sum::<f64>() - expected).abs() * (1.0 - 1e-9);
    let mut rng = Rng::new(SEED);
    let mut extreme = 1;
    for _ in 0..DRAWN {
        let mut sum = 0.0;
        for index in 0..a.len() {
            let other = index + rng.below((values.len() - index) as u64) as usize;
            values.swap(index, other);
            sum += values[index];
        }
        extreme += u64::from((sum - expected).abs() >= seen);
    }
    Some(extreme as f64 / (DRAWN + 1) as f64)
}

struct Walk<'a> {
    values: &'a [f64],
    expected: f64,
    least: f64,
    extreme: u64,
}

impl Walk<'_> {
    /// Chooses `left` more numbers from place `from` on.
    fn deal(&mut self, from: usize, left: usize, sum: f64) {
        if left == 0 {
            self.extreme += u64::from((sum - self.expected).abs() >= self.least);
            return;
        }
        for index in from..=self.values.len() - left {
            self.deal(index + 1, left - 1, sum + self.values[index]);
        }
    }
}

#[cfg(test)]
mod tests;

//! In which order repeats were measured, and what that leaves to be told.
//!
//! Data in: when each repeat was begun. Data out: whether the sides took turns. It must not know what was measured.

use super::groups::Placed;

/// What the order of repeats says.
#[derive(Debug, Clone, PartialEq)]
pub enum Order {
    /// Nothing is known of it.
    Unknown,
    /// Nothing can have changed between repeats: each ran on a modelled machine of its own.
    Apart,
    /// The sides took turns: a drift can be told from a difference. The turn of each repeat of A, then of B.
    InTurns([Vec<f64>; 2]),
    /// One side was measured after the other, or nearly so: a drift in between passes for a difference.
    OneAfterOther,
}

/// How much of the sides the positions may tell (squared correlation) for repeats to have been measured in turns.
const SHARED_MAX: f64 = 0.25;

impl Order {
    /// From the starts of the repeats of A and of B, in any unit; `None` where one is not known.
    pub fn of(a: &[Option<u64>], b: &[Option<u64>]) -> Self {
        let known = |side: &[Option<u64>]| side.iter().copied().collect::<Option<Vec<u64>>>();
        let (Some(a), Some(b)) = (known(a), known(b)) else {
            return Self::Unknown;
        };
        let of_side = |starts: &[u64], is_b: bool| -> Vec<(u64, bool, usize)> {
            starts
                .iter()
                .enumerate()
                .map(|(index, &at)| (at, is_b, index))
                .collect()
        };
        let mut all = of_side(&a, false);
        all.extend(of_side(&b, true));
        all.sort_unstable();
        let mut turns = [vec![0.0; a.len()], vec![0.0; b.len()]];
        for (turn, &(_, is_b, index)) in all.iter().enumerate() {
            turns[usize::from(is_b)][index] = turn as f64;
        }
        if shared(&turns) > SHARED_MAX {
            return Self::OneAfterOther;
        }
        Self::InTurns(turns)
    }

    /// Repeats with their turns, where they took turns.
    pub fn placed(&self, a: &[f64], b: &[f64]) -> Option<Vec<Placed>> {
        let Self::InTurns([turns_a, turns_b]) = self else {
            return None;
        };
        let of_side = |values: &[f64], turns: &[f64], is_b: bool| -> Vec<Placed> {
            let each = values.iter().zip(turns);
            each.map(|(&value, &position)| Placed {
                is_b,
                position,
                value,
            })
            .collect()
        };
        let mut placed = of_side(a, turns_a, false);
        placed.extend(of_side(b, turns_b, true));
        Some(placed)
    }
}

/// The squared correlation of side and turn.
fn shared(turns: &[Vec<f64>; 2]) -> f64 {
    let [a, b] = turns;
    let n = (a.len() + b.len()) as f64;
    let (n_a, n_b) = (a.len() as f64, b.len() as f64);
    if n_a == 0.0 || n_b == 0.0 || n < 3.0 {
        return 1.0;
    }
    let mean = |turns: &[f64]| turns.iter().sum::<f64>() / turns.len() as f64;
    let apart = mean(b) - mean(a);
    let between = apart * apart * n_a * n_b / n;
    // Of 0 … n − 1.
    let total = n * (n * n - 1.0) / 12.0;
    between / total
}

#[cfg(test)]
mod tests;

//! Reasons to doubt a verdict that the numbers themselves show.
//!
//! Data in: judged figures. Data out: cautions, each with what it is about. It must not put them into words.

use super::groups::{mean, squares};
use super::judge::{Judged, MISS, Verdict};
use super::order::Order;
use super::series::correlation;
use super::student;

/// How much more one side may vary before intervals of few repeats hold less often.
const RATIO_MAX: f64 = 4.0;
/// From so many repeats on that does not matter any more.
const REPEATS_SAFE: usize = 30;
/// Fewer numbers have no order to speak of.
const ORDERED_MIN: usize = 5;

/// A reason to doubt. Figures are places among the judged ones, sides 0 (A) and 1 (B).
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Caution {
    /// One side was measured after the other: a drift in between passes for a difference.
    OneAfterOther,
    /// A side's numbers rise or fall from the first to the last: the order is part of what is seen.
    Trend {
        side: usize,
        figure: usize,
        rises: bool,
        /// The probability of such a trend by chance.
        p: f64,
    },
    /// Neighbouring numbers of a side are alike: they are not repeats, and intervals are too narrow.
    HangTogether { side: usize, correlation: f64 },
    /// A difference is shown of sides one of which varies several times as much: with so few repeats that is less sure.
    UnequalSpread { figure: usize },
}

/// What is to be said of these figures.
pub fn cautions(judged: &[Judged]) -> Vec<Caution> {
    let mut cautions = Vec::new();
    // Where nothing is tested, there is nothing to doubt.
    let in_row = |one: &Judged| one.order == Order::OneAfterOther && one.difference.is_some();
    if judged.iter().any(in_row) {
        cautions.push(Caution::OneAfterOther);
    }
    let in_question = |one: &&(usize, &Judged)| matches!(one.1.order, Order::Unknown | Order::OneAfterOther);
    let ordered: Vec<(usize, &Judged)> = judged.iter().enumerate().collect();
    let ordered: Vec<&(usize, &Judged)> = ordered.iter().filter(in_question).collect();
    for &&(figure, one) in &ordered {
        for (side, numbers) in one.sides.iter().enumerate() {
            let values: Vec<f64> = numbers.values.iter().map(|value| value.value).collect();
            let Some((rises, p)) = trend(&values) else {
                continue;
            };
            if p <= MISS / (2 * ordered.len()) as f64 {
                cautions.push(Caution::Trend {
                    side,
                    figure,
                    rises,
                    p,
                });
            }
            // In what has a trend neighbours are alike for that reason.
            let together = correlation(&values);
            if one.order == Order::Unknown
                && p > MISS
                && values.len() >= 2 * ORDERED_MIN
                && together > 2.5 / (values.len() as f64).sqrt()
            {
                cautions.push(Caution::HangTogether {
                    side,
                    correlation: together,
                });
            }
        }
    }
    let unequal = |(figure, one): (usize, &Judged)| {
        let few = one.sides.iter().any(|side| side.values.len() < REPEATS_SAFE);
        let spread = one.spread?;
        let apart = spread.ratio > RATIO_MAX || spread.ratio < 1.0 / RATIO_MAX;
        let shown = one.verdict == Verdict::Differs && one.follows.is_none();
        (few && apart && shown).then_some(Caution::UnequalSpread { figure })
    };
    cautions.extend(judged.iter().enumerate().filter_map(unequal));
    cautions
}

/// Whether values rise or fall over their places, and with which probability by chance (a straight line's t).
fn trend(values: &[f64]) -> Option<(bool, f64)> {
    let n = values.len();
    if n < ORDERED_MIN {
        return None;
    }
    let places: Vec<f64> = (0..n).map(|place| place as f64).collect();
    let middle = mean(&places);
    let level = mean(values);
    let both: f64 = values
        .iter()
        .zip(&places)
        .map(|(value, place)| (value - level) * (place - middle))
        .sum();
    let (of_values, of_places) = (squares(values), squares(&places));
    if of_values <= 0.0 {
        return None;
    }
    let explained = (both * both / (of_values * of_places)).min(1.0);
    let freedom = (n - 2) as f64;
    let t = (explained * freedom / (1.0 - explained)).sqrt();
    Some((both > 0.0, student::two_sided(t, freedom)))
}

#[cfg(test)]
mod tests;

//! The verdicts: of each figure, whether the sides differ, and if not, what would have been seen.
//!
//! Data in: figures as repeats have them. Data out: differences, intervals, verdicts. It must not know what becomes of them.

use super::figure::{Figure, Observed, Quantity, Value};
use super::groups::{Estimate, beside_drift, deviation, mean, welch};
use super::holm::adjusted;
use super::order::Order;
use super::spread::{self, Spread};
use super::{permutation, student};

/// What is taken for a difference by chance, at most.
pub const MISS: f64 = 0.05;
/// A difference is called one from so many repeats a side.
const REPEATS_MIN: usize = 3;
/// Repeats a side that a comparison should be begun with.
const REPEATS_GOOD: usize = 5;
/// Repeats a side from which deviations are compared.
const SPREAD_MIN: usize = 7;
/// Repeats beyond which nobody counts them.
const REPEATS_MAX: f64 = 1e6;
/// Degrees of freedom with which t is normal.
const NORMAL: f64 = 1e6;

/// What the user decides.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// The difference that matters, as a share: 0.1 is 10 %.
    pub margin: f64,
}

/// A figure and what is to be said of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    pub figure: Figure,
    /// A and B.
    pub sides: [SideNumbers; 2],
    /// How the repeats were ordered.
    pub order: Order,
    /// `None`: a side has one repeat only, so that nothing is known of how much repeats differ.
    pub difference: Option<Difference>,
    pub verdict: Verdict,
    /// Whether one side's repeats differ more from each other; `None` where that cannot be compared.
    pub spread: Option<Spread>,
    pub spread_verdict: SpreadVerdict,
    /// The figure of the same direction that this one repeats in another unit: it counts as one with it.
    pub follows: Option<Quantity>,
}

/// A figure on one side.
#[derive(Debug, Clone, PartialEq)]
pub struct SideNumbers {
    pub values: Vec<Value>,
    /// Arithmetic.
    pub mean: f64,
    /// Of repeats from each other (n − 1); `None` of one.
    pub deviation: Option<f64>,
}

/// How a difference is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// As B over A: all numbers are above 0. The ratio of typical repeats (geometric means), which is that of the means as
    /// long as repeats differ by less than some 20 %.
    Ratio,
    /// As B − A, in the figure's unit.
    Absolute,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Welch's t of the repeats.
    Welch,
    /// The same beside a drift, for repeats measured in turns.
    BesideDrift,
}

/// B against A.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    pub scale: Scale,
    pub method: Method,
    /// With [`Scale::Ratio`] B over A less 1; else B − A.
    pub value: f64,
    /// The ends of its 95 % interval.
    pub low: f64,
    pub high: f64,
    /// Degrees of freedom.
    pub freedom: f64,
    /// The probability of one as large if there were none, by t.
    pub p: f64,
    /// The same by dealing the repeats out to the sides in all ways; `None` where that is not valid or too much.
    pub p_exact: Option<f64>,
    /// `p` with all figures of the comparison taken into account.
    pub p_adjusted: f64,
    /// From which size on a true difference would have been found in four of five such comparisons, as `value` is told.
    pub seen_from: f64,
    estimate: Estimate,
    resolution: f64,
}

impl Difference {
    /// The interval that misses the truth with this probability.
    pub fn interval(&self, miss: f64) -> (f64, f64) {
        let half = self.estimate.half_width(miss) + self.resolution;
        let ends = [self.estimate.difference - half, self.estimate.difference + half];
        let [low, high] = ends.map(|end| self.scale.told(end));
        (low, high)
    }
}

impl Scale {
    /// From the scale that numbers are compared on to the one they are told on.
    fn told(self, difference: f64) -> f64 {
        match self {
            Self::Ratio => libm::expm1(difference),
            Self::Absolute => difference,
        }
    }

    fn values(self, side: &[Value]) -> Vec<f64> {
        let each = side.iter().map(|value| value.value);
        match self {
            Self::Ratio => each.map(libm::log).collect(),
            Self::Absolute => each.collect(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Verdict {
    /// The interval excludes 0, also with all other figures taken into account.
    Differs,
    /// It does not, and a difference that matters would have been seen.
    NoneShown,
    /// It does not, and there are too few repeats to say more.
    TooFew {
        /// Repeats that are missing on each side.
        more: u32,
        why: Few,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Few {
    /// A side has one repeat: how much repeats differ from each other is not known.
    One,
    /// There are fewer than the method needs.
    BelowLeast,
    /// They differ too much from each other for their number.
    TooVague,
}

/// Whether one side varies more.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SpreadVerdict {
    Differs,
    /// A ratio above this would have been seen in four of five such comparisons, at best.
    NoneShown {
        seen_from: f64,
    },
    TooFew {
        /// Repeats that are missing on each side until it is judged.
        more: u32,
    },
    /// There is no deviation on a side.
    Nothing,
}

/// All figures of a comparison.
pub fn judge(observed: Vec<Observed>, settings: Settings) -> Vec<Judged> {
    let follows: Vec<Option<Quantity>> = observed.iter().map(|one| followed(one, &observed)).collect();
    let found: Vec<Option<Difference>> = observed.iter().map(difference).collect();
    let (p_adjusted, not_shown) = corrected(&observed, &found, &follows);
    let spreads: Vec<Option<Spread>> = observed.iter().map(spread_of).collect();
    let spread_p = spread_family(&observed, &spreads, &follows);
    let each = observed.into_iter().enumerate();
    each.map(|(index, one)| {
        let quantity = one.figure.quantity;
        let repeats = [one.sides[0].len(), one.sides[1].len()];
        let sides = one.sides.map(SideNumbers::new);
        let difference = found[index].map(|found| Difference {
            p_adjusted: p_adjusted[index],
            seen_from: found
                .scale
                .told(found.estimate.seen_from(MISS / not_shown as f64) + found.resolution),
            ..found
        });
        Judged {
            verdict: match &difference {
                None => Verdict::too_few(REPEATS_GOOD as f64, repeats, Few::One),
                Some(found) => {
                    let margin = match found.scale {
                        Scale::Ratio => libm::log1p(settings.margin),
                        Scale::Absolute => settings.margin * sides[0].mean.abs(),
                    };
                    let needed = needed(&found.estimate, repeats, margin, not_shown);
                    verdict(found, quantity, repeats, margin, needed)
                }
            },
            sides,
            order: one.order,
            difference,
            spread_verdict: spread_verdict(spreads[index].as_ref(), spread_p[index], repeats),
            spread: spreads[index],
            follows: follows[index],
            figure: one.figure,
        }
    })
    .collect()
}

/// The probabilities of all differences with each other taken into account, and how many of them are not shown by that (1 at
/// least). What follows another figure has its.
fn corrected(
    observed: &[Observed],
    found: &[Option<Difference>],
    follows: &[Option<Quantity>],
) -> (Vec<f64>, usize) {
    let alone = |index: &usize| follows[*index].is_none() && found[*index].is_some();
    let family: Vec<usize> = (0..observed.len()).filter(alone).collect();
    let p: Vec<f64> = family.iter().filter_map(|&index| Some(found[index]?.p)).collect();
    let corrected = adjusted(&p);
    let not_shown = corrected.iter().filter(|p| **p > MISS).count().max(1);
    let mut each = vec![1.0; observed.len()];
    for (place, &index) in family.iter().enumerate() {
        each[index] = corrected[place];
    }
    for index in 0..observed.len() {
        let figure = &observed[index].figure;
        let leader = family.iter().find(|&&other| {
            let other = &observed[other].figure;
            Some(other.quantity) == follows[index] && other.load == figure.load && other.op == figure.op
        });
        if let (Some(_), Some(&leader)) = (follows[index], leader) {
            each[index] = each[leader];
        }
    }
    (each, not_shown)
}

impl Verdict {
    fn too_few(needed: f64, repeats: [usize; 2], why: Few) -> Self {
        let fewest = repeats[0].min(repeats[1]) as f64;
        let more = (needed.min(REPEATS_MAX) - fewest).max(1.0) as u32;
        Self::TooFew { more, why }
    }
}

impl SideNumbers {
    fn new(values: Vec<Value>) -> Self {
        let plain: Vec<f64> = values.iter().map(|value| value.value).collect();
        Self {
            mean: mean(&plain),
            deviation: deviation(&plain),
            values,
        }
    }
}

fn scale(one: &Observed) -> Scale {
    let all_above_zero = one.sides.iter().flatten().all(|value| value.value > 0.0);
    if all_above_zero {
        Scale::Ratio
    } else {
        Scale::Absolute
    }
}

/// Bytes a second of blocks of one size are IOPS in another unit.
fn followed(one: &Observed, all: &[Observed]) -> Option<Quantity> {
    if one.figure.quantity != Quantity::BytesPerSecond {
        return None;
    }
    let leader = all.iter().find(|other| {
        other.figure.quantity == Quantity::Iops
            && other.figure.load == one.figure.load
            && other.figure.op == one.figure.op
    })?;
    let ratios = one.sides.iter().zip(&leader.sides).flat_map(|(bytes, ios)| {
        let both = bytes.iter().zip(ios);
        both.map(|(bytes, ios)| bytes.value / ios.value)
    });
    let ratios: Vec<f64> = ratios.collect();
    let first = ratios.first()?;
    let same = ratios.iter().all(|ratio| (ratio / first - 1.0).abs() < 1e-4);
    same.then_some(Quantity::Iops)
}

fn difference(one: &Observed) -> Option<Difference> {
    let scale = scale(one);
    let [a, b] = [0, 1].map(|side| scale.values(&one.sides[side]));
    let in_turns = one.order.placed(&a, &b).and_then(|placed| beside_drift(&placed));
    let (estimate, method) = match in_turns {
        Some(estimate) => (estimate, Method::BesideDrift),
        None => (welch(&a, &b)?, Method::Welch),
    };
    let resolution = match scale {
        Scale::Ratio => one.figure.quantity.resolution(),
        Scale::Absolute => 0.0,
    };
    let enough = a.len() >= 4 && b.len() >= 4 && method == Method::Welch;
    let mut found = Difference {
        scale,
        method,
        value: scale.told(estimate.difference),
        low: 0.0,
        high: 0.0,
        freedom: estimate.freedom,
        p: estimate.p(resolution),
        p_exact: enough.then(|| permutation::of_means(&a, &b)).flatten(),
        p_adjusted: 1.0,
        seen_from: 0.0,
        estimate,
        resolution,
    };
    (found.low, found.high) = found.interval(MISS);
    Some(found)
}

/// `margin`: the difference that matters, on the scale of the estimate; `needed`: repeats a side by which it would be seen.
fn verdict(found: &Difference, quantity: Quantity, repeats: [usize; 2], margin: f64, needed: f64) -> Verdict {
    let fewest = repeats[0].min(repeats[1]);
    let needed = needed.max(REPEATS_GOOD as f64);
    // Not by the exact permutation: at four a side it sees hardly anything, and where t is wrong it is as wrong.
    if found.p_adjusted <= MISS && fewest >= REPEATS_MIN {
        Verdict::Differs
    } else if fewest < quantity.repeats_min() {
        Verdict::too_few(needed, repeats, Few::BelowLeast)
    } else if found.seen_from <= found.scale.told(margin) {
        Verdict::NoneShown
    } else {
        Verdict::too_few(needed, repeats, Few::TooVague)
    }
}

/// Repeats a side after which a difference of `margin` would be seen four times in five: 2 (z + z)² (s/δ)² + 1, with `s` taken
/// for larger than it is seen, as that of few repeats is too small half of the time.
fn needed(estimate: &Estimate, repeats: [usize; 2], margin: f64, figures: usize) -> f64 {
    let [a, b] = repeats.map(|n| n as f64);
    // As if both sides had the same deviation.
    let variance = estimate.error * estimate.error / (1.0 / a + 1.0 / b);
    if margin <= 0.0 || variance == 0.0 {
        return 0.0;
    }
    let z = student::critical(MISS / figures as f64, NORMAL) + student::critical(0.4, NORMAL);
    let inflation = student::inflation(a + b - 2.0);
    (2.0 * z * z * variance * inflation * inflation / (margin * margin) + 1.0).ceil()
}

fn spread_of(one: &Observed) -> Option<Spread> {
    let scale = scale(one);
    let [a, b] = [0, 1].map(|side| scale.values(&one.sides[side]));
    spread::compare(&a, &b)
}

/// The probabilities of all spreads that are judged, with each other taken into account; 1 where one is not.
fn spread_family(all: &[Observed], spreads: &[Option<Spread>], follows: &[Option<Quantity>]) -> Vec<f64> {
    let judged = |index: &usize| {
        let enough = all[*index].sides.iter().all(|side| side.len() >= SPREAD_MIN);
        enough && follows[*index].is_none() && spreads[*index].is_some()
    };
    let family: Vec<usize> = (0..all.len()).filter(judged).collect();
    // Both have to see it: each alone is too ready to at some shape or number.
    let p = family.iter().filter_map(|&index| {
        let found = spreads[index]?;
        Some(found.p_permuted.max(found.p))
    });
    let corrected = adjusted(&p.collect::<Vec<f64>>());
    let mut each = vec![1.0; all.len()];
    for (place, &index) in family.iter().enumerate() {
        each[index] = corrected[place];
    }
    each
}

fn spread_verdict(spread: Option<&Spread>, p: f64, repeats: [usize; 2]) -> SpreadVerdict {
    let repeats = repeats[0].min(repeats[1]);
    if repeats < SPREAD_MIN {
        return SpreadVerdict::TooFew {
            more: (SPREAD_MIN - repeats) as u32,
        };
    }
    if spread.is_none() {
        return SpreadVerdict::Nothing;
    }
    if p <= MISS {
        return SpreadVerdict::Differs;
    }
    SpreadVerdict::NoneShown {
        seen_from: ratio_seen_from(repeats),
    }
}

/// The ratio of deviations that is seen four times in five with so many repeats a side, at best: of normal repeats, by the F
/// test (`docs/compare.md`).
pub fn ratio_seen_from(repeats: usize) -> f64 {
    const TABLE: [(usize, f64); 6] = [(5, 4.9), (7, 3.5), (10, 2.7), (20, 1.9), (30, 1.7), (100, 1.3)];
    let below = TABLE.iter().rev().find(|(n, _)| *n <= repeats);
    below.map_or(f64::INFINITY, |(_, ratio)| *ratio)
}

#[cfg(test)]
mod tests;

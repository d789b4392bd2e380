//! Limits on rates, from points that more depth does not speed up.
//!
//! Data in: measured points. Data out: which of them are saturated, and the limits that hold them. It must not know why
//! a disk limits.
//!
//! Two points of the same order, mix and threads show a limit where one is at least half as deep again as the other and
//! yet no faster, though its I/Os are no larger (for IOPS) or no smaller (for bytes): without a limit, depth would have
//! made it faster. A limit is the highest rate at which such points agree.

use crate::sweep::findings::{Limit, Quantity, Scope, Verdict};
use crate::sweep::seen::{AGREE, Seen, agree, median, spread};
use fathom_core::sweep::Coordinates;
use std::collections::BTreeSet;

/// A point so many halves as deep as another ought to be faster.
const DEEPER_HALVES: u64 = 3;

/// Which measured points are saturated, by their place in the list.
#[derive(Debug, Clone, Default)]
pub(in crate::sweep) struct Saturated {
    pub(in crate::sweep) iops: Vec<bool>,
    pub(in crate::sweep) bytes: Vec<bool>,
}

impl Saturated {
    /// Looks at all pairs.
    pub(in crate::sweep) fn of(seen: &[Seen<'_>]) -> Self {
        let mut found = Self {
            iops: vec![false; seen.len()],
            bytes: vec![false; seen.len()],
        };
        for (at, deep) in seen.iter().enumerate() {
            for (other, shallow) in seen.iter().enumerate() {
                if shows(deep, shallow, Quantity::Iops) {
                    found.iops[at] = true;
                    found.iops[other] = true;
                }
                if shows(deep, shallow, Quantity::BytesPerSecond) {
                    found.bytes[at] = true;
                    found.bytes[other] = true;
                }
            }
        }
        found
    }

    /// Whether anything holds a point.
    pub(in crate::sweep) fn any(&self, at: usize) -> bool {
        self.iops[at] || self.bytes[at]
    }

    fn by(&self, quantity: Quantity, at: usize) -> bool {
        match quantity {
            Quantity::Iops => self.iops[at],
            Quantity::BytesPerSecond => self.bytes[at],
        }
    }
}

/// Whether two points show a limit: the deeper one ought to be faster and is not.
fn shows(deep: &Seen<'_>, shallow: &Seen<'_>, quantity: Quantity) -> bool {
    let (size, shallow_size) = (deep.at.block_size_bytes, shallow.at.block_size_bytes);
    let ought_to_be_faster = match quantity {
        Quantity::Iops => size <= shallow_size,
        Quantity::BytesPerSecond => size >= shallow_size,
    };
    same_load(deep, shallow)
        && ought_to_be_faster
        && deep.depth * 2 >= shallow.depth * DEEPER_HALVES
        && agree(deep, shallow, value(quantity, deep), value(quantity, shallow))
}

fn same_load(one: &Seen<'_>, other: &Seen<'_>) -> bool {
    (one.at.random, one.at.read_percent, one.at.threads)
        == (other.at.random, other.at.read_percent, other.at.threads)
}

/// All limits of all scopes that have points.
pub(in crate::sweep) fn limits(seen: &[Seen<'_>], saturated: &Saturated) -> Vec<Limit> {
    let mut limits = Vec::new();
    for quantity in [Quantity::Iops, Quantity::BytesPerSecond] {
        for scope in [Scope::All, Scope::Reads, Scope::Writes] {
            limits.extend(limit(seen, saturated, quantity, scope));
        }
    }
    limits
}

/// The limit of these on that, where it was reached.
pub(in crate::sweep) fn rate(limits: &[Limit], quantity: Quantity, scope: Scope) -> Option<f64> {
    let found = limits
        .iter()
        .find(|limit| limit.quantity == quantity && limit.scope == scope)?;
    match found.verdict {
        Verdict::Reached { rate, .. } => Some(rate),
        Verdict::NotReached { .. } => None,
    }
}

/// Whether a scope has a point.
pub(in crate::sweep) fn in_scope(scope: Scope, at: Coordinates) -> bool {
    match scope {
        Scope::All => true,
        Scope::Reads => at.read_percent == 100,
        Scope::Writes => at.read_percent == 0,
    }
}

/// The value of a point that a quantity limits.
pub(in crate::sweep) fn value(quantity: Quantity, point: &Seen<'_>) -> f64 {
    match quantity {
        Quantity::Iops => point.iops,
        Quantity::BytesPerSecond => point.bytes_per_second,
    }
}

fn limit(seen: &[Seen<'_>], saturated: &Saturated, quantity: Quantity, scope: Scope) -> Option<Limit> {
    let all: Vec<usize> = (0..seen.len())
        .filter(|&at| in_scope(scope, seen[at].at))
        .collect();
    let values = all.iter().map(|&at| value(quantity, &seen[at]));
    let most = values.reduce(f64::max)?;
    let held: Vec<usize> = all
        .iter()
        .copied()
        .filter(|&at| saturated.by(quantity, at))
        .collect();
    let pins = highest_agreeing(seen, &held, quantity)
        .filter(|pins| !other_explains(seen, &all, saturated, pins, quantity));
    let Some(pins) = pins else {
        return Some(Limit {
            quantity,
            scope,
            verdict: Verdict::NotReached { most },
            confidence: 0.0,
            points: Vec::new(),
            sizes_bytes: Vec::new(),
            depths: None,
        });
    };
    let rates: Vec<f64> = pins.iter().map(|&at| value(quantity, &seen[at])).collect();
    let rate = median(&rates);
    let sizes: BTreeSet<u64> = pins.iter().map(|&at| seen[at].at.block_size_bytes).collect();
    let depths = pins.iter().map(|&at| seen[at].depth);
    let verdict = Verdict::Reached {
        rate,
        spread: spread(&rates, rate),
    };
    Some(Limit {
        quantity,
        scope,
        verdict,
        confidence: confidence(seen, &pins, &sizes),
        points: pins.iter().map(|&at| seen[at].number).collect(),
        sizes_bytes: sizes.into_iter().collect(),
        depths: depths.clone().min().zip(depths.max()),
    })
}

/// The highest rate at which saturated points agree, two of which show a limit by themselves: those points.
fn highest_agreeing(seen: &[Seen<'_>], held: &[usize], quantity: Quantity) -> Option<Vec<usize>> {
    let of = |at: usize| value(quantity, &seen[at]);
    let mut tops: Vec<f64> = held.iter().map(|&at| of(at)).collect();
    tops.sort_by(|a, b| b.total_cmp(a));
    tops.into_iter().find_map(|top| {
        let agreeing = |&at: &usize| of(at) <= top && of(at) >= top * (1.0 - AGREE);
        let pins: Vec<usize> = held.iter().copied().filter(agreeing).collect();
        let pairs = pins
            .iter()
            .flat_map(|&deep| pins.iter().map(move |&shallow| (deep, shallow)));
        let shown = pairs
            .into_iter()
            .any(|(deep, shallow)| shows(&seen[deep], &seen[shallow], quantity));
        shown.then_some(pins)
    })
}

/// Whether points that agree in one quantity only seem to be held by it: all are of one size, and the next saturated size
/// agrees with them in the other quantity.
fn other_explains(
    seen: &[Seen<'_>],
    all: &[usize],
    saturated: &Saturated,
    pins: &[usize],
    quantity: Quantity,
) -> bool {
    let size = seen[pins[0]].at.block_size_bytes;
    if pins.iter().any(|&at| seen[at].at.block_size_bytes != size) {
        return false;
    }
    let (other, larger) = match quantity {
        Quantity::Iops => (Quantity::BytesPerSecond, true),
        Quantity::BytesPerSecond => (Quantity::Iops, false),
    };
    let is_next = |&at: &usize| {
        let next = seen[at].at.block_size_bytes;
        saturated.any(at) && if larger { next > size } else { next < size }
    };
    let by_other = |&at: &usize| {
        pins.iter().any(|&pin| {
            let (pin, next) = (&seen[pin], &seen[at]);
            same_load(pin, next) && agree(pin, next, value(other, pin), value(other, next))
        })
    };
    all.iter().filter(|at| is_next(at)).any(by_other)
}

/// More sizes, more loads, more points, more depth: surer. The numbers are a scale, not a measured frequency.
fn confidence(seen: &[Seen<'_>], pins: &[usize], sizes: &BTreeSet<u64>) -> f64 {
    let loads: BTreeSet<(bool, u8)> = pins
        .iter()
        .map(|&at| (seen[at].at.random, seen[at].at.read_percent))
        .collect();
    let depths = pins.iter().map(|&at| seen[at].depth);
    let (least, most) = (depths.clone().min().unwrap_or(1), depths.max().unwrap_or(1));
    let signs = [
        (sizes.len() >= 2, 0.20),
        (loads.len() >= 2, 0.05),
        (pins.len() >= 4, 0.06),
        (pins.len() >= 8, 0.03),
        (most >= 4 * least, 0.04),
    ];
    let gained: f64 = signs.iter().filter(|(there, _)| *there).map(|(_, by)| by).sum();
    // Two digits are all that such a scale has.
    ((0.6 + gained) * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests;

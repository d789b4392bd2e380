//! Reads against writes, random against sequential order: only among points that differ in nothing else.
//!
//! Data in: measured points. Data out: [`Comparison`]s. It must not know limits.

use crate::sweep::findings::{Comparison, Contrast, Pair};
use crate::sweep::seen::{Seen, median};
use fathom_core::sweep::Coordinates;
use std::collections::BTreeMap;

/// Two points within this are alike.
const ALIKE: f64 = 0.05;

/// Pure reads over pure writes.
pub(super) fn read_write(seen: &[Seen<'_>]) -> Comparison {
    compare(seen, |at| {
        (at.read_percent == 100).then_some(Coordinates {
            read_percent: 0,
            ..at
        })
    })
}

/// Random over sequential order.
pub(super) fn random_sequential(seen: &[Seen<'_>]) -> Comparison {
    compare(seen, |at| {
        at.random.then_some(Coordinates { random: false, ..at })
    })
}

/// Each point with the one that `partner` names.
fn compare(seen: &[Seen<'_>], partner: fn(Coordinates) -> Option<Coordinates>) -> Comparison {
    let by_place: BTreeMap<Coordinates, &Seen<'_>> = seen.iter().map(|point| (point.at, point)).collect();
    let mut sizes: BTreeMap<u64, Vec<(u64, Pair)>> = BTreeMap::new();
    for first in seen {
        if let Some(second) = partner(first.at).and_then(|at| by_place.get(&at)) {
            let pairs = sizes.entry(first.at.block_size_bytes).or_default();
            pairs.push((first.depth, pair(first, second)));
        }
    }
    Comparison {
        by_size: sizes
            .into_iter()
            .map(|(size, pairs)| contrast(size, pairs))
            .collect(),
    }
}

/// Errors of the two are independent, so that their squares add up.
fn pair(first: &Seen<'_>, second: &Seen<'_>) -> Pair {
    let half_width = first.half_width.zip(second.half_width);
    Pair {
        first: first.number,
        second: second.number,
        ratio: first.iops / second.iops,
        half_width: half_width.map(|(one, other)| one.hypot(other)),
    }
}

fn contrast(block_size_bytes: u64, pairs: Vec<(u64, Pair)>) -> Contrast {
    let deepest = pairs.iter().map(|(depth, _)| *depth).max().unwrap_or(0);
    let ratios = |wanted: &dyn Fn(u64) -> bool| {
        let wanted = pairs.iter().filter(|(depth, _)| wanted(*depth));
        median(&wanted.map(|(_, pair)| pair.ratio).collect::<Vec<f64>>())
    };
    let (ratio, ratio_deepest) = (ratios(&|_| true), ratios(&|depth| depth == deepest));
    let mut pairs: Vec<Pair> = pairs.into_iter().map(|(_, pair)| pair).collect();
    let far = |pair: &Pair| pair.ratio.ln().abs();
    let alike = |pair: &&Pair| far(pair) <= ALIKE.max(pair.half_width.unwrap_or(0.0));
    let alike = pairs.iter().filter(alike).count() as u32;
    pairs.sort_by(|a, b| far(b).total_cmp(&far(a)).then(a.first.cmp(&b.first)));
    Contrast {
        block_size_bytes,
        ratio,
        ratio_deepest,
        deepest,
        alike,
        pairs,
    }
}

#[cfg(test)]
mod tests;

//! What may be taken for granted between two points, tried on those that were measured.
//!
//! Data in: measured points of one order and number of threads, or of two orders. Data out: [`Rules`], [`Order`]: which of
//! them nothing contradicts. It must not know limits.

use crate::sweep::seen::{Seen, median};

/// A rule is contradicted by a pair that breaks it by more than this and more than their intervals.
const BROKEN: f64 = 0.03;
/// Two orders are equal when all pairs are within this.
const EQUAL: f64 = 0.03;
/// At least so many pairs must say so: the corners of two mixes, two sizes and two depths.
const PAIRS_MIN: usize = 8;

/// What holds among points of one order and number of threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rules {
    /// More depth does not lower IOPS.
    pub(super) depth_keeps_iops: bool,
    /// More depth does not lower latency: IOPS grow no faster than depth.
    pub(super) depth_keeps_latency: bool,
    /// Larger blocks do not raise IOPS.
    pub(super) size_keeps_iops: bool,
    /// Larger blocks do not lower bytes a second.
    pub(super) size_keeps_bytes: bool,
    /// A mix lies between its neighbours.
    pub(super) mix_between: bool,
}

/// How two orders relate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// No difference at any corner.
    Equal,
    /// Random order is never faster.
    RandomNoFaster,
    /// Nothing is known.
    Unrelated,
}

impl Rules {
    /// What the measured points do not contradict.
    pub(super) fn of(seen: &[&Seen<'_>]) -> Self {
        let mut rules = Self {
            depth_keeps_iops: true,
            depth_keeps_latency: true,
            size_keeps_iops: true,
            size_keeps_bytes: true,
            mix_between: true,
        };
        for one in seen {
            for other in seen
                .iter()
                .filter(|other| other.at.read_percent == one.at.read_percent)
            {
                let slack = 1.0 + slack(one, other);
                if one.at.block_size_bytes == other.at.block_size_bytes && one.depth < other.depth {
                    let deeper = other.depth as f64 / one.depth as f64;
                    rules.depth_keeps_iops &= other.iops * slack >= one.iops;
                    rules.depth_keeps_latency &= other.iops <= one.iops * deeper * slack;
                }
                if one.depth == other.depth && one.at.block_size_bytes < other.at.block_size_bytes {
                    rules.size_keeps_iops &= other.iops <= one.iops * slack;
                    rules.size_keeps_bytes &= other.bytes_per_second * slack >= one.bytes_per_second;
                }
            }
        }
        rules.mix_between = mixes_between(seen);
        rules
    }
}

fn slack(one: &Seen<'_>, other: &Seen<'_>) -> f64 {
    let intervals = one.half_width.unwrap_or(0.0) + other.half_width.unwrap_or(0.0);
    BROKEN.max(intervals)
}

/// Whether each measured mix lies between the measured ones on both sides of it.
fn mixes_between(seen: &[&Seen<'_>]) -> bool {
    seen.iter().all(|point| {
        let beside = |below: bool| {
            let same = seen.iter().filter(move |other| {
                (other.at.block_size_bytes, other.depth) == (point.at.block_size_bytes, point.depth)
            });
            let side = same.filter(move |other| {
                if below {
                    other.at.read_percent < point.at.read_percent
                } else {
                    other.at.read_percent > point.at.read_percent
                }
            });
            side.min_by_key(|other| other.at.read_percent.abs_diff(point.at.read_percent))
        };
        let (Some(one), Some(other)) = (beside(true), beside(false)) else {
            return true;
        };
        let slack = 1.0 + slack(point, one).max(slack(point, other));
        let (low, high) = (one.iops.min(other.iops), one.iops.max(other.iops));
        point.iops * slack >= low && point.iops <= high * slack
    })
}

impl Order {
    /// From pairs of a random and a sequential point that differ in nothing else.
    pub(super) fn of(pairs: &[(&Seen<'_>, &Seen<'_>)]) -> Self {
        if pairs.len() < PAIRS_MIN {
            return Self::Unrelated;
        }
        let ratio = |(random, sequential): &(&Seen<'_>, &Seen<'_>)| random.iops / sequential.iops;
        let equal = |pair: &&(&Seen<'_>, &Seen<'_>)| {
            let own = slack(pair.0, pair.1).min(2.0 * EQUAL);
            (ratio(pair) - 1.0).abs() <= EQUAL.max(own)
        };
        let ratios: Vec<f64> = pairs.iter().map(ratio).collect();
        let centred = (median(&ratios) - 1.0).abs() <= EQUAL / 2.0;
        if centred && pairs.iter().filter(equal).count() == pairs.len() {
            return Self::Equal;
        }
        let no_faster = pairs
            .iter()
            .all(|pair| ratio(pair) <= 1.0 + slack(pair.0, pair.1));
        if no_faster {
            Self::RandomNoFaster
        } else {
            Self::Unrelated
        }
    }
}

#[cfg(test)]
mod tests;

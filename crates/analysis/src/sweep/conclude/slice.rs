//! Whether limits are enforced in time slices, and how long these are.
//!
//! Data in: measured points with their latencies, which are saturated. Data out: [`Slice`]. It must not know what slices a
//! provider is said to have.
//!
//! A limit that is released slice by slice lets a closed loop run freely until the slice's share is used up; what is then
//! in flight waits for the next slice. So latencies have two modes: service alone, and the rest of a slice; and each of D
//! I/Os in flight waits once a slice. Where more are in flight than a slice releases, all wait, some for k whole slices and
//! the others for k+1. Either way a share w of all I/Os waits for k+1 slices and the rest for k, and by Little's law, at r
//! I/Os a second, a slice is D/(r·(k+w)) long. A smooth limit makes no modes: all wait alike. Nor does a service with two
//! modes of its own pass for slices: its share w does not depend on depth, so that points of different depth disagree.

use super::limits::Saturated;
use crate::sweep::findings::{Slice, SliceSign};
use crate::sweep::seen::{Seen, median, spread};
use fathom_core::sweep::LatencyBucket;

/// A mode has at least this share of all I/Os.
const MODE_MIN: f64 = 0.015;
/// The upper mode is at least so many times the lower one.
const APART_MIN: f64 = 1.3;
/// Between two modes, within [`VALLEY_WIDTH`] of the lowest place, there is less than this share of the smaller one.
const VALLEY_MAX: f64 = 0.08;
/// Half a valley's width, as a share of where it is.
const VALLEY_WIDTH: f64 = 0.06;
/// The lower mode is at a multiple of the modes' distance when it misses that by less than this share.
const MULTIPLE: f64 = 0.15;
/// Points agree on a length within this.
const AGREE_LENGTH: f64 = 0.10;
/// So many points must agree.
const SIGNS_MIN: usize = 3;

/// Two modes of a point's latencies.
#[derive(Debug, Clone, Copy)]
struct Modes {
    share_waiting: f64,
    lower_ns: f64,
    upper_ns: f64,
}

/// What the saturated points say. Mixes are left out where there are pure ones: reads and writes of different length are
/// two modes as well.
pub(super) fn slice(seen: &[Seen<'_>], saturated: &Saturated) -> Slice {
    let held = seen.iter().enumerate().filter(|(at, _)| saturated.any(*at));
    let held: Vec<&Seen<'_>> = held.map(|(_, point)| point).collect();
    let pure: Vec<&Seen<'_>> = held
        .iter()
        .copied()
        .filter(|point| matches!(point.at.read_percent, 0 | 100))
        .collect();
    let looked = if pure.is_empty() { held } else { pure };
    let mut signs: Vec<SliceSign> = looked.iter().filter_map(|point| sign(point)).collect();
    let agreed = agreed(&looked, &signs);
    if let Some(length) = agreed {
        for sign in &mut signs {
            sign.agrees = (sign.length_ns / length - 1.0).abs() <= AGREE_LENGTH;
        }
    }
    signs.sort_by_key(|sign| (!sign.agrees, sign.point));
    let agreeing: Vec<f64> = signs
        .iter()
        .filter(|sign| sign.agrees)
        .map(|sign| sign.length_ns)
        .collect();
    Slice {
        length_ns: agreed,
        spread: agreed.map_or(0.0, |length| spread(&agreeing, length)),
        confidence: agreed.map_or(0.0, |_| confidence(agreeing.len(), signs.len())),
        signs,
        looked_at: looked.len() as u32,
    }
}

/// What one point says, where it has two modes.
fn sign(point: &Seen<'_>) -> Option<SliceSign> {
    let modes = modes(point.lat_buckets)?;
    let multiple = modes.lower_ns / (modes.upper_ns - modes.lower_ns);
    let nearest = multiple.round();
    let at_multiple = nearest >= 1.0 && (multiple / nearest - 1.0).abs() <= MULTIPLE;
    let slices = if at_multiple { nearest } else { 0.0 };
    let length_ns = point.depth as f64 * 1e9 / (point.iops * (slices + modes.share_waiting));
    Some(SliceSign {
        point: point.number,
        share_waiting: modes.share_waiting,
        lower_ns: modes.lower_ns,
        upper_ns: modes.upper_ns,
        length_ns,
        agrees: false,
    })
}

/// The length that most points agree on: the median of those. They are at least half of all that show two modes, and of
/// different depths.
fn agreed(looked: &[&Seen<'_>], signs: &[SliceSign]) -> Option<f64> {
    let near = |length: f64| {
        signs
            .iter()
            .filter(move |sign| (sign.length_ns / length - 1.0).abs() <= AGREE_LENGTH)
    };
    let centre = signs.iter().map(|sign| sign.length_ns).reduce(|best, length| {
        if near(length).count() > near(best).count() {
            length
        } else {
            best
        }
    })?;
    let depth = |sign: &SliceSign| {
        let found = looked.iter().find(|point| point.number == sign.point);
        found.map_or(0, |point| point.depth)
    };
    let depths = near(centre).map(depth);
    let differ = depths.clone().min() != depths.max();
    let lengths: Vec<f64> = near(centre).map(|sign| sign.length_ns).collect();
    let enough = lengths.len() >= SIGNS_MIN && 2 * lengths.len() >= signs.len() && differ;
    enough.then(|| median(&lengths))
}

/// The more points agree and the fewer do not, the surer. The numbers are a scale, not a measured frequency.
fn confidence(agreeing: usize, all: usize) -> f64 {
    let many = (agreeing as f64 / 10.0).min(1.0);
    let share = agreeing as f64 / all as f64;
    (0.55 + 0.4 * many) * (0.5 + 0.5 * share)
}

/// Two modes with a valley between them: the split that tells most (Otsu, "A Threshold Selection Method from Gray-Level
/// Histograms", 1979, on the logarithm of latency), moved to the lowest place between the two means.
fn modes(buckets: &[LatencyBucket]) -> Option<Modes> {
    let total: u64 = buckets.iter().map(|bucket| bucket.count).sum();
    if total == 0 {
        return None;
    }
    let (low_mean, high_mean) = otsu(buckets)?;
    let valley_ns = valley(buckets, low_mean, high_mean);
    let below: Vec<&LatencyBucket> = buckets.iter().filter(|b| middle(b) < valley_ns).collect();
    let above: Vec<&LatencyBucket> = buckets.iter().filter(|b| middle(b) >= valley_ns).collect();
    let (lower, upper) = (count(&below), count(&above));
    let smaller = lower.min(upper);
    let in_valley = near(buckets, valley_ns);
    let modes = Modes {
        share_waiting: upper / total as f64,
        lower_ns: mean(&below),
        upper_ns: mean(&above),
    };
    let found = smaller >= MODE_MIN * total as f64
        && in_valley <= VALLEY_MAX * smaller
        && modes.upper_ns >= APART_MIN * modes.lower_ns;
    found.then_some(modes)
}

fn middle(bucket: &LatencyBucket) -> f64 {
    f64::midpoint(bucket.low_ns as f64, bucket.high_ns as f64).max(1.0)
}

fn count(buckets: &[&LatencyBucket]) -> f64 {
    buckets.iter().map(|bucket| bucket.count).sum::<u64>() as f64
}

fn mean(buckets: &[&LatencyBucket]) -> f64 {
    let sum: f64 = buckets
        .iter()
        .map(|bucket| middle(bucket) * bucket.count as f64)
        .sum();
    sum / count(buckets).max(1.0)
}

/// The geometric means of the two classes that differ most.
fn otsu(buckets: &[LatencyBucket]) -> Option<(f64, f64)> {
    let log = |bucket: &LatencyBucket| middle(bucket).ln();
    let all: f64 = buckets.iter().map(|bucket| bucket.count as f64).sum();
    let sum: f64 = buckets
        .iter()
        .map(|bucket| log(bucket) * bucket.count as f64)
        .sum();
    let (mut below, mut below_sum) = (0.0, 0.0);
    let mut best: Option<(f64, f64, f64)> = None;
    for bucket in &buckets[..buckets.len() - 1] {
        below += bucket.count as f64;
        below_sum += log(bucket) * bucket.count as f64;
        let (low, high) = (below_sum / below, (sum - below_sum) / (all - below));
        let between = below * (all - below) * (high - low) * (high - low);
        if best.is_none_or(|(most, ..)| between > most) {
            best = Some((between, low, high));
        }
    }
    best.map(|(_, low, high)| (low.exp(), high.exp()))
}

/// Where between the two fewest I/Os are near: the middle of the emptiest stretch, in steps of a fiftieth octave.
fn valley(buckets: &[LatencyBucket], low_ns: f64, high_ns: f64) -> f64 {
    const STEP: f64 = 1.014;
    let mut places = Vec::new();
    let mut at = low_ns;
    while at < high_ns {
        places.push((near(buckets, at), at));
        at *= STEP;
    }
    let fewest = places.iter().map(|(near, _)| *near).fold(f64::INFINITY, f64::min);
    let lowest: Vec<f64> = places
        .iter()
        .filter(|(near, _)| *near <= fewest)
        .map(|(_, at)| *at)
        .collect();
    lowest.get(lowest.len() / 2).copied().unwrap_or(low_ns)
}

/// How many I/Os took within [`VALLEY_WIDTH`] of `ns`; buckets count by the part that lies there.
fn near(buckets: &[LatencyBucket], ns: f64) -> f64 {
    let (from, to) = (ns * (1.0 - VALLEY_WIDTH), ns * (1.0 + VALLEY_WIDTH));
    let part = |bucket: &LatencyBucket| {
        let (low, high) = (bucket.low_ns as f64, bucket.high_ns as f64 + 1.0);
        let overlap = (high.min(to) - low.max(from)).max(0.0);
        bucket.count as f64 * overlap / (high - low)
    };
    buckets.iter().map(part).sum()
}

#[cfg(test)]
mod tests;

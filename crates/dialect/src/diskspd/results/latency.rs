//! Latencies of many I/Os, and what can be said of several such together.
//!
//! Data in: moments and histograms. Data out: merged ones, percentiles. Percentiles are those of nearest rank, as diskspd
//! takes them: the smallest value with at least so many at or below it. It must not know who measured.

use super::input::{Bucket, Direction};
use std::collections::BTreeMap;

/// Latencies, in nanoseconds.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Latency {
    pub n: u64,
    /// Mean; 0 where there are none.
    pub mean_ns: f64,
    /// Population standard deviation.
    pub stddev_ns: f64,
    /// The shortest and the longest, where they are known.
    pub extremes_ns: Option<(u64, u64)>,
    /// Lowest value, highest value and count of each bucket; empty: no histogram was kept.
    pub histogram: Vec<(u64, u64, u64)>,
}

/// Mean and population standard deviation of two groups together.
fn pooled((n1, mean1, dev1): (u64, f64, f64), (n2, mean2, dev2): (u64, f64, f64)) -> (f64, f64) {
    let n = (n1 + n2) as f64;
    if n == 0.0 {
        return (0.0, 0.0);
    }
    let (w1, w2) = (n1 as f64 / n, n2 as f64 / n);
    let mean = w1 * mean1 + w2 * mean2;
    let variance = w1 * (dev1 * dev1 + (mean1 - mean).powi(2)) + w2 * (dev2 * dev2 + (mean2 - mean).powi(2));
    (mean, variance.sqrt())
}

impl Latency {
    /// Both together.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        if other.n == 0 {
            return self.clone();
        }
        if self.n == 0 {
            return other.clone();
        }
        let (mean_ns, stddev_ns) = pooled(
            (self.n, self.mean_ns, self.stddev_ns),
            (other.n, other.mean_ns, other.stddev_ns),
        );
        let extremes_ns = match (self.extremes_ns, other.extremes_ns) {
            (Some((low, high)), Some((lower, higher))) => Some((low.min(lower), high.max(higher))),
            _ => None,
        };
        // Half a histogram would pass for a whole one.
        let histogram = if self.histogram.is_empty() || other.histogram.is_empty() {
            Vec::new()
        } else {
            let mut merged: BTreeMap<(u64, u64), u64> = BTreeMap::new();
            for &(low, high, count) in self.histogram.iter().chain(&other.histogram) {
                *merged.entry((low, high)).or_default() += count;
            }
            merged
                .into_iter()
                .map(|((low, high), count)| (low, high, count))
                .collect()
        };
        Self {
            n: self.n + other.n,
            mean_ns,
            stddev_ns,
            extremes_ns,
            histogram,
        }
    }

    /// The value at a share (0 to 1) of all, within the extremes; 0 and 1 are the extremes. `None`: not known.
    pub fn at(&self, share: f64) -> Option<f64> {
        let (min, max) = self.extremes_ns.filter(|_| self.n > 0)?;
        if share <= 0.0 {
            return Some(min as f64);
        }
        let counted: u64 = self.histogram.iter().map(|&(_, _, count)| count).sum();
        if counted == 0 {
            return None;
        }
        // Without the tolerance, rank 999 of 1000 becomes 1000: 0.999 is not exact in binary.
        let exact = share * counted as f64;
        let rank = ((exact - exact * 1e-12).ceil() as u64).clamp(1, counted);
        if rank == counted {
            return Some(max as f64);
        }
        let mut seen = 0;
        let found = self.histogram.iter().find(|&&(_, _, count)| {
            seen += count;
            seen >= rank
        });
        found.map(|&(low, high, _)| (u64::midpoint(low, high).clamp(min, max)) as f64)
    }
}

/// Intervals of two directions or rows together.
pub(super) fn merged(one: &[Bucket], other: &[Bucket]) -> Vec<Bucket> {
    let count = one.len().max(other.len());
    let of = |list: &[Bucket], index: usize| list.get(index).copied().unwrap_or_default();
    (0..count)
        .map(|index| of(one, index).and(of(other, index)))
        .collect()
}

impl Direction {
    /// Both together; without intervals where one has none.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        let buckets = self.buckets.as_deref().zip(other.buckets.as_deref());
        Self {
            ios: self.ios + other.ios,
            bytes: self.bytes + other.bytes,
            latency: self.latency.and(&other.latency),
            buckets: buckets.map(|(one, other)| merged(one, other)),
        }
    }
}

impl Bucket {
    /// Both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        if other.ios == 0 {
            return self;
        }
        if self.ios == 0 {
            return other;
        }
        let (mean_ns, stddev_ns) = pooled(
            (self.ios, self.mean_ns, self.stddev_ns),
            (other.ios, other.mean_ns, other.stddev_ns),
        );
        Self {
            ios: self.ios + other.ios,
            min_ns: self.min_ns.min(other.min_ns),
            max_ns: self.max_ns.max(other.max_ns),
            mean_ns,
            stddev_ns,
        }
    }
}

/// The population standard deviation of I/Os a second over intervals of so many milliseconds; 0 where there are none.
pub(super) fn iops_stddev(buckets: &[Bucket], bucket_ms: u32) -> f64 {
    let n = buckets.len() as f64;
    if n == 0.0 || bucket_ms == 0 {
        return 0.0;
    }
    let mean = buckets.iter().map(|bucket| bucket.ios as f64).sum::<f64>() / n;
    let squares: f64 = buckets
        .iter()
        .map(|bucket| (bucket.ios as f64 - mean).powi(2))
        .sum();
    (squares / n).sqrt() / (f64::from(bucket_ms) / 1000.0)
}

//! The latency histogram: log-linear, relative error at most 1/1024, no ceiling, merges exactly.
//!
//! Data in: integers (nanoseconds). Data out: counts, percentiles, moments. Values below 1024 have a bucket
//! each; above, each octave has 512 buckets, and a bucket is represented by its middle, so that the error is
//! at most half a bucket: 1/1024 of the value. The whole of u64 is covered.
//!
//! Recording is a shift and an add; it allocates nothing. Memory is reserved for all buckets but
//! only the touched pages exist; a page of counts is one octave.

use crate::run::LatencySummary;

/// Buckets an octave, as a power of two.
const SUB_BITS: u32 = 9;
/// Values below this have buckets of their own.
const EXACT: u64 = 2 << SUB_BITS;
/// Octaves above the exact part: shift 0 covers `512..1024` as part of it.
const BUCKETS: usize = ((64 - SUB_BITS as usize) << SUB_BITS) + (1 << SUB_BITS);

/// Counts of integer values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Histogram {
    counts: Box<[u64]>,
    n: u64,
    sum: u128,
    min: u64,
    max: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

/// The bucket of a value.
#[inline]
fn index_of(value: u64) -> usize {
    // Values below EXACT have shift 0 and index themselves.
    let shift = (value | (EXACT >> 1)).ilog2() - SUB_BITS;
    ((shift as usize) << SUB_BITS) + (value >> shift) as usize
}

/// The lowest and the highest value of a bucket.
fn bounds_of(index: usize) -> (u64, u64) {
    if index < EXACT as usize {
        return (index as u64, index as u64);
    }
    let shift = (index >> SUB_BITS) as u32 - 1;
    let mantissa = ((index & ((1 << SUB_BITS) - 1)) + (1 << SUB_BITS)) as u64;
    let low = mantissa << shift;
    (low, low + ((1u64 << shift) - 1))
}

impl Histogram {
    /// An empty histogram. Reserves about 230 kB of address space.
    pub fn new() -> Self {
        Self {
            counts: vec![0; BUCKETS].into_boxed_slice(),
            n: 0,
            sum: 0,
            min: u64::MAX,
            max: 0,
        }
    }

    /// Counts `value`.
    #[inline]
    pub fn record(&mut self, value: u64) {
        self.counts[index_of(value)] += 1;
        self.n += 1;
        self.sum += u128::from(value);
        // Branches that are hardly ever taken are cheaper than a store each time.
        if value < self.min {
            self.min = value;
        }
        if value > self.max {
            self.max = value;
        }
    }

    /// Counts `value` so many times: to rebuild a histogram from its buckets.
    pub fn record_many(&mut self, value: u64, count: u64) {
        if count > 0 {
            self.counts[index_of(value)] += count;
            self.n += count;
            self.sum += u128::from(value) * u128::from(count);
            self.min = self.min.min(value);
            self.max = self.max.max(value);
        }
    }

    /// How many values were counted.
    pub fn n(&self) -> u64 {
        self.n
    }
    /// The smallest value, exactly; `None` when empty.
    pub fn min(&self) -> Option<u64> {
        (self.n > 0).then_some(self.min)
    }
    /// The largest value, exactly; `None` when empty.
    pub fn max(&self) -> Option<u64> {
        (self.n > 0).then_some(self.max)
    }
    /// The sum of all values, exactly.
    pub fn sum(&self) -> u128 {
        self.sum
    }
    /// The mean, from the exact sum; 0 when empty.
    pub fn mean(&self) -> f64 {
        if self.n == 0 {
            0.0
        } else {
            self.sum as f64 / self.n as f64
        }
    }

    /// The population standard deviation, from the middles of the buckets around the exact mean.
    pub fn stddev(&self) -> f64 {
        let mean = self.mean();
        let squares = self
            .occupied()
            .map(|(low, high, count)| self.square(low, high, count, mean));
        self.root_of(squares.sum())
    }

    /// What a bucket adds to the sum of squares around `mean`.
    fn square(&self, low: u64, high: u64, count: u64, mean: f64) -> f64 {
        let distance = self.middle(low, high) as f64 - mean;
        distance * distance * count as f64
    }

    fn root_of(&self, squares: f64) -> f64 {
        if self.n == 0 {
            0.0
        } else {
            (squares / self.n as f64).sqrt()
        }
    }

    /// The middle of a bucket, kept within what was seen.
    fn middle(&self, low: u64, high: u64) -> u64 {
        (low + (high - low) / 2).clamp(self.min, self.max)
    }

    /// Buckets that counted anything, ascending: lowest value, highest value, count.
    pub fn occupied(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        let touched = self.touched();
        let first = touched.start;
        // Most buckets between the lowest and the highest are empty: eight at a time are looked at together.
        let eights = self.counts[touched].chunks(8).enumerate();
        let used = eights.filter(|(_, counts)| counts.iter().fold(0, |all, count| all | count) != 0);
        used.flat_map(move |(eight, counts)| {
            let counted = counts.iter().enumerate().filter(|(_, count)| **count > 0);
            counted.map(move |(within, &count)| {
                let (low, high) = bounds_of(first + eight * 8 + within);
                (low, high, count)
            })
        })
    }

    fn touched(&self) -> std::ops::Range<usize> {
        if self.n == 0 {
            0..0
        } else {
            index_of(self.min)..index_of(self.max) + 1
        }
    }

    /// The smallest value v such that at least `percentile` percent of all values are ≤ v (nearest rank), to
    /// within 1/1024 and always within [min, max]. 0 when empty.
    pub fn percentile(&self, percentile: f64) -> u64 {
        self.percentiles(&[percentile])[0]
    }

    /// Several percentiles in one pass. `list` must ascend.
    pub fn percentiles(&self, list: &[f64]) -> Vec<u64> {
        self.walk(list).0
    }

    /// The percentiles of `list`, which must ascend, and the sum of squares around the mean, in one pass.
    fn walk(&self, list: &[f64]) -> (Vec<u64>, f64) {
        debug_assert!(list.windows(2).all(|w| w[0] <= w[1]), "percentiles must ascend");
        if self.n == 0 {
            return (vec![0; list.len()], 0.0);
        }
        let mean = self.mean();
        let mut values = Vec::with_capacity(list.len());
        let mut ranks = list.iter().map(|&percentile| self.rank(percentile));
        let mut rank = ranks.next().unwrap_or(u64::MAX);
        let (mut cumulated, mut squares) = (0, 0.0);
        // As `occupied`, which would take twice as long here: each second of each job is walked through.
        let touched = self.touched();
        for (eight, counts) in self.counts[touched.clone()].chunks(8).enumerate() {
            if counts.iter().fold(0, |all, count| all | count) == 0 {
                continue;
            }
            let counts = counts.iter().enumerate().filter(|(_, count)| **count > 0);
            for (within, &count) in counts {
                let (low, high) = bounds_of(touched.start + eight * 8 + within);
                cumulated += count;
                squares += self.square(low, high, count, mean);
                while rank <= cumulated {
                    values.push(if rank == self.n {
                        self.max
                    } else {
                        self.middle(low, high)
                    });
                    rank = ranks.next().unwrap_or(u64::MAX);
                }
            }
        }
        (values, squares)
    }

    /// The nearest rank of a percentile: 1 to n.
    fn rank(&self, percentile: f64) -> u64 {
        // 99.9 / 100 is not exact in binary; without the tolerance, rank 999 of 1000 becomes 1000.
        let exact = percentile / 100.0 * self.n as f64;
        ((exact - exact * 1e-12).ceil() as u64).clamp(1, self.n)
    }

    /// Adds all counts of `other`: exactly what recording both in one would have given.
    pub fn merge(&mut self, other: &Self) {
        let touched = other.touched();
        let theirs = &other.counts[touched.clone()];
        for (mine, theirs) in self.counts[touched].iter_mut().zip(theirs) {
            *mine += theirs;
        }
        self.n += other.n;
        self.sum += other.sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Forgets everything, touching only what was touched.
    pub fn clear(&mut self) {
        let touched = self.touched();
        self.counts[touched].fill(0);
        self.n = 0;
        self.sum = 0;
        self.min = u64::MAX;
        self.max = 0;
    }

    /// The distribution in short, with the percentiles of `list` (ascending).
    pub fn summary(&self, list: &[f64]) -> LatencySummary {
        if self.n == 0 {
            return LatencySummary::default();
        }
        let (values, squares) = self.walk(list);
        LatencySummary {
            n: self.n,
            min: self.min,
            mean: self.mean(),
            stddev: self.root_of(squares),
            max: self.max,
            percentiles: list.iter().copied().zip(values).collect(),
        }
    }
}

#[cfg(test)]
mod tests;

//! A distribution in fio's buckets: percentiles and shares as fio has them.
//!
//! Data in: a histogram, whose buckets lie within fio's. Data out: fio's buckets. fio keeps 64 buckets an octave from 128 ns on,
//! and tells each by its middle (`fio --output-format=json+`, HOWTO "JSON+ output").

use fathom_core::histogram::Histogram;

/// Buckets an octave, as a power of two.
const BITS: u32 = 6;
/// The last bucket: what is longer is counted there.
const LAST: usize = 29 * 64 - 1;

/// A distribution, all in nanoseconds.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Distribution {
    pub n: u64,
    pub min: u64,
    pub max: u64,
    pub mean: f64,
    /// Standard deviation of the sample (n - 1).
    pub deviation: f64,
    /// The buckets that counted anything, ascending: number and count.
    pub bins: Vec<(usize, u64)>,
}

/// The bucket of a value.
pub(super) fn index_of(value: u64) -> usize {
    let shift = (value | (1 << BITS)).ilog2() - BITS;
    let index = ((shift as usize) << BITS) + (value >> shift) as usize;
    index.min(LAST)
}

/// What a bucket is told by: its value where it has one, else its middle.
pub(super) fn value_of(index: usize) -> u64 {
    if index < 2 << BITS {
        return index as u64;
    }
    let shift = (index >> BITS) as u32 - 1;
    let mantissa = ((index & ((1 << BITS) - 1)) + (1 << BITS)) as u64;
    (mantissa << shift) + (1u64 << (shift - 1))
}

impl Distribution {
    /// The same values in fio's buckets.
    pub(super) fn new(histogram: &Histogram) -> Self {
        let n = histogram.n();
        let mut bins: Vec<(usize, u64)> = Vec::new();
        for (low, _, count) in histogram.occupied() {
            let index = index_of(low);
            match bins.last_mut() {
                Some((last, sum)) if *last == index => *sum += count,
                _ => bins.push((index, count)),
            }
        }
        let sample = if n < 2 {
            0.0
        } else {
            (n as f64 / (n - 1) as f64).sqrt()
        };
        Self {
            n,
            min: histogram.min().unwrap_or(0),
            max: histogram.max().unwrap_or(0),
            mean: histogram.mean(),
            deviation: histogram.stddev() * sample,
            bins,
        }
    }

    /// The value of the first bucket up to which `percentile` percent of all were counted, for each of an ascending list.
    pub(super) fn percentiles(&self, list: &[f64]) -> Vec<u64> {
        let mut values = Vec::with_capacity(list.len());
        let mut bins = self.bins.iter();
        let (mut cumulated, mut value) = (0, 0);
        for percentile in list {
            // The least of all, at least: of 0 % too.
            let wanted = (percentile / 100.0 * self.n as f64).max(f64::MIN_POSITIVE);
            while (cumulated as f64) < wanted - wanted * 1e-12
                && let Some(&(index, count)) = bins.next()
            {
                cumulated += count;
                value = value_of(index);
            }
            values.push(value);
        }
        values
    }
}

/// The upper bounds of the shares that are told, within each unit; the last one of milliseconds has none.
pub(super) const BOUNDS: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000];
/// Of milliseconds two more: below 2000, and 2000 and more.
pub(super) const MS_BUCKETS: usize = 12;

/// How many I/Os took how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Shares {
    /// Below a microsecond, by [`BOUNDS`] in nanoseconds.
    pub ns: [u64; 10],
    /// Below a millisecond, in microseconds.
    pub us: [u64; 10],
    pub ms: [u64; MS_BUCKETS],
}

impl Shares {
    /// Counts all of `histogram`. A bucket that lies across a bound is counted where its lowest value is.
    pub(super) fn add(&mut self, histogram: &Histogram) {
        for (low, _, count) in histogram.occupied() {
            let place = |value: u64| BOUNDS.iter().position(|&bound| value < bound);
            match low {
                0..1_000 => self.ns[place(low).unwrap_or(9)] += count,
                1_000..1_000_000 => self.us[place(low / 1_000).unwrap_or(9)] += count,
                _ => {
                    let ms = low / 1_000_000;
                    let place = place(ms).unwrap_or(if ms < 2_000 { 10 } else { 11 });
                    self.ms[place] += count;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;

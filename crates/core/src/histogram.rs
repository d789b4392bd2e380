//! The latency histogram: log-linear, relative error at most 1/1024, no ceiling, merges exactly.
//!
//! Data in: integers (nanoseconds). Data out: counts, percentiles, moments. Values below 1024 have a bucket
//! each; above, each octave has 512 buckets, and a bucket is represented by its middle, so that the error is
//! at most half a bucket: 1/1024 of the value. The whole of u64 is covered.
//!
//! Recording is a shift, a look into a small table and an add. Counts are kept in chunks of 16 buckets, one behind the
//! other in the order in which they were first needed: memory grows with what is seen. A histogram that was
//! [reserved](Histogram::reserved) has address space for all of them and never allocates.

mod stored;

use crate::run::LatencySummary;

/// Buckets an octave, as a power of two.
const SUB_BITS: u32 = 9;
/// Values below this have buckets of their own.
const EXACT: u64 = 2 << SUB_BITS;
/// Octaves above the exact part: shift 0 covers `512..1024` as part of it.
const BUCKETS: usize = ((64 - SUB_BITS as usize) << SUB_BITS) + (1 << SUB_BITS);

/// Buckets a chunk, as a power of two: few enough that a worker with few I/Os takes little memory.
const CHUNK_BITS: u32 = 4;
const CHUNK: usize = 1 << CHUNK_BITS;
const CHUNKS: usize = BUCKETS / CHUNK;
/// The place of a chunk in which nothing was counted: behind all counts, so that looking there finds nothing.
const NOWHERE: u16 = u16::MAX;
const _: () = assert!(BUCKETS <= NOWHERE as usize && BUCKETS.is_multiple_of(CHUNK));

/// Counts of integer values.
#[derive(Debug, Clone)]
pub struct Histogram {
    /// Where in `counts` each chunk begins; empty until something is counted.
    places: Box<[u16]>,
    counts: Vec<u64>,
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

impl PartialEq for Histogram {
    /// The same counts, in whatever order their chunks came.
    fn eq(&self, other: &Self) -> bool {
        (self.n, self.sum, self.min, self.max) == (other.n, other.sum, other.min, other.max)
            && self.occupied().eq(other.occupied())
    }
}

impl Eq for Histogram {}

impl Histogram {
    /// An empty histogram, which takes memory as it needs it.
    pub fn new() -> Self {
        Self {
            places: Box::default(),
            counts: Vec::new(),
            n: 0,
            sum: 0,
            min: u64::MAX,
            max: 0,
        }
    }

    /// An empty histogram that never allocates: 224 KiB of address space, of which only what is used becomes memory.
    pub fn reserved() -> Self {
        Self {
            places: vec![NOWHERE; CHUNKS].into_boxed_slice(),
            counts: Vec::with_capacity(BUCKETS),
            ..Self::new()
        }
    }

    /// Counts `value`.
    #[inline]
    pub fn record(&mut self, value: u64) {
        let bucket = index_of(value);
        match self.count_mut(bucket) {
            Some(count) => *count += 1,
            None => self.begin_chunk(bucket)[bucket % CHUNK] = 1,
        }
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

    /// The count of a bucket; `None`: its chunk has no place yet.
    #[inline]
    fn count_mut(&mut self, bucket: usize) -> Option<&mut u64> {
        let place = *self.places.get(bucket / CHUNK)?;
        self.counts.get_mut(usize::from(place) + bucket % CHUNK)
    }

    /// A place for the chunk of `bucket`, which has none.
    #[cold]
    #[inline(never)]
    fn begin_chunk(&mut self, bucket: usize) -> &mut [u64] {
        if self.places.is_empty() {
            self.places = vec![NOWHERE; CHUNKS].into_boxed_slice();
        }
        let place = self.counts.len();
        self.places[bucket / CHUNK] = place as u16;
        self.counts.resize(place + CHUNK, 0);
        &mut self.counts[place..]
    }

    /// The counts of a chunk; `None`: nothing was counted there.
    #[inline]
    fn chunk(&self, chunk: usize) -> Option<&[u64]> {
        let place = usize::from(*self.places.get(chunk)?);
        self.counts.get(place..place + CHUNK)
    }

    /// Counts `value` so many times: to rebuild a histogram from its buckets.
    pub fn record_many(&mut self, value: u64, count: u64) {
        if count > 0 {
            let bucket = index_of(value);
            match self.count_mut(bucket) {
                Some(known) => *known += count,
                None => self.begin_chunk(bucket)[bucket % CHUNK] = count,
            }
            self.n += count;
            self.sum += u128::from(value) * u128::from(count);
            self.min = self.min.min(value);
            self.max = self.max.max(value);
        }
    }

    /// The histogram that had these: smallest, largest and sum of its values, and the lowest value and the count of each
    /// bucket that counted anything, ascending. `None`: none can have had them.
    pub fn from_parts(
        min: u64,
        max: u64,
        sum: u128,
        buckets: impl IntoIterator<Item = (u64, u64)>,
    ) -> Option<Self> {
        let mut histogram = Self::new();
        let (mut n, mut least, mut most) = (0u64, 0u128, 0u128);
        let mut ends: Option<(usize, usize)> = None;
        for (low, count) in buckets {
            let index = index_of(low);
            let (first, last) = bounds_of(index);
            let ascends = ends.is_none_or(|(_, before)| before < index);
            if first != low || count == 0 || !ascends {
                return None;
            }
            n = n.checked_add(count)?;
            least = least.checked_add(u128::from(first) * u128::from(count))?;
            most = most.checked_add(u128::from(last) * u128::from(count))?;
            histogram.record_many(low, count);
            ends = Some((ends.map_or(index, |(begin, _)| begin), index));
        }
        let Some((begin, end)) = ends else {
            return (min == 0 && max == 0 && sum == 0).then_some(histogram);
        };
        let fits = index_of(min) == begin && index_of(max) == end && min <= max;
        if !fits || sum < least || sum > most {
            return None;
        }
        (histogram.min, histogram.max, histogram.sum) = (min, max, sum);
        Some(histogram)
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
        let used = self
            .touched()
            .filter_map(|chunk| Some((chunk, self.chunk(chunk)?)));
        used.flat_map(|(chunk, counts)| {
            let counted = counts.iter().enumerate().filter(|(_, count)| **count > 0);
            counted.map(move |(within, &count)| {
                let (low, high) = bounds_of(chunk * CHUNK + within);
                (low, high, count)
            })
        })
    }

    /// The chunks from that of the lowest value to that of the highest.
    fn touched(&self) -> std::ops::Range<usize> {
        if self.n == 0 {
            0..0
        } else {
            index_of(self.min) / CHUNK..index_of(self.max) / CHUNK + 1
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
        // As `occupied`, which would take longer here: each second of each job is walked through.
        for chunk in self.touched() {
            let Some(counts) = self.chunk(chunk) else { continue };
            for (within, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
                let (low, high) = bounds_of(chunk * CHUNK + within);
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
        for chunk in other.touched() {
            let Some(theirs) = other.chunk(chunk) else {
                continue;
            };
            let mine = match self.chunk(chunk) {
                Some(_) => {
                    let place = usize::from(self.places[chunk]);
                    &mut self.counts[place..place + CHUNK]
                }
                None => self.begin_chunk(chunk * CHUNK),
            };
            for (mine, theirs) in mine.iter_mut().zip(theirs) {
                *mine += theirs;
            }
        }
        self.n += other.n;
        self.sum += other.sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// What was counted since this histogram was `earlier`. Counts and sum are exact, and so are the smallest and the largest value
    /// where they are of that time; else they are those of their buckets.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let mut since = Self::new();
        for (low, high, count) in self.occupied() {
            let bucket = index_of(low);
            let before = earlier
                .chunk(bucket / CHUNK)
                .map_or(0, |counts| counts[bucket % CHUNK]);
            since.record_many(self.middle(low, high), count.saturating_sub(before));
        }
        since.sum = self.sum.saturating_sub(earlier.sum);
        if since.n > 0 && self.max > earlier.max {
            since.max = self.max;
        }
        if since.n > 0 && self.min < earlier.min {
            since.min = self.min;
        }
        since
    }

    /// Forgets everything, and keeps the memory.
    pub fn clear(&mut self) {
        let touched = self.touched();
        if let Some(places) = self.places.get_mut(touched) {
            places.fill(NOWHERE);
        }
        self.counts.clear();
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

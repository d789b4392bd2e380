//! How a load comes and goes: what its busiest stretch of each length takes.
//!
//! Data in: what was asked for second by second. Data out: [`Envelope`], by which a bucket of credit is judged: one that
//! gives `base` a second and holds `bucket` lets a load through if no stretch of `t` seconds takes more than
//! `bucket + base t` (the empirical envelope of network calculus, for a bucket that is full at the start). It must not know
//! limits.

/// One unit of an envelope: a millionth of what the load's own rate takes in a second.
const UNIT: u128 = 1_000_000;
/// Stretches that are looked at, in seconds: each longer than the one before by the square root of two or so, up to a
/// day and a half.
const STRETCHES: [u64; 34] = [
    1, 2, 3, 4, 6, 8, 11, 16, 23, 32, 45, 64, 91, 128, 181, 256, 362, 512, 724, 1_024, 1_448, 2_048, 2_896,
    4_096, 5_793, 8_192, 11_585, 16_384, 23_170, 32_768, 46_341, 65_536, 92_682, 131_072,
];

/// What the busiest stretch of each length takes, and the mean of all, as parts of a rate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Envelope {
    /// Of each of [`STRETCHES`] that the load is long enough for: millionths of what the rate takes in a second.
    busiest: Vec<u64>,
    /// Millionths of the rate.
    mean: u64,
}

impl Envelope {
    /// Of a load that is asked for `amounts`, one for each `each_seconds`, as parts of `rate` a second. What asks for more than the
    /// rate counts as the rate: what is above it was not asked to be carried. The load is taken to come again and again, so that
    /// its mean is without end.
    pub fn of(amounts: impl Iterator<Item = u64>, each_seconds: u64, rate: u64) -> Self {
        let (rate, each) = (rate.max(1), each_seconds.max(1));
        let most = u128::from(rate) * u128::from(each);
        let mut sums: Vec<u128> = vec![0];
        let mut sum = 0u128;
        for amount in amounts {
            sum += u128::from(amount).min(most);
            sums.push(sum);
        }
        let part = |amount: u128| u64::try_from(amount * UNIT / u128::from(rate)).unwrap_or(u64::MAX);
        let busiest = |seconds: u64| {
            let rows = seconds.div_ceil(each);
            let after = sums
                .get(usize::try_from(rows).ok()?..)
                .filter(|after| !after.is_empty())?;
            let most = sums.iter().zip(after).map(|(from, to)| to - from).max()?;
            // Of a row that is longer than the stretch, its part.
            Some(part(most * u128::from(seconds) / u128::from(rows * each)))
        };
        let seconds = (sums.len() as u128 - 1).max(1) * u128::from(each);
        Self {
            busiest: STRETCHES.iter().map_while(|&seconds| busiest(seconds)).collect(),
            mean: part(sum.div_ceil(seconds)),
        }
    }

    /// The envelope of both, each at its own time.
    #[must_use]
    pub fn or(&self, other: &Self) -> Self {
        let longer = self.busiest.len().max(other.busiest.len());
        let at = |envelope: &Self, number: usize| {
            // A shorter load comes again and again.
            let whole =
                (u128::from(envelope.mean) * u128::from(STRETCHES[number])).min(u128::from(u64::MAX)) as u64;
            let last = envelope.busiest.last().copied().unwrap_or(0);
            envelope.busiest.get(number).copied().unwrap_or(whole.max(last))
        };
        Self {
            busiest: (0..longer)
                .map(|number| at(self, number).max(at(other, number)))
                .collect(),
            mean: self.mean.max(other.mean),
        }
    }

    /// The highest rate at which a load like this passes a limit of `base` a second with a bucket of `bucket` above it, and
    /// never more than `ceiling` a second.
    pub fn passes(&self, base: u64, ceiling: u64, bucket: u128) -> u64 {
        let base = u128::from(base);
        let by_mean = (self.mean > 0).then(|| base * UNIT / u128::from(self.mean));
        let stretches = STRETCHES
            .iter()
            .zip(&self.busiest)
            .filter(|(_, takes)| **takes > 0);
        let by_stretch = stretches
            .map(|(&seconds, &takes)| (base * u128::from(seconds) + bucket) * UNIT / u128::from(takes));
        let most = by_stretch.chain(by_mean).min().unwrap_or(u128::MAX);
        u64::try_from(most).unwrap_or(u64::MAX).min(ceiling)
    }

    /// The mean, as a part of the rate.
    pub fn mean(&self) -> f64 {
        self.mean as f64 / UNIT as f64
    }
}

#[cfg(test)]
mod tests;

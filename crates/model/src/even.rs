//! One limit on a rate, released evenly.
//!
//! Data in: a cost and the time at which it is asked for, in the order of asking. Data out: the time at which it is released:
//! at once where the limit is idle, else when what came before it has taken its time, so that I/Os at the limit are as far
//! apart as it says. A limit with credit is idle for as long as its bucket is not empty; the bucket fills at the limit's rate.
//! It must not know what is counted.

use crate::spec::SliceSpec;

/// Times are kept in 2^-FINE_BITS ns, so that a cost of a byte is not lost.
const FINE_BITS: u32 = 24;
/// What a bucket holds is no more than a million years.
const TIME_MAX: u128 = 1 << 110;

/// Parts of a bucket are told in 2^-PART_BITS of it.
const PART_BITS: u32 = 30;

/// A limit.
#[derive(Debug, Clone)]
pub(crate) struct Even {
    /// Time that one of what is counted takes.
    each: u128,
    /// When all that was released so far has taken its time.
    paid_until: u128,
    /// How far that may be ahead of the clock: the bucket.
    ahead: u128,
}

impl Even {
    /// `rate` a second, of which `release` gives its share, with no credit.
    pub(crate) fn new(rate: u64, release: SliceSpec) -> Self {
        let real = u128::from(rate) * u128::from(release.factor_permille);
        Self {
            each: ((1_000_000_000_000u128 << FINE_BITS) / real.max(1)).max(1),
            paid_until: 0,
            ahead: 0,
        }
    }

    /// The rate at which a bucket of `credit` fills, which is full to `level_percent`. What is released beyond the nominal rate
    /// is in the bucket too, so that it lasts as long as is documented.
    pub(crate) fn with_credit(rate: u64, credit: u64, level_percent: u8, release: SliceSpec) -> Self {
        let mut limit = Self::new(rate, release);
        let credit = u128::from(credit) * u128::from(release.factor_permille) / 1000;
        limit.ahead = credit.saturating_mul(limit.each).min(TIME_MAX);
        limit.paid_until = limit.ahead * u128::from(100 - level_percent.min(100)) / 100;
        limit
    }

    /// When something asked for at `now_ns` is released.
    #[inline]
    pub(crate) fn earliest_ns(&self, now_ns: u64) -> u64 {
        let at = self.paid_until.saturating_sub(self.ahead);
        now_ns.max(at.div_ceil(1 << FINE_BITS) as u64)
    }

    /// What the bucket holds at `now_ns`.
    pub(crate) fn credit_left(&self, now_ns: u64) -> u64 {
        let used = self.paid_until.saturating_sub(u128::from(now_ns) << FINE_BITS);
        u64::try_from(self.ahead.saturating_sub(used) / self.each).unwrap_or(u64::MAX)
    }

    /// Empties the bucket so far that it is no fuller than that of `other` at `now_ns`.
    pub(crate) fn no_fuller_than(&mut self, other: &Self, now_ns: u64) {
        let now = u128::from(now_ns) << FINE_BITS;
        let used = other.paid_until.saturating_sub(now).min(other.ahead);
        let part = (used / (other.ahead >> PART_BITS).max(1)).min(1 << PART_BITS);
        let least = now + (self.ahead >> PART_BITS) * part;
        self.paid_until = self.paid_until.max(least);
    }

    /// Takes `cost` at `time_ns`, at which it is released.
    #[inline]
    pub(crate) fn take(&mut self, time_ns: u64, cost: u64) {
        let time = u128::from(time_ns) << FINE_BITS;
        self.paid_until = self.paid_until.max(time) + u128::from(cost) * self.each;
    }
}

#[cfg(test)]
mod tests;

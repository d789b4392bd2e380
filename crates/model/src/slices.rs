//! One limit on a rate, released in time slices.
//!
//! Data in: a cost and the time at which it is asked for, in the order of asking. Data out: the time at which it is
//! released. At the start of each slice (50 ms on Azure) the slice's share is released at once; what has no room waits
//! for the next slice, first come, first served. While anything waits, what is left of a slice is carried over, so
//! that large costs lose nothing; an idle limit keeps no more than one slice's share, plus its credit where it may
//! burst. It must not know what is counted.

use crate::spec::SliceSpec;

/// Shares are kept in thousandths, so that 56.1 I/Os a slice are exact.
pub(crate) const MILLI: i64 = 1000;
/// No share is larger: sums of two stay far from overflow.
const SHARE_MAX: u128 = 1 << 61;

/// A limit.
#[derive(Debug, Clone)]
pub(crate) struct Limiter {
    slice_ns: u64,
    /// Released each slice.
    share: i64,
    /// What an idle limit keeps at most: one share, and the credit.
    keeps: i64,
    /// What is left in the current slice.
    left: i64,
    /// The current slice: that of the latest release.
    slice: u64,
    end_ns: u64,
}

impl Limiter {
    /// `rate` a second, released as `slices` says, with no credit.
    pub(crate) fn new(rate: u64, slices: SliceSpec) -> Self {
        let share = share(rate, slices, slices.slice_ns);
        Self {
            slice_ns: slices.slice_ns,
            share,
            keeps: share,
            left: share,
            slice: 0,
            end_ns: slices.slice_ns,
        }
    }

    /// The base rate of a burst on credit: what is not used is saved, up to `credit`. Starts with `level_percent` of that.
    pub(crate) fn with_credit(rate: u64, credit: u64, level_percent: u8, slices: SliceSpec) -> Self {
        let mut limiter = Self::new(rate, slices);
        // A burst that lasts a second longer takes so much more.
        let bucket = share(credit, slices, 1_000_000_000);
        limiter.keeps += bucket;
        limiter.left += (i128::from(bucket) * i128::from(level_percent) / 100) as i64;
        limiter
    }

    /// When `cost` asked for at `now_ns` is released.
    #[inline]
    pub(crate) fn take(&mut self, now_ns: u64, cost: u64) -> u64 {
        if now_ns >= self.end_ns {
            self.move_to(now_ns, self.keeps);
        }
        let cost = cost as i64 * MILLI;
        if cost > self.left {
            let missing = (cost - self.left) as u64;
            let slices = missing.div_ceil(self.share as u64);
            self.slice += slices;
            self.end_ns += slices * self.slice_ns;
            self.left += slices as i64 * self.share;
        }
        self.left -= cost;
        now_ns.max(self.end_ns - self.slice_ns)
    }

    /// What is left in the current slice, in thousandths.
    pub(crate) fn left(&self) -> i64 {
        self.left
    }

    /// What is saved at `now_ns` above a slice's share, where `pending` thousandths were taken that it was not told of.
    pub(crate) fn credit_left(&self, now_ns: u64, pending: i64) -> u64 {
        let mut later = self.clone();
        later.left -= pending;
        if now_ns >= later.end_ns {
            later.move_to(now_ns, later.keeps);
        }
        (later.left - later.share).max(0) as u64 / MILLI as u64
    }

    /// The end of the current slice.
    pub(crate) fn end_ns(&self) -> u64 {
        self.end_ns
    }

    /// So many thousandths, no more than are left, were released in the current slice.
    pub(crate) fn took(&mut self, thousandths: i64) {
        self.left -= thousandths;
    }

    /// What was released here last, at `cost`, waits for another limit until `time_ns`: it is spent then.
    #[inline]
    pub(crate) fn spend_at(&mut self, time_ns: u64, cost: u64) {
        if time_ns >= self.end_ns {
            self.move_to(time_ns, (self.keeps - cost as i64 * MILLI).max(0));
        }
    }

    /// To the slice of a time at which nothing waits here any more.
    #[inline]
    fn move_to(&mut self, now_ns: u64, keeps: i64) {
        let slice = now_ns / self.slice_ns;
        let gained = i128::from(slice - self.slice) * i128::from(self.share);
        // Within `keeps`, which fits.
        self.left = (i128::from(self.left) + gained).min(i128::from(keeps)) as i64;
        self.slice = slice;
        self.end_ns = (slice + 1) * self.slice_ns;
    }
}

/// What is released in `span_ns`, in thousandths; at least one.
fn share(rate: u64, slices: SliceSpec, span_ns: u64) -> i64 {
    // rate * factor/1000 * span/1e9 * MILLI, in the order that loses nothing.
    let share = u128::from(rate) * u128::from(slices.factor_permille) * u128::from(span_ns) / 1_000_000_000;
    share.clamp(1, SHARE_MAX) as i64
}

#[cfg(test)]
mod tests;

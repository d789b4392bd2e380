//! How well a percentile of one run is known.
//!
//! Data in: the run's histogram and a row a second. Data out: an interval. It must not know whose latencies they are. Of how
//! much runs differ from each other one run says nothing: an interval here is that of this run alone.
//!
//! Slow I/Os come together, so that intervals that take I/Os for independent (order statistics) hold in 7 to 34 of 100 runs. Here
//! time is cut into ten batches; what share of I/Os is slower than the percentile in each tells how uncertain the percentile's
//! *rank* is, and the histogram is read at both ends of it (exceedance batches; simulated coverage at 300 s: 94 to 96 % from p50
//! to p99.99, `docs/compare.md`).

use super::groups::deviation;
use super::student;
use fathom_core::histogram::Histogram;
use fathom_core::run::LatencySummary;

/// Into so many batches time is cut.
const BATCHES: usize = 10;
/// t of nine degrees of freedom.
const T: f64 = 2.262;
/// With fewer separate bursts of slower I/Os than that, the run says only what the percentile is at least.
const BURSTS_MIN: usize = 20;

/// A percentile's 95 % interval, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    pub low_ns: u64,
    /// `None`: open.
    pub high_ns: Option<u64>,
}

/// The interval of `percentile` (0 to 100, both excluded), from the run's `histogram` and its `seconds` in order, each the
/// latencies of one job and direction. `None` below two seconds a batch.
pub fn bounds(percentile: f64, histogram: &Histogram, seconds: &[(u32, &LatencySummary)]) -> Option<Bounds> {
    let value = histogram.percentile(percentile) as f64;
    let first = seconds.iter().map(|(at, _)| *at).min()?;
    let last = seconds.iter().map(|(at, _)| *at).max()?;
    let length = (last - first + 1) as usize;
    if length < 2 * BATCHES {
        return None;
    }
    let mut batches = [(0.0, 0.0); BATCHES];
    let mut with_slower = vec![false; length];
    for (at, latency) in seconds.iter().filter(|(_, latency)| latency.n > 0) {
        let at = (at - first) as usize;
        let n = latency.n as f64;
        let share = share_beyond(latency, value);
        let (beyond, all) = &mut batches[at * BATCHES / length];
        *beyond += n * share;
        *all += n;
        with_slower[at] |= latency.max as f64 > value;
    }
    if batches.iter().any(|(_, all)| *all == 0.0) {
        return None;
    }
    let shares = batches.map(|(beyond, all)| beyond / all);
    let half = T * deviation(&shares)? / (BATCHES as f64).sqrt();
    let level = percentile / 100.0;
    let (low, high) = (level - half, level + half);
    let is_open = high >= 1.0 || bursts(&with_slower) < BURSTS_MIN;
    Some(Bounds {
        low_ns: histogram.percentile((low * 100.0).max(f64::MIN_POSITIVE)),
        high_ns: (!is_open).then(|| histogram.percentile(high * 100.0)),
    })
}

/// The share of a second's I/Os that took longer, between the percentiles that its row keeps: as if the logarithms of its
/// latencies were normal from each to the next. (A straight line over shares flattens what is between the shortest and the
/// median so much that intervals of p50 held in 80 of 100 runs.)
fn share_beyond(latency: &LatencySummary, value: f64) -> f64 {
    if value < latency.min as f64 {
        return 1.0;
    }
    // The shortest and the longest of n are expected near these.
    let end = 50.0 / latency.n as f64;
    let kept = latency.percentiles.iter().copied();
    let kept = kept.filter(|(percentile, _)| *percentile > end && *percentile < 100.0 - end);
    let knots = std::iter::once((end, latency.min))
        .chain(kept)
        .chain([(100.0 - end, latency.max)]);
    let at = libm::log(value.max(1.0));
    let mut before: Option<(f64, f64)> = None;
    for (percentile, ns) in knots {
        let here = (percentile, libm::log(ns.max(1) as f64));
        if here.1 > at {
            let Some((share, log)) = before else {
                return 1.0;
            };
            let [low, high] = [share, percentile].map(|percent| student::normal_quantile(percent / 100.0));
            return student::normal_beyond(low + (high - low) * (at - log) / (here.1 - log));
        }
        before = Some(here);
    }
    0.0
}

/// Runs of neighbouring seconds; where most seconds have some, each counts.
fn bursts(with_slower: &[bool]) -> usize {
    let seconds = with_slower.iter().filter(|with| **with).count();
    if 2 * seconds > with_slower.len() {
        return seconds;
    }
    let starts = with_slower.windows(2).filter(|pair| !pair[0] && pair[1]).count();
    starts + usize::from(with_slower.first() == Some(&true))
}

#[cfg(test)]
mod tests;

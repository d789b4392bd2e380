//! How a limit is released: in time slices or evenly.
//!
//! Data in: completions of small I/Os that a limit held. Data out: the length of a slice. It must not know who does it how.

use crate::probe::Outcome;
use std::f64::consts::TAU;

/// Completions are counted in such bins.
const BIN_NS: u64 = 1_000_000;
/// From slices of half a second to such of eight bins: what is faster is the rhythm of a processor, not of a limit.
const FREQUENCIES_HZ: (f64, f64) = (2.0, 125.0);
const STEP_HZ: f64 = 0.25;
/// Less of a rhythm is chance.
const CLEAR: f64 = 0.2;
/// What is no more in a slice than this shows no slice.
const IOS_MIN: f64 = 2.5;
/// With fewer slices than this, where the stretch begins and ends tells more than they do.
const PERIODS_MIN: f64 = 4.0;
/// No longer a stretch is looked at.
const LOOK_NS: u64 = 4_000_000_000;

/// How limits are released.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Release {
    /// Each slice's share at its beginning.
    Slices { slice_ns: u64 },
    /// Each I/O at a time of its own.
    Even,
    /// No limit was reached.
    NotShown,
}

impl Release {
    /// The other where this shows none.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Slices { .. }, _) | (_, Self::NotShown) => self,
            (_, other) => other,
        }
    }
}

/// How the limit was released that held `outcome`.
pub fn release(outcome: &Outcome, is_limit: bool) -> Release {
    if !is_limit || outcome.ios.len() < 50 {
        return Release::NotShown;
    }
    let Some(begin_ns) = outcome.ios.get(outcome.ios.len() / 10).map(|io| io.completed_ns) else {
        return Release::NotShown;
    };
    let times = outcome.ios.iter().map(|io| io.completed_ns);
    let times = times.filter(|&at| at >= begin_ns).map(|at| at - begin_ns);
    let mut bins: Vec<f64> = Vec::new();
    for at in times.take_while(|&at| at < LOOK_NS) {
        let bin = (at / BIN_NS) as usize;
        if bins.len() <= bin {
            bins.resize(bin + 1, 0.0);
        }
        bins[bin] += 1.0;
    }
    let total: f64 = bins.iter().sum();
    let seconds = bins.len() as f64 * BIN_NS as f64 / 1e9;
    let rate = total / seconds;
    let steps = ((FREQUENCIES_HZ.1 - FREQUENCIES_HZ.0) / STEP_HZ) as u32;
    let strengths: Vec<(f64, f64)> = (0..=steps)
        .map(|step| FREQUENCIES_HZ.0 + f64::from(step) * STEP_HZ)
        .filter(|hz| rate / hz > IOS_MIN && hz * seconds >= PERIODS_MIN)
        .map(|hz| (hz, strength(&bins, hz, total)))
        .collect();
    let strongest = strengths.iter().map(|one| one.1).fold(0.0, f64::max);
    if strongest < CLEAR {
        return Release::Even;
    }
    // Its multiples are nearly as strong: the slice is the lowest; beside it, strength falls off on both sides.
    let clear = strengths.iter().position(|one| one.1 > strongest * 0.6);
    let Some(first) = clear else { return Release::Even };
    let mut best = first;
    while strengths
        .get(best + 1)
        .is_some_and(|next| next.1 > strengths[best].1)
    {
        best += 1;
    }
    let slice_ms = (1_000.0 / strengths[best].0 * 10.0).round() / 10.0;
    Release::Slices {
        slice_ns: (slice_ms * 1e6) as u64,
    }
}

/// How much of all is in step with `hz`: 1 if everything is.
fn strength(bins: &[f64], hz: f64, total: f64) -> f64 {
    let turn = TAU * hz * BIN_NS as f64 / 1e9;
    let (mut re, mut im) = (0.0, 0.0);
    // One rotation a bin, instead of a sine and a cosine.
    let (step_im, step_re) = turn.sin_cos();
    let (mut at_re, mut at_im) = (1.0f64, 0.0f64);
    for count in bins {
        re += count * at_re;
        im += count * at_im;
        (at_re, at_im) = (
            at_re * step_re - at_im * step_im,
            at_re * step_im + at_im * step_re,
        );
    }
    re.hypot(im) / total.max(1.0)
}

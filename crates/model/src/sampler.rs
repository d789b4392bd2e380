//! Service times: draws from a quantile table, with a tail to nine nines and beyond.
//!
//! Data in: a [`ServiceSpec`], frozen into a table. Data out: nanoseconds, one draw each. The table has 64 octaves of
//! the survival function (the chance of a longer time) times 64 steps, so that a draw is two shifts and two
//! loads, however rare the value. It must not know what is served.

use crate::spec::ServiceSpec;
use fathom_core::rng::Rng;

/// Steps an octave, as a power of two.
const STEP_BITS: u32 = 6;
const STEPS: usize = 1 << STEP_BITS;
/// Octaves of the survival function: as many as the draw has bits.
const OCTAVES: usize = 64;
/// Up to this percentile time is linear between two quantiles; above, its logarithm is. Fitted to the mean of the
/// premium-24h table (5.940 ms): linear throughout is 7 % too high, logarithmic from the 95th 10 % too low.
const LINEAR_TO: f64 = 99.0;

/// A frozen quantile table.
#[derive(Debug, Clone)]
pub(crate) struct Sampler {
    /// At `octave * (STEPS + 1) + step`: the time that is exceeded with chance `2^-(octave+1) * (1 + step/64)`.
    edges: Box<[i64]>,
    reference_bytes: i64,
    ns_per_kib: i64,
}

impl Sampler {
    /// Freezes `spec`, which must be valid ([`crate::Spec`]'s check).
    pub(crate) fn new(spec: &ServiceSpec) -> Self {
        let mut edges = Vec::with_capacity(OCTAVES * (STEPS + 1));
        for octave in 0..OCTAVES {
            let floor = libm::exp2(-(octave as f64) - 1.0);
            for step in 0..=STEPS {
                let survival = floor * (1.0 + step as f64 / STEPS as f64);
                edges.push((quantile_us(&spec.quantiles_us, survival) * 1000.0) as i64);
            }
        }
        Self {
            edges: edges.into_boxed_slice(),
            reference_bytes: spec.reference_bytes as i64,
            ns_per_kib: spec.ns_per_kib as i64,
        }
    }

    /// A draw for an I/O of `len` bytes, in nanoseconds; at least 1.
    #[inline]
    pub(crate) fn draw(&self, len: u32, rng: &mut Rng) -> u64 {
        let slope = ((i64::from(len) - self.reference_bytes) * self.ns_per_kib) >> 10;
        (self.at(rng.next_u64()) + slope).max(1) as u64
    }

    /// The time whose survival is `bits / 2^64`.
    #[inline]
    fn at(&self, bits: u64) -> i64 {
        let bits = bits | 1;
        let octave = bits.leading_zeros() as usize;
        // What follows the leading one: the place within the octave.
        let mantissa = (bits << octave) << 1;
        let step = (mantissa >> (64 - STEP_BITS)) as usize;
        let within = ((mantissa << STEP_BITS) >> 48) as i64;
        let at = octave * (STEPS + 1) + step;
        // Survival grows with the step, so that time falls.
        let (longer, shorter) = (self.edges[at], self.edges[at + 1]);
        longer - (((longer - shorter) * within) >> 16)
    }
}

/// The time in microseconds that is exceeded with chance `survival`.
fn quantile_us(quantiles: &[(f64, f64)], survival: f64) -> f64 {
    let chance = |percentile: f64| (100.0 - percentile) / 100.0;
    let Some(above) = quantiles.iter().position(|&(p, _)| chance(p) <= survival) else {
        return quantiles.last().map_or(0.0, |&(_, us)| us);
    };
    let (high_percentile, high) = quantiles[above];
    let Some(&(low_percentile, low)) = above.checked_sub(1).and_then(|below| quantiles.get(below)) else {
        return high;
    };
    let (from, to) = (chance(low_percentile), chance(high_percentile));
    let share = (from - survival) / (from - to);
    if low_percentile < LINEAR_TO || low <= 0.0 {
        low + (high - low) * share
    } else {
        low * libm::exp(libm::log(high / low) * share)
    }
}

#[cfg(test)]
mod tests;

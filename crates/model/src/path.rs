//! The limits on one way: I/O units and bytes a second, each with its burst.
//!
//! Data in: [`PathLimits`], then I/Os in the order of their times. Data out: when each is let through. It must not
//! know whose limits they are.

use crate::slices::Limiter;
use crate::spec::{Limit, PathLimits, SliceSpec};

/// What a limit counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    /// I/O units.
    Iops,
    /// Bytes.
    Bytes,
}

/// The limits of one way. First come, first served: an I/O is let through once none of them holds it, and counts
/// against all of them at that moment, so that none is exceeded while another one holds.
#[derive(Debug, Clone, Default)]
pub(crate) struct Path {
    limits: Vec<OneLimit>,
    /// When the last one was let through.
    last_ns: u64,
    /// Which limit held that one, of `limits`.
    binding: usize,
}

#[derive(Debug, Clone)]
struct OneLimit {
    unit: Unit,
    limiter: Limiter,
    /// How long all that it held waited.
    held_ns: u64,
}

impl OneLimit {
    fn new(unit: Unit, limiter: Limiter) -> Self {
        Self {
            unit,
            limiter,
            held_ns: 0,
        }
    }

    #[inline]
    fn cost(&self, units: u64, bytes: u64) -> u64 {
        match self.unit {
            Unit::Iops => units,
            Unit::Bytes => bytes,
        }
    }
}

impl Path {
    /// The limits of `spec`; those that are not known or off do not hold anything.
    pub(crate) fn new(spec: &PathLimits, slices: SliceSpec) -> Self {
        let mut limits = Vec::new();
        for (unit, base) in [(Unit::Iops, spec.iops), (Unit::Bytes, spec.bytes_per_second)] {
            let Limit::At(rate) = base else { continue };
            let burst = spec.burst.as_ref().and_then(|burst| {
                let ceiling = match unit {
                    Unit::Iops => burst.iops,
                    Unit::Bytes => burst.bytes_per_second,
                };
                ceiling
                    .rate()
                    .filter(|&ceiling| ceiling > rate)
                    .map(|ceiling| (burst, ceiling))
            });
            match burst {
                None => limits.push(OneLimit::new(unit, Limiter::new(rate, slices))),
                Some((burst, ceiling)) => {
                    limits.push(OneLimit::new(unit, Limiter::new(ceiling, slices)));
                    let (seconds, level) = (burst.full_seconds, burst.level_percent);
                    let base = Limiter::with_credit(rate, ceiling, seconds, level, slices);
                    limits.push(OneLimit::new(unit, base));
                }
            }
        }
        Self {
            limits,
            ..Self::default()
        }
    }

    /// When an I/O of so many units and bytes that asks at `now_ns` is let through.
    #[inline]
    pub(crate) fn take(&mut self, now_ns: u64, units: u64, bytes: u64) -> u64 {
        if self.limits.is_empty() {
            return now_ns;
        }
        // Who waits behind another one waits for what that one waits for.
        let mut time = now_ns;
        if now_ns < self.last_ns {
            time = self.last_ns;
            self.limits[self.binding].held_ns += time - now_ns;
        }
        let asked = time;
        for (at, limit) in self.limits.iter_mut().enumerate() {
            let release = limit.limiter.take(time, limit.cost(units, bytes));
            if release > time {
                limit.held_ns += release - time;
                self.binding = at;
                time = release;
            }
        }
        if time > asked && self.limits.len() > 1 {
            for limit in &mut self.limits {
                limit.limiter.spend_at(time, limit.cost(units, bytes));
            }
        }
        self.last_ns = time;
        time
    }

    /// How long I/Os were held in all by the limits of `unit`, in nanoseconds.
    pub(crate) fn held_ns(&self, unit: Unit) -> u64 {
        let of_unit = self.limits.iter().filter(|limit| limit.unit == unit);
        of_unit.map(|limit| limit.held_ns).sum()
    }
}

#[cfg(test)]
mod tests;

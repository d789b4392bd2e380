//! When I/Os are due: the schedule of an open loop.
//!
//! Data in: rates, frozen before the loop. Data out: due times, computed from the rate alone, never from
//! the clock, so that a late I/O shifts no later one. It must not know what is in flight.

use fathom_core::rng::Rng;
use fathom_core::units::{MonoTime, Nanos};
use fathom_core::workload::{Arrival, Rate};

const SECOND: u64 = 1_000_000_000;
/// Twice this still fits a `u64`.
const RATE_MAX: u64 = 1 << 62;

/// The arrivals of one direction.
#[derive(Debug, Clone)]
pub struct Schedule {
    rate: Rate,
    poisson: bool,
    due: u64,
    /// What the last division left, in units of `1/rate` nanoseconds.
    remainder: u64,
    carry: f64,
    mean_gap_ns: f64,
    rng: Rng,
}

impl Schedule {
    /// A schedule whose first arrival is due at its start (Poisson: one gap after it). `mean_block_bytes` turns
    /// a byte rate into a mean gap (for the backlog). A rate of 0 counts as 1, one that no clock can follow as
    /// the highest that sums up.
    pub fn new(rate: Rate, arrival: Arrival, mean_block_bytes: u64, seed: u64) -> Self {
        let rate = match rate {
            Rate::BytesPerSecond(rate) => Rate::BytesPerSecond(rate.clamp(1, RATE_MAX)),
            Rate::Iops(rate) => Rate::Iops(rate.clamp(1, RATE_MAX)),
        };
        let mean_gap_ns = match rate {
            Rate::BytesPerSecond(rate) => mean_block_bytes as f64 * SECOND as f64 / rate as f64,
            Rate::Iops(rate) => SECOND as f64 / rate as f64,
        };
        Self {
            rate,
            poisson: arrival == Arrival::Poisson,
            due: 0,
            remainder: 0,
            carry: 0.0,
            mean_gap_ns: mean_gap_ns.max(1e-3),
            rng: Rng::new(seed),
        }
    }

    /// Begins at `start`.
    pub fn start(&mut self, start: MonoTime) {
        self.due = start.0;
        self.remainder = 0;
        self.carry = 0.0;
        if self.poisson {
            // A Poisson process has its first arrival one gap after its start.
            self.advance_poisson(self.mean_gap_ns);
        }
    }

    /// All that is still to come comes so much later.
    pub fn put_off(&mut self, by: Nanos) {
        self.due = self.due.saturating_add(by.0);
    }

    /// When the next arrival is due.
    #[inline]
    pub fn due(&self) -> MonoTime {
        MonoTime(self.due)
    }

    /// Moves on by one arrival of `len` bytes. Constant arrivals are exact: after k of them the schedule
    /// stands at `k / rate`, to the nanosecond.
    #[inline]
    pub fn advance(&mut self, len: u32) {
        let (units, rate) = match self.rate {
            Rate::BytesPerSecond(rate) => (u64::from(len) * SECOND, rate),
            Rate::Iops(rate) => (SECOND, rate),
        };
        if self.poisson {
            self.advance_poisson(units as f64 / rate as f64);
            return;
        }
        self.due += units / rate;
        self.remainder += units % rate;
        if self.remainder >= rate {
            self.remainder -= rate;
            self.due += 1;
        }
    }

    fn advance_poisson(&mut self, mean_ns: f64) {
        let gap = -libm::log(self.rng.unit_open_low()) * mean_ns + self.carry;
        self.due += gap as u64;
        self.carry = gap.fract();
    }

    /// How many arrivals are due at `now` and not taken: exact for a constant rate of I/Os, the mean otherwise.
    pub fn backlog(&self, now: MonoTime) -> u64 {
        let Some(since) = now.0.checked_sub(self.due) else {
            return 0;
        };
        match self.rate {
            // Arrival j after the next one is due floor((j * SECOND + remainder) / rate) later.
            Rate::Iops(rate) if !self.poisson => match (since + 1).checked_mul(rate) {
                Some(units) => (units - 1 - self.remainder) / SECOND + 1,
                None => (since as f64 / self.mean_gap_ns) as u64 + 1,
            },
            _ => (since as f64 / self.mean_gap_ns) as u64 + 1,
        }
    }
}

#[cfg(test)]
mod tests;

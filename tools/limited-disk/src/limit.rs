//! When an I/O is complete.
//!
//! Duty: one budget for reads and writes together, of I/Os and of bytes, and a latency. Data in: the time and the size of each
//! I/O, in the order of their coming. Data out: when it is complete. It must not know what waits.

use crate::args::Settings;
use crate::change::Change;
use crate::clock::SECOND;
use crate::stall::{DiskClock, Stalls};

/// A rate, kept as the time that what was asked for takes at it.
///
/// With slices, the share of a slice is released at its start and what has no room waits for the next one, as the
/// disks of public clouds do; without, each I/O waits for its own time.
#[derive(Debug)]
struct Budget {
    /// Time that a unit takes, in 2⁻²⁰ ns: 1,100 a second are kept to 10⁻⁹.
    unit: u128,
    slice_ns: u64,
    /// What an idle disk saves, above the share of one slice.
    burst_ns: u64,
    /// All asked for so far is released by then, in 2⁻²⁰ ns.
    paid: u128,
}

const FINE: u32 = 20;

impl Budget {
    fn new(rate: u64, settings: &Settings) -> Self {
        Self {
            unit: (u128::from(SECOND) << FINE) / u128::from(rate),
            slice_ns: settings.slice_ns,
            burst_ns: settings.burst_ns,
            paid: 0,
        }
    }

    /// When `cost` units asked for at `now_ns` are released.
    fn take(&mut self, now_ns: u64, cost: u64) -> u64 {
        // Of a slice that has begun, all of it has been released.
        let released_ns = match self.slice_ns {
            0 => now_ns,
            slice_ns => (now_ns / slice_ns + 1) * slice_ns,
        };
        let saved_ns = self.slice_ns + self.burst_ns;
        let floor = u128::from(released_ns.saturating_sub(saved_ns)) << FINE;
        let before = self.paid.max(floor);
        self.paid = before + self.unit * u128::from(cost);
        if self.slice_ns == 0 {
            return now_ns.max((before >> FINE) as u64);
        }
        // In the slice in which the last of it is released; one that ends exactly with a slice is still in it.
        let last_ns = self.paid.div_ceil(1 << FINE) as u64;
        let slice = last_ns.div_ceil(self.slice_ns).saturating_sub(1);
        now_ns.max(slice * self.slice_ns)
    }
}

/// The disk's limits.
#[derive(Debug)]
pub(crate) struct Limiter {
    clock: DiskClock,
    ios: Option<Budget>,
    bytes: Option<Budget>,
    latency_ns: u64,
    /// How many bytes read or written a byte of a discard costs.
    discard_cost: f64,
    last_ns: u64,
    settings: Settings,
}

impl Limiter {
    pub(crate) fn new(settings: &Settings, stalls: Stalls) -> Self {
        let budget = |rate: Option<u64>| rate.map(|rate| Budget::new(rate, settings));
        Self {
            clock: DiskClock::new(stalls),
            ios: budget(settings.iops),
            bytes: budget(settings.bytes_per_second),
            latency_ns: settings.latency_ns,
            discard_cost: match (settings.bytes_per_second, settings.discard_bytes_per_second) {
                (Some(moved), Some(discarded)) => moved as f64 / discarded as f64,
                _ => 0.0,
            },
            last_ns: 0,
            settings: settings.clone(),
        }
    }

    /// From now on the disk is another one. What is already on its way keeps its time.
    pub(crate) fn change(&mut self, change: Change) {
        let budget = |rate: Option<u64>| rate.map(|rate| Budget::new(rate, &self.settings));
        match change {
            Change::Latency { ns } => self.latency_ns = ns,
            Change::Iops(rate) => self.ios = budget(rate),
            Change::Bandwidth(rate) => self.bytes = budget(rate),
        }
    }

    /// When a discard of `bytes` that comes at `now_ns` is complete: nobody has the bandwidth meanwhile.
    pub(crate) fn discard(&mut self, now_ns: u64, bytes: u64) -> u64 {
        let now_ns = self.disk_ns(now_ns);
        let cost = (bytes as f64 * self.discard_cost) as u64;
        let released_ns = self.bytes.as_mut().map_or(now_ns, |budget| {
            // A budget releases at the start of what is asked for: the next one waits for all of this.
            budget.take(now_ns, cost);
            budget.take(now_ns, 0)
        });
        self.clock.when(released_ns + self.latency_ns)
    }

    /// When a read or write of `bytes` that comes at `now_ns` is complete.
    pub(crate) fn read_or_write(&mut self, now_ns: u64, bytes: u64) -> u64 {
        let now_ns = self.disk_ns(now_ns);
        let take = |budget: &mut Option<Budget>, cost| {
            budget.as_mut().map_or(now_ns, |budget| budget.take(now_ns, cost))
        };
        let released_ns = take(&mut self.ios, 1).max(take(&mut self.bytes, bytes));
        self.clock.when(released_ns + self.latency_ns)
    }

    /// When a flush that comes at `now_ns` is complete: it costs nothing of the budget.
    pub(crate) fn flush(&mut self, now_ns: u64) -> u64 {
        let now_ns = self.disk_ns(now_ns);
        self.clock.when(now_ns + self.latency_ns)
    }

    /// The disk's time; of two stamps taken by two threads the later one counts.
    fn disk_ns(&mut self, now_ns: u64) -> u64 {
        self.last_ns = self.last_ns.max(now_ns);
        self.clock.at(self.last_ns)
    }
}

#[cfg(test)]
mod tests;

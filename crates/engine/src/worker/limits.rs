//! Limits that a worker must keep: how long an I/O may take, how fast it must be.
//!
//! Data in: completions. Data out: which limit was broken, in words. It must not know what becomes of the worker.

use fathom_core::backend::Request;
use fathom_core::units::Nanos;
use fathom_core::workload::{PerOp, Rate, Stops};

/// The first cycle of a rate is judged after so long, as in fio.
const FIRST_NS: u64 = 2_000_000_000;
/// A cycle, where nothing else is said.
const CYCLE: Nanos = Nanos::from_secs(1);

/// The limits of one worker.
#[derive(Debug, Clone)]
pub struct Limits {
    max_latency: PerOp<Option<Nanos>>,
    rate_min: PerOp<Option<Rate>>,
    cycle_ns: u64,
    /// When the cycle began, and when it is judged.
    since: u64,
    until: u64,
    ios: PerOp<u64>,
    bytes: PerOp<u64>,
}

impl Limits {
    /// `None`: there are none.
    pub fn new(stops: &Stops) -> Option<Box<Self>> {
        let any = stops.max_latency.iter().any(Option::is_some) || stops.rate_min.iter().any(Option::is_some);
        let cycle = if stops.rate_cycle.is_zero() {
            CYCLE
        } else {
            stops.rate_cycle
        };
        any.then(|| {
            Box::new(Self {
                max_latency: stops.max_latency,
                rate_min: stops.rate_min,
                cycle_ns: cycle.0,
                since: 0,
                until: u64::MAX,
                ios: [0; 3],
                bytes: [0; 3],
            })
        })
    }

    pub(super) fn start(&mut self, now_ns: u64) {
        self.since = now_ns;
        self.until = now_ns.saturating_add(FIRST_NS.max(self.cycle_ns));
    }

    /// An I/O was completed after `lat_ns`. What it broke, if anything.
    pub(super) fn completed(&mut self, request: &Request, lat_ns: u64, now_ns: u64) -> Option<&'static str> {
        let op = request.op.index();
        if op > 2 {
            return None;
        }
        if self.max_latency[op].is_some_and(|limit| lat_ns > limit.0) {
            return Some("an I/O took longer than max_latency");
        }
        self.ios[op] += 1;
        self.bytes[op] += u64::from(request.len);
        if now_ns < self.until {
            return None;
        }
        let broken = (0..3).any(|op| self.is_too_slow(op, now_ns - self.since));
        (self.ios, self.bytes) = ([0; 3], [0; 3]);
        self.since = now_ns;
        self.until = now_ns.saturating_add(self.cycle_ns);
        broken.then_some("it was slower than rate_min")
    }

    fn is_too_slow(&self, op: usize, ns: u64) -> bool {
        let (least, done) = match self.rate_min[op] {
            None => return false,
            Some(Rate::BytesPerSecond(least)) => (least, self.bytes[op]),
            Some(Rate::Iops(least)) => (least, self.ios[op]),
        };
        u128::from(done) * 1_000_000_000 < u128::from(least) * u128::from(ns)
    }
}

#[cfg(test)]
mod tests;

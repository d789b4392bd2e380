//! A load that nothing was fitted to, on the disk and on its model.
//!
//! Data in: the measurement of it, the model. Data out: both rates and latencies, and how far they are apart. It must not know
//! what the model was fitted to.

use crate::drive::Modelled;
use crate::probe::Outcome;
use fathom_model::Spec;

/// Of random draws of the load on the model.
const SEED: u64 = 7;

/// One figure on both.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    pub measured: f64,
    pub modelled: f64,
}

impl Pair {
    /// What the model is off, in parts of what was measured: above 0 where it says more.
    pub fn off(&self) -> f64 {
        if self.measured == 0.0 {
            0.0
        } else {
            self.modelled / self.measured - 1.0
        }
    }
}

/// The load on both.
#[derive(Debug, Clone, PartialEq)]
pub struct HeldOut {
    pub block_bytes: u32,
    pub depth: u32,
    /// Whether half of it writes; else all of it reads.
    pub writes: bool,
    pub iops: Pair,
    pub latency_ns_p50: Pair,
    pub latency_ns_p99: Pair,
}

/// Carries the load of `measured` out on the model of `spec`.
pub fn compare(measured: &Outcome, spec: &Spec) -> HeldOut {
    let modelled = Modelled::new(spec, SEED).measure(&measured.probe);
    let pair = |of: &dyn Fn(&Outcome) -> f64| Pair {
        measured: of(measured),
        modelled: of(&modelled),
    };
    HeldOut {
        block_bytes: measured.probe.block_bytes,
        depth: measured.probe.depth,
        writes: measured.probe.mix != crate::probe::Mix::Read,
        iops: pair(&Outcome::rate),
        latency_ns_p50: pair(&|outcome| outcome.latency_ns(50.0) as f64),
        latency_ns_p99: pair(&|outcome| outcome.latency_ns(99.0) as f64),
    }
}

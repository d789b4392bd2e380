//! What was promised, and what was delivered.
//!
//! Data in: a target in words, as it was claimed, and a [`Fit`]. Data out: for each limit the rate promised, the rate
//! measured, and whose limit binds. It must not know words for people.

use crate::fit::Fit;
use crate::predict::{Stage, rate};
use crate::probe::Mix;
use fathom_model::Spec;
use fathom_model::spec::{Limit, PathLimits};

/// A rate below this share of what was promised is less than that.
const KEPT: f64 = 0.97;

/// A verdict on one limit.
#[derive(Debug, Clone, PartialEq)]
pub struct Kept {
    /// Whether it is about bytes; else about I/Os.
    pub bytes: bool,
    pub is_write: bool,
    /// A second, as the product is sold: bytes or I/Os.
    pub promised: f64,
    pub measured: f64,
    /// Of the machine, where it lets less through.
    pub machine_limit: Option<f64>,
    /// Whether the measured rate is what disk and machine together promise, or more.
    pub is_kept: bool,
}

/// A verdict.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    /// As claimed: `azure/P30,vm=Standard_D4s_v5`.
    pub words: String,
    pub disk: String,
    pub machine: Option<String>,
    pub limits: Vec<Kept>,
}

impl Claim {
    /// Whether all that was promised was delivered.
    pub fn is_kept(&self) -> bool {
        self.limits.iter().all(|limit| limit.is_kept)
    }
}

fn nominal(limits: &PathLimits, bytes: bool) -> Option<f64> {
    let limit = if bytes { limits.bytes_per_second } else { limits.iops };
    match limit {
        Limit::At(rate) => Some(rate as f64),
        Limit::NotKnown | Limit::Off => None,
    }
}

/// The verdict on `words`, whose specification is `spec`.
pub fn judge(words: &str, spec: &Spec, fit: &Fit) -> Claim {
    let mut limits = Vec::new();
    let writes = fit.write.iter().map(|write| (true, write));
    for (is_write, direction) in [(false, &fit.read)].into_iter().chain(writes) {
        for (bytes, seen) in [(false, direction.small), (true, direction.large)] {
            let mix = if is_write { Mix::Write } else { Mix::Read };
            let size = if bytes { f64::from(seen.block_bytes) } else { 1.0 };
            let measured = seen.per_second * size;
            let mut without = spec.clone();
            without.vm = None;
            without.shared.retain(|shared| !shared.of_vm);
            without.slices.factor_permille = 1000;
            let mut whole = spec.clone();
            whole.slices.factor_permille = 1000;
            let promised = rate(&without, mix, seen.block_bytes, Stage::Spent) * size;
            let together = rate(&whole, mix, seen.block_bytes, Stage::Spent) * size;
            if !promised.is_finite() {
                continue;
            }
            limits.push(Kept {
                bytes,
                is_write,
                promised: spec.disks.first().and_then(|disk| nominal(&disk.limits, bytes)).unwrap_or(promised).min(promised),
                measured,
                machine_limit: (together < promised * 0.999).then_some(together),
                is_kept: measured >= together * KEPT || !seen.is_limit,
            });
        }
    }
    Claim {
        words: words.to_owned(),
        disk: spec.volume_name(),
        machine: spec.vm.as_ref().map(|vm| vm.name.clone()),
        limits,
    }
}

//! What was promised, and what was delivered.
//!
//! Data in: a target in words, as it was claimed, and a [`Fit`]. Data out: for each limit the rate promised, the rate
//! measured, and whose limit binds. It must not know words for people.

use crate::candidates::observed;
use crate::fit::Fit;
use crate::predict::{Stage, rate};
use crate::probe::Mix;
use crate::schedule::SMALL_BYTES;
use fathom_model::Spec;

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
    /// Whether it is about what is left once credit is spent.
    pub spent: bool,
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

/// The verdict on `words`, whose specification is `spec`.
pub fn judge(words: &str, spec: &Spec, fit: &Fit) -> Claim {
    // As the products are sold, not as they are released.
    let mut whole = spec.clone();
    whole.slices.factor_permille = 1000;
    for disk in &mut whole.disks {
        disk.released = None;
    }
    let mut alone = whole.clone();
    alone.vm = None;
    alone.shared.retain(|shared| !shared.of_vm);
    let mut limits = Vec::new();
    for seen in observed(fit) {
        let bytes = seen.block_bytes != SMALL_BYTES;
        let size = if bytes { f64::from(seen.block_bytes) } else { 1.0 };
        let promised = rate(&alone, seen.mix, seen.block_bytes, seen.stage) * size;
        let together = rate(&whole, seen.mix, seen.block_bytes, seen.stage) * size;
        if seen.mix == Mix::Both || !promised.is_finite() {
            continue;
        }
        let measured = seen.per_second * size;
        limits.push(Kept {
            bytes,
            is_write: seen.mix == Mix::Write,
            promised,
            measured,
            machine_limit: (together < promised * 0.999).then_some(together),
            spent: seen.stage == Stage::Spent,
            is_kept: measured >= together * KEPT,
        });
    }
    Claim {
        words: words.to_owned(),
        disk: spec.volume_name(),
        machine: spec.vm.as_ref().map(|vm| vm.name.clone()),
        limits,
    }
}

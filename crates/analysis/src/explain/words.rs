//! Numbers as sentences have them.
//!
//! Data in: numbers. Data out: numbers, ready for a sentence. It must not know what they are of.

use fathom_core::units::Nanos;

/// A share as a percentage without decimals.
pub(super) fn percent(share: f64) -> String {
    format!("{:.0}", share * 100.0)
}

/// A duration with its unit.
pub(super) fn time(ns: f64) -> Nanos {
    Nanos(ns.max(0.0).round() as u64)
}

/// A part of a whole; 0 of nothing.
pub(super) fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

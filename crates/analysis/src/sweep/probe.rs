//! Which load beside the matrix would tell what its points cannot.
//!
//! Data in: the plan, the results so far. Data out: at most one [`Probe`], the same for the same results. It must not know how
//! it is measured.
//!
//! Where the limits on IOPS and on bytes meet below the unit in which large I/O is counted, bytes hold every large I/O first
//! and no block size shows the unit (`conclude/native.rs`). A few large ones among small ones do, as long as IOPS hold them
//! all.

use super::conclude::limits::{Saturated, in_scope, limits, rate};
use super::conclude::native::{EXPLAINED, native_size, scope};
use super::findings::{Quantity, Unit};
use super::seen::{Seen, seen};
use fathom_core::sweep::{Probe, SweepPlan, SweepResults};

/// The share of the limit on bytes that the load may reach if a large I/O counts as one: limits that are enforced in time
/// slices hold a slice with more large ones than usual by its bytes.
const ROOM: f64 = 0.5;
/// Shares of large I/Os, in percent. With 1 %, counts of one and of two differ by 1 % of IOPS: where that is not known well
/// enough, nothing is concluded.
const SHARES: std::ops::RangeInclusive<u8> = 1..=50;

/// The load that would tell the unit; `None`: it is known, no load would tell it, or one was measured already.
pub fn wanted(plan: &SweepPlan, results: &SweepResults) -> Option<Probe> {
    if results.probe.is_some() {
        return None;
    }
    let seen = seen(results);
    let saturated = Saturated::of(&seen);
    let limits = limits(&seen, &saturated);
    let native = native_size(&seen, &saturated, &limits, None);
    if matches!(native.unit, Unit::Found { .. }) {
        return None;
    }
    let whole = native.whole_up_to_bytes?;
    let scope = scope(&seen, &limits);
    let iops = rate(&limits, Quantity::Iops, scope)?;
    let large_bytes = *plan.axes.block_size_bytes.iter().max()?;
    if large_bytes <= whole {
        return None;
    }
    let held = |at: usize, point: &Seen<'_>| {
        in_scope(scope, point.at)
            && saturated.iops[at]
            && point.at.block_size_bytes <= whole
            && point.iops > iops * (1.0 - EXPLAINED)
    };
    // Random I/O first: what comes next to each other may be merged or read ahead.
    let smallest = seen
        .iter()
        .enumerate()
        .filter(|&(at, point)| held(at, point))
        .map(|(_, point)| point.at);
    let at = smallest.max_by_key(|at| {
        (
            at.random,
            std::cmp::Reverse(at.block_size_bytes),
            at.total_depth(),
        )
    })?;
    let bytes = rate(&limits, Quantity::BytesPerSecond, scope);
    let (small, large) = (at.block_size_bytes as f64, large_bytes as f64);
    let has_room = |percent: &u8| {
        let mean = small + (large - small) * f64::from(*percent) / 100.0;
        bytes.is_none_or(|limit| iops * mean <= limit * ROOM)
    };
    let large_percent = SHARES.rev().find(has_room)?;
    Some(Probe {
        at,
        large_bytes,
        large_percent,
    })
}

#[cfg(test)]
mod tests;

//! Up to which size an I/O costs the same, and how larger ones are counted.
//!
//! Data in: measured points, which are saturated, the limits. Data out: [`NativeSize`]. It must not know what providers
//! say of their disks.
//!
//! A limit on IOPS that counts an I/O of more than u bytes as ⌈size/u⌉ and a limit B on bytes let through
//! min(I/⌈size/u⌉, B/size) I/Os a second. Each power of two is tried as u, with B and without, against the saturated
//! points above the largest size that counts as one. Where sizes are multiples of u, a unit alone looks just like a limit
//! on bytes of I·u; and where B/I is less than u, the unit never shows. Both are said instead of guessed, unless a load of
//! two sizes tells: a share p of large I/Os among small ones, few enough that IOPS hold them, lets through
//! I/(1 + p·(⌈size/u⌉ − 1)) a second.

use super::limits::{Saturated, in_scope, rate};
use crate::sweep::findings::{Limit, Mixed, NativeSize, Quantity, Scope, SizeStep, Unit};
use crate::sweep::seen::{Seen, median};
use fathom_core::sweep::ProbeResult;
use fathom_core::units::Bytes;
use std::collections::BTreeMap;

/// A point explained within this is explained.
pub(in crate::sweep) const EXPLAINED: f64 = 0.03;
/// The same of a load of two sizes, of which both figures are rates that one limit holds; and as a part of its share of large
/// I/Os, so that counts of one and of two are never alike.
const EXPLAINED_MIXED: f64 = 0.02;
const EXPLAINED_OF_SHARE: f64 = 0.35;
/// The units that are tried: 4 KiB to 4 MiB.
const UNIT_SHIFTS: std::ops::RangeInclusive<u32> = 12..=22;
/// How sure one unit is, once no other and no plain limit on bytes explains the points.
const CONFIDENCE_FOUND: f64 = 0.9;

/// What can be said.
pub(in crate::sweep) fn native_size(
    seen: &[Seen<'_>],
    saturated: &Saturated,
    limits: &[Limit],
    probe: Option<&ProbeResult>,
) -> NativeSize {
    let scope = scope(seen, limits);
    let iops = rate(limits, Quantity::Iops, scope);
    let bytes = rate(limits, Quantity::BytesPerSecond, scope);
    let best = best_by_size(seen, saturated, scope);
    let is_whole = |found: f64| iops.is_some_and(|iops| found >= iops * (1.0 - EXPLAINED));
    let whole_up_to_bytes = best
        .iter()
        .rev()
        .find(|(_, found)| is_whole(found.iops))
        .map(|(size, _)| *size);
    let larger: Vec<(u64, f64)> = best
        .iter()
        .filter(|(size, _)| whole_up_to_bytes.is_some_and(|whole| **size > whole))
        .map(|(&size, found)| (size, found.iops))
        .collect();
    let unit = match (iops, whole_up_to_bytes) {
        (Some(iops), Some(whole)) => unit(iops, bytes, whole, &larger),
        _ => Unit::Unknown {
            because: String::from(
                "no size reaches a limit on IOPS, so it cannot be seen how it counts larger ones: smaller blocks or more depth would tell",
            ),
        },
    };
    let mixed = iops
        .zip(probe)
        .and_then(|(iops, probe)| mixed(iops, bytes, probe));
    let unit = match &mixed {
        Some(mixed) if is_known(mixed, probe) => by_mixture(mixed, unit),
        _ => unit,
    };
    NativeSize {
        whole_up_to_bytes,
        by_size_from_bytes: larger.first().map(|(size, _)| *size),
        knee_bytes: iops.zip(bytes).map(|(iops, bytes)| bytes / iops),
        confidence: if matches!(unit, Unit::Found { .. }) {
            CONFIDENCE_FOUND
        } else {
            0.0
        },
        unit,
        steps: steps(seen),
        points: best.values().map(|found| found.number).collect(),
        mixed,
    }
}

/// Whose limits are looked at: reads say most, as a limit on writes of their own may hide the other; then writes; then all.
pub(in crate::sweep) fn scope(seen: &[Seen<'_>], limits: &[Limit]) -> Scope {
    let reached = |scope: Scope| rate(limits, Quantity::Iops, scope).is_some();
    let has = |scope: Scope| seen.iter().any(|point| in_scope(scope, point.at));
    let pure = [Scope::Reads, Scope::Writes];
    let first = |wanted: &dyn Fn(Scope) -> bool| pure.into_iter().find(|&scope| wanted(scope));
    first(&reached)
        .or_else(|| reached(Scope::All).then_some(Scope::All))
        .or_else(|| first(&has))
        .unwrap_or(Scope::All)
}

/// The fastest saturated point of each size.
fn best_by_size<'a>(
    seen: &'a [Seen<'a>],
    saturated: &Saturated,
    scope: Scope,
) -> BTreeMap<u64, &'a Seen<'a>> {
    let mut best: BTreeMap<u64, &Seen<'_>> = BTreeMap::new();
    for (at, point) in seen.iter().enumerate() {
        if saturated.any(at) && in_scope(scope, point.at) {
            let known = best.entry(point.at.block_size_bytes).or_insert(point);
            if point.iops > known.iops {
                *known = point;
            }
        }
    }
    best
}

/// Which units explain the saturated sizes above `whole`.
fn unit(iops: f64, bytes: Option<f64>, whole: u64, larger: &[(u64, f64)]) -> Unit {
    if larger.is_empty() {
        return Unit::Unknown {
            because: String::from(
                "all sizes count as one I/O, or the larger ones are not saturated: larger blocks would tell",
            ),
        };
    }
    let explains = |per_io: &dyn Fn(u64) -> f64, limit: Option<f64>| {
        larger.iter().all(|&(size, found)| {
            let by_bytes = limit.map_or(f64::INFINITY, |limit| limit / size as f64);
            let expected = per_io(size).min(by_bytes);
            (found / expected).ln().abs() <= EXPLAINED
        })
    };
    let or_none = bytes.is_some() && explains(&|_| iops, bytes);
    let fits = |unit: &u64| {
        let counted = |size: u64| iops / size.div_ceil(*unit) as f64;
        *unit >= whole && (explains(&counted, None) || bytes.is_some() && explains(&counted, bytes))
    };
    let units: Vec<u64> = UNIT_SHIFTS.map(|shift| 1 << shift).filter(fits).collect();
    match (units.as_slice(), or_none) {
        ([], false) => Unit::Unknown {
            because: String::from("neither a unit nor a limit on bytes explains how IOPS fall with size"),
        },
        ([unit], false) => Unit::Found { bytes: *unit },
        _ => Unit::Among {
            bytes: units,
            or_none,
        },
    }
}

/// What a load of two sizes shows; `None`: bytes hold it as well, or it had no large I/Os.
fn mixed(iops: f64, bytes: Option<f64>, result: &ProbeResult) -> Option<Mixed> {
    let (probe, total) = (&result.probe, &result.figures.total);
    let (small, large) = (probe.at.block_size_bytes as f64, probe.large_bytes as f64);
    let held = bytes.is_some_and(|limit| total.bytes_per_second > limit * (1.0 - EXPLAINED));
    let share = (total.bytes_per_second / total.iops - small) / (large - small);
    let units_an_io = iops / total.iops;
    let found = !held && total.iops > 0.0 && share > 0.0;
    found.then(|| Mixed {
        small_bytes: probe.at.block_size_bytes,
        large_bytes: probe.large_bytes,
        large_percent: share * 100.0,
        iops: total.iops,
        counted_as: 1.0 + (units_an_io - 1.0) / share,
    })
}

/// How far units an I/O may be from what a count explains.
fn tolerance(mixed: &Mixed) -> f64 {
    EXPLAINED_MIXED.min(EXPLAINED_OF_SHARE * mixed.large_percent / 100.0)
}

/// Whether its rate is known far better than what counts differ by.
fn is_known(mixed: &Mixed, probe: Option<&ProbeResult>) -> bool {
    let half_width = probe.and_then(|probe| probe.figures.iops_half_width);
    half_width.is_some_and(|width| width * 2.0 <= tolerance(mixed))
}

/// The unit that a load of two sizes shows, among those that the points leave.
fn by_mixture(mixed: &Mixed, before: Unit) -> Unit {
    let share = mixed.large_percent / 100.0;
    let units_an_io = |counted_as: f64| -> f64 { 1.0 + share * (counted_as - 1.0) };
    let fits = |unit: u64| {
        let expected = units_an_io(mixed.large_bytes.div_ceil(unit) as f64);
        (units_an_io(mixed.counted_as) / expected).ln().abs() <= tolerance(mixed)
    };
    let known = |unit: &u64| match &before {
        Unit::Among { bytes, .. } => bytes.contains(unit),
        _ => *unit >= mixed.small_bytes,
    };
    let smaller = UNIT_SHIFTS
        .map(|shift| 1 << shift)
        .filter(|unit| *unit < mixed.large_bytes);
    let units: Vec<u64> = smaller.filter(known).filter(|&unit| fits(unit)).collect();
    match units.as_slice() {
        &[bytes] if !fits(mixed.large_bytes) => Unit::Found { bytes },
        [] if fits(mixed.large_bytes) => Unit::Unknown {
            because: format!(
                "among small ones, an I/O of {} counts as one: only larger blocks would tell",
                Bytes(mixed.large_bytes)
            ),
        },
        _ => before,
    }
}

/// How much longer I/Os take from each size to the next.
fn steps(seen: &[Seen<'_>]) -> Vec<SizeStep> {
    let mut sizes: Vec<u64> = seen.iter().map(|point| point.at.block_size_bytes).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let pairs = sizes.windows(2);
    pairs.filter_map(|pair| step(seen, pair[0], pair[1])).collect()
}

/// At the greatest depth at which both sizes were measured with the same order, mix and threads.
fn step(seen: &[Seen<'_>], from_bytes: u64, to_bytes: u64) -> Option<SizeStep> {
    let of_size = |size: u64| seen.iter().filter(move |point| point.at.block_size_bytes == size);
    let mut found: BTreeMap<u64, Vec<(u32, f64)>> = BTreeMap::new();
    for large in of_size(to_bytes) {
        let mut at = large.at;
        at.block_size_bytes = from_bytes;
        if let Some(small) = of_size(from_bytes).find(|small| small.at == at) {
            let ratio = large.lat_ns / small.lat_ns;
            found.entry(large.depth).or_default().push((large.number, ratio));
        }
    }
    let (depth, pairs) = found.into_iter().next_back()?;
    let ratios: Vec<f64> = pairs.iter().map(|(_, ratio)| *ratio).collect();
    Some(SizeStep {
        from_bytes,
        to_bytes,
        size_ratio: to_bytes as f64 / from_bytes as f64,
        latency_ratio: median(&ratios),
        depth,
        points: pairs.iter().map(|(point, _)| *point).collect(),
    })
}

#[cfg(test)]
mod tests;

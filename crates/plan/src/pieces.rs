//! Disks that carry a load, machine aside: of each product the fewest, of freely sized ones the least.
//!
//! Data in: the catalogue, a need, a way of caching. Data out: [`Piece`]s, the cheapest first. What is left out is never cheaper:
//! it has more disks of the same, or a larger disk of the same family and no fewer of them. It must not know machines beyond
//! the size of their cache.

use crate::cost::{self, What};
use crate::layout::{Cache, Disk, Layout};
use crate::need::Need;
use crate::rules::{self, Reaching};
use crate::setup::{HostCache, Rate, Setup};
use fathom_model::catalog::{Catalog, Family, FlexDisk, Rule};

/// Disks of one kind that carry a load, striped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Piece<'a> {
    pub(crate) disk: Disk<'a>,
    pub(crate) count: u32,
    pub(crate) cache: Cache,
    /// Whether it is for machines that let a disk have fewer IOPS than others do.
    pub(crate) held_to_cap: bool,
    /// What is known of their price, in millionths of a US dollar a month.
    pub(crate) microusd_month: u64,
}

/// A way of caching: with which mode, and how much it holds.
pub(crate) type Caching = (Cache, u64);

/// Of all families that are asked for; of those that cannot be cached so, none.
pub(crate) fn all<'a>(catalog: &'a Catalog, need: &Need, caching: Caching) -> Vec<Piece<'a>> {
    let wanted =
        |family: Family| is_wanted(need, family) && !need.choice.too_slow.contains(&(family, caching.0));
    let mut pieces = Vec::new();
    for family in catalog
        .families()
        .iter()
        .copied()
        .filter(|&family| wanted(family))
    {
        pieces.extend(fixed(catalog, family, need, caching));
    }
    for row in catalog.flex_disks() {
        let here = in_region(need, &row.price_region);
        if wanted(row.family) && here && (caching.0 == Cache::None || row.host_caching) {
            let whole = chosen(row, need, caching, u64::MAX);
            if let Some((_, cap)) = &row.iops_cap_by_hypervisor
                && whole.iter().any(|piece| piece.disk.iops > *cap)
            {
                let held = chosen(row, need, caching, *cap).into_iter();
                pieces.extend(held.map(|piece| Piece {
                    held_to_cap: true,
                    ..piece
                }));
            }
            pieces.extend(whole);
        }
    }
    pieces.sort_by_key(|piece| (piece.microusd_month, piece.count, piece.disk.sku()));
    pieces
}

/// Whether disks of this family may be chosen.
pub(crate) fn is_wanted(need: &Need, family: Family) -> bool {
    let families = &need.choice.families;
    families.is_empty() || families.contains(&family)
}

/// Whether prices of `region` are asked for.
pub(crate) fn in_region(need: &Need, region: &str) -> bool {
    let wanted = need.choice.region.as_deref();
    wanted.is_none_or(|wanted| wanted.eq_ignore_ascii_case(region))
}

/// The products of a family with fixed sizes that are neither dearer nor more than another one.
fn fixed<'a>(catalog: &'a Catalog, family: Family, need: &Need, caching: Caching) -> Vec<Piece<'a>> {
    let here =
        |disk: &&fathom_model::catalog::Disk| disk.family == family && in_region(need, &disk.price_region);
    let rows = catalog.disks().iter().filter(here);
    let disks = rows
        .map(Disk::fixed)
        .filter(|disk| caching.0 == Cache::None || disk.cacheable);
    let mut pieces: Vec<Piece<'a>> = disks
        .filter_map(|disk| piece(disk, fewest(&disk, need, caching)?, caching))
        .collect();
    pieces.sort_by_key(|piece| {
        (
            piece.microusd_month / u64::from(piece.count),
            piece.disk.size_bytes,
            piece.count,
        )
    });
    let mut least = u32::MAX;
    pieces.retain(|piece| {
        let fewer = piece.count < least;
        least = least.min(piece.count);
        fewer
    });
    pieces
}

/// With its price, if a source states it.
fn piece(disk: Disk<'_>, count: u32, (cache, _): Caching) -> Option<Piece<'_>> {
    let parts = cost::disks(&Layout::alone("", disk, count));
    let mut microusd_month = 0u64;
    for part in parts.iter().filter(|part| part.what != What::Transactions) {
        microusd_month = microusd_month.saturating_add(part.microusd_month?);
    }
    Some(Piece {
        disk,
        count,
        cache,
        held_to_cap: false,
        microusd_month,
    })
}

/// How many of `disk` carry the load and hold what is asked for.
fn fewest(disk: &Disk<'_>, need: &Need, caching: Caching) -> Option<u32> {
    let most = need.choice.stripe_max;
    let held = |rate: Rate, bytes: bool| rate.held(&need.load.lasts, bytes);
    let way = beneath(disk, 1, caching).disk;
    let (iops, bytes) = (held(way.iops, false)?, held(way.bytes_per_second, true)?);
    for count in [1u32, 2] {
        let reaching = rules::reaching(&beneath(disk, count, caching), &need.load);
        let enough = |amount: u64, each: u64| match (amount, each) {
            (0, _) => Some(1),
            (_, 0) => None,
            (amount, each) => Some(amount.div_ceil(each)),
        };
        let wanted = [
            enough(reaching.disk_units, iops)?,
            enough(reaching.disk_bytes, bytes)?,
            enough(need.size_bytes, disk.size_bytes)?,
        ];
        let wanted = wanted.into_iter().max()?;
        // Pieces that chunks cut count on stripes only.
        if count == 1 && wanted > 1 {
            continue;
        }
        return u32::try_from(wanted.max(u64::from(count)))
            .ok()
            .filter(|&count| count <= most);
    }
    None
}

/// Disks below a host's cache, on a machine without limits.
fn beneath(disk: &Disk<'_>, count: u32, (cache, capacity_bytes): Caching) -> Setup {
    Setup {
        cache: cache.mode().map(|mode| HostCache { mode, capacity_bytes }),
        ..Setup::of(&Layout::alone("", *disk, count))
    }
}

/// Freely sized disks: of each number of them the least that will do; more of them only where that is cheaper, as it is where
/// each has a free baseline. None has more than `iops_most`.
fn chosen<'a>(row: &'a FlexDisk, need: &Need, caching: Caching, iops_most: u64) -> Vec<Piece<'a>> {
    let mut pieces: Vec<Piece<'a>> = Vec::new();
    for count in 1..=need.choice.stripe_max {
        let Some(disk) = least(row, need, (count, iops_most), caching) else {
            continue;
        };
        let cheaper = |piece: &Piece<'_>| {
            pieces
                .last()
                .is_none_or(|last| piece.microusd_month < last.microusd_month)
        };
        pieces.extend(piece(disk, count, caching).filter(cheaper));
    }
    pieces
}

/// The least of `count` disks that carry the load together: the smallest that can have what it takes, and of what is chosen no more
/// than it takes, since each figure costs.
fn least<'a>(
    row: &'a FlexDisk,
    need: &Need,
    (count, iops_most): (u32, u64),
    caching: Caching,
) -> Option<Disk<'a>> {
    let each = |amount: u64| amount.div_ceil(u64::from(count));
    let step = row.size_increment_bytes;
    let whole = |size: u64| size.div_ceil(step).saturating_mul(step);
    let least = whole(each(need.size_bytes).max(row.size_bytes_min));
    let any = Disk::chosen(row, row.size_bytes_min, row.iops_min, row.bytes_per_second_min);
    // What reaches the disks does not depend on their size.
    let reaching = rules::reaching(&beneath(&any, count, caching), &need.load);
    let at = |steps: u64| of_size(row, (steps * step, iops_most), need, (count, caching), reaching);
    // What a larger one can have is never less.
    at(smallest(least / step, row.size_bytes_max / step, |steps| {
        at(steps).is_some()
    })?)
}

/// The disk of this size with the least that carries the load, if there is one.
fn of_size<'a>(
    row: &'a FlexDisk,
    (size_bytes, iops_most): (u64, u64),
    need: &Need,
    (count, caching): (u32, Caching),
    reaching: Reaching,
) -> Option<Disk<'a>> {
    let free = |free: u64| if free == u64::MAX { 0 } else { free };
    let each = |amount: u64| amount.div_ceil(u64::from(count));
    let unit = row.throughput_unit_bytes;
    let cap = row.iops_cap(size_bytes).min(iops_most);
    let mut iops = each(reaching.disk_units)
        .max(row.iops_least(size_bytes))
        .max(free(row.iops_free));
    let mut rate = each(reaching.disk_bytes).div_ceil(unit) * unit;
    rate = rate
        .max(row.bytes_per_second_min)
        .max(free(row.bytes_per_second_free));
    if row.iops_rule == Rule::Chosen {
        let enough = |iops: u64| match &row.bytes_per_second_rule {
            Rule::Chosen => row.bytes_per_second_bounds(size_bytes, iops).1 >= rate,
            Rule::Follows(_) => {
                let has = row.figures(size_bytes, iops, 0).bytes_per_second;
                has.is_some_and(|has| has >= each(reaching.disk_bytes))
            }
            Rule::NotKnown => true,
        };
        iops = smallest(iops, cap, enough)?;
    } else if let (Rule::Chosen, Rule::Follows(_)) = (&row.bytes_per_second_rule, &row.iops_rule) {
        let (_, most) = row.bytes_per_second_bounds(size_bytes, 0);
        let enough = |rate: u64| {
            let has = row.figures(size_bytes, 0, rate * unit).iops;
            has.is_some_and(|has| has >= each(reaching.disk_units))
        };
        rate = smallest(rate / unit, most / unit, enough)? * unit;
    }
    if row.bytes_per_second_rule == Rule::Chosen {
        let (fewest, most) = row.bytes_per_second_bounds(size_bytes, iops);
        rate = rate.max(fewest.div_ceil(unit) * unit);
        if rate > most {
            return None;
        }
    }
    let disk = Disk::chosen(row, size_bytes, iops, rate);
    let setup = beneath(&disk, count, caching);
    let carries = rules::uses(&setup, &need.load)
        .filter(|one| one.limit.is_of_disks())
        .all(|one| one.holds(&need.load));
    carries.then_some(disk)
}

/// The smallest number from `least` to `most` that is enough, where each larger one is too.
fn smallest(least: u64, most: u64, enough: impl Fn(u64) -> bool) -> Option<u64> {
    if least > most {
        return None;
    }
    if enough(least) {
        return Some(least);
    }
    if !enough(most) {
        return None;
    }
    let (mut few, mut many) = (least, most);
    while many > few + 1 {
        let middle = few.midpoint(many);
        if enough(middle) {
            many = middle;
        } else {
            few = middle;
        }
    }
    Some(many)
}

//! Which disks a machine takes, which I/O reaches them, and what an I/O counts as.

use crate::layout::{Cache, Layout};
use crate::need::{Load, MILLION, SECTOR_BYTES};
use crate::setup::Setup;
use fathom_model::catalog::Offer;
use fathom_model::spec::CacheMode;

pub(super) fn takes_family(layout: &Layout<'_>) -> bool {
    let family = layout.disk.family();
    let needs = family.needs_premium_io();
    layout
        .machine
        .is_none_or(|vm| (!needs || vm.premium_io == Some(true)) && !family.is_refused_by(&vm.series))
}

pub(super) fn has_places(layout: &Layout<'_>) -> bool {
    layout.machine.is_none_or(|vm| layout.count <= vm.max_data_disks)
}

pub(super) fn lets_have_iops(layout: &Layout<'_>) -> bool {
    let (Some(vm), Offer::Flex(row)) = (layout.machine, layout.disk.offer) else {
        return true;
    };
    row.iops_cap_on(vm).is_none_or(|cap| layout.disk.iops <= cap)
}

pub(super) fn disk_can_be_cached(layout: &Layout<'_>) -> bool {
    layout.cache == Cache::None || layout.disk.cacheable
}

pub(super) fn machine_caches(layout: &Layout<'_>) -> bool {
    let caches = layout
        .machine
        .is_some_and(|vm| vm.host_cache != Some(false) && vm.cache_bytes.is_some());
    layout.cache == Cache::None || caches
}

/// Pieces of an I/O that a stripe's chunks cut are counted each for itself. I/Os lie at multiples of their own size.
pub(super) fn units_ppm(setup: &Setup, load: &Load) -> u64 {
    let (block, unit, chunk) = (load.block_bytes(), setup.io_unit_bytes, setup.chunk_bytes);
    let whole = block.div_ceil(unit) * MILLION;
    // An I/O of less than half a chunk is cut so seldom that a load of mixed sizes says nothing of where.
    if setup.count == 1 || block <= chunk / 2 || chunk.is_multiple_of(block) {
        return whole;
    }
    // I/Os begin and end at sectors. Their places within a chunk repeat after so many.
    let block = block.next_multiple_of(SECTOR_BYTES);
    let period = chunk / gcd(chunk, block);
    let units = |at: u64| {
        let first = (chunk - at).min(block);
        let after = block - first;
        first.div_ceil(unit) + after / chunk * chunk.div_ceil(unit) + (after % chunk).div_ceil(unit)
    };
    let sum: u64 = (0..period).map(|number| units(number * block % chunk)).sum();
    sum * MILLION / period
}

const fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

pub(super) fn uncached_ppm(setup: &Setup, _: &Load) -> u64 {
    if setup.cache.is_none() { MILLION } else { 0 }
}

/// A cache that holds a part of what is read again and again has that part of the reads, spread evenly over it.
pub(super) fn missed_reads_ppm(setup: &Setup, load: &Load) -> u64 {
    let Some(cache) = setup.cache else { return 0 };
    let set = load.working_set_bytes.max(1);
    let missed = u128::from(set.saturating_sub(cache.capacity_bytes)) * u128::from(load.read_ppm);
    missed.div_ceil(u128::from(set)) as u64
}

pub(super) fn written_through_ppm(setup: &Setup, load: &Load) -> u64 {
    match setup.cache {
        Some(cache) if cache.mode == CacheMode::ReadOnly => MILLION - load.read_ppm,
        _ => 0,
    }
}

pub(super) fn written_back_ppm(setup: &Setup, load: &Load) -> u64 {
    match setup.cache {
        Some(cache) if cache.mode == CacheMode::ReadWrite => MILLION - load.read_ppm,
        _ => 0,
    }
}

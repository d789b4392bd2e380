//! The virtual machine and the host's cache of a target.
//!
//! Data in: a target's parts, the chosen disk, the catalogue. Data out: the machine's part of a specification, or why
//! the machine does not go with the disks. It must not know how the disk was chosen.

use super::disk::Chosen;
use super::error::TargetError;
use super::words::{BurstWord, Words};
use crate::catalog::{Catalog, Vm};
use crate::defaults;
use crate::spec::{BurstSpec, CacheMode, HostCacheSpec, Limit, PathLimits, VmSpec};
use fathom_core::units::Bytes;

/// The virtual machine that is named.
pub(super) fn find<'a>(words: &Words, catalog: &'a Catalog) -> Result<Option<&'a Vm>, TargetError> {
    let Some(name) = words.vm.as_deref() else {
        return Ok(None);
    };
    let unknown = || {
        let mut others = Catalog::names().filter_map(Catalog::named);
        let of_other = others.find(|other| other.cloud() != catalog.cloud() && other.vm(name).is_some());
        match of_other {
            Some(other) => TargetError::VmOfOther {
                name: name.to_owned(),
                cloud: other.cloud().to_owned(),
            },
            None => TargetError::UnknownVm {
                name: name.to_owned(),
                near: catalog.vms_near(name).into_iter().map(str::to_owned).collect(),
                cloud: catalog.cloud().to_owned(),
            },
        }
    };
    catalog.vm(name).ok_or_else(unknown).map(Some)
}

/// The name of the machine most like `vm` that takes so many of these disks, and of which `also` is true.
fn like(
    vm: &Vm,
    chosen: &Chosen,
    count: usize,
    catalog: &Catalog,
    also: impl Fn(&Vm) -> bool,
) -> Option<String> {
    let premium = chosen.family.needs_premium_io();
    let fits = |other: &Vm| {
        (!premium || other.premium_io == Some(true)) && other.max_data_disks as usize >= count && also(other)
    };
    catalog.vm_like(vm, fits).map(|like| like.name.clone())
}

/// Whether it takes these disks.
pub(super) fn takes(vm: &Vm, chosen: &Chosen, count: usize, catalog: &Catalog) -> Result<(), TargetError> {
    let like = || like(vm, chosen, count, catalog, |_| true);
    if chosen.family.needs_premium_io() && vm.premium_io != Some(true) {
        return Err(TargetError::NoPremiumStorage {
            vm: vm.name.clone(),
            does_not: match vm.premium_io {
                Some(_) => "takes no premium storage",
                None => "may take no premium storage (no source states it)",
            },
            disk: chosen.name.clone(),
            family: chosen.family.name(),
            like: like(),
        });
    }
    let family = chosen.family;
    if family.is_refused_by(&vm.series) {
        let does = |other: &Vm| !family.is_refused_by(&other.series);
        return Err(TargetError::NotTaken {
            vm: vm.name.clone(),
            family: family.name(),
            like: self::like(vm, chosen, count, catalog, does),
        });
    }
    if (vm.max_data_disks as usize) < count {
        return Err(TargetError::TooManyDisks {
            vm: vm.name.clone(),
            max: vm.max_data_disks,
            count,
            like: like(),
        });
    }
    let row = catalog.flex_disk(chosen.family);
    let cap_on = |vm: &Vm| row.and_then(|row| row.iops_cap_on(vm));
    if let (Some(cap), Some(iops)) = (cap_on(vm), chosen.figures.iops)
        && iops > cap
    {
        let enough = |other: &Vm| cap_on(other).is_none_or(|cap| iops <= cap);
        return Err(TargetError::TooManyIops {
            vm: vm.name.clone(),
            disk: chosen.name.clone(),
            cap,
            iops,
            like: self::like(vm, chosen, count, catalog, enough),
        });
    }
    Ok(())
}

fn limit(rate: Option<u64>) -> Limit {
    rate.map_or(Limit::NotKnown, Limit::At)
}

/// Whether it bursts above its limits, as far as is documented.
pub(super) fn bursts(vm: &Vm) -> bool {
    vm.bursts()
}

/// Its limits. Virtual machines burst on credit only, and on the uncached path only (documented). Where the catalogue has
/// limits by family of disks, those are all that it has.
pub(super) fn spec(vm: &Vm, burst: Option<BurstWord>, catalog: &Catalog) -> VmSpec {
    if !catalog.vm_limits().is_empty() {
        let off = PathLimits {
            iops: Limit::Off,
            bytes_per_second: Limit::Off,
            burst: None,
        };
        return VmSpec {
            name: vm.name.clone(),
            vcpus: Some(vm.vcpus),
            uncached: off.clone(),
            cached: off,
            cards: vm.cards,
        };
    }
    let burst = bursts(vm).then(|| BurstSpec {
        iops: limit(vm.burst_uncached_iops),
        bytes_per_second: limit(vm.burst_uncached_bytes_per_second),
        full_seconds: defaults::BURST_SECONDS,
        level_percent: if burst == Some(BurstWord::Empty) { 0 } else { 100 },
        iops_credit: None,
        bytes_credit: None,
    });
    VmSpec {
        name: vm.name.clone(),
        vcpus: Some(vm.vcpus),
        uncached: PathLimits {
            iops: limit(vm.uncached_iops),
            bytes_per_second: limit(vm.uncached_bytes_per_second),
            burst,
        },
        cached: PathLimits {
            iops: limit(vm.cached_iops),
            bytes_per_second: limit(vm.cached_bytes_per_second),
            burst: None,
        },
        cards: vm.cards,
    }
}

/// The host's cache, where one is asked for. Rules (documented): disks of fixed sizes below what their family says, on
/// virtual machines that cache.
pub(super) fn cache(
    words: &Words,
    vm: Option<&Vm>,
    chosen: &Chosen,
    catalog: &Catalog,
) -> Result<Option<HostCacheSpec>, TargetError> {
    let Some(cache) = words.cache else {
        return match words.cache_size_bytes {
            Some(_) => Err(TargetError::CacheSizeAlone),
            None => Ok(None),
        };
    };
    let mode = match cache {
        CacheMode::ReadOnly => "ro",
        CacheMode::ReadWrite => "rw",
    };
    if chosen.family.is_flex() {
        let caching = catalog.disks().iter().filter(|disk| disk.cacheable());
        let largest = caching.min_by_key(|disk| std::cmp::Reverse(disk.size_bytes));
        return Err(TargetError::CacheFlex {
            instead: largest.map(|disk| disk.sku.clone()),
            mode,
            family: chosen.family.name(),
        });
    }
    if !chosen.cacheable {
        let cacheable = catalog
            .disks()
            .iter()
            .filter(|disk| disk.family == chosen.family && disk.cacheable());
        return Err(TargetError::CacheTooLarge {
            mode,
            disk: chosen.name.clone(),
            size: Bytes(chosen.tier_bytes).to_string(),
            largest: cacheable
                .max_by_key(|disk| disk.size_bytes)
                .map(|disk| disk.sku.clone()),
        });
    }
    let vm = vm.ok_or(TargetError::CacheWithoutVm(mode))?;
    if vm.host_cache == Some(false) {
        let caches = |other: &Vm| other.host_cache == Some(true) && other.cache_bytes.is_some();
        return Err(TargetError::CacheVm {
            mode,
            vm: vm.name.clone(),
            like: like(vm, chosen, words.count, catalog, caches),
        });
    }
    match words.cache_size_bytes.or(vm.cache_bytes) {
        Some(capacity_bytes) => Ok(Some(defaults::host_cache(cache, capacity_bytes))),
        None => Err(TargetError::CacheSizeNotKnown {
            mode,
            vm: vm.name.clone(),
        }),
    }
}

//! The disk of a target: which one, how large, and its limits.
//!
//! Data in: a target's parts, the catalogue. Data out: the disk that is meant, its limits, or why there is none such.
//! It must not know the host's cache.

use super::error::TargetError;
use super::host;
use super::words::{BurstWord, Words};
use crate::catalog::{Burst, Catalog, Disk, Family, FlexDisk, MB, Vm, nearest};
use crate::defaults;
use crate::spec::{BurstSpec, Limit, PathLimits};
use fathom_core::units::Bytes;

/// The disk that is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Chosen {
    pub(super) name: String,
    pub(super) family: Family,
    /// As modelled.
    pub(super) size_bytes: u64,
    /// As sold.
    pub(super) tier_bytes: u64,
    pub(super) io_unit_bytes: u64,
    pub(super) cacheable: bool,
    iops: u64,
    bytes_per_second: u64,
    burst: Option<Burst>,
}

/// Words for families, as compared: lower case, letters and digits only.
const FAMILY_WORDS: [(&str, Family); 10] = [
    ("premium", Family::PremiumSsd),
    ("premiumssd", Family::PremiumSsd),
    ("standardssd", Family::StandardSsd),
    ("standardhdd", Family::StandardHdd),
    ("premiumv2", Family::PremiumSsdV2),
    ("premiumssdv2", Family::PremiumSsdV2),
    ("pv2", Family::PremiumSsdV2),
    ("ultra", Family::UltraDisk),
    ("ultradisk", Family::UltraDisk),
    ("ultrassd", Family::UltraDisk),
];

/// Families as they are written in targets and flags.
pub const FAMILY_NAMES: [&str; 5] = ["premium", "standard-ssd", "standard-hdd", "premium-v2", "ultra"];

/// The family that a word means, in any case and with any signs between.
pub fn family(word: &str) -> Option<Family> {
    let plain: String = word.chars().filter(char::is_ascii_alphanumeric).collect();
    let plain = plain.to_ascii_lowercase();
    let word = plain.strip_suffix("lrs").unwrap_or(&plain);
    let known = FAMILY_WORDS.into_iter().find(|&(known, _)| known == word);
    known.map(|(_, family)| family)
}

/// Finds the disk that `words` mean.
pub(super) fn choose(words: &Words, catalog: &Catalog) -> Result<Chosen, TargetError> {
    if let Some(disk) = catalog.disk(&words.disk) {
        return fixed(disk, words, catalog);
    }
    let plain: String = words.disk.chars().filter(char::is_ascii_alphanumeric).collect();
    let plain = plain.to_ascii_lowercase();
    let word = plain.strip_suffix("lrs").unwrap_or(&plain);
    if word == "standard" {
        return Err(TargetError::WhichStandard);
    }
    let Some(family) = family(word) else {
        return Err(unknown(&words.disk, catalog));
    };
    if !family.is_flex() {
        return fixed(of_family(family, words, catalog)?, words, catalog);
    }
    match catalog.flex_disk(family) {
        Some(disk) => flex(disk, words, catalog),
        None => Err(unknown(&words.disk, catalog)),
    }
}

fn unknown(name: &str, catalog: &Catalog) -> TargetError {
    let skus = catalog.disks().iter().map(|disk| disk.sku.as_str());
    let free = catalog.flex_disks().iter().map(|disk| disk.sku.as_str());
    let families = ["premium", "standard-ssd", "standard-hdd"];
    TargetError::UnknownDisk {
        name: name.to_owned(),
        near: nearest(name, skus.chain(free).chain(families)).map(str::to_owned),
    }
}

/// The smallest disk of a family that holds what is asked for.
fn of_family<'a>(family: Family, words: &Words, catalog: &'a Catalog) -> Result<&'a Disk, TargetError> {
    let Some(largest) = catalog.largest(family) else {
        return Err(unknown(&words.disk, catalog));
    };
    let Some(size_bytes) = words.size_bytes else {
        return Err(TargetError::FamilyWithoutSize {
            family: family.name(),
            example: largest.sku.clone(),
        });
    };
    let holding = catalog.smallest_holding(family, size_bytes);
    holding.ok_or_else(|| TargetError::FamilyTooSmall {
        size: Bytes(size_bytes).to_string(),
        family: family.name(),
        largest: largest.sku.clone(),
        largest_size: Bytes(largest.size_bytes).to_string(),
    })
}

/// A disk of a fixed size. It may be smaller than what its price pays for, not larger.
fn fixed(disk: &Disk, words: &Words, catalog: &Catalog) -> Result<Chosen, TargetError> {
    let limits = [("iops", words.iops), ("mbps", words.bytes_per_second)];
    if let Some((key, _)) = limits.into_iter().find(|(_, value)| value.is_some()) {
        return Err(TargetError::FixedLimits {
            key,
            disk: disk.sku.clone(),
            iops: disk.iops,
            mbps: disk.bytes_per_second / MB,
        });
    }
    let size_bytes = words.size_bytes.unwrap_or(disk.size_bytes);
    if size_bytes > disk.size_bytes {
        let next = catalog.smallest_holding(disk.family, size_bytes);
        return Err(TargetError::TooLarge {
            size: Bytes(size_bytes).to_string(),
            disk: disk.sku.clone(),
            holds: Bytes(disk.size_bytes).to_string(),
            next: next.map(|next| next.sku.clone()),
        });
    }
    multiple(size_bytes, 1 << 20, &disk.sku)?;
    Ok(Chosen {
        name: disk.sku.clone(),
        family: disk.family,
        size_bytes,
        tier_bytes: disk.size_bytes,
        io_unit_bytes: disk.io_unit_bytes,
        cacheable: disk.cacheable(),
        iops: disk.iops,
        bytes_per_second: disk.bytes_per_second,
        burst: disk.burst,
    })
}

fn multiple(size_bytes: u64, step_bytes: u64, disk: &str) -> Result<(), TargetError> {
    if size_bytes.is_multiple_of(step_bytes) {
        return Ok(());
    }
    Err(TargetError::Size {
        size: Bytes(size_bytes).to_string(),
        disk: disk.to_owned(),
        step: Bytes(step_bytes).to_string(),
    })
}

/// A freely sized disk.
fn flex(disk: &FlexDisk, words: &Words, catalog: &Catalog) -> Result<Chosen, TargetError> {
    let size_bytes = words.size_bytes.unwrap_or(defaults::FLEX_SIZE_BYTES);
    let beyond = |key, value, has| TargetError::OutOfCaps {
        key,
        value,
        disk: disk.sku.clone(),
        has,
    };
    if !(disk.size_bytes_min..=disk.size_bytes_max).contains(&size_bytes) {
        let [value, min, max] =
            [size_bytes, disk.size_bytes_min, disk.size_bytes_max].map(|size| Bytes(size).to_string());
        return Err(beyond("size", value, format!("has {min} to {max}")));
    }
    multiple(size_bytes, disk.size_increment_bytes, &disk.sku)?;
    let size = Bytes(size_bytes);
    let (usual_iops, usual_rate) = usual(disk, size_bytes, catalog);
    let cap = disk.iops_cap(size_bytes);
    let iops = words
        .iops
        .unwrap_or_else(|| usual_iops.max(disk.iops_min).min(cap));
    if iops < disk.iops_min || iops > cap {
        let mut has = format!("of {size} has {} to {cap} IOPS", disk.iops_min);
        if cap < disk.iops_cap_max {
            has = format!("{has}, {} for each GiB", disk.iops_cap_per_gib);
        }
        return Err(beyond("iops", iops.to_string(), has));
    }
    let cap = disk.bytes_per_second_cap(iops);
    let usual_rate = usual_rate.max(disk.bytes_per_second_min).min(cap);
    let rate = words.bytes_per_second.unwrap_or(usual_rate);
    if rate < disk.bytes_per_second_min || rate > cap {
        let [min, most] = [disk.bytes_per_second_min, cap].map(megabytes);
        let mut has = format!("with {iops} IOPS has {min} to {most} MB/s");
        let needed = rate.div_ceil(disk.bytes_per_second_cap_per_iops);
        if rate > cap && rate <= disk.bytes_per_second_cap_max && needed <= disk.iops_cap(size_bytes) {
            has = format!("{has}: add iops={needed}");
        }
        return Err(beyond("mbps", megabytes(rate), has));
    }
    Ok(Chosen {
        name: disk.sku.clone(),
        family: disk.family,
        size_bytes,
        tier_bytes: size_bytes,
        io_unit_bytes: disk.io_unit_bytes,
        cacheable: disk.host_caching,
        iops,
        bytes_per_second: rate,
        burst: None,
    })
}

fn megabytes(rate: u64) -> String {
    (rate as f64 / MB as f64).to_string()
}

/// IOPS and bytes a second where they are not given: what costs nothing, or where all of it costs, what a Premium SSD
/// of this size has.
fn usual(disk: &FlexDisk, size_bytes: u64, catalog: &Catalog) -> (u64, u64) {
    if disk.iops_free > 0 {
        return (disk.iops_free, disk.bytes_per_second_free);
    }
    let premium = Family::PremiumSsd;
    let like = catalog
        .smallest_holding(premium, size_bytes)
        .or_else(|| catalog.largest(premium));
    like.map_or((disk.iops_min, disk.bytes_per_second_min), defaults::flex_limits)
}

/// The disk's limits, bursting as `word` says.
pub(super) fn limits(
    chosen: &Chosen,
    vm: Option<&Vm>,
    word: Option<BurstWord>,
) -> Result<PathLimits, TargetError> {
    let base = PathLimits {
        iops: Limit::At(chosen.iops),
        bytes_per_second: Limit::At(chosen.bytes_per_second),
        burst: None,
    };
    match (word, chosen.burst) {
        (Some(BurstWord::OnDemand), Some(burst)) if burst.credit_seconds.is_none() => Ok(PathLimits {
            iops: Limit::At(burst.iops),
            bytes_per_second: Limit::At(burst.bytes_per_second),
            burst: None,
        }),
        (Some(BurstWord::OnDemand), burst) => Err(TargetError::NoOnDemand {
            disk: chosen.name.clone(),
            instead: match burst {
                Some(_) => "bursts on credit, always and for nothing",
                None => "does not burst",
            },
        }),
        (word, Some(burst)) if burst.credit_seconds.is_some() => Ok(PathLimits {
            burst: Some(BurstSpec {
                iops: Limit::At(burst.iops),
                bytes_per_second: Limit::At(burst.bytes_per_second),
                full_seconds: burst.credit_seconds.unwrap_or(defaults::BURST_SECONDS),
                level_percent: if word == Some(BurstWord::Empty) { 0 } else { 100 },
            }),
            ..base
        }),
        (None, _) => Ok(base),
        // The word is about the virtual machine's credit then.
        (Some(_), _) if vm.is_some_and(host::bursts) => Ok(base),
        (Some(word), burst) => Err(TargetError::NoCredit {
            word: if word == BurstWord::Empty { "empty" } else { "full" },
            disk: chosen.name.clone(),
            vm: vm.map_or(String::new(), |vm| format!(", nor does {}", vm.name)),
            on_demand: match burst {
                Some(_) => ", or write burst=on-demand, which costs extra",
                None => "",
            },
        }),
    }
}

//! The disk of a target: which one, how large, and its limits.
//!
//! Data in: a target's parts, the catalogue. Data out: the disk that is meant, its limits, or why there is none such.
//! It must not know the host's cache.

use super::error::TargetError;
use super::host;
use super::words::{BurstWord, Words};
use crate::catalog::{
    Burst, Catalog, Disk, Family, Figures, FlexBurst, FlexDisk, MB, Rule, Scope, Vm, nearest,
};
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
    /// What its limits follow from: its own size, or that of all of its kind on the machine.
    pub(super) counted_bytes: u64,
    pub(super) io_unit_bytes: u64,
    pub(super) cacheable: bool,
    /// Its own, or with all of its kind on the machine, by its family's scope.
    pub(super) figures: Figures,
    /// Of a disk of a fixed size.
    burst: Option<Burst>,
}

/// Finds the disk that `words` mean.
pub(super) fn choose(words: &Words, catalog: &Catalog) -> Result<Chosen, TargetError> {
    if let Some(disk) = catalog.disk(&words.disk) {
        return fixed(disk, words, catalog);
    }
    let Some(family) = catalog.family(&words.disk) else {
        return Err(unknown(&words.disk, catalog));
    };
    if !family.is_flex() {
        return fixed(of_family(family, words, catalog)?, words, catalog);
    }
    match catalog.flex_disk(family) {
        Some(disk) => flex(disk, words, catalog),
        None => Err(TargetError::NotStated {
            family: family.name(),
        }),
    }
}

fn unknown(name: &str, catalog: &Catalog) -> TargetError {
    let word = name.to_ascii_lowercase();
    let begun = catalog
        .families()
        .iter()
        .filter(|family| family.key().starts_with(&word));
    let begun: Vec<Family> = begun.copied().collect();
    if begun.len() > 1 && !word.is_empty() {
        let joined = |name: fn(Family) -> &'static str| {
            let names: Vec<&str> = begun.iter().map(|&family| name(family)).collect();
            names.join(" or ")
        };
        return TargetError::WhichFamily {
            word: name.to_owned(),
            titles: joined(Family::name),
            keys: joined(Family::key),
        };
    }
    let skus = catalog.disks().iter().map(|disk| disk.sku.as_str());
    let free = catalog.flex_disks().iter().map(|disk| disk.sku.as_str());
    let families = catalog.families().iter().copied();
    let sold = families.filter(|family| !family.is_flex() || catalog.flex_disk(*family).is_some());
    let families = sold.map(|family| -> &str { family.key() });
    TargetError::UnknownDisk {
        name: name.to_owned(),
        near: nearest(name, skus.chain(free).chain(families)).map(str::to_owned),
        cloud: catalog.cloud().to_owned(),
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
            free: freely_sized(catalog),
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
        counted_bytes: disk.size_bytes,
        io_unit_bytes: disk.io_unit_bytes,
        cacheable: disk.cacheable(),
        figures: Figures {
            iops: Some(disk.iops),
            bytes_per_second: Some(disk.bytes_per_second),
            ..Figures::default()
        },
        burst: disk.burst,
    })
}

/// The products whose limits are chosen: `PremiumV2 and Ultra`.
fn freely_sized(catalog: &Catalog) -> String {
    let skus: Vec<&str> = catalog
        .flex_disks()
        .iter()
        .map(|disk| disk.sku.as_str())
        .collect();
    match &skus[..] {
        [] => String::from("freely sized disks, of which the catalogue has none"),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
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
    let size_bytes = flex_size(disk, words, catalog)?;
    let iops = chosen_iops(disk, size_bytes, words, catalog)?;
    let rate = chosen_rate(disk, size_bytes, iops, words, catalog)?;
    // Limits of all disks on a machine follow from what they hold together.
    let counted_bytes = match disk.family.scope() {
        Scope::Disk => size_bytes,
        Scope::Machine => size_bytes * words.count as u64,
    };
    Ok(Chosen {
        name: disk.sku.clone(),
        family: disk.family,
        size_bytes,
        tier_bytes: size_bytes,
        counted_bytes,
        io_unit_bytes: disk.io_unit_bytes,
        cacheable: disk.host_caching,
        figures: disk.figures(counted_bytes, iops, rate),
        burst: None,
    })
}

fn beyond(disk: &FlexDisk, key: &'static str, value: String, has: String) -> TargetError {
    TargetError::OutOfCaps {
        key,
        value,
        disk: disk.sku.clone(),
        has,
    }
}

fn flex_size(disk: &FlexDisk, words: &Words, catalog: &Catalog) -> Result<u64, TargetError> {
    let size_bytes = match words.size_bytes {
        Some(size_bytes) => size_bytes,
        None if disk.iops_rule == Rule::Chosen && disk.bytes_per_second_rule == Rule::Chosen => {
            defaults::FLEX_SIZE_BYTES
        }
        None => {
            return Err(TargetError::SizeMissing {
                cloud: catalog.cloud().to_owned(),
                disk: disk.sku.clone(),
            });
        }
    };
    if !(disk.size_bytes_min..=disk.size_bytes_max).contains(&size_bytes) {
        let [value, min, max] =
            [size_bytes, disk.size_bytes_min, disk.size_bytes_max].map(|size| Bytes(size).to_string());
        return Err(beyond(disk, "size", value, format!("has {min} to {max}")));
    }
    multiple(size_bytes, disk.size_increment_bytes, &disk.sku)?;
    Ok(size_bytes)
}

/// Why a figure that is given cannot be: it follows from another one.
fn follows(rule: &Rule, key: &'static str, disk: &FlexDisk) -> TargetError {
    TargetError::Follows {
        key,
        disk: disk.sku.clone(),
        from: match rule {
            Rule::Follows(formula) if formula.names_mbps() => "its throughput",
            Rule::Follows(formula) if formula.names_iops() => "its IOPS",
            Rule::Follows(_) => "its size",
            Rule::Chosen | Rule::NotKnown => "what no source states",
        },
    }
}

/// The IOPS that are chosen; 0 where they follow.
fn chosen_iops(
    disk: &FlexDisk,
    size_bytes: u64,
    words: &Words,
    catalog: &Catalog,
) -> Result<u64, TargetError> {
    match (&disk.iops_rule, words.iops) {
        (Rule::Chosen, _) => {}
        (rule, Some(_)) => return Err(follows(rule, "iops", disk)),
        (_, None) => return Ok(0),
    }
    let (least, cap) = (disk.iops_least(size_bytes), disk.iops_cap(size_bytes));
    let usual = usual(disk, size_bytes, catalog).0.max(least).min(cap);
    // One I/O a second is no default: it stands where no source states the least.
    if words.iops.is_none() && usual <= 1 {
        return Err(TargetError::IopsMissing {
            disk: disk.sku.clone(),
        });
    }
    let iops = words.iops.unwrap_or(usual);
    if iops < least || iops > cap {
        let mut has = format!("of {} has {least} to {cap} IOPS", Bytes(size_bytes));
        if cap < disk.iops_cap_max && disk.iops_max_rule.is_none() {
            has = format!("{has}, {} for each GiB", disk.iops_cap_per_gib);
        }
        return Err(beyond(disk, "iops", iops.to_string(), has));
    }
    Ok(iops)
}

/// The bytes a second that are chosen; 0 where they follow.
fn chosen_rate(
    disk: &FlexDisk,
    size_bytes: u64,
    iops: u64,
    words: &Words,
    catalog: &Catalog,
) -> Result<u64, TargetError> {
    match (&disk.bytes_per_second_rule, words.bytes_per_second) {
        (Rule::Chosen, _) => {}
        (rule, Some(_)) => return Err(follows(rule, "mbps", disk)),
        (_, None) => return Ok(0),
    }
    let (least, cap) = disk.bytes_per_second_bounds(size_bytes, iops);
    let usual = usual(disk, size_bytes, catalog).1.max(least).min(cap);
    let rate = words.bytes_per_second.unwrap_or(usual);
    if rate < least || rate > cap {
        let [min, most] = [least, cap].map(megabytes);
        let mut has = format!("with {iops} IOPS has {min} to {most} MB/s");
        let needed = rate.div_ceil(disk.bytes_per_second_cap_per_iops.max(1));
        let by_iops = disk.bytes_per_second_max_rule.is_none() && disk.iops_rule == Rule::Chosen;
        if by_iops
            && rate > cap
            && rate <= disk.bytes_per_second_cap_max
            && needed <= disk.iops_cap(size_bytes)
        {
            has = format!("{has}: add iops={needed}");
        }
        return Err(beyond(disk, "mbps", megabytes(rate), has));
    }
    Ok(rate)
}

fn megabytes(rate: u64) -> String {
    (rate as f64 / MB as f64).to_string()
}

/// IOPS and bytes a second where they are not given: what costs nothing, or where all of it costs, what the family that it
/// is compared with has at this size; the least where there is no such family.
fn usual(disk: &FlexDisk, size_bytes: u64, catalog: &Catalog) -> (u64, u64) {
    let free = |free: u64, least: u64| if free == u64::MAX { least } else { free.max(least) };
    if disk.iops_free > 0 || disk.bytes_per_second_free > 0 {
        return (
            free(disk.iops_free, disk.iops_min),
            free(disk.bytes_per_second_free, disk.bytes_per_second_min),
        );
    }
    let like = disk
        .family
        .usually_like()
        .and_then(|name| catalog.family(name))
        .and_then(|family| {
            catalog
                .smallest_holding(family, size_bytes)
                .or_else(|| catalog.largest(family))
        });
    like.map_or((disk.iops_min, disk.bytes_per_second_min), defaults::flex_limits)
}

/// The limits of disks of the chosen kind, bursting as `word` says. Where reads and writes have limits of their own, the second
/// are those of writes.
pub(super) fn limits(
    chosen: &Chosen,
    vm: Option<&Vm>,
    word: Option<BurstWord>,
    catalog: &Catalog,
) -> Result<(PathLimits, PathLimits), TargetError> {
    let limit = |rate: Option<u64>| rate.map_or(Limit::NotKnown, Limit::At);
    let figures = &chosen.figures;
    let base = PathLimits {
        iops: limit(figures.iops),
        bytes_per_second: limit(figures.bytes_per_second),
        burst: None,
    };
    let writes = PathLimits {
        iops: limit(figures.write_iops.or(figures.iops)),
        bytes_per_second: limit(figures.write_bytes_per_second.or(figures.bytes_per_second)),
        burst: None,
    };
    let level_percent = if word == Some(BurstWord::Empty) { 0 } else { 100 };
    match (word, chosen.burst) {
        (Some(BurstWord::OnDemand), Some(burst)) if burst.credit_seconds.is_none() => {
            let burst = PathLimits {
                iops: Limit::At(burst.iops),
                bytes_per_second: Limit::At(burst.bytes_per_second),
                burst: None,
            };
            return Ok((burst.clone(), burst));
        }
        (Some(BurstWord::OnDemand), burst) => {
            return Err(TargetError::NoOnDemand {
                disk: chosen.name.clone(),
                smallest: on_demand(catalog),
                instead: match burst {
                    Some(_) => "bursts on credit, always and for nothing",
                    None => "does not burst",
                },
            });
        }
        (_, Some(burst)) if burst.credit_seconds.is_some() => {
            let burst = BurstSpec {
                iops: Limit::At(burst.iops),
                bytes_per_second: Limit::At(burst.bytes_per_second),
                full_seconds: burst.credit_seconds.unwrap_or(defaults::BURST_SECONDS),
                level_percent,
                iops_credit: None,
                bytes_credit: None,
            };
            let burst = Some(burst);
            return Ok((PathLimits { burst, ..base }, writes));
        }
        _ => {}
    }
    if let Some(burst) = figures.burst {
        let burst = Some(flex_burst(figures, burst, level_percent));
        return Ok((PathLimits { burst, ..base }, writes));
    }
    match word {
        None => Ok((base, writes)),
        // The word is about the virtual machine's credit then.
        Some(_) if vm.is_some_and(host::bursts) => Ok((base, writes)),
        Some(word) => Err(TargetError::NoCredit {
            word: if word == BurstWord::Empty { "empty" } else { "full" },
            disk: chosen.name.clone(),
            vm: vm.map_or(String::new(), |vm| format!(", nor does {}", vm.name)),
            on_demand: match chosen.burst {
                Some(_) => ", or write burst=on-demand, which costs extra",
                None => "",
            },
        }),
    }
}

/// A burst out of a bucket of a stated size. How long that lasts at full burst is told in whole seconds.
fn flex_burst(figures: &Figures, burst: FlexBurst, level_percent: u8) -> BurstSpec {
    let lasts = |credit: Option<u64>, ceiling: Option<u64>, base: Option<u64>| {
        let above = ceiling?.checked_sub(base?).filter(|&above| above > 0)?;
        Some(credit? / above)
    };
    let by_ios = lasts(burst.iops_credit, burst.iops, figures.iops);
    let by_bytes = lasts(
        burst.bytes_credit,
        burst.bytes_per_second,
        figures.bytes_per_second,
    );
    let full_seconds = by_ios.into_iter().chain(by_bytes).min().unwrap_or(1).max(1);
    let limit = |ceiling: Option<u64>| ceiling.map_or(Limit::Off, Limit::At);
    BurstSpec {
        iops: limit(burst.iops),
        bytes_per_second: limit(burst.bytes_per_second),
        full_seconds,
        level_percent,
        iops_credit: burst.iops_credit,
        bytes_credit: burst.bytes_credit,
    }
}

/// The smallest disk that bursts on demand.
fn on_demand(catalog: &Catalog) -> Option<String> {
    let bursts = |disk: &&Disk| disk.burst.is_some_and(|burst| burst.credit_seconds.is_none());
    let bursting = catalog.disks().iter().filter(bursts);
    let smallest = bursting.min_by_key(|disk| disk.size_bytes);
    smallest.map(|disk| disk.sku.clone())
}

//! What the catalogues sell that may be what was measured.
//!
//! Data in: what was measured, catalogues. Data out: targets in words with their specifications. Of freely sized disks those
//! whose size and limits would give the rates that were measured; of machines those that a rate shows. It must not know how
//! likely each is.

use crate::fit::{Credit, Fit, Release};
use crate::predict::{Stage, rate};
use crate::probe::{FELL, Mix};
use crate::schedule::{LARGE_BYTES, SMALL_BYTES};
use fathom_model::catalog::{Catalog, FlexDisk, Vm};
use fathom_model::{Spec, target};

/// A rate and a limit are the same within this.
pub const SAME: f64 = 0.012;
/// Two directions are held alike within this.
const ALIKE: f64 = 0.05;
/// Below this a limit would have held what was measured.
const LESS: f64 = 0.985;
const GIB: u64 = 1 << 30;

/// A product, or one on a machine.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// As a target: `azure/P30,vm=Standard_D4s_v5`.
    pub words: String,
    pub cloud: String,
    /// The product: `P30`.
    pub sku: String,
    pub machine: Option<String>,
    pub spec: Spec,
    /// What of it was chosen so that it fits: size, IOPS, bytes a second.
    pub chosen: u32,
}

/// A rate that was measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Observed {
    pub mix: Mix,
    pub block_bytes: u32,
    pub stage: Stage,
    pub per_second: f64,
    /// Whether a limit held it.
    pub is_limit: bool,
}

/// All rates that were measured.
pub fn observed(fit: &Fit) -> Vec<Observed> {
    let mut all = Vec::new();
    let mut add = |mix, stage, rate: crate::fit::Rate| {
        all.push(Observed {
            mix,
            block_bytes: rate.block_bytes,
            stage,
            per_second: rate.per_second,
            is_limit: rate.is_limit,
        });
    };
    add(Mix::Read, Stage::First, fit.read.small);
    add(Mix::Read, Stage::First, fit.read.large);
    if let Some(write) = &fit.write {
        add(Mix::Write, Stage::First, write.small);
        add(Mix::Write, Stage::First, write.large);
    }
    // Where one direction is slower it holds up the other: how much, limits alone do not say.
    if let (Some((small, large)), Some(write)) = (fit.together, &fit.write) {
        let alike = |one: f64, other: f64| (one / other).ln().abs() < ALIKE;
        if alike(fit.read.small.per_second, write.small.per_second) {
            add(Mix::Both, Stage::First, small);
        }
        if alike(fit.read.large.per_second, write.large.per_second) {
            add(Mix::Both, Stage::First, large);
        }
    }
    if let Credit::Spent { small, large, .. } = fit.credit {
        let mix = if fit.write.is_some() {
            Mix::Write
        } else {
            Mix::Read
        };
        // What did not fall says nothing of how it would end.
        let main = fit.main();
        for (spent, first) in [(small, main.small), (large, main.large)] {
            if spent.per_second < first.per_second * FELL {
                add(mix, Stage::Spent, spent);
            }
        }
    }
    all
}

/// What of catalogues is looked at.
#[derive(Debug, Clone, Copy)]
pub struct Search<'a> {
    pub catalogs: &'a [&'a Catalog],
    /// The machine, where it is known.
    pub vm: Option<&'a str>,
    /// Whether machines are looked for where none is known.
    pub machines: bool,
}

/// All that may be what was measured.
pub fn candidates(fit: &Fit, search: Search<'_>) -> Vec<Candidate> {
    let seen = observed(fit);
    let mut found = Vec::new();
    for catalog in search.catalogs {
        let cloud = catalog.cloud();
        let vm = search.vm.and_then(|name| catalog.vm(name));
        if search.vm.is_some() && vm.is_none() {
            continue;
        }
        let mut alone = disks(catalog, fit, &seen, vm);
        if vm.is_none() && search.machines && !is_excluded(catalog, fit) {
            let on_machines = alone.iter().flat_map(|one| machines(catalog, one, &seen));
            let on_machines: Vec<Candidate> = on_machines.collect();
            alone.extend(on_machines);
        }
        debug_assert!(alone.iter().all(|one| one.cloud == cloud));
        found.extend(alone);
    }
    found
}

/// Whether the cloud releases its limits in another way than was seen.
fn is_excluded(catalog: &Catalog, fit: &Fit) -> bool {
    let slices = catalog.disks().first().map(|disk| disk.sku.clone());
    let slices = slices.or(catalog.flex_disks().first().map(|disk| disk.sku.clone()));
    let spec = slices.and_then(|sku| target::parse(&format!("{}/{sku}", catalog.cloud()), catalog).ok());
    let Some(spec) = spec else { return false };
    match fit.release {
        Release::Slices { slice_ns } => spec.slices.slice_ns.abs_diff(slice_ns) > slice_ns / 10,
        Release::Even => spec.slices.slice_ns != 0,
        Release::NotShown => false,
    }
}

fn parsed(catalog: &Catalog, (sku, rest): (&str, &str), vm: Option<&Vm>, chosen: u32) -> Option<Candidate> {
    let cloud = catalog.cloud();
    let machine = vm.map_or_else(String::new, |vm| format!(",vm={}", vm.name));
    let words = format!("{cloud}/{sku}{rest}{machine}");
    let spec = target::parse(&words, catalog).ok()?;
    Some(Candidate {
        cloud: cloud.to_owned(),
        sku: sku.to_owned(),
        machine: vm.map(|vm| vm.name.clone()),
        words,
        spec,
        chosen,
    })
}

/// The disks of a catalogue: those of fixed sizes, and of others those that fit.
fn disks(catalog: &Catalog, fit: &Fit, seen: &[Observed], vm: Option<&Vm>) -> Vec<Candidate> {
    let fixed = catalog.disks().iter();
    let fixed = fixed.filter_map(|disk| parsed(catalog, (&disk.sku, ""), vm, 0));
    let free = catalog
        .flex_disks()
        .iter()
        .flat_map(|disk| freely_sized(catalog, disk, fit, seen, vm));
    fixed.chain(free).collect()
}

/// Those of a freely sized disk that would give some of the rates.
fn freely_sized(
    catalog: &Catalog,
    disk: &FlexDisk,
    fit: &Fit,
    seen: &[Observed],
    vm: Option<&Vm>,
) -> Vec<Candidate> {
    let (least, most) = (disk.size_bytes_min.max(GIB) / GIB, disk.size_bytes_max / GIB);
    let at = |gib: u64, rest: &str| {
        let chosen = u32::from(fit.size_bytes.is_none()) + rest.matches('=').count() as u32;
        parsed(catalog, (&disk.sku, &format!(":{gib}GiB{rest}")), vm, chosen)
    };
    let mut sizes = Vec::new();
    if let Some(bytes) = fit.size_bytes {
        sizes.push((bytes / GIB).clamp(least, most));
    } else {
        let give = seen.iter().filter(|one| one.is_limit);
        sizes.extend(give.filter_map(|one| size_giving(*one, least, most, |gib| at(gib, ""))));
        sizes.extend([1024.clamp(least, most), 16_384.clamp(least, most), most]);
    }
    sizes.sort_unstable();
    sizes.dedup();
    let chosen = choices(catalog, disk, seen);
    let mut all: Vec<Candidate> = Vec::new();
    for gib in sizes {
        for rest in &chosen {
            let Some(one) = at(gib, rest) else { continue };
            // Of one that allows what is chosen, larger ones allow it too and are no better.
            let same = |other: &Candidate| {
                other.spec.disks[0].limits == one.spec.disks[0].limits && other.spec.shared == one.spec.shared
            };
            if !all.iter().any(same) {
                all.push(one);
            }
        }
    }
    all
}

/// What can be chosen of a disk beside its size, so that it gives the rates.
fn choices(catalog: &Catalog, disk: &FlexDisk, seen: &[Observed]) -> Vec<String> {
    let release = target::parse(&format!("{}/{}", catalog.cloud(), disk.sku), catalog)
        .map_or(1.0, |spec| spec.slices.factor_permille as f64 / 1e3);
    let first = |block_bytes: u32| {
        let rates = seen
            .iter()
            .filter(|one| one.block_bytes == block_bytes && one.stage == Stage::First);
        let most = rates
            .filter(|one| one.is_limit)
            .map(|one| one.per_second / release);
        most.fold(0.0, f64::max)
    };
    let iops = first(SMALL_BYTES).round() as u64;
    let (key, unit) = if disk.throughput_unit_bytes == 1 << 20 {
        ("mibps", (1u64 << 20) as f64)
    } else {
        ("mbps", 1e6)
    };
    let rate = (first(LARGE_BYTES) * f64::from(LARGE_BYTES) / unit).round() as u64;
    let mut all = vec![String::new()];
    if iops > 0 {
        // A chosen number has few digits: the nearest that is as good.
        all.extend(rounded(iops).into_iter().map(|iops| format!(",iops={iops}")));
    }
    if rate > 0 {
        all.push(format!(",{key}={rate}"));
        if iops > 0 {
            all.extend(
                rounded(iops)
                    .into_iter()
                    .map(|iops| format!(",iops={iops},{key}={rate}")),
            );
        }
    }
    all
}

/// The number of fewest digits within two thousandths.
fn rounded(number: u64) -> Option<u64> {
    let near = |step: u64| (number + step / 2) / step * step;
    let steps = [10_000, 5_000, 1_000, 500, 100, 50, 10, 5, 1];
    steps
        .into_iter()
        .map(near)
        .find(|near| near.abs_diff(number) * 500 <= number)
}

/// The size that gives a rate; `None`: no size does, or each does.
fn size_giving(seen: Observed, least: u64, most: u64, at: impl Fn(u64) -> Option<Candidate>) -> Option<u64> {
    let of = |gib: u64| at(gib).map(|one| rate(&one.spec, seen.mix, seen.block_bytes, seen.stage));
    let (low_rate, high_rate) = (of(least)?, of(most)?);
    if low_rate >= high_rate || seen.per_second < low_rate * LESS {
        return None;
    }
    let (mut low, mut high) = (least, most);
    while low < high {
        let middle = u64::midpoint(low, high);
        // Half a thousandth is nothing that was measured.
        if of(middle)? >= seen.per_second * 0.9995 {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Some(low)
}

/// A disk on each machine that explains what the disk alone does not.
fn machines(catalog: &Catalog, disk: &Candidate, seen: &[Observed]) -> Vec<Candidate> {
    let limits = seen.iter().filter(|one| one.is_limit);
    let factor = disk.spec.slices.factor_permille as f64 / 1e3;
    let mut open: Vec<Observed> = Vec::new();
    for one in limits {
        let own = rate(&disk.spec, one.mix, one.block_bytes, one.stage);
        if own < one.per_second * LESS {
            return Vec::new();
        }
        if one.mix != Mix::Both && own > one.per_second * (1.0 + SAME) {
            open.push(*one);
        }
    }
    if open.is_empty() {
        return Vec::new();
    }
    let Some(family) = catalog.disk(&disk.sku).map(|known| known.family).or_else(|| {
        catalog
            .flex_disks()
            .iter()
            .find(|known| known.sku == disk.sku)
            .map(|known| known.family)
    }) else {
        return Vec::new();
    };
    let of_family = !catalog.vm_limits().is_empty();
    let mut known: Vec<[Option<u64>; 4]> = Vec::new();
    let mut found = Vec::new();
    let rest = disk.words.split_once('/').map_or("", |(_, rest)| rest);
    let rest = rest.strip_prefix(disk.sku.as_str()).unwrap_or_default();
    let takes =
        |vm: &&Vm| vm.max_data_disks > 0 && (!family.needs_premium_io() || vm.premium_io == Some(true));
    for vm in catalog.vms().iter().filter(takes) {
        let numbers = if of_family {
            let Some(row) = catalog.vm_limit(vm, family) else {
                continue;
            };
            [
                row.read_iops,
                row.write_iops,
                row.read_bytes_per_second,
                row.write_bytes_per_second,
            ]
        } else {
            [
                vm.uncached_iops,
                vm.burst_uncached_iops,
                vm.uncached_bytes_per_second,
                vm.burst_uncached_bytes_per_second,
            ]
        };
        let parts = [1.0, f64::from(vm.cards)];
        let explains = |one: &Observed| {
            let per_second = one.per_second / factor;
            let iops = numbers[..2].iter().flatten().map(|&limit| limit as f64);
            let bytes = numbers[2..].iter().flatten();
            let bytes = bytes.map(|&limit| limit as f64 / f64::from(one.block_bytes));
            let mut all = iops.chain(bytes);
            // Reads and writes at once may each have a limit.
            all.any(|limit| {
                parts.iter().any(|part| {
                    let times = limit / part / per_second;
                    [1.0, 0.5, 2.0]
                        .iter()
                        .any(|share| (times * share).ln().abs() < SAME)
                })
            })
        };
        if known.contains(&numbers) || !open.iter().all(explains) {
            continue;
        }
        known.push(numbers);
        found.extend(parsed(catalog, (&disk.sku, rest), Some(vm), disk.chosen));
    }
    found
}

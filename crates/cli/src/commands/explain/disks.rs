//! The disks and machines whose limits a run may have met.
//!
//! Data in: a catalogue, the run. Data out: names and limits, those of the run's own model and machine marked. It must not know
//! what was measured.

use fathom_analysis::explain::{KnownDisk, LimitScope};
use fathom_core::run::{Environment, Run};
use fathom_model::catalog::{Rule, Vm};
use fathom_model::spec::{Counts, DiskSpec, Limit, PathLimits, Spec};
use fathom_model::{Catalog, file};

/// Of a modelled run, the limits of its model; of another, those of disks, and of its machine where that says which it is, else
/// of all machines of `catalog`. Of the built-in clouds, where nobody `chose` a catalogue, those of the machine's own; of any, if
/// no cloud has such a machine, the disks.
pub(super) fn known(catalog: &Catalog, chose: bool, run: &Run) -> Vec<KnownDisk> {
    if let Some(model) = &run.summary.model
        && let Ok(spec) = file::parse(&model.name, &model.spec_toml, catalog)
    {
        return of_model(&spec);
    }
    let mut clouds: Vec<&Catalog> = vec![catalog];
    if !chose {
        let others = Catalog::names().filter_map(Catalog::named);
        for other in others.filter(|other| other.cloud() != catalog.cloud()) {
            clouds.push(other);
        }
    }
    let name = run.environment.machine.as_deref();
    let of_machine = name.and_then(|name| clouds.iter().find_map(|cloud| Some((*cloud, cloud.vm(name)?))));
    if let Some((cloud, vm)) = of_machine {
        return disks(cloud).chain(machine(vm, true)).collect();
    }
    let machines = catalog.vms().iter().flat_map(|vm| machine(vm, false));
    clouds
        .iter()
        .flat_map(|cloud| disks(cloud))
        .chain(machines)
        .collect()
}

/// The limits that are known to be those of a run that is yet to come: its model's, or those of the machine that this one says it is.
pub(crate) fn own(model: Option<&Spec>, environment: &Environment) -> Vec<KnownDisk> {
    if let Some(spec) = model {
        return of_model(spec);
    }
    let mut clouds = Catalog::names().filter_map(Catalog::named);
    let vm = environment.machine.as_deref();
    let vm = vm.and_then(|name| clouds.find_map(|cloud| cloud.vm(name)));
    vm.map_or_else(Vec::new, |vm| machine(vm, true).collect())
}

/// The disks of a cloud: those of fixed sizes with their limits; those of any size with what costs nothing more, which most
/// have, and with the most that any has.
pub(super) fn disks(catalog: &Catalog) -> impl Iterator<Item = KnownDisk> {
    let known = |name: String, iops: Option<u64>, bytes_per_second: Option<u64>| KnownDisk {
        name,
        scope: LimitScope::Disk,
        iops: iops.map(|limit| limit as f64),
        bytes_per_second: bytes_per_second.map(|limit| limit as f64),
        own: false,
    };
    let fixed = catalog.disks().iter().map(move |disk| {
        let name = format!("{} ({})", disk.sku, disk.family.name());
        known(name, Some(disk.iops), Some(disk.bytes_per_second))
    });
    let flex = catalog.flex_disks().iter().flat_map(move |disk| {
        let chosen = |rule: &Rule, free: u64| (*rule == Rule::Chosen && free != u64::MAX).then_some(free);
        let most = disk.figures(
            disk.size_bytes_max,
            disk.iops_cap_max,
            disk.bytes_per_second_cap_max,
        );
        [
            known(
                format!("{} without more paid for", disk.sku),
                chosen(&disk.iops_rule, disk.iops_free),
                chosen(&disk.bytes_per_second_rule, disk.bytes_per_second_free),
            ),
            known(
                format!("{} at its most", disk.sku),
                most.iops,
                most.bytes_per_second,
            ),
        ]
    });
    fixed.chain(flex)
}

/// The limits of a machine that are the same for disks of every family.
pub(super) fn machine(vm: &Vm, own: bool) -> impl Iterator<Item = KnownDisk> {
    let limits = [
        ("uncached", vm.uncached_iops, vm.uncached_bytes_per_second),
        (
            "uncached, in a burst",
            vm.burst_uncached_iops,
            vm.burst_uncached_bytes_per_second,
        ),
        ("cached", vm.cached_iops, vm.cached_bytes_per_second),
    ];
    limits
        .into_iter()
        .map(move |(way, iops, bytes_per_second)| KnownDisk {
            name: format!("{} {way}", vm.name),
            scope: LimitScope::Machine,
            iops: iops.map(|limit| limit as f64),
            bytes_per_second: bytes_per_second.map(|limit| limit as f64),
            own,
        })
}

fn of_model(spec: &Spec) -> Vec<KnownDisk> {
    let mut known = Vec::new();
    let machine = spec.vm.iter().flat_map(|vm| {
        let cached = spec.host_cache.is_some().then_some(("cached", &vm.cached));
        let ways = std::iter::once(("uncached", &vm.uncached)).chain(cached);
        ways.map(|(way, limits)| (format!("{} {way}", vm.name), limits))
    });
    for (name, limits) in machine {
        known.extend(of_path(&name, LimitScope::Machine, limits, 1));
    }
    // Striped disks serve one device together.
    if let Some((first, rest)) = spec.disks.split_first() {
        let alike = |disk: &DiskSpec| disk.name == first.name && disk.limits == first.limits;
        if rest.iter().all(alike) {
            let name = match rest.len() {
                0 => first.name.clone(),
                more => format!("{} x {}", more + 1, first.name),
            };
            known.extend(of_path(&name, LimitScope::Disk, &first.limits, spec.disks.len()));
        }
    }
    for shared in &spec.shared {
        let scope = if shared.of_vm {
            LimitScope::Machine
        } else {
            LimitScope::Disk
        };
        let counts = match shared.counts {
            Counts::All => "",
            Counts::Reads => ", reads",
            Counts::Writes => ", writes",
        };
        let name = format!("{}{counts}", shared.owner);
        known.extend(of_path(&name, scope, &shared.limits, 1));
    }
    known
}

/// The limits, and those while credit lasts, of so many of a kind together.
fn of_path(name: &str, scope: LimitScope, limits: &PathLimits, number: usize) -> Vec<KnownDisk> {
    let stated = |limit: Limit| match limit {
        Limit::At(limit) => Some(limit as f64 * number as f64),
        Limit::NotKnown | Limit::Off => None,
    };
    let known = |name: String, iops: Limit, bytes_per_second: Limit| KnownDisk {
        name,
        scope,
        iops: stated(iops),
        bytes_per_second: stated(bytes_per_second),
        own: true,
    };
    let burst = limits.burst.iter();
    let burst = burst.map(|burst| known(format!("{name}, in a burst"), burst.iops, burst.bytes_per_second));
    let base = known(name.to_owned(), limits.iops, limits.bytes_per_second);
    std::iter::once(base).chain(burst).collect()
}

#[cfg(test)]
mod tests;

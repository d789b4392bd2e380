//! The disks and machines whose limits a run may have met.
//!
//! Data in: a catalogue, the run. Data out: names and limits, those of the run's own model and machine marked. It must not know
//! what was measured.

use fathom_analysis::explain::{KnownDisk, LimitScope};
use fathom_core::run::Run;
use fathom_model::spec::{DiskSpec, Limit, PathLimits, Spec};
use fathom_model::{Catalog, file};

/// Of a modelled run, the limits of its model; of another, those of all disks of fixed sizes, and of its machine where that
/// says which it is, else of all machines.
pub(super) fn known(catalog: &Catalog, run: &Run) -> Vec<KnownDisk> {
    if let Some(model) = &run.summary.model
        && let Ok(spec) = file::parse(&model.name, &model.spec_toml, catalog)
    {
        return of_model(&spec);
    }
    let machine = run.environment.machine.as_deref();
    let machine = machine.and_then(|name| catalog.vm(name));
    let disks = catalog.disks().iter().map(|disk| KnownDisk {
        name: format!("{} ({})", disk.sku, disk.family.name()),
        scope: LimitScope::Disk,
        iops: Some(disk.iops as f64),
        bytes_per_second: Some(disk.bytes_per_second as f64),
        own: false,
    });
    let machines = catalog
        .vms()
        .iter()
        .filter(|vm| machine.is_none_or(|own| own.name == vm.name));
    let machines = machines.flat_map(|vm| {
        let limits = [
            ("uncached", vm.uncached_iops, vm.uncached_bytes_per_second),
            (
                "uncached, in a burst",
                vm.burst_uncached_iops,
                vm.burst_uncached_bytes_per_second,
            ),
            ("cached", vm.cached_iops, vm.cached_bytes_per_second),
        ];
        limits.map(|(way, iops, bytes_per_second)| KnownDisk {
            name: format!("{} {way}", vm.name),
            scope: LimitScope::Machine,
            iops: iops.map(|limit| limit as f64),
            bytes_per_second: bytes_per_second.map(|limit| limit as f64),
            own: machine.is_some(),
        })
    });
    disks.chain(machines).collect()
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

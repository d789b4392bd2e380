//! The disks and machines whose limits a run may have met.
//!
//! Data in: a catalogue. Data out: names and limits. It must not know what was measured.

use fathom_analysis::explain::{KnownDisk, LimitScope};
use fathom_model::Catalog;

/// All disks of fixed sizes, and the machines whose limits are stated.
pub(super) fn known(catalog: &Catalog) -> Vec<KnownDisk> {
    let float = |limit: u64| limit as f64;
    let disks = catalog.disks().iter().map(|disk| KnownDisk {
        name: format!("{} ({})", disk.sku, disk.family.name()),
        scope: LimitScope::Disk,
        iops: Some(float(disk.iops)),
        bytes_per_second: Some(float(disk.bytes_per_second)),
    });
    let machines = catalog.vms().iter().map(|vm| KnownDisk {
        name: vm.name.clone(),
        scope: LimitScope::Machine,
        iops: vm.uncached_iops.map(float),
        bytes_per_second: vm.uncached_bytes_per_second.map(float),
    });
    disks.chain(machines).collect()
}

//! Disks of sizes that are not sold.
//!
//! Data in: a specification, the catalogue. Data out: a warning. It must not know how the size was given.

use super::{Catalog, Disk};
use crate::spec::{DiskSpec, Limit, Spec};
use fathom_core::run::Warning;
use fathom_core::units::Bytes;

impl Catalog {
    /// What to doubt of the sizes of `spec`: a disk with the name and the limits of one of the catalogue, at a size at which
    /// another one would be sold.
    pub fn doubts(&self, spec: &Spec) -> Option<Warning> {
        spec.disks.iter().find_map(|disk| self.off(disk))
    }

    fn off(&self, spec: &DiskSpec) -> Option<Warning> {
        let named = self.disk(&spec.name)?;
        let is_it = spec.limits.iops == Limit::At(named.iops)
            || named
                .burst
                .is_some_and(|burst| spec.limits.iops == Limit::At(burst.iops));
        let sold = self.smallest_holding(named.family, spec.size_bytes)?;
        (is_it && sold.size_bytes < named.size_bytes).then(|| Warning::ModelSizeOffCatalogue {
            disk: named.sku.clone(),
            size_bytes: spec.size_bytes,
            catalogue_bytes: named.size_bytes,
            sold_as: sold_as(sold),
        })
    }
}

fn sold_as(disk: &Disk) -> String {
    format!(
        "{} ({}, {} IOPS, {} MB/s)",
        disk.sku,
        Bytes(disk.size_bytes),
        disk.iops,
        disk.bytes_per_second / super::MB
    )
}

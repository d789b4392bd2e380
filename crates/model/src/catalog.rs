//! The catalogue: which disks and virtual machines there are, what they are limited to and what they cost.
//!
//! Data in: three CSV files, embedded ([`Catalog::azure`]) or handed in ([`Catalog::read`]). Data out: typed rows,
//! found by name, by family and size, or by a filter; a blank cell is `None`: no source states it. The files'
//! columns, units and sources are described beside them, in `data/azure/README.md`. It must not know what a model
//! makes of a row.

mod columns;
mod disk;
mod filter;
mod nearest;
mod off;
mod rows;
mod vm;

pub use columns::{Column, Listed, Unit, Value, disk_columns, vm_columns};
pub use disk::{Burst, Disk, Family, FlexDisk, Offer};
pub use filter::{Filter, FilterError};
pub use nearest::nearest;
pub use rows::{CatalogError, Problem, decimal_micro};
pub use vm::Vm;

use std::collections::BTreeMap;
use std::sync::LazyLock;

pub(crate) const GIB: u64 = 1 << 30;
/// One MB, as in MB/s.
pub(crate) const MB: u64 = 1_000_000;

/// The names of a catalogue's files in its directory.
pub const FILE_NAMES: [&str; 3] = ["disks.csv", "flex-disks.csv", "vms.csv"];

/// Where the embedded catalogue is from: the meaning of the keys in the columns `source`, as Markdown.
pub const SOURCES: &str = include_str!("../data/azure/SOURCES.md");

/// All disks and virtual machines of a provider.
#[derive(Debug, Clone, PartialEq)]
pub struct Catalog {
    disks: Vec<Disk>,
    flex_disks: Vec<FlexDisk>,
    vms: Vec<Vm>,
    /// Place in `vms` by [`vm::key`].
    vm_places: BTreeMap<String, usize>,
}

/// The texts of a catalogue's three files.
#[derive(Debug, Clone, Copy)]
pub struct Texts<'a> {
    /// Where they are from, for error messages: a directory.
    pub from: &'a str,
    /// `disks.csv`.
    pub disks: &'a str,
    /// `flex-disks.csv`.
    pub flex_disks: &'a str,
    /// `vms.csv`.
    pub vms: &'a str,
}

static AZURE: LazyLock<Catalog> = LazyLock::new(|| {
    let texts = Texts {
        from: "azure",
        disks: include_str!("../data/azure/disks.csv"),
        flex_disks: include_str!("../data/azure/flex-disks.csv"),
        vms: include_str!("../data/azure/vms.csv"),
    };
    Catalog::read(texts).unwrap_or_else(|error| panic!("the embedded catalogue: {error}"))
});

impl Catalog {
    /// The embedded catalogue of Azure. Read when first asked for.
    ///
    /// # Panics
    /// Where the embedded files are malformed, which a test rules out.
    pub fn azure() -> &'static Self {
        &AZURE
    }

    /// Reads a catalogue from the texts of its files.
    ///
    /// # Errors
    /// The first thing that is wrong, with file, line and column: a column missing, unknown or twice, a row too
    /// short or too long, no number where one must be, a number out of bounds, a name twice.
    pub fn read(texts: Texts<'_>) -> Result<Self, CatalogError> {
        let file = |index: usize| match texts.from {
            "" => FILE_NAMES[index].to_owned(),
            from => format!("{}/{}", from.trim_end_matches('/'), FILE_NAMES[index]),
        };
        let disks = disk::read_disks(&file(0), texts.disks)?;
        let flex_disks = disk::read_flex_disks(&file(1), texts.flex_disks)?;
        let (vms, vm_places) = vm::read(&file(2), texts.vms)?;
        Ok(Self {
            disks,
            flex_disks,
            vms,
            vm_places,
        })
    }

    /// The cloud that sells all this, as targets begin: `azure`.
    #[allow(
        clippy::unused_self,
        reason = "one catalogue, one cloud: which one is the rows' business"
    )]
    pub const fn cloud(&self) -> &'static str {
        crate::target::CLOUD
    }

    /// The disks that come in fixed sizes, in the order of the file.
    pub fn disks(&self) -> &[Disk] {
        &self.disks
    }

    /// The disks whose size and limits are freely chosen.
    pub fn flex_disks(&self) -> &[FlexDisk] {
        &self.flex_disks
    }

    /// The sizes of virtual machines, in the order of the file.
    pub fn vms(&self) -> &[Vm] {
        &self.vms
    }

    /// The disk of this product name (`P15`, `p15`).
    pub fn disk(&self, sku: &str) -> Option<&Disk> {
        self.disks.iter().find(|disk| disk.sku.eq_ignore_ascii_case(sku))
    }

    /// The freely sized disk of a family.
    pub fn flex_disk(&self, family: Family) -> Option<&FlexDisk> {
        self.flex_disks.iter().find(|disk| disk.family == family)
    }

    /// The virtual machine of this name, with or without `Standard_`, in any case, with or without underscores.
    pub fn vm(&self, name: &str) -> Option<&Vm> {
        self.vm_places.get(&vm::key(name)).map(|&place| &self.vms[place])
    }

    /// The smallest disk of a family that holds `size_bytes`.
    pub fn smallest_holding(&self, family: Family, size_bytes: u64) -> Option<&Disk> {
        let holding = |disk: &&Disk| disk.family == family && disk.size_bytes >= size_bytes;
        self.disks
            .iter()
            .filter(holding)
            .min_by_key(|disk| disk.size_bytes)
    }

    /// The largest disk of a family.
    pub fn largest(&self, family: Family) -> Option<&Disk> {
        let of_family = self.disks.iter().filter(|disk| disk.family == family);
        of_family.max_by_key(|disk| disk.size_bytes)
    }

    /// Names of virtual machines that a misspelt one may mean, nearest first.
    pub fn vms_near(&self, name: &str) -> Vec<&str> {
        let wanted = vm::key(name);
        let known = self.vm_places.iter().map(|(key, &place)| (key.as_str(), place));
        nearest::ranked(&wanted, known, 3)
            .into_iter()
            .map(|place| self.vms[place].name.as_str())
            .collect()
    }

    /// The virtual machine most like `vm` (in processors, then in name) of those that `fit`.
    pub fn vm_like(&self, vm: &Vm, fit: impl Fn(&Vm) -> bool) -> Option<&Vm> {
        let name = vm::key(&vm.name);
        let likeness = |other: &&Vm| {
            let processors = other.vcpus.abs_diff(vm.vcpus);
            (processors, strsim::osa_distance(&vm::key(&other.name), &name))
        };
        self.vms.iter().filter(|other| fit(other)).min_by_key(likeness)
    }
}

#[cfg(test)]
mod tests;

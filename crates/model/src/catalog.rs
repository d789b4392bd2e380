//! The catalogue: which disks and virtual machines there are, what they are limited to and what they cost.
//!
//! Data in: a directory of a cloud's files, embedded ([`Catalog::named`]) or handed in ([`Catalog::read`]). Data out: typed
//! rows, found by name, by family and size, or by a filter; a blank cell is `None`: no source states it. The files'
//! columns, units and sources are described beside them, in `data/CLOUD/README.md`. It must not know what a model
//! makes of a row.

mod cloud;
mod columns;
mod disk;
mod family;
mod filter;
mod flex;
mod formula;
mod nearest;
mod off;
mod price;
mod rows;
mod vm;
mod vm_limit;

pub use cloud::{Cloud, check_cloud};
pub use columns::{Column, Listed, Unit, Value, disk_columns, limit_columns, vm_columns};
pub use disk::{Burst, Disk, Offer};
pub use family::{Added, AlsoTogether, Counting, Directions, Family, Released, Scope, Services};
pub use filter::{Filter, FilterError};
pub use flex::{Figures, FlexBurst, FlexDisk, Rule};
pub use formula::Formula;
pub use nearest::nearest;
pub use price::Price;
pub use rows::{CatalogError, Problem, decimal_micro};
pub use vm::Vm;
pub use vm_limit::VmLimit;

use std::collections::BTreeMap;
use std::sync::OnceLock;

pub(crate) const GIB: u64 = 1 << 30;
/// One MB, as in MB/s.
pub(crate) const MB: u64 = 1_000_000;

/// The names of a catalogue's files in its directory.
pub mod file_name {
    /// What the cloud is: [`Cloud`](super::Cloud). Without it, the rest is of the first embedded cloud.
    pub const CLOUD: &str = "cloud.toml";
    /// Disks of fixed sizes.
    pub const DISKS: &str = "disks.csv";
    /// Freely sized disks.
    pub const FLEX_DISKS: &str = "flex-disks.csv";
    /// Virtual machines.
    pub const VMS: &str = "vms.csv";
    /// Limits of machines by family of disks.
    pub const VM_LIMITS: &str = "vm-limits.csv";
    /// Prices of freely sized disks in other regions.
    pub const PRICES: &str = "prices.csv";
    /// All of them.
    pub const ALL: [&str; 6] = [CLOUD, DISKS, FLEX_DISKS, VMS, VM_LIMITS, PRICES];
}

/// All disks and virtual machines of a provider.
#[derive(Debug, Clone, PartialEq)]
pub struct Catalog {
    cloud: Cloud,
    disks: Vec<Disk>,
    flex_disks: Vec<FlexDisk>,
    vms: Vec<Vm>,
    /// Place in `vms` by [`vm::key`].
    vm_places: BTreeMap<String, usize>,
    vm_limits: Vec<VmLimit>,
    prices: Vec<Price>,
}

/// The texts of a catalogue's files; `None`: there is no such file.
#[derive(Debug, Clone, Copy)]
pub struct Texts<'a> {
    /// Where they are from, for error messages: a directory.
    pub from: &'a str,
    /// `cloud.toml`.
    pub cloud: Option<&'a str>,
    /// `disks.csv`.
    pub disks: Option<&'a str>,
    /// `flex-disks.csv`.
    pub flex_disks: Option<&'a str>,
    /// `vms.csv`.
    pub vms: Option<&'a str>,
    /// `vm-limits.csv`.
    pub vm_limits: Option<&'a str>,
    /// `prices.csv`.
    pub prices: Option<&'a str>,
}

/// An embedded catalogue.
struct BuiltIn {
    texts: Texts<'static>,
    sources: &'static str,
    read: OnceLock<Catalog>,
}

const fn built_in(texts: Texts<'static>, sources: &'static str) -> BuiltIn {
    BuiltIn {
        texts,
        sources,
        read: OnceLock::new(),
    }
}

/// What is embedded: the directories below `data`, the default first. Nothing else in the model knows a cloud by name.
static BUILT_IN: [BuiltIn; 3] = [
    built_in(
        Texts {
            from: "azure",
            cloud: Some(include_str!("../data/azure/cloud.toml")),
            disks: Some(include_str!("../data/azure/disks.csv")),
            flex_disks: Some(include_str!("../data/azure/flex-disks.csv")),
            vms: Some(include_str!("../data/azure/vms.csv")),
            vm_limits: None,
            prices: None,
        },
        include_str!("../data/azure/SOURCES.md"),
    ),
    built_in(
        Texts {
            from: "aws",
            cloud: Some(include_str!("../data/aws/cloud.toml")),
            disks: None,
            flex_disks: Some(include_str!("../data/aws/flex-disks.csv")),
            vms: Some(include_str!("../data/aws/vms.csv")),
            vm_limits: None,
            prices: Some(include_str!("../data/aws/prices.csv")),
        },
        include_str!("../data/aws/SOURCES.md"),
    ),
    built_in(
        Texts {
            from: "gcp",
            cloud: Some(include_str!("../data/gcp/cloud.toml")),
            disks: None,
            flex_disks: Some(include_str!("../data/gcp/flex-disks.csv")),
            vms: Some(include_str!("../data/gcp/vms.csv")),
            vm_limits: Some(include_str!("../data/gcp/vm-limits.csv")),
            prices: Some(include_str!("../data/gcp/prices.csv")),
        },
        include_str!("../data/gcp/SOURCES.md"),
    ),
];

impl BuiltIn {
    fn catalog(&'static self) -> &'static Catalog {
        self.read.get_or_init(|| {
            Catalog::read(self.texts).unwrap_or_else(|error| panic!("the embedded catalogue: {error}"))
        })
    }
}

/// A name as it is compared: lower case, letters and digits only.
pub(crate) fn plain(word: &str) -> String {
    let letters = word.chars().filter(char::is_ascii_alphanumeric);
    letters.map(|letter| letter.to_ascii_lowercase()).collect()
}

impl Catalog {
    /// The first embedded catalogue, that of Azure. Read when first asked for.
    ///
    /// # Panics
    /// Where the embedded files are malformed, which a test rules out.
    pub fn azure() -> &'static Self {
        BUILT_IN[0].catalog()
    }

    /// The embedded catalogue of the cloud that targets call `cloud`.
    ///
    /// # Panics
    /// As [`Catalog::azure`].
    pub fn named(cloud: &str) -> Option<&'static Self> {
        let mut known = BUILT_IN.iter();
        let found = known.find(|known| known.texts.from.eq_ignore_ascii_case(cloud));
        found.map(BuiltIn::catalog)
    }

    /// The clouds whose catalogues are embedded, as targets begin, the default first.
    pub fn names() -> impl Iterator<Item = &'static str> + Clone {
        BUILT_IN.iter().map(|known| known.texts.from)
    }

    /// Where the embedded catalogue of `cloud` is from: the meaning of the keys in the columns `source`, as Markdown.
    pub fn sources(cloud: &str) -> Option<&'static str> {
        let found = BUILT_IN.iter().find(|known| known.texts.from == cloud);
        found.map(|known| known.sources)
    }

    /// This catalogue where it is that of `cloud`, else the embedded one that is.
    pub fn of_cloud(&self, cloud: &str) -> Option<&Self> {
        if self.cloud().eq_ignore_ascii_case(cloud) {
            return Some(self);
        }
        Self::named(cloud)
    }

    /// Reads a catalogue from the texts of its files. Without a `cloud.toml` it is one of Azure's, with the families and
    /// services that are embedded, and has all of the other files.
    ///
    /// # Errors
    /// The first thing that is wrong, with file, line and column: a file missing, a column missing, unknown or twice, a row
    /// too short or too long, no number where one must be, a number out of bounds, a name twice.
    pub fn read(texts: Texts<'_>) -> Result<Self, CatalogError> {
        let file = |name: &str| match texts.from {
            "" => name.to_owned(),
            from => format!("{}/{name}", from.trim_end_matches('/')),
        };
        let missing = |name: &str, text: Option<&str>| match text {
            Some(_) => Ok(()),
            None => Err(CatalogError {
                file: file(name),
                line: 1,
                column: 1,
                problem: Problem::Missing,
            }),
        };
        missing(file_name::VMS, texts.vms)?;
        let cloud = if let Some(text) = texts.cloud {
            cloud::read(&file(file_name::CLOUD), text)?
        } else {
            missing(file_name::DISKS, texts.disks)?;
            missing(file_name::FLEX_DISKS, texts.flex_disks)?;
            BUILT_IN[0].catalog().cloud.clone()
        };
        let families = &cloud.families;
        let disks = texts
            .disks
            .map(|text| disk::read_disks(&file(file_name::DISKS), text, families));
        let flex_disks = texts
            .flex_disks
            .map(|text| flex::read(&file(file_name::FLEX_DISKS), text, families));
        let (mut vms, vm_places) = vm::read(&file(file_name::VMS), texts.vms.unwrap_or_default())?;
        if !cloud.machine_burst_note.is_empty() {
            for vm in vms.iter_mut().filter(|vm| vm.bursts()) {
                vm.burst_note.clone_from(&cloud.machine_burst_note);
            }
        }
        let vm_limits = texts
            .vm_limits
            .map(|text| vm_limit::read(&file(file_name::VM_LIMITS), text, families));
        let flex_disks = flex_disks.transpose()?.unwrap_or_default();
        let prices = texts
            .prices
            .map(|text| price::read(&file(file_name::PRICES), text, &flex_disks));
        Ok(Self {
            prices: prices.transpose()?.unwrap_or_default(),
            vm_limits: vm_limits.transpose()?.unwrap_or_default(),
            disks: disks.transpose()?.unwrap_or_default(),
            flex_disks,
            vms,
            vm_places,
            cloud,
        })
    }

    /// The regions that there are prices of.
    pub fn regions(&self) -> Vec<&str> {
        let disks = self.disks.iter().map(|disk| &disk.price_region);
        let flex_disks = self.flex_disks.iter().map(|disk| &disk.price_region);
        let vms = self.vms.iter().map(|vm| &vm.price_region);
        let prices = self.prices.iter().map(|price| &price.region);
        let all = disks.chain(flex_disks).chain(vms).chain(prices);
        let mut regions: Vec<&str> = all
            .map(String::as_str)
            .filter(|region| !region.is_empty())
            .collect();
        regions.sort_unstable();
        regions.dedup();
        regions
    }

    /// Prices of freely sized disks in other regions than that of their rows.
    pub fn prices(&self) -> &[Price] {
        &self.prices
    }

    /// The same at the prices of another region: disks whose prices are known there, and machines without one. `None`: it is not
    /// another one, or nothing is known of it.
    #[must_use]
    pub fn of_region(&self, region: &str) -> Option<Self> {
        let there = |price: &&Price| price.region.eq_ignore_ascii_case(region);
        self.prices.iter().find(there)?;
        let flex_disks = self.flex_disks.iter().filter_map(|disk| {
            let mut prices = self.prices.iter().filter(there);
            prices
                .find(|price| price.sku == disk.sku)
                .map(|price| price.of(disk))
        });
        let without_price = |vm: &Vm| Vm {
            price_microusd_hour: None,
            price_microusd_hour_1y: None,
            price_microusd_hour_3y: None,
            price_region: String::new(),
            price_date: String::new(),
            ..vm.clone()
        };
        Some(Self {
            disks: Vec::new(),
            flex_disks: flex_disks.collect(),
            vms: self.vms.iter().map(without_price).collect(),
            ..self.clone()
        })
    }

    /// The cloud that sells all this, as targets begin: `azure`.
    pub fn cloud(&self) -> &str {
        &self.cloud.name
    }

    /// What is said of the cloud as a whole.
    pub const fn about(&self) -> &Cloud {
        &self.cloud
    }

    /// The families of its disks, in the order of `cloud.toml`.
    pub fn families(&self) -> &[Family] {
        &self.cloud.families
    }

    /// The family that a word means, in any case and with any signs between.
    pub fn family(&self, word: &str) -> Option<Family> {
        let plain = plain(word);
        // As storage classes write them: locally redundant, which all are unless they say otherwise.
        let words = [plain.as_str(), plain.strip_suffix("lrs").unwrap_or_default()];
        let means = |family: &&Family| words.iter().any(|word| family.is_called(word));
        self.cloud.families.iter().find(means).copied()
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

    /// The limits that machines have by family of disks; empty where they have the same for all.
    pub fn vm_limits(&self) -> &[VmLimit] {
        &self.vm_limits
    }

    /// The limits of a machine on disks of a family, where a source states them.
    pub fn vm_limit(&self, vm: &Vm, family: Family) -> Option<&VmLimit> {
        let rows = self.vm_limits.iter();
        let fit = rows.filter(|row| row.family == family && row.is_of(vm));
        // A machine that is named has limits of its own within its series.
        fit.max_by_key(|row| !row.name.is_empty())
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

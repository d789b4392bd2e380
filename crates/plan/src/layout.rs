//! A layout: disks of one kind, striped, on a machine.
//!
//! Data in: rows of the catalogue, or a target in words. Data out: [`Layout`], its words, its size. It must not know what it
//! delivers or costs.

use fathom_core::units::Bytes;
use fathom_model::Spec;
use fathom_model::catalog::{
    Burst, Catalog, Disk as Row, Family, Figures, FlexBurst, FlexDisk, Offer, Rule, Scope, Vm, VmLimit,
};
use fathom_model::defaults;
use fathom_model::spec::{CacheMode, Limit};
use fathom_model::target::{self, TargetError};
use std::fmt::Write as _;

/// 2^30 bytes.
pub const GIB: u64 = 1 << 30;
/// One MB, as in MB/s.
pub const MB: u64 = 1_000_000;

/// Whether a machine's host caches the disks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cache {
    None,
    /// Reads are kept.
    ReadOnly,
    /// Writes are complete in the cache, and reach the disks later.
    ReadWrite,
}

impl Cache {
    /// All of them, the plainest first.
    pub const ALL: [Self; 3] = [Self::None, Self::ReadOnly, Self::ReadWrite];

    /// That of a mode.
    const fn of(mode: Option<CacheMode>) -> Self {
        match mode {
            None => Self::None,
            Some(CacheMode::ReadOnly) => Self::ReadOnly,
            Some(CacheMode::ReadWrite) => Self::ReadWrite,
        }
    }

    /// What the host does, if it caches.
    pub const fn mode(self) -> Option<CacheMode> {
        match self {
            Self::None => None,
            Self::ReadOnly => Some(CacheMode::ReadOnly),
            Self::ReadWrite => Some(CacheMode::ReadWrite),
        }
    }

    /// As a target's words have it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::ReadOnly => "ro",
            Self::ReadWrite => "rw",
        }
    }
}

/// One disk of a layout: a product, with what was chosen where it may be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Disk<'a> {
    /// What it is sold as.
    pub offer: Offer<'a>,
    pub size_bytes: u64,
    /// What was chosen of a freely sized disk; 0 where it follows from the rest, or the size is fixed.
    pub iops: u64,
    pub bytes_per_second: u64,
    pub io_unit_bytes: u64,
    /// Whether a host may cache it.
    pub cacheable: bool,
    /// Whether bursts on demand are paid for, and part of its limits.
    pub on_demand: bool,
}

impl<'a> Disk<'a> {
    /// A disk of a fixed size.
    pub fn fixed(row: &'a Row) -> Self {
        Self {
            offer: Offer::Fixed(row),
            size_bytes: row.size_bytes,
            iops: 0,
            bytes_per_second: 0,
            io_unit_bytes: row.io_unit_bytes,
            cacheable: row.cacheable(),
            on_demand: false,
        }
    }

    /// A freely sized disk. The caller keeps to its caps. What follows from the rest is not chosen.
    pub fn chosen(row: &'a FlexDisk, size_bytes: u64, iops: u64, bytes_per_second: u64) -> Self {
        let chosen = |rule: &Rule, value: u64| if *rule == Rule::Chosen { value } else { 0 };
        Self {
            offer: Offer::Flex(row),
            size_bytes,
            iops: chosen(&row.iops_rule, iops),
            bytes_per_second: chosen(&row.bytes_per_second_rule, bytes_per_second),
            io_unit_bytes: row.io_unit_bytes,
            cacheable: row.host_caching,
            on_demand: false,
        }
    }

    /// What it has by itself; or, where its cloud has the limits of its family for all disks on a machine together, what so many
    /// have.
    pub fn figures(&self, count: u32) -> Figures {
        match self.offer {
            Offer::Fixed(row) => fixed_figures(row, self.on_demand),
            Offer::Flex(row) => {
                let size_bytes = match row.family.scope() {
                    Scope::Disk => self.size_bytes,
                    Scope::Machine => self.size_bytes.saturating_mul(u64::from(count)),
                };
                row.figures(size_bytes, self.iops, self.bytes_per_second)
            }
        }
    }

    /// A disk of a fixed size that is modelled with so many IOPS: those of bursts on demand, if that is so.
    fn modelled(row: &'a Row, iops: Limit) -> Self {
        let mut disk = Self::fixed(row);
        let on_demand = |burst: &Burst| burst.credit_seconds.is_none() && iops == Limit::At(burst.iops);
        disk.on_demand = row.burst.as_ref().is_some_and(on_demand);
        disk
    }

    /// The freely sized disk that `spec` models.
    fn chosen_as(spec: &Spec, catalog: &'a Catalog) -> Option<Self> {
        let disk = spec.disks.first()?;
        let row = catalog.flex_disks().iter().find(|row| row.sku == disk.name)?;
        // Limits of all disks stand in front of them.
        let shared = spec.shared.iter().find(|shared| !shared.of_vm);
        let limits = shared.map_or(&disk.limits, |shared| &shared.limits);
        let [iops, bytes_per_second] =
            [limits.iops, limits.bytes_per_second].map(|limit| limit.rate().unwrap_or(0));
        Some(Self::chosen(row, disk.size_bytes, iops, bytes_per_second))
    }

    /// Its family.
    pub const fn family(&self) -> Family {
        self.offer.family()
    }

    /// Its product name.
    pub fn sku(&self) -> &'a str {
        self.offer.sku()
    }

    /// Whether its size and limits were chosen.
    pub const fn is_chosen(&self) -> bool {
        matches!(self.offer, Offer::Flex(_))
    }
}

/// What a disk of a fixed size has.
fn fixed_figures(row: &Row, on_demand: bool) -> Figures {
    let credit = |burst: &Burst| {
        let seconds = burst.credit_seconds?;
        let held = |ceiling: u64, base: u64| ceiling.saturating_sub(base).saturating_mul(seconds);
        Some(FlexBurst {
            iops: Some(burst.iops),
            bytes_per_second: Some(burst.bytes_per_second),
            iops_credit: Some(held(burst.iops, row.iops)),
            bytes_credit: Some(held(burst.bytes_per_second, row.bytes_per_second)),
        })
    };
    let paid = row
        .burst
        .filter(|burst| on_demand && burst.credit_seconds.is_none());
    let (iops, bytes_per_second) = paid.map_or((row.iops, row.bytes_per_second), |burst| {
        (burst.iops, burst.bytes_per_second)
    });
    Figures {
        iops: Some(iops),
        bytes_per_second: Some(bytes_per_second),
        burst: row.burst.as_ref().and_then(credit),
        ..Figures::default()
    }
}

/// The machine's limits on the disks of a layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OfMachine<'a> {
    /// The same for disks of every family: those of its row.
    ForAll,
    /// For this family, as a row says.
    Row(&'a VmLimit),
    /// The cloud has limits by family, and no source states this one.
    NotKnown,
}

impl<'a> OfMachine<'a> {
    /// Those of `machine` on disks of `family`.
    pub fn of(catalog: &'a Catalog, machine: Option<&Vm>, family: Family) -> Self {
        if catalog.vm_limits().is_empty() {
            return Self::ForAll;
        }
        machine
            .and_then(|vm| catalog.vm_limit(vm, family))
            .map_or(Self::NotKnown, Self::Row)
    }
}

/// Disks of one kind, striped, on a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout<'a> {
    /// The cloud that sells it, as targets begin.
    pub cloud: &'a str,
    /// `None`: limits and price of a machine are not part of it.
    pub machine: Option<&'a Vm>,
    pub limits: OfMachine<'a>,
    pub disk: Disk<'a>,
    pub count: u32,
    pub cache: Cache,
    pub chunk_bytes: u64,
}

/// Why words are no layout.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LayoutError {
    /// They are no target.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// The product is not in the catalogue.
    #[error("no disk of the catalogue is called `{0}`: `fathom catalog disks` lists all")]
    NotSold(String),
    /// It says more than what is rented.
    #[error("{} {}: that is of a model, not of what can be rented: leave it out", .0.join(", "), if .0.len() > 1 { "are not planned" } else { "is not planned" })]
    OfAModel(Vec<String>),
}

impl<'a> Layout<'a> {
    /// Disks on a machine, striped as is usual.
    pub fn new(catalog: &'a Catalog, machine: &'a Vm, disk: Disk<'a>, count: u32, cache: Cache) -> Self {
        Self {
            machine: Some(machine),
            limits: OfMachine::of(catalog, Some(machine), disk.family()),
            cache,
            ..Self::alone(catalog.cloud(), disk, count)
        }
    }

    /// The same disks without a machine.
    pub const fn alone(cloud: &'a str, disk: Disk<'a>, count: u32) -> Self {
        Self {
            cloud,
            machine: None,
            limits: OfMachine::ForAll,
            disk,
            count,
            cache: Cache::None,
            chunk_bytes: defaults::CHUNK_BYTES,
        }
    }

    /// That of a target in words: `azure/2xP15,vm=Standard_DS3_v2`. `model:` may stand before it.
    ///
    /// # Errors
    /// The words are no target, or what they name is not sold so.
    pub fn named(text: &str, catalog: &'a Catalog) -> Result<Self, LayoutError> {
        let text = text.trim();
        let text = text.strip_prefix("model:").unwrap_or(text);
        let (spec, layout) = Self::parsed(text, catalog)?;
        let same = Spec {
            name: spec.name.clone(),
            ..target::parse(&layout.target(), catalog)?
        };
        if same == spec {
            return Ok(layout);
        }
        Err(LayoutError::OfAModel(layout.not_said(text, catalog)))
    }

    /// What `text` models, and what of that is sold.
    fn parsed(text: &str, catalog: &'a Catalog) -> Result<(Spec, Self), LayoutError> {
        let spec = target::parse(text, catalog)?;
        let cloud = text.split_once('/').map_or("", |(cloud, _)| cloud.trim());
        let layout = Self::of_spec(&spec, catalog.of_cloud(cloud).unwrap_or(catalog))?;
        Ok((spec, layout))
    }

    /// Words of `text` without which it is this layout as well.
    fn not_said(&self, text: &str, catalog: &'a Catalog) -> Vec<String> {
        let parts: Vec<&str> = text.split(',').collect();
        let without = |index: usize| {
            let rest = parts.iter().enumerate().filter(|&(other, _)| other != index);
            let rest: Vec<&str> = rest.map(|(_, part)| *part).collect();
            let (_, layout) = Self::parsed(&rest.join(","), catalog).ok()?;
            (layout == *self).then_some(())
        };
        let more = (1..parts.len()).filter(|&index| without(index).is_some());
        more.map(|index| parts[index].trim().to_owned()).collect()
    }

    /// What of the catalogue a specification models.
    ///
    /// # Errors
    /// Nothing of the catalogue is called so.
    pub fn of_spec(spec: &Spec, catalog: &'a Catalog) -> Result<Self, LayoutError> {
        let not_sold = |name: &str| LayoutError::NotSold(name.to_owned());
        let one = spec.disks.first().ok_or_else(|| not_sold(&spec.name))?;
        let disk = match catalog.disk(&one.name) {
            Some(row) => Disk::modelled(row, one.limits.iops),
            None => Disk::chosen_as(spec, catalog).ok_or_else(|| not_sold(&one.name))?,
        };
        let machine = match &spec.vm {
            Some(vm) => Some(catalog.vm(&vm.name).ok_or_else(|| not_sold(&vm.name))?),
            None => None,
        };
        Ok(Self {
            cloud: catalog.cloud(),
            machine,
            limits: OfMachine::of(catalog, machine, disk.family()),
            disk,
            count: spec.disks.len() as u32,
            cache: Cache::of(spec.host_cache.as_ref().map(|cache| cache.mode)),
            chunk_bytes: spec.stripe_chunk_bytes,
        })
    }

    /// What its disks hold.
    pub fn size_bytes(&self) -> u64 {
        self.disk.size_bytes * u64::from(self.count)
    }

    /// What is to be known of its disks and its machine beside limits and prices, each with whose it is.
    pub fn notes(&self) -> Vec<(String, String)> {
        let family = self.disk.family();
        let counted_bytes = match family.scope() {
            Scope::Disk => self.disk.size_bytes,
            Scope::Machine => self.size_bytes(),
        };
        let of_family = family.notes().iter().chain(family.terms()).map(String::as_str);
        let of_family = of_family.chain(family.notes_below(counted_bytes));
        let of_family = of_family.map(|note| (note.to_owned(), family.to_string()));
        let of_machine = self
            .machine
            .into_iter()
            .flat_map(|vm| vm.notes().map(|note| (note, vm.name.clone())));
        of_family.chain(of_machine).collect()
    }

    /// Its disks in words: `2xP15`, `PremiumV2`.
    pub fn disks_word(&self) -> String {
        match self.count {
            1 => self.disk.sku().to_owned(),
            count => format!("{count}x{}", self.disk.sku()),
        }
    }

    /// The target that it is, as `--on model:…` takes it.
    pub fn target(&self) -> String {
        let mut words = format!("{}/{}", self.cloud, self.disks_word());
        let disk = &self.disk;
        let mut add = |part: std::fmt::Arguments<'_>| {
            // Writing to a string cannot fail.
            let _ = words.write_fmt(part);
        };
        if disk.is_chosen() {
            add(format_args!(",size={}", size_word(disk.size_bytes)));
            if disk.iops > 0 {
                add(format_args!(",iops={}", disk.iops));
            }
            if disk.bytes_per_second > 0 {
                add(format_args!(",mbps={}", disk.bytes_per_second as f64 / MB as f64));
            }
        }
        if let Some(machine) = self.machine {
            add(format_args!(",vm={}", machine.name));
        }
        if self.cache != Cache::None {
            add(format_args!(",cache={}", self.cache.word()));
        }
        if disk.on_demand {
            add(format_args!(",burst=on-demand"));
        }
        if self.chunk_bytes != defaults::CHUNK_BYTES {
            add(format_args!(",chunk={}k", self.chunk_bytes >> 10));
        }
        words
    }
}

/// A size as targets and flags take it: whole GiB where it can be.
pub fn size_word(size_bytes: u64) -> String {
    if size_bytes.is_multiple_of(GIB) {
        return format!("{}g", size_bytes / GIB);
    }
    match size_bytes.trailing_zeros() {
        20.. => format!("{}m", size_bytes >> 20),
        _ => Bytes(size_bytes).get().to_string(),
    }
}

#[cfg(test)]
mod tests;

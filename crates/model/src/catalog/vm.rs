//! The sizes of virtual machines.
//!
//! Data in: `vms.csv`. Data out: rows, and where each stands by name. It must not know the disks.

use super::rows::{self, CatalogError};
use super::{GIB, MB};
use std::collections::BTreeMap;

const COLUMNS: [&str; 24] = [
    "name",
    "series",
    "vcpus",
    "memory_gib",
    "max_data_disks",
    "premium_io",
    "host_cache",
    "uncached_iops",
    "uncached_mbps",
    "cached_iops",
    "cached_mbps",
    "burst_uncached_iops",
    "burst_uncached_mbps",
    "cache_gib",
    "cards?",
    "hypervisor?",
    "paid_option?",
    "price_usd_hour",
    "price_usd_hour_1y?",
    "price_usd_hour_3y?",
    "price_region",
    "price_date",
    "source",
    "note?",
];

/// A size of virtual machine. `None` everywhere: no source states it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vm {
    /// Product name: `Standard_DS3_v2`.
    pub name: String,
    /// The series, from the name: `DSv2`.
    pub series: String,
    /// Active processors.
    pub vcpus: u32,
    pub memory_bytes: Option<u64>,
    /// How many data disks it takes.
    pub max_data_disks: u32,
    /// Whether it takes Premium SSD.
    pub premium_io: Option<bool>,
    /// Whether its host caches disks.
    pub host_cache: Option<bool>,
    /// I/O units a second on the uncached path.
    pub uncached_iops: Option<u64>,
    /// Bytes a second on the uncached path.
    pub uncached_bytes_per_second: Option<u64>,
    /// I/O units a second on the cached path.
    pub cached_iops: Option<u64>,
    /// Bytes a second on the cached path.
    pub cached_bytes_per_second: Option<u64>,
    /// Burst ceiling in I/O units a second on the uncached path; none documented is not "no burst".
    pub burst_uncached_iops: Option<u64>,
    /// Burst ceiling in bytes a second on the uncached path.
    pub burst_uncached_bytes_per_second: Option<u64>,
    /// Size of the host's cache.
    pub cache_bytes: Option<u64>,
    /// Cards that disks are attached to in turn, each with its part of the uncached limits.
    pub cards: u32,
    /// What it runs on, where limits depend on it; empty: no source states it.
    pub hypervisor: String,
    /// What its limits hold with, for a fee that no source states; empty: nothing.
    pub paid_option: String,
    /// Millionths of a US dollar an hour, Linux, pay as you go.
    pub price_microusd_hour: Option<u64>,
    /// The same, committed to for a year.
    pub price_microusd_hour_1y: Option<u64>,
    /// The same, committed to for three years.
    pub price_microusd_hour_3y: Option<u64>,
    /// Where that price holds.
    pub price_region: String,
    /// When that price held.
    pub price_date: String,
    /// Keys of the cloud's `SOURCES.md`.
    pub source: String,
    /// What is told with each answer about it; empty: nothing.
    pub note: String,
    /// What is told of its burst, as of those of all machines of its cloud; empty: nothing.
    pub burst_note: String,
}

impl Vm {
    /// What is to be known before figures of it are used, beside its limits.
    pub fn notes(&self) -> impl Iterator<Item = String> + '_ {
        let of_option = (!self.paid_option.is_empty()).then(|| {
            format!(
                "limits hold with the option {}, whose fee no source states",
                self.paid_option
            )
        });
        let own = (!self.note.is_empty()).then(|| self.note.clone());
        let of_burst = (!self.burst_note.is_empty()).then(|| self.burst_note.clone());
        of_option.into_iter().chain(own).chain(of_burst)
    }

    /// Whether it bursts above its limits, as far as is documented.
    pub fn bursts(&self) -> bool {
        let above = |burst: Option<u64>, base: Option<u64>| burst.is_some() && burst != base;
        above(self.burst_uncached_iops, self.uncached_iops)
            || above(
                self.burst_uncached_bytes_per_second,
                self.uncached_bytes_per_second,
            )
    }
}

/// A name as it is looked up: lower case, without underscores and without a leading `standard`.
pub(super) fn key(name: &str) -> String {
    let lower = name.trim().to_ascii_lowercase();
    let short = lower.strip_prefix("standard_").unwrap_or(&lower);
    short.chars().filter(|&letter| letter != '_').collect()
}

type Read = (Vec<Vm>, BTreeMap<String, usize>);

pub(super) fn read(file: &str, text: &str) -> Result<Read, CatalogError> {
    let mut places: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let vms = rows::read(file, text, &COLUMNS, |mut row| {
        let vm = vm(&mut row)?;
        let place = places.len();
        match places.insert(key(&vm.name), (place, row.line)) {
            Some((_, line)) => Err(row.twice(&vm.name, line)),
            None => Ok(vm),
        }
    })?;
    let places = places.into_iter().map(|(key, (place, _))| (key, place));
    Ok((vms, places.collect()))
}

/// The cells in the order of [`COLUMNS`]. The bounds are far above anything on sale.
fn vm(row: &mut rows::Row<'_>) -> Result<Vm, CatalogError> {
    const IOPS_MAX: u64 = 1_000_000_000;
    const MBPS_MAX: u64 = 1_000_000;
    const GIB_MAX: u64 = 1_000_000;
    Ok(Vm {
        name: row.name()?,
        series: row.name()?,
        vcpus: row.known(|row| row.whole(1, 100_000))? as u32,
        memory_bytes: row.amount(GIB, GIB_MAX)?,
        max_data_disks: row.known(|row| row.whole(1, 1_000))? as u32,
        premium_io: row.flag()?,
        host_cache: row.flag()?,
        uncached_iops: row.whole(1, IOPS_MAX)?,
        uncached_bytes_per_second: row.amount(MB, MBPS_MAX)?,
        cached_iops: row.whole(1, IOPS_MAX)?,
        cached_bytes_per_second: row.amount(MB, MBPS_MAX)?,
        burst_uncached_iops: row.whole(1, IOPS_MAX)?,
        burst_uncached_bytes_per_second: row.amount(MB, MBPS_MAX)?,
        cache_bytes: row.amount(GIB, GIB_MAX)?,
        cards: row.whole(1, 16)?.unwrap_or(1) as u32,
        hypervisor: row.word()?,
        paid_option: row.text().to_owned(),
        price_microusd_hour: row.micro(1_000_000)?,
        price_microusd_hour_1y: row.micro(1_000_000)?,
        price_microusd_hour_3y: row.micro(1_000_000)?,
        price_region: row.word()?,
        price_date: row.text().to_owned(),
        source: row.text().to_owned(),
        note: row.text().to_owned(),
        burst_note: String::new(),
    })
}

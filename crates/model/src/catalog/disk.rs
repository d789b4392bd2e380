//! Disks that come in fixed sizes, and what any disk is sold as.
//!
//! Data in: `disks.csv`. Data out: rows. It must not know the virtual machines.

use super::family::Family;
use super::flex::FlexDisk;
use super::rows::{self, CatalogError, Row};
use super::{GIB, MB};
use std::collections::BTreeMap;

pub(super) const IOPS_MAX: u64 = 1_000_000_000;
pub(super) const MBPS_MAX: u64 = 1_000_000;
pub(super) const GIB_MAX: u64 = 1_000_000;
pub(super) const USD_MAX: u64 = 1_000_000;

/// A burst ceiling above the base limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Burst {
    /// I/O units a second.
    pub iops: u64,
    pub bytes_per_second: u64,
    /// How long a full bucket of credit lasts; `None`: on demand, paid for, without end.
    pub credit_seconds: Option<u64>,
}

/// A disk of a fixed size. `None`: no source states it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disk {
    pub family: Family,
    /// Product name: `P15`.
    pub sku: String,
    /// The size that is billed.
    pub size_bytes: u64,
    /// I/O units a second without burst.
    pub iops: u64,
    /// Bytes a second without burst.
    pub bytes_per_second: u64,
    /// What it bursts to, if it does.
    pub burst: Option<Burst>,
    /// A larger I/O counts as several of this size.
    pub io_unit_bytes: u64,
    /// Millionths of a US dollar a month, capacity alone.
    pub price_microusd_month: Option<u64>,
    /// Where that price holds.
    pub price_region: String,
    /// When that price held.
    pub price_date: String,
    /// Keys of the cloud's `SOURCES.md`.
    pub source: String,
}

impl Disk {
    /// Whether a host may cache it, by its family and size.
    pub const fn cacheable(&self) -> bool {
        self.size_bytes < self.family.host_cache_below_bytes()
    }
}

/// Anything that can be bought as a disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offer<'a> {
    /// Of a fixed size.
    Fixed(&'a Disk),
    /// Freely sized.
    Flex(&'a FlexDisk),
}

impl<'a> Offer<'a> {
    /// Its family.
    pub const fn family(self) -> Family {
        match self {
            Self::Fixed(disk) => disk.family,
            Self::Flex(disk) => disk.family,
        }
    }

    /// Its product name.
    pub fn sku(self) -> &'a str {
        match self {
            Self::Fixed(disk) => &disk.sku,
            Self::Flex(disk) => &disk.sku,
        }
    }

    /// Where its prices hold, and when they held.
    pub fn priced(self) -> (&'a str, &'a str) {
        match self {
            Self::Fixed(disk) => (&disk.price_region, &disk.price_date),
            Self::Flex(disk) => (&disk.price_region, &disk.price_date),
        }
    }
}

const DISK_COLUMNS: [&str; 14] = [
    "family",
    "sku",
    "size_gib",
    "base_iops",
    "base_mbps",
    "burst_iops",
    "burst_mbps",
    "burst_max_minutes",
    "burst_model",
    "io_unit_kib",
    "price_usd_month",
    "price_region",
    "price_date",
    "source",
];

pub(super) fn read_disks(file: &str, text: &str, families: &[Family]) -> Result<Vec<Disk>, CatalogError> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    rows::read(file, text, &DISK_COLUMNS, |mut row| {
        let disk = Disk {
            family: family(&mut row, families, false)?,
            sku: row.name()?,
            size_bytes: row.known(|row| row.amount(GIB, GIB_MAX))?,
            iops: row.known(|row| row.whole(1, IOPS_MAX))?,
            bytes_per_second: row.known(|row| row.amount(MB, MBPS_MAX))?,
            burst: burst(&mut row)?,
            io_unit_bytes: row.known(|row| row.amount(1024, 1 << 20))?,
            price_microusd_month: row.micro(USD_MAX)?,
            price_region: row.word()?,
            price_date: row.text().to_owned(),
            source: row.text().to_owned(),
        };
        match seen.insert(disk.sku.to_ascii_lowercase(), row.line) {
            Some(line) => Err(row.twice(&disk.sku, line)),
            None => Ok(disk),
        }
    })
}

/// The next cell: a family of fixed sizes, or of free ones.
pub(super) fn family(row: &mut Row<'_>, families: &[Family], flex: bool) -> Result<Family, CatalogError> {
    let mut allowed = families.iter().copied().filter(|family| family.is_flex() == flex);
    let names: Vec<&str> = allowed.clone().map(Family::name).collect();
    let text = row.text();
    match allowed.find(|family| family.name() == text) {
        Some(family) => Ok(family),
        None => Err(row.wrong(format!("one of these goes here: {}", names.join(", ")))),
    }
}

/// The four cells on bursts, which must agree.
fn burst(row: &mut Row<'_>) -> Result<Option<Burst>, CatalogError> {
    let iops = row.whole(1, IOPS_MAX)?;
    let bytes_per_second = row.amount(MB, MBPS_MAX)?;
    let minutes = row.whole(1, 24 * 60)?;
    let model = row.text().to_owned();
    let burst = |credit_seconds| match (iops, bytes_per_second) {
        (Some(iops), Some(bytes_per_second)) => Some(Burst {
            iops,
            bytes_per_second,
            credit_seconds,
        }),
        _ => None,
    };
    let agreed = match (model.as_str(), minutes) {
        ("none", None) if iops.is_none() && bytes_per_second.is_none() => return Ok(None),
        ("credit", Some(minutes)) => burst(Some(minutes * 60)),
        ("on-demand", None) => burst(None),
        _ => None,
    };
    match agreed {
        Some(burst) => Ok(Some(burst)),
        None => Err(row.wrong(
            "`credit` (with burst_iops, burst_mbps and burst_max_minutes), `on-demand` (with burst_iops and \
             burst_mbps alone) or `none` (without) goes here",
        )),
    }
}

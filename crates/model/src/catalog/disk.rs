//! Disks: those that come in fixed sizes, and those whose size and limits are freely chosen.
//!
//! Data in: `disks.csv`, `flex-disks.csv`. Data out: rows, and the rules that the documentation states for them. It
//! must not know the virtual machines.

use super::rows::{self, CatalogError, Row};
use super::{GIB, MB};
use std::collections::BTreeMap;
use std::fmt;

const IOPS_MAX: u64 = 1_000_000_000;
const MBPS_MAX: u64 = 1_000_000;
const GIB_MAX: u64 = 1_000_000;
const USD_MAX: u64 = 1_000_000;

/// Disks of this size and more have no host cache.
pub(crate) const CACHED_BELOW_BYTES: u64 = 4096 * GIB;

/// A family of disks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    /// P1 to P80.
    PremiumSsd,
    /// E1 to E80.
    StandardSsd,
    /// S4 to S80.
    StandardHdd,
    /// Freely sized.
    PremiumSsdV2,
    /// Freely sized.
    UltraDisk,
}

impl Family {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::PremiumSsd,
        Self::StandardSsd,
        Self::StandardHdd,
        Self::PremiumSsdV2,
        Self::UltraDisk,
    ];

    /// The name as Azure writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::PremiumSsd => "Premium SSD",
            Self::StandardSsd => "Standard SSD",
            Self::StandardHdd => "Standard HDD",
            Self::PremiumSsdV2 => "Premium SSD v2",
            Self::UltraDisk => "Ultra Disk",
        }
    }

    /// Whether only a virtual machine with premium storage takes it.
    pub const fn needs_premium_io(self) -> bool {
        matches!(self, Self::PremiumSsd)
    }

    /// Whether I/O itself is paid for, besides the capacity.
    pub const fn billed_by_transaction(self) -> bool {
        matches!(self, Self::StandardSsd | Self::StandardHdd)
    }

    /// Whether its size and limits are freely chosen.
    pub const fn is_flex(self) -> bool {
        matches!(self, Self::PremiumSsdV2 | Self::UltraDisk)
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

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
    /// Keys of `data/azure/SOURCES.md`.
    pub source: String,
}

impl Disk {
    /// Whether a host may cache it: the families of fixed sizes, below 4,096 GiB.
    pub const fn cacheable(&self) -> bool {
        self.size_bytes < CACHED_BELOW_BYTES
    }
}

/// A family of disks whose size, IOPS and MB/s are freely chosen within caps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlexDisk {
    pub family: Family,
    /// Product name: `PremiumV2`.
    pub sku: String,
    /// Smallest size.
    pub size_bytes_min: u64,
    /// Largest size.
    pub size_bytes_max: u64,
    /// Sizes are multiples of it.
    pub size_increment_bytes: u64,
    /// IOPS that cost nothing.
    pub iops_free: u64,
    /// Lowest IOPS.
    pub iops_min: u64,
    /// What the cap on IOPS is at least.
    pub iops_cap_floor: u64,
    /// What each GiB allows.
    pub iops_cap_per_gib: u64,
    /// Up to this size the floor is the cap.
    pub iops_cap_scales_above_bytes: u64,
    /// What the cap on IOPS is at most.
    pub iops_cap_max: u64,
    /// Bytes a second that cost nothing.
    pub bytes_per_second_free: u64,
    /// Lowest bytes a second.
    pub bytes_per_second_min: u64,
    /// What each provisioned IOPS allows.
    pub bytes_per_second_cap_per_iops: u64,
    /// What the cap on bytes a second is at most.
    pub bytes_per_second_cap_max: u64,
    /// How often its performance can be changed.
    pub performance_changes_per_day: Option<u64>,
    /// Whether a host may cache it.
    pub host_caching: bool,
    /// A larger I/O counts as several of this size.
    pub io_unit_bytes: u64,
    /// Millionths of a US dollar a GiB and month.
    pub price_microusd_gib_month: Option<u64>,
    /// Millionths of a US dollar an IOPS and month, above the free ones.
    pub price_microusd_iops_month: Option<u64>,
    /// Millionths of a US dollar a MB/s and month, above the free ones.
    pub price_microusd_mbps_month: Option<u64>,
    /// Where these prices hold.
    pub price_region: String,
    /// When they held.
    pub price_date: String,
    /// Keys of `data/azure/SOURCES.md`.
    pub source: String,
}

impl FlexDisk {
    /// The most IOPS that a disk of this size can have.
    pub fn iops_cap(&self, size_bytes: u64) -> u64 {
        if size_bytes <= self.iops_cap_scales_above_bytes {
            return self.iops_cap_floor.min(self.iops_cap_max);
        }
        let scaled = u128::from(size_bytes) * u128::from(self.iops_cap_per_gib) / u128::from(GIB);
        let scaled = u64::try_from(scaled).unwrap_or(u64::MAX);
        scaled.max(self.iops_cap_floor).min(self.iops_cap_max)
    }

    /// The most bytes a second that a disk with so many IOPS can have.
    pub fn bytes_per_second_cap(&self, iops: u64) -> u64 {
        iops.saturating_mul(self.bytes_per_second_cap_per_iops)
            .max(self.bytes_per_second_min)
            .min(self.bytes_per_second_cap_max)
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

pub(super) fn read_disks(file: &str, text: &str) -> Result<Vec<Disk>, CatalogError> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    rows::read(file, text, &DISK_COLUMNS, |mut row| {
        let disk = Disk {
            family: family(&mut row, false)?,
            sku: row.name()?,
            size_bytes: row.known(|row| row.amount(GIB, GIB_MAX))?,
            iops: row.known(|row| row.whole(1, IOPS_MAX))?,
            bytes_per_second: row.known(|row| row.amount(MB, MBPS_MAX))?,
            burst: burst(&mut row)?,
            io_unit_bytes: row.known(|row| row.amount(1024, 1 << 20))?,
            price_microusd_month: row.micro(USD_MAX)?,
            price_region: row.text().to_owned(),
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
fn family(row: &mut Row<'_>, flex: bool) -> Result<Family, CatalogError> {
    let mut allowed = Family::ALL.into_iter().filter(|family| family.is_flex() == flex);
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

const FLEX_COLUMNS: [&str; 25] = [
    "family",
    "sku",
    "min_gib",
    "max_gib",
    "increment_gib",
    "iops_baseline_free",
    "iops_min",
    "iops_cap_floor",
    "iops_cap_per_gib",
    "iops_cap_scales_above_gib",
    "iops_cap_max",
    "mbps_baseline_free",
    "mbps_min",
    "mbps_cap_per_iops",
    "mbps_cap_max",
    "perf_changes_per_24h",
    "host_caching",
    "bursting",
    "io_unit_kib",
    "price_usd_gib_month",
    "price_usd_iops_month",
    "price_usd_mbps_month",
    "price_region",
    "price_date",
    "source",
];

pub(super) fn read_flex_disks(file: &str, text: &str) -> Result<Vec<FlexDisk>, CatalogError> {
    let mut seen: BTreeMap<Family, usize> = BTreeMap::new();
    rows::read(file, text, &FLEX_COLUMNS, |mut row| {
        let disk = flex_disk(&mut row)?;
        match seen.insert(disk.family, row.line) {
            Some(line) => Err(row.twice(disk.family.name(), line)),
            None => Ok(disk),
        }
    })
}

/// The cells in the order of [`FLEX_COLUMNS`].
fn flex_disk(row: &mut Row<'_>) -> Result<FlexDisk, CatalogError> {
    let size = |row: &mut Row<'_>| row.amount(GIB, GIB_MAX);
    let iops = |row: &mut Row<'_>| row.whole(1, IOPS_MAX);
    let rate = |row: &mut Row<'_>| row.amount(MB, MBPS_MAX);
    Ok(FlexDisk {
        family: family(row, true)?,
        sku: row.name()?,
        size_bytes_min: row.known(size)?,
        size_bytes_max: row.known(size)?,
        size_increment_bytes: row.known(size)?,
        iops_free: row.known(|row| row.whole(0, IOPS_MAX))?,
        iops_min: row.known(iops)?,
        iops_cap_floor: row.whole(0, IOPS_MAX)?.unwrap_or(0),
        iops_cap_per_gib: row.known(iops)?,
        iops_cap_scales_above_bytes: row.known(|row| row.whole(0, GIB_MAX))? * GIB,
        iops_cap_max: row.known(iops)?,
        bytes_per_second_free: row.known(|row| row.whole(0, MBPS_MAX))? * MB,
        bytes_per_second_min: row.known(rate)?,
        bytes_per_second_cap_per_iops: row.known(rate)?,
        bytes_per_second_cap_max: row.known(rate)?,
        performance_changes_per_day: row.whole(0, 1_000_000)?,
        host_caching: row.known(Row::flag)?,
        io_unit_bytes: {
            no_burst(row)?;
            row.known(|row| row.amount(1024, 1 << 20))?
        },
        price_microusd_gib_month: row.micro(USD_MAX)?,
        price_microusd_iops_month: row.micro(USD_MAX)?,
        price_microusd_mbps_month: row.micro(USD_MAX)?,
        price_region: row.text().to_owned(),
        price_date: row.text().to_owned(),
        source: row.text().to_owned(),
    })
}

fn no_burst(row: &mut Row<'_>) -> Result<(), CatalogError> {
    match row.text() {
        "none" => Ok(()),
        _ => Err(row.wrong("`none` goes here: freely sized disks do not burst")),
    }
}

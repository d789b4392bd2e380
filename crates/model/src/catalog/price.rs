//! Prices of freely sized disks in other regions than that of their rows.
//!
//! Data in: `prices.csv`. Data out: rows, and the same disk at the prices of a region. It must not know the virtual machines.

use super::disk::USD_MAX;
use super::flex::{self, FlexDisk};
use super::rows::{self, CatalogError};
use std::collections::BTreeMap;

const COLUMNS: [&str; 8] = [
    "region",
    "sku",
    "price_usd_gib_month",
    "price_usd_iops_month",
    "price_usd_iops_tiers",
    "price_usd_mbps_month",
    "price_date",
    "source",
];

/// What a freely sized disk costs in a region. `None`: no source states it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Price {
    pub region: String,
    /// Product name, as in `flex-disks.csv`.
    pub sku: String,
    /// Millionths of a US dollar a GiB and month.
    pub microusd_gib_month: Option<u64>,
    /// Millionths of a US dollar an IOPS and month, above the free ones.
    pub microusd_iops_month: Option<u64>,
    /// Prices of an IOPS and month above so many: `(above, millionths of a US dollar)`.
    pub tiers: Vec<(u64, u64)>,
    /// Millionths of a US dollar an MB or MiB a second (as its disk counts them) and month, above the free ones.
    pub microusd_mbps_month: Option<u64>,
    /// When these prices held.
    pub date: String,
    /// Keys of the cloud's `SOURCES.md`.
    pub source: String,
}

impl Price {
    /// The disk at these prices.
    pub(super) fn of(&self, disk: &FlexDisk) -> FlexDisk {
        FlexDisk {
            price_microusd_gib_month: self.microusd_gib_month,
            price_microusd_iops_month: self.microusd_iops_month,
            price_tiers: self.tiers.clone(),
            price_microusd_mbps_month: self.microusd_mbps_month,
            price_region: self.region.clone(),
            price_date: self.date.clone(),
            source: format!("{} {}", disk.source, self.source),
            ..disk.clone()
        }
    }
}

pub(super) fn read(file: &str, text: &str, disks: &[FlexDisk]) -> Result<Vec<Price>, CatalogError> {
    let mut seen: BTreeMap<(String, String), usize> = BTreeMap::new();
    rows::read(file, text, &COLUMNS, |mut row| {
        let region = row.name()?;
        let sku = row.name()?;
        let Some(disk) = disks.iter().find(|disk| disk.sku == sku) else {
            return Err(row.wrong("the name of a disk of flex-disks.csv goes here"));
        };
        if disk.price_region == region {
            return Err(row.wrong("its prices in this region stand in flex-disks.csv"));
        }
        if let Some(line) = seen.insert((region.clone(), sku.clone()), row.line) {
            return Err(row.twice(&format!("{sku} in {region}"), line));
        }
        Ok(Price {
            region,
            sku,
            microusd_gib_month: Some(row.known(|row| row.micro(USD_MAX))?),
            microusd_iops_month: row.micro(USD_MAX)?,
            tiers: flex::tiers(&mut row)?,
            microusd_mbps_month: row.micro(USD_MAX)?,
            date: row.text().to_owned(),
            source: row.text().to_owned(),
        })
    })
}

//! Disks whose size is freely chosen: their limits are chosen within caps, or follow from what is chosen.
//!
//! Data in: `flex-disks.csv`. Data out: rows, and what a disk of such a row has: [`FlexDisk::figures`]. It must not know the
//! virtual machines beyond what they run on.

use super::disk::{self, GIB_MAX, IOPS_MAX, MBPS_MAX, USD_MAX};
use super::family::Family;
use super::formula::{Formula, Values};
use super::rows::{self, CatalogError, Row};
use super::vm::Vm;
use super::{GIB, MB};
use std::collections::BTreeMap;

/// How a figure of a freely sized disk comes about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rule {
    /// Who buys it says it, within bounds.
    Chosen,
    /// It follows from the size, or from another figure.
    Follows(Formula),
    /// No source states it.
    NotKnown,
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
    /// What the cap on IOPS is at most on machines of a hypervisor: `(which, IOPS)`.
    pub iops_cap_by_hypervisor: Option<(String, u64)>,
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
    /// Prices of an IOPS and month above so many, where more of them cost less: `(above, millionths of a US dollar)`.
    pub price_tiers: Vec<(u64, u64)>,
    /// Millionths of a US dollar a [`FlexDisk::throughput_unit_bytes`] a second and month, above the free ones.
    pub price_microusd_mbps_month: Option<u64>,
    /// Where these prices hold.
    pub price_region: String,
    /// When they held.
    pub price_date: String,
    /// Keys of the cloud's `SOURCES.md`.
    pub source: String,
    /// What the cloud counts throughput in: 10^6 or 2^20 bytes.
    pub throughput_unit_bytes: u64,
    pub iops_rule: Rule,
    pub bytes_per_second_rule: Rule,
    /// What IOPS are at least, where it depends on the size.
    pub iops_min_rule: Option<Formula>,
    /// What IOPS are at most, where the columns cannot say it.
    pub iops_max_rule: Option<Formula>,
    /// What bytes a second are at least, where it depends on more.
    pub bytes_per_second_min_rule: Option<Formula>,
    /// What bytes a second are at most, where the columns cannot say it.
    pub bytes_per_second_max_rule: Option<Formula>,
    /// The limit of writes, where they have one of their own.
    pub write_iops_rule: Option<Formula>,
    /// The limit of writes, where they have one of their own.
    pub write_bytes_per_second_rule: Option<Formula>,
    pub burst_iops_rule: Option<Formula>,
    pub burst_bytes_per_second_rule: Option<Formula>,
    /// What a full bucket of credit holds, in I/O units.
    pub bucket_ios_rule: Option<Formula>,
    /// The same, in the row's unit of bytes.
    pub bucket_bytes_rule: Option<Formula>,
}

/// What a disk of a row has. `None`: no source states it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Figures {
    /// I/O units a second; of reads alone where [`Figures::write_iops`] is stated.
    pub iops: Option<u64>,
    pub bytes_per_second: Option<u64>,
    /// Of writes, where they have a limit of their own.
    pub write_iops: Option<u64>,
    /// Of writes, where they have a limit of their own.
    pub write_bytes_per_second: Option<u64>,
    pub burst: Option<FlexBurst>,
}

/// A burst on credit, which fills at the rate without burst.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlexBurst {
    /// I/O units a second while credit lasts.
    pub iops: Option<u64>,
    pub bytes_per_second: Option<u64>,
    /// What a full bucket holds, in I/O units.
    pub iops_credit: Option<u64>,
    /// What a full bucket holds, in bytes.
    pub bytes_credit: Option<u64>,
}

impl FlexDisk {
    /// The most IOPS that a disk of this size can have.
    pub fn iops_cap(&self, size_bytes: u64) -> u64 {
        if let Some(rule) = &self.iops_max_rule {
            let most = self.ios(rule, self.values(size_bytes, 0, 0)).unwrap_or(0);
            return most.min(self.iops_cap_max);
        }
        if size_bytes <= self.iops_cap_scales_above_bytes {
            return self.iops_cap_floor.min(self.iops_cap_max);
        }
        let scaled = u128::from(size_bytes) * u128::from(self.iops_cap_per_gib) / u128::from(GIB);
        let scaled = u64::try_from(scaled).unwrap_or(u64::MAX);
        scaled.max(self.iops_cap_floor).min(self.iops_cap_max)
    }

    /// The most IOPS that any disk of it can have on a machine; `None`: the machine does not matter.
    pub fn iops_cap_on(&self, vm: &Vm) -> Option<u64> {
        let (hypervisor, cap) = self.iops_cap_by_hypervisor.as_ref()?;
        (vm.hypervisor == *hypervisor).then_some(*cap)
    }

    /// The fewest IOPS that a disk of this size can have.
    pub fn iops_least(&self, size_bytes: u64) -> u64 {
        let rule = self.iops_min_rule.as_ref();
        let least = rule.and_then(|rule| self.ios(rule, self.values(size_bytes, 0, 0)));
        least.unwrap_or(self.iops_min)
    }

    /// The most bytes a second that a disk with so many IOPS can have, its size aside.
    pub fn bytes_per_second_cap(&self, iops: u64) -> u64 {
        iops.saturating_mul(self.bytes_per_second_cap_per_iops)
            .max(self.bytes_per_second_min)
            .min(self.bytes_per_second_cap_max)
    }

    /// The fewest and the most bytes a second that a disk of this size with so many IOPS can have.
    pub fn bytes_per_second_bounds(&self, size_bytes: u64, iops: u64) -> (u64, u64) {
        let values = self.values(size_bytes, iops, 0);
        let at = |rule: &Option<Formula>| rule.as_ref().and_then(|rule| self.bytes(rule, values));
        let least = at(&self.bytes_per_second_min_rule).unwrap_or(self.bytes_per_second_min);
        let most = at(&self.bytes_per_second_max_rule).map_or_else(
            || self.bytes_per_second_cap(iops),
            |most| most.min(self.bytes_per_second_cap_max),
        );
        (least, most.max(least))
    }

    /// What a disk of this size has, with so many IOPS and bytes a second where they are chosen; where they are not, the
    /// arguments do not matter.
    pub fn figures(&self, size_bytes: u64, iops: u64, bytes_per_second: u64) -> Figures {
        // One of both may follow from the other.
        let chosen = |rule: &Rule, value: u64| if *rule == Rule::Chosen { value } else { 0 };
        let mut values = self.values(
            size_bytes,
            chosen(&self.iops_rule, iops),
            chosen(&self.bytes_per_second_rule, bytes_per_second),
        );
        let by_bytes = matches!(&self.iops_rule, Rule::Follows(formula) if formula.names_mbps());
        let mut figures = Figures::default();
        for of_bytes in [by_bytes, !by_bytes] {
            if of_bytes {
                figures.bytes_per_second = match &self.bytes_per_second_rule {
                    Rule::Chosen => Some(bytes_per_second),
                    Rule::Follows(formula) => self.bytes(formula, values),
                    Rule::NotKnown => None,
                };
                values.mbps =
                    figures.bytes_per_second.unwrap_or(0) as f64 / self.throughput_unit_bytes as f64;
            } else {
                figures.iops = match &self.iops_rule {
                    Rule::Chosen => Some(iops),
                    Rule::Follows(formula) => self.ios(formula, values),
                    Rule::NotKnown => None,
                };
                values.iops = figures.iops.unwrap_or(0) as f64;
            }
        }
        let ios = |rule: &Option<Formula>| rule.as_ref().and_then(|rule| self.ios(rule, values));
        let bytes = |rule: &Option<Formula>| rule.as_ref().and_then(|rule| self.bytes(rule, values));
        figures.write_iops = ios(&self.write_iops_rule);
        figures.write_bytes_per_second = bytes(&self.write_bytes_per_second_rule);
        // A ceiling that is no higher than the limit itself is none.
        let ceiling = bytes(&self.burst_bytes_per_second_rule);
        let ceiling = ceiling.filter(|&ceiling| Some(ceiling) > figures.bytes_per_second);
        let burst = FlexBurst {
            iops: ios(&self.burst_iops_rule),
            bytes_per_second: ceiling,
            iops_credit: ios(&self.bucket_ios_rule),
            bytes_credit: ceiling.and_then(|_| bytes(&self.bucket_bytes_rule)),
        };
        let above = |burst: Option<u64>, base: Option<u64>| burst > base && base.is_some();
        let bursts =
            above(burst.iops, figures.iops) || above(burst.bytes_per_second, figures.bytes_per_second);
        figures.burst = bursts.then_some(burst);
        figures
    }

    fn values(&self, size_bytes: u64, iops: u64, bytes_per_second: u64) -> Values {
        Values {
            gib: size_bytes as f64 / GIB as f64,
            iops: iops as f64,
            mbps: bytes_per_second as f64 / self.throughput_unit_bytes as f64,
        }
    }

    /// I/Os are whole: a part of one is none.
    #[allow(clippy::unused_self, reason = "beside `bytes`, which needs it")]
    fn ios(&self, rule: &Formula, values: Values) -> Option<u64> {
        // A sum that is a hair below a whole number is meant to be it.
        rule.at(values).map(|value| libm::floor(value + 1e-6) as u64)
    }

    fn bytes(&self, rule: &Formula, values: Values) -> Option<u64> {
        let unit = self.throughput_unit_bytes as f64;
        rule.at(values).map(|value| libm::round(value * unit) as u64)
    }
}

const COLUMNS: [&str; 40] = [
    "mbps_unit?",
    "iops_rule?",
    "mbps_rule?",
    "iops_min_rule?",
    "iops_max_rule?",
    "mbps_min_rule?",
    "mbps_max_rule?",
    "write_iops_rule?",
    "write_mbps_rule?",
    "burst_iops_rule?",
    "burst_mbps_rule?",
    "bucket_ios_rule?",
    "bucket_mb_rule?",
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
    "iops_cap_by_hypervisor?",
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
    "price_usd_iops_tiers?",
    "price_usd_mbps_month",
    "price_region",
    "price_date",
    "source",
];

pub(super) fn read(file: &str, text: &str, families: &[Family]) -> Result<Vec<FlexDisk>, CatalogError> {
    let mut seen: BTreeMap<Family, usize> = BTreeMap::new();
    rows::read(file, text, &COLUMNS, |mut row| {
        let disk = flex_disk(&mut row, families)?;
        match seen.insert(disk.family, row.line) {
            Some(line) => Err(row.twice(disk.family.name(), line)),
            None => Ok(disk),
        }
    })
}

/// The cells in the order of [`COLUMNS`].
fn flex_disk(row: &mut Row<'_>, families: &[Family]) -> Result<FlexDisk, CatalogError> {
    let size = |row: &mut Row<'_>| row.amount(GIB, GIB_MAX);
    let throughput_unit_bytes = unit(row)?;
    let iops_rule = rule(row)?;
    let bytes_per_second_rule = rule(row)?;
    let [iops_min_rule, iops_max_rule, mbps_min_rule, mbps_max_rule] = formulas(row)?;
    let [
        write_iops_rule,
        write_mbps_rule,
        burst_iops_rule,
        burst_mbps_rule,
        bucket_ios_rule,
        bucket_mb_rule,
    ] = formulas(row)?;
    // A cell that is needed where a figure is chosen, and no rule stands for it; else it may be blank.
    let ios = |row: &mut Row<'_>, needed: bool, least: u64, blank: u64| {
        let read = |row: &mut Row<'_>| row.whole(least, IOPS_MAX);
        if needed {
            row.known(read)
        } else {
            Ok(read(row)?.unwrap_or(blank))
        }
    };
    let rate = |row: &mut Row<'_>, needed: bool, blank: u64| {
        let read = |row: &mut Row<'_>| row.amount(throughput_unit_bytes, MBPS_MAX);
        if needed {
            row.known(read)
        } else {
            Ok(read(row)?.unwrap_or(blank))
        }
    };
    let iops = iops_rule == Rule::Chosen;
    let bytes = bytes_per_second_rule == Rule::Chosen;
    let (iops_caps, bytes_caps) = (iops && iops_max_rule.is_none(), bytes && mbps_max_rule.is_none());
    Ok(FlexDisk {
        family: disk::family(row, families, true)?,
        sku: row.name()?,
        size_bytes_min: row.known(size)?,
        size_bytes_max: row.known(size)?,
        size_increment_bytes: row.known(size)?,
        // What follows is paid for with the capacity.
        iops_free: ios(row, iops, 0, u64::MAX)?,
        iops_min: ios(row, iops && iops_min_rule.is_none(), 1, 1)?,
        iops_cap_floor: row.whole(0, IOPS_MAX)?.unwrap_or(0),
        iops_cap_per_gib: ios(row, iops_caps, 1, 0)?,
        iops_cap_scales_above_bytes: if iops_caps {
            row.known(|row| row.whole(0, GIB_MAX))?
        } else {
            row.whole(0, GIB_MAX)?.unwrap_or(0)
        } * GIB,
        iops_cap_max: ios(row, iops, 1, IOPS_MAX)?,
        iops_cap_by_hypervisor: by_hypervisor(row)?,
        bytes_per_second_free: {
            let read = |row: &mut Row<'_>| row.whole(0, MBPS_MAX);
            let free = if bytes { Some(row.known(read)?) } else { read(row)? };
            free.map_or(u64::MAX, |free| free * throughput_unit_bytes)
        },
        bytes_per_second_min: rate(row, bytes && mbps_min_rule.is_none(), throughput_unit_bytes)?,
        bytes_per_second_cap_per_iops: rate(row, bytes_caps, 0)?,
        bytes_per_second_cap_max: rate(row, bytes, MBPS_MAX * MB)?,
        performance_changes_per_day: row.whole(0, 1_000_000)?,
        host_caching: row.known(Row::flag)?,
        io_unit_bytes: {
            let bursts = row.text().to_owned();
            let credit = bucket_ios_rule.is_some() || bucket_mb_rule.is_some();
            match (bursts.as_str(), credit) {
                ("none", false) | ("credit", true) => {}
                _ => {
                    return Err(row.wrong(
                        "`none`, or `credit` with a bucket (bucket_ios_rule or bucket_mb_rule), goes here",
                    ));
                }
            }
            row.known(|row| row.amount(1024, 1 << 20))?
        },
        price_microusd_gib_month: row.micro(USD_MAX)?,
        price_microusd_iops_month: row.micro(USD_MAX)?,
        price_tiers: tiers(row)?,
        price_microusd_mbps_month: row.micro(USD_MAX)?,
        price_region: row.word()?,
        price_date: row.text().to_owned(),
        source: row.text().to_owned(),
        throughput_unit_bytes,
        iops_rule,
        bytes_per_second_rule,
        iops_min_rule,
        iops_max_rule,
        bytes_per_second_min_rule: mbps_min_rule,
        bytes_per_second_max_rule: mbps_max_rule,
        write_iops_rule,
        write_bytes_per_second_rule: write_mbps_rule,
        burst_iops_rule,
        burst_bytes_per_second_rule: burst_mbps_rule,
        bucket_ios_rule,
        bucket_bytes_rule: bucket_mb_rule,
    })
}

fn unit(row: &mut Row<'_>) -> Result<u64, CatalogError> {
    match row.text() {
        "" | "MB" => Ok(MB),
        "MiB" => Ok(1 << 20),
        _ => Err(row.wrong("`MB` (10^6 bytes, also where it is blank) or `MiB` goes here")),
    }
}

/// The next cell: a formula, `not known`, or blank where the figure is chosen.
fn rule(row: &mut Row<'_>) -> Result<Rule, CatalogError> {
    if let Some(formula) = formula(row)? {
        return Ok(formula);
    }
    Ok(Rule::Chosen)
}

fn formula(row: &mut Row<'_>) -> Result<Option<Rule>, CatalogError> {
    match row.text().to_owned().as_str() {
        "" => Ok(None),
        "not known" => Ok(Some(Rule::NotKnown)),
        text => match Formula::parse(text) {
            Ok(formula) if formula.is_nothing() => Err(row.wrong(
                "it comes to nothing, or divides by zero, whatever the size: a formula of more than 0 goes here",
            )),
            Ok(formula) => Ok(Some(Rule::Follows(formula))),
            Err(problem) => Err(row.wrong(problem)),
        },
    }
}

/// The next cells: each a formula, or blank.
fn formulas<const N: usize>(row: &mut Row<'_>) -> Result<[Option<Formula>; N], CatalogError> {
    let mut all = [const { None }; N];
    for each in &mut all {
        *each = match formula(row)? {
            Some(Rule::Follows(formula)) => Some(formula),
            Some(Rule::NotKnown) => return Err(row.wrong("a formula or a blank goes here")),
            Some(Rule::Chosen) | None => None,
        };
    }
    Ok(all)
}

/// The next cell: the most IOPS on machines of a hypervisor, `xen:32000`, or blank.
fn by_hypervisor(row: &mut Row<'_>) -> Result<Option<(String, u64)>, CatalogError> {
    let text = row.text().to_owned();
    if text.is_empty() {
        return Ok(None);
    }
    let parts = text.split_once(':');
    let cap = parts.and_then(|(which, cap)| Some((which.trim(), cap.trim().parse::<u64>().ok()?)));
    match cap.filter(|&(which, cap)| !which.is_empty() && (1..=IOPS_MAX).contains(&cap)) {
        Some((which, cap)) => Ok(Some((which.to_owned(), cap))),
        None => Err(row.wrong("HYPERVISOR:IOPS goes here, as in `xen:32000`, or a blank")),
    }
}

/// The next cell: prices of an IOPS and month above so many, `32000:0.0455 64000:0.03185`.
pub(super) fn tiers(row: &mut Row<'_>) -> Result<Vec<(u64, u64)>, CatalogError> {
    let text = row.text().to_owned();
    let tier = |part: &str| {
        let (above, price) = part.split_once(':')?;
        Some((above.parse().ok()?, rows::decimal_micro(price)?))
    };
    let tiers: Option<Vec<(u64, u64)>> = text.split_whitespace().map(tier).collect();
    let ascend = |tiers: &Vec<(u64, u64)>| tiers.windows(2).all(|pair| pair[0].0 < pair[1].0);
    match tiers.filter(ascend) {
        Some(tiers) => Ok(tiers),
        None => {
            Err(row.wrong("IOPS:PRICE goes here, in ascending order, as in `32000:0.0455 64000:0.03185`"))
        }
    }
}

#[cfg(test)]
mod tests;

//! What a layout costs a month, by part.
//!
//! Data in: a layout, how many hours a month has. Data out: [`Cost`]: parts in millionths of a US dollar; what no source
//! states a price for is a part without one, never free. It must not know what a layout delivers.

use crate::layout::{GIB, Layout};
use fathom_model::catalog::{FlexDisk, Offer, Vm};

/// What a month of a machine is counted as, where nothing else is asked for: as price lists do.
pub const HOURS_A_MONTH: u64 = 730;

/// How prices are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    /// Of a machine; disks are paid by the month.
    pub hours_a_month: u64,
    /// For how long it is committed to.
    pub commitment: Commitment,
}

/// For how long a machine is committed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Commitment {
    /// Pay as you go.
    #[default]
    None,
    OneYear,
    ThreeYears,
}

impl Default for Terms {
    fn default() -> Self {
        Self {
            hours_a_month: HOURS_A_MONTH,
            commitment: Commitment::None,
        }
    }
}

/// What is paid for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    Machine,
    Capacity,
    /// Provisioned IOPS above the free ones.
    Iops,
    /// Provisioned MB/s above the free ones.
    Throughput,
    /// Per 10,000 I/Os, besides the capacity.
    Transactions,
    /// The fees of bursts on demand.
    OnDemandBursts,
    /// The fee of an option that a machine's limits need.
    MachineOption,
}

impl What {
    /// In words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Machine => "machine",
            Self::Capacity => "capacity",
            Self::Iops => "provisioned IOPS",
            Self::Throughput => "provisioned MB/s",
            Self::Transactions => "transactions",
            Self::OnDemandBursts => "on-demand bursts",
            Self::MachineOption => "option of the machine",
        }
    }
}

/// A part of a price.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    pub what: What,
    /// Millionths of a US dollar a month, of all disks; `None`: no source states it.
    pub microusd_month: Option<u64>,
}

/// A price a month.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cost {
    pub parts: Vec<Part>,
}

impl Cost {
    /// What is known of it, in millionths of a US dollar.
    pub fn microusd_month(&self) -> u64 {
        self.parts.iter().filter_map(|part| part.microusd_month).sum()
    }

    /// That of the machine; `None`: there is none, or no source states it.
    pub fn machine_microusd_month(&self) -> Option<u64> {
        let machine = self.parts.iter().find(|part| part.what == What::Machine)?;
        machine.microusd_month
    }

    /// What is known of the disks' part.
    pub fn disks_microusd_month(&self) -> u64 {
        self.microusd_month() - self.machine_microusd_month().unwrap_or(0)
    }

    /// What is paid for and no source states the price of.
    pub fn not_known(&self) -> impl Iterator<Item = What> {
        let unknown = self.parts.iter().filter(|part| part.microusd_month.is_none());
        unknown.map(|part| part.what)
    }
}

/// What a layout costs a month.
pub fn of(layout: &Layout<'_>, terms: Terms) -> Cost {
    let mut parts = disks(layout);
    if let Some(vm) = layout.machine {
        let machine = Part {
            what: What::Machine,
            microusd_month: machine(vm, terms),
        };
        parts.insert(0, machine);
        if !vm.paid_option.is_empty() {
            parts.push(Part {
                what: What::MachineOption,
                microusd_month: None,
            });
        }
    }
    Cost { parts }
}

/// What a machine costs a month; `None`: no source states it.
pub(crate) fn machine(vm: &Vm, terms: Terms) -> Option<u64> {
    let hour = match terms.commitment {
        Commitment::None => vm.price_microusd_hour,
        Commitment::OneYear => vm.price_microusd_hour_1y,
        Commitment::ThreeYears => vm.price_microusd_hour_3y,
    };
    hour.map(|hour| hour.saturating_mul(terms.hours_a_month))
}

/// What of the disks is paid for. Documented: fixed sizes by capacity; freely sized ones by capacity and what is provisioned
/// above the free baseline; the standard families per transaction as well; bursts on demand by fees of their own.
pub(crate) fn disks(layout: &Layout<'_>) -> Vec<Part> {
    let count = u64::from(layout.count);
    let part = |what, one: Option<u64>| Part {
        what,
        microusd_month: one.map(|one| one.saturating_mul(count)),
    };
    match layout.disk.offer {
        Offer::Fixed(row) => {
            let mut parts = vec![part(What::Capacity, row.price_microusd_month)];
            if row.family.billed_by_transaction() {
                parts.push(part(What::Transactions, None));
            }
            if layout.disk.on_demand {
                parts.push(part(What::OnDemandBursts, None));
            }
            parts
        }
        Offer::Flex(row) => {
            let disk = &layout.disk;
            let each = |price: Option<u64>, amount: u64, unit: u64| {
                let cost = |price: u64| u128::from(price) * u128::from(amount) / u128::from(unit);
                match amount {
                    0 => Some(0),
                    _ => price.map(|price| u64::try_from(cost(price)).unwrap_or(u64::MAX)),
                }
            };
            // What follows from the rest is paid for with it.
            let iops = disk.iops.saturating_sub(row.iops_free);
            let rate = disk.bytes_per_second.saturating_sub(row.bytes_per_second_free);
            vec![
                part(
                    What::Capacity,
                    each(row.price_microusd_gib_month, disk.size_bytes, GIB),
                ),
                part(What::Iops, provisioned(row, iops)),
                part(
                    What::Throughput,
                    each(row.price_microusd_mbps_month, rate, row.throughput_unit_bytes),
                ),
            ]
        }
    }
}

/// What so many IOPS above the free ones cost: those above a tier at its price.
fn provisioned(row: &FlexDisk, iops: u64) -> Option<u64> {
    if iops == 0 {
        return Some(0);
    }
    let mut price = row.price_microusd_iops_month?;
    let (mut from, mut cost) = (0u64, 0u128);
    for &(above, next) in &row.price_tiers {
        let within = iops.min(above).saturating_sub(from);
        cost += u128::from(within) * u128::from(price);
        (from, price) = (above, next);
    }
    cost += u128::from(iops.saturating_sub(from)) * u128::from(price);
    Some(u64::try_from(cost).unwrap_or(u64::MAX))
}

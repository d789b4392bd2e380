//! What an impossible need fails at, and the nearest that can be met.
//!
//! Data in: the catalogue, a need that nothing meets. Data out: [`Impossible`]. It must not know how it is put into words.

use crate::need::{Asked, Choice, Need};
use crate::search;
use fathom_model::catalog::Catalog;

/// A requirement that can be given up or lowered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Requirement {
    Iops,
    Throughput,
    Size,
    Budget,
    Machine,
    Vcpus,
    Memory,
    Families,
    Caches,
    Stripe,
    Region,
}

impl Requirement {
    /// All of them, those first that are about amounts.
    pub const ALL: [Self; 11] = [
        Self::Iops,
        Self::Throughput,
        Self::Size,
        Self::Budget,
        Self::Stripe,
        Self::Machine,
        Self::Vcpus,
        Self::Memory,
        Self::Families,
        Self::Caches,
        Self::Region,
    ];
}

/// What comes nearest to a requirement while all others hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nearest {
    pub requirement: Requirement,
    /// In the requirement's own unit (I/Os or bytes a second, bytes, processors, disks, millionths of a US dollar a month);
    /// `None`: it has no amount, or nothing below it can be had either.
    pub amount: Option<u64>,
}

/// Why nothing meets a need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Impossible {
    /// Giving up, or lowering, any one of these would do.
    Any(Vec<Nearest>),
    /// No one requirement alone: these stand against each other.
    Together(Vec<Requirement>),
}

/// What `need` fails at; it is known that nothing meets it.
pub fn why(catalogs: &[&Catalog], need: &Need) -> Impossible {
    let can = |need: &Need| !search::cheapest_of(catalogs, need, 1).answers.is_empty();
    let asked: Vec<Requirement> = Requirement::ALL
        .into_iter()
        .filter(|one| one.is_asked(need))
        .collect();
    let alone = asked.iter().filter(|one| can(&one.without(need)));
    let nearest: Vec<Nearest> = alone.map(|&one| nearest(one, catalogs, need, &can)).collect();
    if nearest.is_empty() {
        Impossible::Together(asked)
    } else {
        Impossible::Any(nearest)
    }
}

impl Requirement {
    fn is_asked(self, need: &Need) -> bool {
        let choice = &need.choice;
        let default = Choice::default();
        match self {
            Self::Iops => need.load.ios > 0 && need.asked != Asked::Throughput,
            Self::Throughput => need.load.bytes > 0 && need.asked != Asked::Iops,
            Self::Size => need.size_bytes > 0,
            Self::Budget => choice.budget_microusd.is_some(),
            Self::Machine => choice.machine.name.is_some(),
            Self::Vcpus => choice.machine.vcpus > 0,
            Self::Memory => choice.machine.memory_bytes > 0,
            Self::Families => !choice.families.is_empty(),
            Self::Caches => !choice.caches.contains(&crate::layout::Cache::None),
            Self::Stripe => choice.stripe_max < default.stripe_max,
            Self::Region => choice.region.is_some(),
        }
    }

    /// The same need without it.
    fn without(self, need: &Need) -> Need {
        self.lowered(need, None)
    }

    /// The same need with so much of it; `None`: without it.
    fn lowered(self, need: &Need, amount: Option<u64>) -> Need {
        let mut need = need.clone();
        let block_bytes = need.load.block_bytes();
        let asked = need.asked;
        let (load, choice) = (&mut need.load, &mut need.choice);
        let default = Choice::default();
        match self {
            Self::Iops if asked == Asked::Iops => {
                load.ios = amount.unwrap_or(1);
                load.bytes = load.ios.saturating_mul(block_bytes);
            }
            Self::Throughput if asked == Asked::Throughput => {
                load.bytes = amount.unwrap_or(block_bytes);
                load.ios = load.bytes.div_ceil(block_bytes);
            }
            // Fewer and larger I/Os, or smaller ones: the other requirement stays as it is.
            Self::Iops => load.ios = amount.unwrap_or_else(|| load.bytes.div_ceil(256 << 10)),
            Self::Throughput => load.bytes = amount.unwrap_or(load.ios * 512),
            Self::Size => need.size_bytes = amount.unwrap_or(0),
            Self::Budget => choice.budget_microusd = amount,
            Self::Machine => choice.machine.name = None,
            Self::Vcpus => choice.machine.vcpus = amount.unwrap_or(0) as u32,
            Self::Memory => choice.machine.memory_bytes = amount.unwrap_or(0),
            Self::Families => choice.families.clear(),
            Self::Caches => choice.caches = default.caches,
            Self::Stripe => choice.stripe_max = amount.map_or(default.stripe_max, |most| most as u32),
            Self::Region => choice.region = None,
        }
        need
    }

    /// From what can be met to what is asked for, in what its amount counts; `None`: it has no amount.
    fn range(self, catalogs: &[&Catalog], need: &Need) -> Option<(u64, u64)> {
        let without = self.without(need);
        Some(match self {
            Self::Iops => (without.load.ios, need.load.ios),
            Self::Throughput => (without.load.bytes, need.load.bytes),
            Self::Size => (0, need.size_bytes),
            Self::Vcpus => (0, u64::from(need.choice.machine.vcpus)),
            Self::Memory => (0, need.choice.machine.memory_bytes),
            Self::Stripe => (
                u64::from(without.choice.stripe_max),
                u64::from(need.choice.stripe_max),
            ),
            Self::Budget => {
                let found = search::cheapest_of(catalogs, &without, 1);
                let price = found.answers.first()?.cost.microusd_month();
                (price, need.choice.budget_microusd?)
            }
            Self::Machine | Self::Families | Self::Caches | Self::Region => return None,
        })
    }
}

/// The nearest amount to what is asked for that can be met.
fn nearest(one: Requirement, catalogs: &[&Catalog], need: &Need, can: &impl Fn(&Need) -> bool) -> Nearest {
    let amount = one.range(catalogs, need).map(|(mut good, mut bad)| {
        // What the cheapest costs is exact already.
        let is_exact = one == Requirement::Budget;
        while !is_exact && good.abs_diff(bad) > 1 {
            let middle = good.midpoint(bad);
            if can(&one.lowered(need, Some(middle))) {
                good = middle;
            } else {
                bad = middle;
            }
        }
        good
    });
    Nearest {
        requirement: one,
        amount: amount.filter(|&amount| amount > 0),
    }
}

#[cfg(test)]
mod tests;

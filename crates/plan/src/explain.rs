//! Why a layout delivers what it delivers, what would change that, and what does as much for less.
//!
//! Data in: a layout, a need that may be none, the catalogue. Data out: [`Explained`]. It must not know how it is put into
//! words.

use crate::judge;
use crate::layout::{Disk, Layout};
use crate::need::{Load, Need};
use crate::rules::{self, Limit};
use crate::search::{self, Answer};
use crate::setup::{Lasts, Setup};
use fathom_model::catalog::{Catalog, Offer, Vm};

/// Layouts that do as much for less, at most.
const REPLACES: usize = 3;

/// A limit of the disks that is paid for and cannot be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Idle {
    pub limit: Limit,
    /// What the disks have of it, a second.
    pub has: u64,
    /// What passes of that, and what holds the rest.
    pub passes: u64,
    pub held_by: Limit,
}

/// A step from a layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum To {
    OneMoreDisk,
    OneDiskLess,
    /// The next larger one of its family.
    LargerDisk,
    /// The next dearer one of its series.
    LargerMachine,
}

/// What a step comes to.
#[derive(Debug, Clone, PartialEq)]
pub struct Change<'a> {
    pub to: To,
    pub answer: Answer<'a>,
    /// What it costs more a month, in millionths of a US dollar.
    pub microusd_more: i64,
}

/// A layout explained.
#[derive(Debug, Clone, PartialEq)]
pub struct Explained<'a> {
    pub answer: Answer<'a>,
    /// What limits its IOPS and its MB/s, where anything that is known does.
    pub binds_iops: Option<Limit>,
    pub binds_bytes: Option<Limit>,
    pub idle: Vec<Idle>,
    pub changes: Vec<Change<'a>>,
    /// On the same machine, what is needed for less; where nothing is, as much and as large.
    pub replaces: Vec<Answer<'a>>,
    /// As much where no size is needed.
    pub replaces_smaller: Vec<Answer<'a>>,
}

/// Explains `layout`, under the load of `need` if it has one.
pub fn explain<'a>(layout: Layout<'a>, need: &Need, catalog: &'a Catalog) -> Explained<'a> {
    let answer = search::answer(layout, need);
    let setup = Setup::of(&layout);
    let steps = [
        To::OneMoreDisk,
        To::OneDiskLess,
        To::LargerDisk,
        To::LargerMachine,
    ];
    let change = |to: To| {
        let next = step(&layout, to, catalog)?;
        rules::takes(&next).ok()?;
        let next = search::answer(next, need);
        let microusd_more = next.cost.microusd_month() as i64 - answer.cost.microusd_month() as i64;
        Some(Change {
            to,
            answer: next,
            microusd_more,
        })
    };
    Explained {
        binds_iops: judge::binds(&setup, &need.load, false),
        binds_bytes: judge::binds(&setup, &need.load, true),
        idle: idle(&setup),
        changes: steps.into_iter().filter_map(change).collect(),
        replaces: match need.size_bytes {
            0 => replaces(&answer, need, layout.size_bytes(), catalog),
            size_bytes => replaces(&answer, need, size_bytes, catalog),
        },
        replaces_smaller: match need.size_bytes {
            0 => replaces(&answer, need, 0, catalog),
            _ => Vec::new(),
        },
        answer,
    }
}

/// What the disks have and the machine does not let through.
fn idle(setup: &Setup) -> Vec<Idle> {
    let pairs = [
        (Limit::DiskIops, [Limit::UncachedIops, Limit::MachineIops]),
        (
            Limit::DiskThroughput,
            [Limit::UncachedThroughput, Limit::MachineThroughput],
        ),
        (Limit::DiskReadIops, [Limit::MachineReadIops, Limit::MachineIops]),
        (
            Limit::DiskReadThroughput,
            [Limit::MachineReadThroughput, Limit::MachineThroughput],
        ),
        (
            Limit::DiskWriteIops,
            [Limit::MachineWriteIops, Limit::MachineIops],
        ),
        (
            Limit::DiskWriteThroughput,
            [Limit::MachineWriteThroughput, Limit::MachineThroughput],
        ),
    ];
    let none = Need::none().load;
    let uses: Vec<rules::Use> = rules::uses(setup, &none).collect();
    let base = |limit: Limit| {
        let known = uses.iter().find(|one| one.limit == limit)?.rate.base;
        known.filter(|&base| base != u64::MAX)
    };
    let idle = pairs.into_iter().filter_map(|(limit, machine)| {
        let has = base(limit)?;
        let holds = machine
            .into_iter()
            .filter_map(|limit| Some((base(limit)?, limit)));
        let (passes, held_by) = holds.min()?;
        (passes < has).then_some(Idle {
            limit,
            has,
            passes,
            held_by,
        })
    });
    idle.collect()
}

fn step<'a>(layout: &Layout<'a>, to: To, catalog: &'a Catalog) -> Option<Layout<'a>> {
    let mut next = *layout;
    match to {
        To::OneMoreDisk => next.count += 1,
        To::OneDiskLess if layout.count > 1 => next.count -= 1,
        To::OneDiskLess => return None,
        To::LargerDisk => {
            let Offer::Fixed(row) = layout.disk.offer else {
                return None;
            };
            let family = catalog.disks().iter().filter(|other| other.family == row.family);
            let larger = family.filter(|other| other.size_bytes > row.size_bytes);
            next.disk = Disk::fixed(larger.min_by_key(|other| other.size_bytes)?);
        }
        To::LargerMachine => next.machine = Some(larger_machine(layout.machine?, catalog)?),
    }
    Some(next)
}

/// The cheapest machine of the series that lets more through.
fn larger_machine<'a>(vm: &Vm, catalog: &'a Catalog) -> Option<&'a Vm> {
    let more = |other: &&Vm| {
        other.series == vm.series
            && other.uncached_iops >= vm.uncached_iops
            && other.uncached_bytes_per_second >= vm.uncached_bytes_per_second
            && (other.uncached_iops > vm.uncached_iops
                || other.uncached_bytes_per_second > vm.uncached_bytes_per_second)
            && other.price_microusd_hour.is_some()
    };
    catalog
        .vms()
        .iter()
        .filter(more)
        .min_by_key(|other| (other.price_microusd_hour, &other.name))
}

/// What carries as much on the same machine, for less: what is needed, or all that the layout carries.
fn replaces<'a>(answer: &Answer<'a>, need: &Need, size_bytes: u64, catalog: &'a Catalog) -> Vec<Answer<'a>> {
    let Some(machine) = answer.layout.machine else {
        return Vec::new();
    };
    let mut as_much = need.clone();
    if need.load.ios == 0 {
        let sustained = &answer.judged.sustained;
        let (Some(ios), Some(bytes)) = (sustained.iops, sustained.bytes_per_second) else {
            return Vec::new();
        };
        as_much.load = Load {
            ios,
            bytes,
            lasts: Lasts::Always,
            ..need.load.clone()
        };
    }
    as_much.size_bytes = size_bytes;
    as_much.choice.machine.name = Some(machine.name.clone());
    let cheaper = |other: &Answer<'_>| other.cost.microusd_month() < answer.cost.microusd_month();
    let found = search::cheapest(catalog, &as_much, REPLACES).answers;
    found.into_iter().filter(cheaper).collect()
}

#[cfg(test)]
mod tests;

//! The cheapest layouts that meet a need, exactly.
//!
//! Data in: the catalogue, a need. Data out: [`Found`]: the cheapest layouts from which nothing can be taken: no disk, no size of
//! disk, and no size of the machine's series. What is not among them and meets the need is a larger one of these, or dearer
//! than all of them. Latency is not judged here: the model does. It must not know the model's machinery.

use crate::cost::{self, Cost};
use crate::judge::{self, Judged};
use crate::layout::{Cache, Layout};
use crate::need::Need;
use crate::pieces::{self, Caching, Piece};
use crate::rules;
use crate::setup::Setup;
use fathom_model::catalog::{Catalog, Family, FlexDisk, Offer, Rule, Vm};
use std::collections::{BTreeMap, BTreeSet};

/// A layout that meets the need.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer<'a> {
    pub layout: Layout<'a>,
    pub cost: Cost,
    pub judged: Judged,
}

/// What was found, the cheapest first, and what could not be judged.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Found<'a> {
    pub answers: Vec<Answer<'a>>,
    /// Machines left out because no source states their price (there, for that commitment).
    pub without_price: usize,
    /// Machines left out because no source states a limit that the load would meet, where they are cheaper than the dearest
    /// answer.
    pub without_limit: usize,
}

/// A machine with its price.
type Priced<'a> = (u64, &'a Vm);

/// The `most` cheapest layouts of several clouds.
pub fn cheapest_of<'a>(catalogs: &[&'a Catalog], need: &Need, most: usize) -> Found<'a> {
    let mut all = Found::default();
    for catalog in catalogs {
        let found = cheapest(catalog, need, most);
        all.answers.extend(found.answers);
        all.without_price += found.without_price;
        all.without_limit += found.without_limit;
    }
    // Those of one cloud stay in their order.
    all.answers.sort_by_key(|answer| answer.cost.microusd_month());
    all.answers.truncate(most);
    all
}

/// Families that are asked for and left out, since no source states a limit of their disks that the load would meet.
pub fn not_stated(catalogs: &[&Catalog], need: &Need) -> Vec<Family> {
    let load = &need.load;
    let rows = catalogs.iter().flat_map(|catalog| catalog.flex_disks());
    let unknown = rows.filter(|row| {
        pieces::is_wanted(need, row.family)
            && (load.ios > 0 && row.iops_rule == Rule::NotKnown
                || load.bytes > 0 && row.bytes_per_second_rule == Rule::NotKnown)
    });
    unknown.map(|row| row.family).collect()
}

/// The `most` cheapest layouts of one cloud.
pub fn cheapest<'a>(catalog: &'a Catalog, need: &Need, most: usize) -> Found<'a> {
    let mut search = Search::new(catalog, need, most);
    let (machines, without_price) = machines(catalog, need);
    for (microusd, vm) in machines {
        if !search.machine(microusd, vm) {
            break;
        }
    }
    let answers = search.best.into_iter();
    Found {
        answers: answers.map(|(_, layout)| answer(layout, need)).collect(),
        without_price,
        without_limit: search.without_limit,
    }
}

/// The machines that will do, the cheapest first, and how many have no price. A machine that is named needs none.
fn machines<'a>(catalog: &'a Catalog, need: &Need) -> (Vec<Priced<'a>>, usize) {
    let choice = &need.choice;
    let named = choice.machine.name.as_deref().and_then(|name| catalog.vm(name));
    let fits = |vm: &&Vm| {
        if choice.machine.name.is_some() {
            return named.is_some_and(|named| named.name == vm.name);
        }
        let memory = choice.machine.memory_bytes;
        vm.vcpus >= choice.machine.vcpus
            && (memory == 0 || vm.memory_bytes.is_some_and(|bytes| bytes >= memory))
            && pieces::in_region(need, &vm.price_region)
    };
    let mut without_price = 0;
    let mut priced = Vec::new();
    for vm in catalog.vms().iter().filter(fits) {
        match cost::machine(vm, choice.terms) {
            Some(microusd) => priced.push((microusd, vm)),
            None if choice.machine.name.is_some() => priced.push((0, vm)),
            None => without_price += 1,
        }
    }
    priced.sort_by_key(|&(microusd, vm)| (microusd, &vm.name));
    (priced, without_price)
}

struct Search<'a, 'n> {
    catalog: &'a Catalog,
    need: &'n Need,
    most: usize,
    /// By way of caching.
    pieces: BTreeMap<Caching, Vec<Piece<'a>>>,
    /// Known price and layout, the cheapest first.
    best: Vec<(u64, Layout<'a>)>,
    /// What a cheaper machine of a series has carried already.
    seen: BTreeSet<(&'a str, Key<'a>)>,
    without_limit: usize,
}

/// What makes the disks of two layouts the same.
type Key<'a> = (&'a str, u32, Cache, u64, u64, u64);

fn key<'a>(piece: &Piece<'a>) -> Key<'a> {
    let disk = &piece.disk;
    (
        disk.sku(),
        piece.count,
        piece.cache,
        disk.size_bytes,
        disk.iops,
        disk.bytes_per_second,
    )
}

impl<'a, 'n> Search<'a, 'n> {
    fn new(catalog: &'a Catalog, need: &'n Need, most: usize) -> Self {
        Self {
            catalog,
            need,
            most,
            pieces: BTreeMap::new(),
            best: Vec::new(),
            seen: BTreeSet::new(),
            without_limit: 0,
        }
    }

    /// What no layout may cost more than, to be of interest.
    fn bound(&self) -> u64 {
        let worst = if self.best.len() < self.most {
            u64::MAX
        } else {
            self.best.last().map_or(0, |(price, _)| *price)
        };
        worst.min(self.need.choice.budget_microusd.unwrap_or(u64::MAX))
    }

    /// Looks at the layouts on a machine. Whether dearer machines are of interest.
    fn machine(&mut self, microusd: u64, vm: &'a Vm) -> bool {
        if microusd > self.bound() || self.most == 0 {
            return false;
        }
        let mut carried: Vec<Piece<'a>> = Vec::new();
        let mut unknown = false;
        for mode in Cache::ALL {
            if !self.need.choice.caches.contains(&mode) {
                continue;
            }
            let caching = match (mode, vm.host_cache, vm.cache_bytes) {
                (Cache::None, ..) => (mode, 0),
                (_, Some(false), _) | (_, _, None) => continue,
                (_, _, Some(bytes)) => (mode, bytes),
            };
            let (catalog, need, bound) = (self.catalog, self.need, self.bound());
            let pieces = self
                .pieces
                .entry(caching)
                .or_insert_with(|| pieces::all(catalog, need, caching));
            let affordable = pieces
                .iter()
                .take_while(|piece| microusd.saturating_add(piece.microusd_month) <= bound);
            for piece in affordable {
                match carries(self.catalog, vm, piece, self.need) {
                    Carries::Yes => add(&mut carried, *piece),
                    Carries::No => {}
                    Carries::NotKnown => unknown = true,
                }
            }
        }
        self.without_limit += usize::from(unknown && carried.is_empty());
        for piece in carried {
            self.keep(microusd, vm, &piece);
        }
        true
    }

    fn keep(&mut self, microusd: u64, vm: &'a Vm, piece: &Piece<'a>) {
        let total = microusd.saturating_add(piece.microusd_month);
        if total > self.bound() || !self.seen.insert((&vm.series, key(piece))) {
            return;
        }
        let layout = layout(self.catalog, vm, piece);
        let order = |(price, layout): &(u64, Layout<'_>)| (*price, layout.count, layout.cache);
        let found = (total, layout);
        let at = self.best.partition_point(|other| order(other) <= order(&found));
        self.best.insert(at, found);
        self.best.truncate(self.most);
    }
}

/// Adds disks to those that a machine carries, unless no more of a disk that is no dearer, cached no more, do as well.
fn add<'a>(carried: &mut Vec<Piece<'a>>, piece: Piece<'a>) {
    let each = |piece: &Piece<'_>| piece.microusd_month / u64::from(piece.count);
    let better = |other: &Piece<'_>| {
        other.disk.family() == piece.disk.family()
            && !other.disk.is_chosen()
            && other.count <= piece.count
            && other.cache <= piece.cache
            && each(other) <= each(&piece)
    };
    let same = |other: &Piece<'_>| other.disk == piece.disk && other.count == piece.count;
    if !carried.iter().any(|other| better(other) || same(other)) {
        carried.push(piece);
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Carries {
    Yes,
    No,
    /// No source states a limit that it would meet.
    NotKnown,
}

fn layout<'a>(catalog: &'a Catalog, vm: &'a Vm, piece: &Piece<'a>) -> Layout<'a> {
    Layout::new(catalog, vm, piece.disk, piece.count, piece.cache)
}

/// Whether a machine takes these disks and lets the load through.
fn carries<'a>(catalog: &'a Catalog, vm: &'a Vm, piece: &Piece<'a>, need: &Need) -> Carries {
    let layout = layout(catalog, vm, piece);
    // On any other machine the same without the cap is no dearer.
    let capped = |row: &FlexDisk| row.iops_cap_on(vm).is_some();
    let is_for_others = piece.held_to_cap && !matches!(piece.disk.offer, Offer::Flex(row) if capped(row));
    if is_for_others || rules::takes(&layout).is_err() {
        return Carries::No;
    }
    let setup = Setup::of(&layout);
    let mut known = Carries::Yes;
    for one in rules::uses(&setup, &need.load) {
        if one.holds(&need.load) {
            continue;
        }
        match one.rate.base {
            Some(_) => return Carries::No,
            None => known = Carries::NotKnown,
        }
    }
    known
}

/// A layout with what it costs and how it carries the load.
pub fn answer<'a>(layout: Layout<'a>, need: &Need) -> Answer<'a> {
    Answer {
        cost: cost::of(&layout, need.choice.terms),
        judged: judge::judge(&layout, need),
        layout,
    }
}

#[cfg(test)]
mod tests;

//! A plan: what was needed, the cheapest layouts that meet it as the model shows, and what else is worth knowing.
//!
//! Data in: catalogues, a need. Data out: [`Plan`]. It must not know how it is put into words.

use crate::front;
use crate::impossible::{self, Impossible};
use crate::layout::{Cache, Layout, LayoutError};
use crate::need::{Assumed, Bound, Load, Need};
use crate::prove::{self, Proof};
use crate::search::{self, Answer, Found};
use crate::setup::Lasts;
use fathom_model::catalog::{Catalog, Family};

/// Layouts of a plan.
pub const LISTED: usize = 10;
/// Candidates that are tried for latency, at most.
pub const TRIED: usize = 400;
/// What a peak is taken to last where nothing says it: as long as a full bucket does.
const PEAK_SECONDS: u64 = 1_800;
/// Layouts that carry the load on credit alone and are told.
const ON_CREDIT: usize = 3;
/// The load that shows how fast a family is without any queue, a second.
const LIGHT_IOS: u64 = 20;

/// A layout, and what the model shows of it.
#[derive(Debug, Clone)]
pub struct Proven<'a> {
    pub answer: Answer<'a>,
    /// `None`: there is no load to be carried.
    pub proof: Option<Proof>,
}

/// What comes nearest to bounds on latency.
#[derive(Debug, Clone, PartialEq)]
pub struct Fastest {
    pub family: Family,
    pub bound: Bound,
    /// What it is on this family.
    pub latency_ns: u64,
}

/// Why there is no layout.
#[derive(Debug, Clone, PartialEq)]
pub enum Nothing {
    /// No layout carries the load.
    Impossible(Impossible),
    /// None that does is as fast.
    TooSlow(Vec<Fastest>),
    /// So many carry the load by their limits, and were held by them when it was replayed.
    Held(usize),
}

/// A plan.
#[derive(Debug, Clone)]
pub struct Plan<'a> {
    pub need: Need,
    pub assumed: Vec<Assumed>,
    /// The cheapest first.
    pub layouts: Vec<Proven<'a>>,
    /// Cheaper ones that carry the load for a while, on credit.
    pub on_credit: Vec<Proven<'a>>,
    /// What more or less would cost.
    pub front: Vec<Answer<'a>>,
    pub nothing: Option<Nothing>,
    /// Machines without a price, and without a limit that the load would meet.
    pub without_price: usize,
    pub without_limit: usize,
    /// Families of which no source states a limit that the load would meet.
    pub not_stated: Vec<Family>,
    /// Layouts that carry the load and were too slow.
    pub too_slow: usize,
}

/// What is wanted beside the layouts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted {
    /// Layouts.
    pub layouts: usize,
    /// Layouts that are carried out on the model, at most.
    pub tried: usize,
    /// Those that live on credit.
    pub on_credit: bool,
    pub front: bool,
}

/// Plans for `need`. `prove` carries loads out on models: many at a time, if it can.
///
/// # Errors
/// A layout cannot be modelled, or `prove` failed.
pub fn plan<'a, E: From<LayoutError>>(
    catalogs: &[&'a Catalog],
    (need, assumed): (Need, Vec<Assumed>),
    wanted: Wanted,
    prove: &impl Fn(&[Layout<'a>], &Load) -> Result<Vec<Proof>, E>,
) -> Result<Plan<'a>, E> {
    let mut need = need;
    let fastest = too_slow(catalogs, &mut need)?;
    let as_seen = matches!(need.load.lasts, Lasts::AsSeen(_));
    let (layouts, found, too_slow) = if need.latency.is_empty() && !as_seen {
        let found = search::cheapest_of(catalogs, &need, wanted.layouts);
        let layouts = proven(&found.answers, &need.load, prove)?;
        (layouts, found, 0)
    } else {
        fast_enough(catalogs, &need, wanted, prove)?
    };
    let nothing = layouts.is_empty().then(|| match too_slow {
        1.. if need.latency.is_empty() => Nothing::Held(too_slow),
        _ => nothing(catalogs, &need, &found, fastest),
    });
    let on_credit = if wanted.on_credit && need.load.lasts == Lasts::Always {
        let below = layouts.first().map(|first| first.answer.cost.microusd_month());
        on_credit(catalogs, &need, below, prove)?
    } else {
        Vec::new()
    };
    let front = if wanted.front && !layouts.is_empty() {
        front::front(catalogs, &need)
    } else {
        Vec::new()
    };
    Ok(Plan {
        assumed,
        layouts,
        on_credit,
        front,
        nothing,
        without_price: found.without_price,
        without_limit: found.without_limit,
        not_stated: search::not_stated(catalogs, &need),
        need,
        too_slow,
    })
}

type Answers<'a> = Vec<Proven<'a>>;

/// Answers with what the model shows of each.
fn proven<'a, E: From<LayoutError>>(
    answers: &[Answer<'a>],
    load: &Load,
    prove: &impl Fn(&[Layout<'a>], &Load) -> Result<Vec<Proof>, E>,
) -> Result<Answers<'a>, E> {
    let layouts: Vec<Layout<'a>> = answers.iter().map(|answer| answer.layout).collect();
    let proofs: Vec<Option<Proof>> = match load.ios {
        0 => vec![None; answers.len()],
        _ => prove(&layouts, load)?.into_iter().map(Some).collect(),
    };
    let pairs = answers.iter().cloned().zip(proofs);
    Ok(pairs
        .map(|(mut answer, proof)| {
            if let Some(proof) = proof.as_ref().filter(|proof| proof.replayed.is_none()) {
                // What the model shows knows seeks and queues, which the usual latency does not.
                answer.judged.in_flight = answer.judged.in_flight.max(proof.in_flight());
            }
            Proven { answer, proof }
        })
        .collect())
}

/// The cheapest that keep the bounds on latency, tried in the order of price.
fn fast_enough<'a, E: From<LayoutError>>(
    catalogs: &[&'a Catalog],
    need: &Need,
    wanted: Wanted,
    prove: &impl Fn(&[Layout<'a>], &Load) -> Result<Vec<Proof>, E>,
) -> Result<(Answers<'a>, Found<'a>, usize), E> {
    let most = wanted.layouts;
    let found = search::cheapest_of(catalogs, need, wanted.tried.max(most));
    let (mut layouts, mut too_slow) = (Vec::new(), 0);
    for some in found.answers.chunks(most.max(1)) {
        for one in proven(some, &need.load, prove)? {
            let keeps = one.proof.as_ref().is_none_or(|proof| proof.keeps(need));
            if keeps && layouts.len() < most {
                layouts.push(one);
            } else if !keeps {
                too_slow += 1;
            }
        }
        if layouts.len() == most {
            break;
        }
    }
    Ok((layouts, found, too_slow))
}

/// Leaves families out of `need` that are too slow even without a queue, and says how fast each is.
fn too_slow(catalogs: &[&Catalog], need: &mut Need) -> Result<Vec<Fastest>, LayoutError> {
    let mut fastest = Vec::new();
    if need.latency.is_empty() || need.load.ios == 0 {
        return Ok(fastest);
    }
    for (family, layout) in catalogs.iter().flat_map(|catalog| largest(catalog)) {
        let ios = LIGHT_IOS.min(need.load.ios);
        let light = Load {
            ios,
            bytes: ios * need.load.block_bytes(),
            lasts: Lasts::Always,
            ..need.load.clone()
        };
        let proof = prove::prove_for(&layout, &light, catalogs[0], 100)?;
        for bound in &need.latency {
            fastest.push(Fastest {
                family,
                bound: *bound,
                latency_ns: proof.latency_ns(bound),
            });
        }
        if !proof.keeps(need) {
            need.choice.too_slow.push((family, Cache::None));
        }
    }
    Ok(fastest)
}

/// The largest disk of each family, alone.
fn largest(catalog: &Catalog) -> Vec<(Family, Layout<'_>)> {
    let of = |family: Family| {
        let fixed = catalog.largest(family).map(crate::layout::Disk::fixed);
        let flex = catalog.flex_disks().iter().find(|row| row.family == family);
        let flex = flex.map(|row| {
            let size = row.size_bytes_max;
            let iops = row.iops_cap(size);
            let (_, most) = row.bytes_per_second_bounds(size, iops);
            crate::layout::Disk::chosen(row, size, iops, most)
        });
        fixed
            .or(flex)
            .map(|disk| (family, Layout::alone(catalog.cloud(), disk, 1)))
    };
    catalog.families().iter().copied().filter_map(of).collect()
}

/// Cheaper layouts that carry the load for as long as a full bucket lasts, if any do.
fn on_credit<'a, E: From<LayoutError>>(
    catalogs: &[&'a Catalog],
    need: &Need,
    below_microusd: Option<u64>,
    prove: &impl Fn(&[Layout<'a>], &Load) -> Result<Vec<Proof>, E>,
) -> Result<Answers<'a>, E> {
    let mut peak = need.clone();
    peak.load.lasts = Lasts::Seconds(PEAK_SECONDS);
    let answers = search::cheapest_of(catalogs, &peak, ON_CREDIT).answers;
    let cheaper = |answer: &Answer<'_>| {
        below_microusd.is_none_or(|below| answer.cost.microusd_month() < below)
            && answer.judged.lasts_seconds.is_some()
    };
    let answers: Vec<Answer<'a>> = answers.into_iter().filter(cheaper).collect();
    let proven = proven(&answers, &peak.load, prove)?;
    let keeps = |one: &Proven<'_>| one.proof.as_ref().is_none_or(|proof| proof.keeps(need));
    Ok(proven.into_iter().filter(keeps).collect())
}

/// Why nothing was found.
fn nothing(catalogs: &[&Catalog], need: &Need, found: &Found<'_>, fastest: Vec<Fastest>) -> Nothing {
    let mut any = need.clone();
    any.choice.too_slow.clear();
    if !need.latency.is_empty()
        && (!found.answers.is_empty() || !search::cheapest_of(catalogs, &any, 1).answers.is_empty())
    {
        return Nothing::TooSlow(fastest);
    }
    Nothing::Impossible(impossible::why(catalogs, &any))
}

#[cfg(test)]
mod tests;

//! The product nearest to what was measured.
//!
//! Data in: a [`Fit`], candidates of the catalogues. Data out: groups of products with equal limits, the likeliest first. How
//! likely one is: rates against its limits, the release of limits, its service, its size where the disk has one; what was chosen so
//! that it fits counts against it. It must not know words for people.

use crate::candidates::{Candidate, Observed, Search, candidates, observed};
use crate::fit::{Credit, Fit, Release};
use crate::predict::{Stage, lasts_seconds, median_ns, rate};
use crate::probe::{Mix, SECOND_NS};

/// What a measured rate is off the limit usually, in parts of it.
const RATE_SIGMA: f64 = 0.006;
/// The same of reads and writes at once, which wait for each other where each has a limit of its own.
const BOTH_SIGMA: f64 = 0.04;
/// What service times of two disks of a kind differ by.
const SERVICE_SIGMA: f64 = 0.2;
/// Nothing alone counts more than this.
const MOST: f64 = 40.0;
const SERVICE_MOST: f64 = 12.0;
/// What it counts that limits are released otherwise.
const OTHER_RELEASE: f64 = 20.0;
/// What it counts that the disk has another size.
const OTHER_SIZE: f64 = 8.0;
/// What each number counts that was chosen so that it fits.
const CHOSEN: f64 = 1.5;
/// What a machine counts that is only supposed.
const MACHINE: f64 = 4.0;
/// Two products have equal limits within this.
const EQUAL: f64 = 0.004;
/// Of equal limits, what speaks so much less for a product than for another is a reason to tell them apart.
const TOGETHER: f64 = 10.0;
/// Groups that are told.
const TOLD: usize = 6;

/// Products that have equal limits, as far as was measured.
#[derive(Debug, Clone)]
pub struct Group {
    /// The likeliest first; those behind it differ in what was not measured, or say less.
    pub members: Vec<Candidate>,
    /// The share of all that it is one of these, from 0 to 1.
    pub likelihood: f64,
    /// The rate that is off most, in parts of the limit.
    pub off: f64,
    /// Logarithm of the likelihood of the first member.
    pub score: f64,
}

impl Group {
    /// The likeliest of them.
    pub fn best(&self) -> &Candidate {
        &self.members[0]
    }
}

/// The nearest groups, the likeliest first; empty where no catalogue has anything.
pub fn nearest(fit: &Fit, search: Search<'_>) -> Vec<Group> {
    let seen = observed(fit);
    let mut scored: Vec<(f64, Candidate)> = candidates(fit, search)
        .into_iter()
        .map(|one| (score(&one, fit, &seen, search.vm.is_some()), one))
        .collect();
    scored.sort_by(|one, other| other.0.total_cmp(&one.0));
    let mut groups: Vec<(Vec<f64>, Group)> = Vec::new();
    for (score, one) in scored {
        let rates: Vec<f64> = seen.iter().map(|seen| told_rate(&one, *seen)).collect();
        let equal = |other: &[f64]| rates.iter().zip(other).all(|(one, other)| is_equal(*one, *other));
        let near = |group: &Group| group.score - score < TOGETHER;
        let known = groups
            .iter_mut()
            .find(|(other, group)| near(group) && equal(other));
        if let Some((_, group)) = known {
            group.members.push(one);
        } else {
            let off = off(&seen, &rates);
            let group = Group {
                members: vec![one],
                likelihood: 0.0,
                off,
                score,
            };
            groups.push((rates, group));
        }
    }
    let mut groups: Vec<Group> = groups.into_iter().map(|(_, group)| group).collect();
    let best = groups.first().map_or(0.0, |group| group.score);
    let all: f64 = groups.iter().map(|group| (group.score - best).exp()).sum();
    for group in &mut groups {
        group.likelihood = (group.score - best).exp() / all;
    }
    groups.truncate(TOLD);
    groups
}

fn is_equal(one: f64, other: f64) -> bool {
    let neither_holds = one.is_infinite() && other.is_infinite();
    neither_holds || (one / other).ln().abs() < EQUAL
}

/// The rate of a candidate where one was measured; of what did not reach a limit all that is above it is the same.
fn told_rate(one: &Candidate, seen: Observed) -> f64 {
    let rate = rate(&one.spec, seen.mix, seen.block_bytes, seen.stage);
    if !seen.is_limit && rate > seen.per_second {
        f64::INFINITY
    } else {
        rate
    }
}

fn off(seen: &[Observed], rates: &[f64]) -> f64 {
    let each = seen.iter().zip(rates).filter(|(seen, _)| seen.is_limit);
    let parts = each.map(|(seen, rate)| (seen.per_second / rate - 1.0).abs());
    parts.fold(0.0, f64::max)
}

/// The logarithm of how likely it is that `one` gave what was measured.
fn score(one: &Candidate, fit: &Fit, seen: &[Observed], vm_known: bool) -> f64 {
    let spec = &one.spec;
    let mut score = 0.0;
    for seen in seen {
        let rate = rate(spec, seen.mix, seen.block_bytes, seen.stage);
        let off = if !seen.is_limit {
            // It did as much, and may do more.
            (seen.per_second / rate).ln().max(0.0)
        } else if rate.is_finite() {
            (seen.per_second / rate).ln()
        } else {
            1.0
        };
        let sigma = if seen.mix == Mix::Both {
            BOTH_SIGMA
        } else {
            RATE_SIGMA
        };
        score -= (off / sigma).powi(2).min(2.0 * MOST) / 2.0;
    }
    score -= credit(one, fit);
    let slice_ns = spec.slices.slice_ns;
    let other = match fit.release {
        Release::Slices { slice_ns: seen } => slice_ns.abs_diff(seen) > seen / 10,
        Release::Even => slice_ns != 0,
        Release::NotShown => false,
    };
    score -= if other { OTHER_RELEASE } else { 0.0 };
    let writes = fit.write.iter().map(|write| (true, write));
    for (is_write, direction) in writes.chain([(false, &fit.read)]) {
        let off = (direction.service.median_ns as f64 / median_ns(spec, is_write).max(1.0)).ln();
        score -= ((off / SERVICE_SIGMA).powi(2) / 2.0).min(SERVICE_MOST);
    }
    if let Some(size_bytes) = fit.size_bytes
        && spec.volume_bytes().abs_diff(size_bytes) > size_bytes / 50
    {
        score -= OTHER_SIZE;
    }
    score -= f64::from(one.chosen) * CHOSEN;
    if one.machine.is_some() && !vm_known {
        score -= MACHINE;
    }
    score
}

/// What speaks against it in how long rates held.
fn credit(one: &Candidate, fit: &Fit) -> f64 {
    let main = fit.main();
    let mix = if fit.write.is_some() {
        Mix::Write
    } else {
        Mix::Read
    };
    let falls = |rate: crate::fit::Rate| {
        let after = rate_after(one, mix, rate.block_bytes);
        after < rate.per_second * 0.93
    };
    match fit.credit {
        // It would have fallen, and did not.
        Credit::None { held_ns } => {
            let small = lasts_seconds(&one.spec, mix, main.small.block_bytes, main.small.per_second);
            let held = held_ns as f64 / SECOND_NS as f64;
            if falls(main.small) && falls(main.large) && small * 1.1 < held {
                MOST
            } else {
                0.0
            }
        }
        // It fell, and would not have.
        Credit::Spent { .. } if !falls(main.small) && !falls(main.large) => MOST,
        Credit::Spent { .. } | Credit::NotMeasured { .. } => 0.0,
    }
}

fn rate_after(one: &Candidate, mix: Mix, block_bytes: u32) -> f64 {
    rate(&one.spec, mix, block_bytes, Stage::Spent)
}

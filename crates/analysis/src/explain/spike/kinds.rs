//! Which spikes are of one kind, and which come regularly.
//!
//! Data in: the spikes with their causes. Data out: kinds, periods. It must not judge causes.
//!
//! Stalls of one kind take about as long each: between the kinds are gaps, on a scale of logarithms, that are far wider than
//! those within.

use crate::explain::answer::{Cause, Period, Spike, SpikeKind};
use crate::explain::period;
use std::cmp::Reverse;

/// The least ratio between two kinds, as a natural logarithm: 15 %.
const GAP_MIN: f64 = 0.14;
/// How many times wider than the gaps beside it a gap between kinds is.
const WIDER: f64 = 20.0;
/// Gaps on either side that it is compared with.
const BESIDE: usize = 16;
/// More kinds than this are no kinds but a scatter.
const KINDS_MAX: usize = 6;
/// A stall holds up several I/Os: what usually holds up fewer is the tail of the distribution.
const STALL_IOS: u64 = 6;

/// The kinds of each cause, by the length of their worst I/Os, the longest first.
pub(super) fn of(kept: &[Spike]) -> Vec<SpikeKind> {
    let causes = Cause::ALL.into_iter().filter(|cause| *cause != Cause::Unknown);
    causes
        .flat_map(|cause| {
            let of_cause = kept.iter().filter(|spike| spike.verdict.cause == cause);
            let mut spikes: Vec<&Spike> = of_cause.collect();
            spikes.sort_unstable_by_key(|spike| Reverse(spike.worst.response_ns));
            let groups = split(&spikes);
            groups
                .into_iter()
                .map(move |group| kind(cause, group))
                .collect::<Vec<_>>()
        })
        .collect()
}

/// Cut at the gaps between kinds.
fn split<'a, 's>(spikes: &'a [&'s Spike]) -> Vec<&'a [&'s Spike]> {
    let logs: Vec<f64> = spikes
        .iter()
        .map(|spike| (spike.worst.response_ns.max(1) as f64).ln())
        .collect();
    let gaps: Vec<f64> = logs.windows(2).map(|pair| pair[0] - pair[1]).collect();
    let mut groups = Vec::new();
    let mut from = 0;
    for (index, gap) in gaps.iter().enumerate() {
        if *gap >= GAP_MIN && *gap >= WIDER * beside(&gaps, index) {
            groups.push(&spikes[from..=index]);
            from = index + 1;
        }
    }
    groups.push(&spikes[from..]);
    groups.retain(|group| !group.is_empty());
    // One after the other alone is a scatter.
    if groups.len() > KINDS_MAX {
        vec![spikes]
    } else {
        groups
    }
}

/// The mean of the gaps on the denser side: a kind has neighbours, and beyond it may be nobody.
fn beside(gaps: &[f64], index: usize) -> f64 {
    let mean = |side: &[f64]| side.iter().sum::<f64>() / side.len().max(1) as f64;
    let before = &gaps[index.saturating_sub(BESIDE)..index];
    let after = &gaps[index + 1..gaps.len().min(index + 1 + BESIDE)];
    match (before.len() >= 2, after.len() >= 2) {
        (true, true) => mean(before).min(mean(after)),
        (true, false) => mean(before),
        (false, true) => mean(after),
        // Of three or fewer nothing can be told.
        (false, false) => f64::INFINITY,
    }
}

fn kind(cause: Cause, group: &[&Spike]) -> SpikeKind {
    let mut ios: Vec<u64> = group.iter().map(|spike| spike.slow_ios).collect();
    ios.sort_unstable();
    let slow_ios_p50 = ios[ios.len() / 2];
    let (longest, shortest) = (group[0], group[group.len() - 1]);
    SpikeKind {
        cause,
        spikes: group.len() as u64,
        worst_min_ns: shortest.worst.response_ns,
        worst_max_ns: longest.worst.response_ns,
        slow_ios_p50,
        stalls: slow_ios_p50 >= STALL_IOS,
        lost_ns: group.iter().map(|spike| spike.lost_ns).sum(),
        period: regular(Some(cause), group.iter().copied()),
    }
}

/// Whether these come regularly.
fn regular<'s>(cause: Option<Cause>, spikes: impl Iterator<Item = &'s Spike>) -> Option<Period> {
    let mut times: Vec<(u64, u64)> = spikes
        .map(|spike| (spike.start_ns, spike.worst.response_ns))
        .collect();
    times.sort_unstable();
    let starts: Vec<u64> = times.iter().map(|(start_ns, _)| *start_ns).collect();
    let regular = period::find(&starts)?;
    Some(Period {
        cause,
        worst_min_ns: times.iter().map(|(_, worst_ns)| *worst_ns).min()?,
        period_ns: regular.period_ns.round() as u64,
        phase_ns: regular.phase_ns.rem_euclid(regular.period_ns).round() as u64,
        spikes: regular.hits as u64,
        missed: regular.missed as u64,
        jitter_ns: regular.jitter_ns.round() as u64,
    })
}

/// Those of the kinds; of a cause whose kinds are not regular, those of its worst spikes, where a tail of smaller ones is not
/// told from them; where there are none at all, of all spikes together.
pub(super) fn periods(kept: &[Spike], kinds: &[SpikeKind]) -> Vec<Period> {
    let each: Vec<Period> = Cause::ALL
        .into_iter()
        .filter(|&cause| cause != Cause::Unknown)
        .flat_map(|cause| {
            let of_kinds = kinds.iter().filter(|kind| kind.cause == cause);
            let periods: Vec<Period> = of_kinds.filter_map(|kind| kind.period.clone()).collect();
            if periods.is_empty() {
                of_worst(kept, Some(cause)).into_iter().collect()
            } else {
                periods
            }
        })
        .collect();
    if each.is_empty() {
        of_worst(kept, None).into_iter().collect()
    } else {
        each
    }
}

/// The worst alone may be regular where a tail of smaller ones is not.
fn of_worst(kept: &[Spike], cause: Option<Cause>) -> Option<Period> {
    let mut spikes: Vec<&Spike> = kept
        .iter()
        .filter(|spike| cause.is_none_or(|cause| spike.verdict.cause == cause))
        .collect();
    spikes.sort_unstable_by_key(|spike| Reverse((spike.worst.response_ns, spike.start_ns)));
    let mut numbers: Vec<usize> = std::iter::successors(Some(spikes.len()), |n| Some(n * 4 / 5))
        .take_while(|n| *n >= period::SPIKES_MIN)
        .collect();
    numbers.dedup();
    let regular = numbers
        .into_iter()
        .filter_map(|n| regular(cause, spikes[..n].iter().copied()));
    regular.max_by_key(|period| period.spikes)
}

#[cfg(test)]
mod tests;

//! Whose the lost time is, against what was done, in nanoseconds.

use super::cause;
use super::score::near;
use crate::explain::Explanation;
use crate::explain::answer::{Owned, OwnerClass, Spike};
use fathom_testkit::scenarios::{self, Harm, Scenario};
use std::collections::BTreeMap;
use std::fmt::Write;

/// One cause of one scenario.
#[derive(Debug, Clone)]
pub(super) struct Accounted {
    pub(super) doing: String,
    pub(super) label: String,
    pub(super) cause: scenarios::Cause,
    /// What it cost the load, in nanoseconds, and what the account gives it.
    pub(super) done_ns: u64,
    pub(super) owned_ns: u64,
    /// Of what was done the part that the right owner has; what it has too much counts like what it has too little.
    pub(super) right_ns: u64,
    /// What others have of these spikes.
    pub(super) others: Vec<(OwnerClass, Option<String>, u64)>,
}

/// Whether an owner is the one that did it. Where the record does not hold on whose behalf the kernel did something
/// (`kernel`), a class without a process is as much as can be told.
fn is_right(harm: &Harm, owned: &Owned, kernel: bool) -> bool {
    let process = owned.process.map(|process| process.comm.to_string());
    let by_kernel = matches!(
        harm.cause,
        scenarios::Cause::FlushOrJournal | scenarios::Cause::LoadStopped
    );
    // A commit holds up by what it waits for, and by the requests that it sends.
    let class = owned.class.cause() == cause(harm.cause)
        || harm.cause == scenarios::Cause::FlushOrJournal
            && harm.process.is_some()
            && owned.class == OwnerClass::CompetingIo;
    class && (process == harm.process || by_kernel && !kernel && process.is_none())
}

/// The owners of all spikes near to what was done.
pub(super) fn owners<'e>(scenario: &Scenario, explanation: &'e Explanation) -> Vec<&'e Owned> {
    let started_ns = scenario.run.started_monotonic_ns.0;
    let kept = explanation.spikes.as_ref().map_or(&[][..], |spikes| &spikes.kept);
    let near_one = |spike: &&Spike| {
        let mut done = scenario.injected.iter();
        done.any(|injected| near(injected, spike, started_ns))
    };
    let owners = kept.iter().filter(near_one).flat_map(|spike| &spike.owners);
    owners.filter(|owned| owned.class != OwnerClass::Usual).collect()
}

/// Compares the account with the truth.
pub(super) fn accounted(
    doing: &str,
    scenario: &Scenario,
    explanation: &Explanation,
    truth: &[Harm],
) -> Vec<Accounted> {
    let owners = owners(scenario, explanation);
    let kernel = !scenario.kernel.is_empty();
    let each = truth.iter().map(|harm| {
        let mine = owners.iter().filter(|owned| is_right(harm, owned, kernel));
        let owned_ns: u64 = mine.map(|owned| owned.ns).sum();
        let done_ns = owned_ns.clamp(harm.least_ns, harm.most_ns);
        let mut others: BTreeMap<(OwnerClass, Option<String>), u64> = BTreeMap::new();
        let theirs = owners
            .iter()
            .filter(|owned| !truth.iter().any(|harm| is_right(harm, owned, kernel)));
        for owned in theirs {
            let process = owned.process.map(|process| process.comm.to_string());
            *others.entry((owned.class, process)).or_default() += owned.ns;
        }
        Accounted {
            doing: doing.to_owned(),
            label: scenario.label.clone(),
            cause: harm.cause,
            done_ns,
            owned_ns,
            right_ns: done_ns.saturating_sub(done_ns.abs_diff(owned_ns)),
            others: others
                .into_iter()
                .map(|((class, process), ns)| (class, process, ns))
                .collect(),
        }
    });
    each.collect()
}

/// The part of what was done that has its right owner.
pub(super) fn share_right(all: &[Accounted]) -> f64 {
    let sum = |ns: fn(&Accounted) -> u64| all.iter().map(|one| ns(one) as f64).sum::<f64>();
    sum(|one| one.right_ns) / sum(|one| one.done_ns).max(1.0)
}

/// The mean of that part over all things that are done, of each cause: loads that queue lose a thousand times as much time
/// as those that do not.
pub(super) fn mean_share(all: &[Accounted]) -> f64 {
    let lines = lines(all);
    let each = lines.iter().map(|of_it| share_right(of_it));
    each.sum::<f64>() / lines.len().max(1) as f64
}

/// Those of each thing that is done, and of each cause of it.
fn lines(all: &[Accounted]) -> Vec<Vec<Accounted>> {
    let mut lines: Vec<Vec<Accounted>> = Vec::new();
    for one in all {
        let same = |line: &&mut Vec<Accounted>| (&line[0].doing, line[0].cause) == (&one.doing, one.cause);
        match lines.iter_mut().find(same) {
            Some(line) => line.push(one.clone()),
            None => lines.push(vec![one.clone()]),
        }
    }
    lines
}

/// A line for each thing that is done.
pub(super) fn table(all: &[Accounted]) -> String {
    let mut text = String::from("| done | cause | lost | owned by it | right |\n|---|---|---:|---:|---:|\n");
    for of_it in lines(all) {
        let (doing, cause) = (&of_it[0].doing, of_it[0].cause);
        let sum = |ns: fn(&Accounted) -> u64| of_it.iter().map(ns).sum::<u64>() as f64 / 1e9;
        let _ = writeln!(
            text,
            "| {doing} | {cause:?} | {:.2} s | {:.2} s | {:.1} % |",
            sum(|one| one.done_ns),
            sum(|one| one.owned_ns),
            share_right(&of_it) * 100.0
        );
    }
    text
}

/// Those that are off most.
pub(super) fn worst(all: &[Accounted], number: usize) -> String {
    let mut off: Vec<&Accounted> = all.iter().collect();
    off.sort_by_key(|one| std::cmp::Reverse(one.done_ns - one.right_ns));
    let mut text = format!("{:.2} % on average over the causes\n", mean_share(all) * 100.0);
    for one in off.into_iter().take(number) {
        let _ = writeln!(
            text,
            "{} ({:?}): {:.3} s done, {:.3} s owned; others {:?}",
            one.label,
            one.cause,
            one.done_ns as f64 / 1e9,
            one.owned_ns as f64 / 1e9,
            one.others
        );
    }
    text
}

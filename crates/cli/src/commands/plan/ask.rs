//! From the command line to a need.

use super::from::Recorded;
use crate::args::plan::{CommitWord, PlanArgs};
use anyhow::bail;
use fathom_model::Catalog;
use fathom_model::catalog::{Family, nearest};
use fathom_plan::cost::{Commitment, Terms};
use fathom_plan::layout::{Cache, GIB};
use fathom_plan::need::{Ask, Assumed, Choice, MachineNeed, Need, STRIPE_MAX};
use fathom_plan::replay::GROWTH_PERMILLE_MAX;
use fathom_plan::seen;
use std::borrow::Cow;

/// Layouts of a list, at most.
const LISTED_MAX: u64 = 1_000;
/// Seconds of a recording that are to be carried in full: all but one in a thousand.
const SECONDS_PERCENT: f64 = 99.9;
/// Hours of a month, at most.
const HOURS_MAX: u64 = 744;

/// What is needed, and what was assumed of it.
pub(super) fn need(args: &PlanArgs, catalogs: &[&Catalog]) -> anyhow::Result<(Need, Vec<Assumed>)> {
    Ok(asked(args, catalogs)?.need()?)
}

/// What layouts that are named are judged for: what is needed, or else I/Os of the kind that is asked for.
pub(super) fn need_or_kind(args: &PlanArgs, catalogs: &[&Catalog]) -> anyhow::Result<(Need, Vec<Assumed>)> {
    Ok(asked(args, catalogs)?.kind()?)
}

fn asked(args: &PlanArgs, catalogs: &[&Catalog]) -> anyhow::Result<Ask> {
    Ok(Ask {
        iops: args.iops,
        bytes_per_second: args.mbps,
        size_bytes: args.gib,
        block_bytes: args.bs,
        read_percent: args.read,
        working_set_bytes: args.working_set,
        lasts_seconds: args.lasts.map(|lasts| lasts.0.div_ceil(1_000_000_000)),
        latency: args.latency.clone(),
        growth_permille: args.growth,
        choice: choice(args, catalogs)?,
    })
}

/// What is needed so that recordings are carried.
pub(super) fn need_of_seen(
    args: &PlanArgs,
    catalogs: &[&Catalog],
    recorded: &[Recorded],
) -> anyhow::Result<(Need, Vec<Assumed>)> {
    let seen = recorded.iter().map(|recorded| &recorded.recording.seen);
    let touched = seen.clone().map(|seen| seen.end_bytes).max().unwrap_or(0);
    let ask = Ask {
        size_bytes: args.gib.or((touched > 0).then(|| touched.next_multiple_of(GIB))),
        working_set_bytes: args.working_set,
        latency: args.latency.clone(),
        growth_permille: args.growth,
        choice: choice(args, catalogs)?,
        ..Ask::default()
    };
    if args.growth.is_some_and(|growth| growth > GROWTH_PERMILLE_MAX) {
        bail!(
            "--growth: a recorded load can be asked for {} times at most",
            GROWTH_PERMILLE_MAX / 1_000
        );
    }
    Ok(ask.need_of(seen::load(seen, percentile(args)))?)
}

/// Of which seconds all is to be carried.
pub(super) fn percentile(args: &PlanArgs) -> f64 {
    args.percentile.unwrap_or(SECONDS_PERCENT)
}

/// How many layouts are listed.
pub(super) fn listed(args: &PlanArgs) -> anyhow::Result<usize> {
    match args.top {
        1..=LISTED_MAX => Ok(args.top as usize),
        other => bail!("--top {other}: 1 to {LISTED_MAX} layouts can be listed"),
    }
}

/// What narrows the choice.
pub(super) fn choice(args: &PlanArgs, catalogs: &[&Catalog]) -> anyhow::Result<Choice> {
    let whole = |flag: &str, value: Option<u64>| match value.map(u32::try_from) {
        None => Ok(0),
        Some(Ok(0)) => bail!("--{flag} 0: more than nothing goes here, or leave it out"),
        Some(Ok(value)) => Ok(value),
        Some(Err(_)) => bail!("--{flag}: no machine has so many"),
    };
    if args.memory == Some(0) {
        bail!("--memory 0: more than nothing goes here, or leave it out");
    }
    let hours_a_month = args.hours.unwrap_or(fathom_plan::cost::HOURS_A_MONTH);
    if !(1..=HOURS_MAX).contains(&hours_a_month) {
        bail!("--hours {hours_a_month}: a month has 1 to {HOURS_MAX} hours");
    }
    let caches = match (args.no_cache, args.cache.is_empty()) {
        (true, _) => vec![Cache::None],
        (false, true) => Choice::default().caches,
        (false, false) => args.cache.iter().map(|&word| word.into()).collect(),
    };
    let commitment = match args.commit {
        None => Commitment::None,
        Some(CommitWord::OneYear) => Commitment::OneYear,
        Some(CommitWord::ThreeYears) => Commitment::ThreeYears,
    };
    let machine = MachineNeed {
        name: args.vm.as_deref().map(|name| vm(name, catalogs)).transpose()?,
        vcpus: whole("vcpus", args.vcpus)?,
        memory_bytes: args.memory.unwrap_or(0),
    };
    let choice = Choice {
        machine,
        families: args
            .family
            .iter()
            .map(|word| family(word, catalogs))
            .collect::<anyhow::Result<_>>()?,
        caches,
        too_slow: Vec::new(),
        stripe_max: match args.raid0_max {
            None => STRIPE_MAX,
            Some(most) => u32::try_from(most).unwrap_or(u32::MAX),
        },
        region: args
            .region
            .as_deref()
            .map(|name| region(name, catalogs))
            .transpose()?,
        budget_microusd: args.budget.map(|budget| {
            let per_usd = args.currency.as_ref().map_or(1.0, |(_, rate)| *rate);
            (budget as f64 / per_usd) as u64
        }),
        terms: Terms {
            hours_a_month,
            commitment,
        },
    };
    if args.explain.is_none() && args.compare.is_empty() {
        machines_are_priced(&choice, catalogs)?;
    }
    committed(&choice, catalogs)?;
    Ok(choice)
}

/// The catalogues to choose from: that of `--catalog` and those of `--cloud`.
pub(super) fn catalogs<'a>(args: &PlanArgs, own: &'a Catalog) -> anyhow::Result<Vec<&'a Catalog>> {
    let mut catalogs: Vec<&Catalog> = Vec::new();
    for name in &args.cloud {
        if name.trim().is_empty() {
            bail!("--cloud: a name is empty: give them as azure,aws,gcp");
        }
        let Some(catalog) = own.of_cloud(name.trim()) else {
            bail!(
                "--cloud {name}: no catalogue of it is built in: there are {}; --catalog DIR reads one of your own",
                Catalog::names().collect::<Vec<_>>().join(", ")
            );
        };
        if !catalogs.iter().any(|other| other.cloud() == catalog.cloud()) {
            catalogs.push(catalog);
        }
    }
    if catalogs.is_empty() {
        catalogs.push(own);
    }
    Ok(catalogs)
}

/// The built-in clouds that are not chosen from.
fn others<'a>(catalogs: &'a [&Catalog]) -> impl Iterator<Item = &'static Catalog> + 'a {
    let chosen = |name: &str| catalogs.iter().any(|catalog| catalog.cloud() == name);
    Catalog::names()
        .filter(move |name| !chosen(name))
        .filter_map(Catalog::named)
}

/// A machine of the catalogues.
fn vm(name: &str, catalogs: &[&Catalog]) -> anyhow::Result<String> {
    if let Some(vm) = catalogs.iter().find_map(|catalog| catalog.vm(name)) {
        return Ok(vm.name.clone());
    }
    if let Some(other) = others(catalogs).find(|other| other.vm(name).is_some()) {
        bail!(
            "--vm {name}: that is a machine of {0}: add --cloud {0}",
            other.cloud()
        );
    }
    let near: Vec<&str> = catalogs
        .iter()
        .flat_map(|catalog| catalog.vms_near(name))
        .collect();
    let near = if near.is_empty() {
        String::new()
    } else {
        format!(" (near: {})", near.join(", "))
    };
    bail!("--vm {name}: no virtual machine is called so{near}: `fathom catalog vms` lists all");
}

fn family(word: &str, catalogs: &[&Catalog]) -> anyhow::Result<Family> {
    if let Some(family) = catalogs.iter().find_map(|catalog| catalog.family(word)) {
        return Ok(family);
    }
    if let Some(other) = others(catalogs).find(|other| other.family(word).is_some()) {
        bail!(
            "--family {word}: those are disks of {0}: add --cloud {0}",
            other.cloud()
        );
    }
    let words: Vec<&str> = catalogs
        .iter()
        .flat_map(|catalog| catalog.families())
        .map(|family| family.key())
        .collect();
    let near = nearest(word, words.iter().copied())
        .map_or_else(String::new, |near| format!(" (did you mean {near}?)"));
    bail!(
        "--family {word}: no family is called so{near}: they are {}",
        words.join(", ")
    );
}

/// A region that a catalogue has prices of.
fn region(name: &str, catalogs: &[&Catalog]) -> anyhow::Result<String> {
    let mut regions: Vec<&str> = catalogs.iter().flat_map(|catalog| catalog.regions()).collect();
    regions.sort_unstable();
    regions.dedup();
    match regions.iter().find(|region| region.eq_ignore_ascii_case(name)) {
        Some(region) => Ok((*region).to_owned()),
        None => bail!(
            "--region {name}: the catalogue has no prices of it, but of {}: give others with --catalog DIR",
            regions.join(", ")
        ),
    }
}

/// The same catalogues at the prices of the region that is asked for, where those are others.
pub(super) fn priced<'a>(args: &PlanArgs, catalogs: &[&'a Catalog]) -> Vec<Cow<'a, Catalog>> {
    let of_region = |catalog: &&'a Catalog| {
        let other = args
            .region
            .as_deref()
            .and_then(|region| catalog.of_region(region));
        other.map_or(Cow::Borrowed(*catalog), Cow::Owned)
    };
    catalogs.iter().map(of_region).collect()
}

/// There are prices of machines in the region that is asked for, or one is named.
fn machines_are_priced(choice: &Choice, catalogs: &[&Catalog]) -> anyhow::Result<()> {
    let Some(region) = choice.region.as_deref().filter(|_| choice.machine.name.is_none()) else {
        return Ok(());
    };
    let mut vms = catalogs.iter().flat_map(|catalog| catalog.vms());
    if vms.any(|vm| vm.price_region.eq_ignore_ascii_case(region)) {
        return Ok(());
    }
    bail!(
        "--region {region}: prices of disks are known there, and none of machines: name one with --vm, and its price is left out"
    );
}

/// Prices for a commitment are there, if one is asked for.
fn committed(choice: &Choice, catalogs: &[&Catalog]) -> anyhow::Result<()> {
    let vms = || catalogs.iter().flat_map(|catalog| catalog.vms());
    let (there, column) = match choice.terms.commitment {
        Commitment::None => return Ok(()),
        Commitment::OneYear => (
            vms().any(|vm| vm.price_microusd_hour_1y.is_some()),
            "price_usd_hour_1y",
        ),
        Commitment::ThreeYears => (
            vms().any(|vm| vm.price_microusd_hour_3y.is_some()),
            "price_usd_hour_3y",
        ),
    };
    if !there {
        bail!(
            "--commit: no source of the catalogue states prices for a commitment: give them in a column {column} of vms.csv, with \
             --catalog DIR"
        );
    }
    Ok(())
}

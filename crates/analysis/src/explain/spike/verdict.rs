//! What caused a spike: the sums.
//!
//! Data in: a spike with its account. Data out: the answer. The cause is the largest owner of the time that was lost, the
//! confidence the part of it that has an owner, and a process is named for its own part only. It must not weigh evidence:
//! that is done where an owner is named.

use super::account::{self, Account, Ledger, Owner, Usually};
use super::rows::Rows;
use super::scene::{Context, Scene, SlowIo};
use super::{Found, memory, served};
use crate::explain::answer::{Cause, Depths, Owned, OwnerClass, Process, Spike, Verdict, WorstIo, in_words};
use crate::explain::victims::Kind;
use crate::explain::words::{percent, ratio};
use fathom_core::units::Nanos;

/// Of its cause's time, a process must have had so much to be who did it.
const MOST: f64 = 0.5;
/// The part of what was lost from which on another cause is told.
const SOME: f64 = 0.15;
/// Owners that are listed: what is less is put together under what was not seen.
const OWNERS_MAX: usize = 24;

/// Explains a spike; `usually` is that of each of its parts.
pub(super) fn spike(context: &Context<'_, '_>, found: &Found, rows: &Rows, usually: &[Usually]) -> Spike {
    let scene = Scene::new(context, found, rows);
    if scene.slow.is_empty() {
        let mut spike = not_examined(context, found);
        spike.verdict.because = vec![String::from("its I/Os are not in the record any more")];
        return spike;
    }
    let account = account::of(&scene, usually);
    let verdict = verdict(&scene, &account);
    let worst = scene.slow.iter().max_by_key(|io| io.total_ns());
    let users = served::users(&scene, &scene.slow);
    Spike {
        slow_ios: scene.slow_ios,
        worst: worst.map_or_else(|| unknown_worst(context, found), |io| worst_io(&scene, io)),
        split: scene.split(),
        depth: scene.depths(),
        served: served::listed(&users),
        newcomers: served::newcomers(&scene),
        lost_ns: lost_ns(&account.ledger),
        owners: owners(&scene, &account.ledger),
        verdict,
        ..not_examined(context, found)
    }
}

/// What was lost: all that is not usual.
fn lost_ns(ledger: &Ledger) -> u64 {
    ledger.total_ns() - ledger.of_class(OwnerClass::Usual)
}

fn owners(scene: &Scene<'_>, ledger: &Ledger) -> Vec<Owned> {
    let lost = lost_ns(ledger) as f64;
    let mut sorted = ledger.sorted(|pid| scene.cgroup(pid));
    // What is usual stands last.
    sorted.sort_by_key(|(owner, _)| owner.class == OwnerClass::Usual);
    if sorted.len() > OWNERS_MAX {
        let rest: u64 = sorted[OWNERS_MAX - 1..]
            .iter()
            .filter(|(owner, _)| owner.class != OwnerClass::Usual)
            .map(|(_, ns)| ns)
            .sum();
        let usual: Vec<(Owner, u64)> = sorted
            .iter()
            .filter(|(owner, _)| owner.class == OwnerClass::Usual)
            .copied()
            .collect();
        sorted.truncate(OWNERS_MAX - 1);
        match sorted
            .iter_mut()
            .find(|(owner, _)| owner.class == OwnerClass::NotSeen)
        {
            Some((_, ns)) => *ns += rest,
            None => sorted.push((Owner::NOT_SEEN, rest)),
        }
        sorted.extend(usual);
    }
    let owned = |(owner, ns): (Owner, u64)| Owned {
        class: owner.class,
        process: owner.process,
        cgroup: owner
            .process
            .and_then(|process| scene.cgroup(process.pid))
            .map(String::from),
        ns,
        share: match owner.class {
            OwnerClass::Usual => 0.0,
            _ => ratio(ns as f64, lost),
        },
        evidence: evidence(owner),
    };
    sorted.into_iter().map(owned).collect()
}

/// What shows that a span of time was that owner's.
fn evidence(owner: Owner) -> &'static str {
    match (owner.class, owner.process.is_some()) {
        (OwnerClass::Usual, _) => "what the same takes in quiet time",
        (OwnerClass::Device, _) => "issued to completed, beyond what is usual and what others are granted",
        (OwnerClass::Flush, _) => "a flush that came before it was being carried out",
        (OwnerClass::CompetingIo, true) => {
            "slower with its requests in flight than without, in the same disturbance"
        }
        (OwnerClass::CompetingIo, false) => {
            "slower with the kernel's writing back than without; whose pages is not known"
        }
        (OwnerClass::KernelQueue, _) => "no tag, or in the scheduler, while the device was as fast as usual",
        (OwnerClass::CgroupIo, _) => "not in the block layer until a bound worker of the kernel let it go",
        (OwnerClass::Quota, _) => "ready beside an idle CPU, or taken off it, while the quota was used up",
        (OwnerClass::NoCpu, _) => "it had the CPU that the thread stood ready for",
        (OwnerClass::OwnCpu, _) => "the load's threads had the CPU",
        (OwnerClass::OwnQueue, _) => {
            "the I/Os before it took what they usually take, or its own queue was longer"
        }
        (OwnerClass::Journal, _) => "the thread waited for a commit of the journal",
        (OwnerClass::DirtyPages, _) => "the writer was held until pages were written back",
        (OwnerClass::Memory, _) => "the thread reclaimed memory or read a page",
        (OwnerClass::Lock, _) => "the thread waited for a lock; who let it go on had it",
        (OwnerClass::Stopped, _) => "nothing of the load ran",
        (OwnerClass::Frozen, _) => "the freezer had the thread",
        (OwnerClass::Standstill, _) => "timers of the CPU came late by that long: nothing ran on it",
        (OwnerClass::LateTimer, _) => "the thread slept beyond its time, and nobody had its CPU",
        (OwnerClass::NotSeen, _) => "no evidence",
    }
}

/// A cause with its time.
struct Sum {
    cause: Cause,
    ns: u64,
    process: Option<Process>,
}

/// The time of each cause, the largest first.
fn sums(ledger: &Ledger) -> Vec<Sum> {
    let mut sums: Vec<Sum> = Vec::new();
    // They come with the largest first: the first process of a cause is the one that had most.
    let mut most: Vec<u64> = Vec::new();
    // A process is named whatever cgroups its tasks are in.
    for (owner, ns) in ledger.sorted(|_| ()) {
        if owner.class == OwnerClass::Usual {
            continue;
        }
        let cause = owner.class.cause();
        let index = sums.iter().position(|sum| sum.cause == cause);
        let index = index.unwrap_or_else(|| {
            sums.push(Sum {
                cause,
                ns: 0,
                process: None,
            });
            most.push(0);
            sums.len() - 1
        });
        sums[index].ns += ns;
        if owner.process.is_some() && sums[index].process.is_none() {
            sums[index].process = owner.process;
            most[index] = ns;
        }
    }
    for (sum, most) in sums.iter_mut().zip(most) {
        sum.process = sum.process.filter(|_| most as f64 >= sum.ns as f64 * MOST);
    }
    sums.sort_by_key(|sum| (std::cmp::Reverse(sum.ns), sum.cause));
    sums
}

fn verdict(scene: &Scene<'_>, account: &Account) -> Verdict {
    let ledger = &account.ledger;
    let lost = lost_ns(ledger);
    let sums = sums(ledger);
    let not_seen = ledger.of_class(OwnerClass::NotSeen);
    let worst = sums.first().filter(|sum| sum.ns > 0);
    let (cause, process) = worst.map_or((Cause::Unknown, None), |sum| (sum.cause, sum.process));
    let confidence = match cause {
        Cause::Unknown => 0.0,
        _ => (1.0 - ratio(not_seen as f64, lost as f64)).clamp(0.0, 0.99),
    };
    let others = sums
        .iter()
        .skip(1)
        .filter(|sum| sum.cause != Cause::Unknown && sum.ns as f64 >= lost as f64 * SOME);
    let mut because = vec![in_sums(scene, account)];
    because.extend(memory::evidence(scene).filter(|_| cause != Cause::LoadStopped));
    Verdict {
        cause,
        process,
        confidence,
        confidence_words: String::from(in_words(confidence)),
        because,
        also: others.map(|sum| (sum.cause, sum.process)).collect(),
        missing: missing(scene, account, ratio(not_seen as f64, lost as f64)),
    }
}

/// Owners that a sentence names.
const TOLD_MAX: usize = 4;

/// "of 9.4 s lost in these 4.3 s: 8.1 s no CPU, which sh had; 0.9 s at the device; 0.4 s not seen".
fn in_sums(scene: &Scene<'_>, account: &Account) -> String {
    let lost = lost_ns(&account.ledger);
    let sorted = account.ledger.sorted(|pid| scene.cgroup(pid));
    let told = sorted
        .iter()
        .filter(|(owner, ns)| owner.class != OwnerClass::Usual && *ns * 100 >= lost)
        .take(TOLD_MAX);
    let each: Vec<String> = told
        .map(|(owner, ns)| {
            let who = owner.process.map(|process| match scene.cgroup(process.pid) {
                Some(cgroup) => format!("{} (cgroup {cgroup})", process.comm),
                None => process.comm.to_string(),
            });
            owner.class.told(&Nanos(*ns).to_string(), who.as_deref())
        })
        .collect();
    format!(
        "of {} lost in these {}: {}",
        Nanos(lost),
        Nanos(scene.spike.duration_ns()),
        each.join("; ")
    )
}

/// What would have said whose the time was that was not seen.
fn missing(scene: &Scene<'_>, account: &Account, not_seen: f64) -> Vec<String> {
    let mut missing = lost_rows(scene);
    if account.unaccounted > 0 {
        missing.push(format!(
            "the account of {} I/Os, whose parts do not add up to their times: a fault of fathom's, please report it",
            account.unaccounted
        ));
    }
    if not_seen < SOME {
        return missing;
    }
    if !scene.context.has_block() {
        missing.push(String::from(
            "the requests of the device (stream `block`): how the latency divides between kernel and device",
        ));
    }
    if !account.threads_seen && scene.context.has_load() {
        missing.push(String::from(
            "who was on the CPUs meanwhile (stream `sched`): whether the load had a CPU is not known",
        ));
    }
    if scene.context.scanned.counters.is_none() {
        missing.push(String::from("the limits of the cgroup (stream `counters`)"));
    }
    if missing.is_empty() {
        missing.push(format!(
            "what the load waited for in {} % of the time that was lost: a lock, memory or a limit that leaves no trace",
            percent(not_seen)
        ));
    }
    missing
}

/// For how long streams did not hold all: that time is not seen.
fn lost_rows(scene: &Scene<'_>) -> Vec<String> {
    let (from_ns, to_ns) = (scene.spike.start_ns, scene.spike.end_ns);
    let lost = scene.context.gaps.streams(from_ns, to_ns);
    let told = lost.map(|(kind, ns)| {
        format!(
            "rows of stream `{}` that the recording lost in {} of these {}: what they would have told is not seen",
            kind.name(),
            Nanos(ns),
            Nanos(to_ns - from_ns)
        )
    });
    told.collect()
}

/// Whether two neighbours are one disturbance.
pub(super) fn are_one(a: &Spike, b: &Spike, near_ns: u64) -> bool {
    let end_ns = a.start_ns + a.duration_ns;
    let gap_ns = b.start_ns.saturating_sub(end_ns);
    let comm = |spike: &Spike| spike.verdict.process.map(|process| process.comm);
    gap_ns <= near_ns.min(a.duration_ns.max(b.duration_ns))
        && a.verdict.cause == b.verdict.cause
        && a.verdict.cause != Cause::Unknown
        && comm(a) == comm(b)
        && a.sections == b.sections
}

/// Puts a neighbour to the first of two.
pub(super) fn join(a: &mut Spike, b: Spike) {
    let end_ns = (a.start_ns + a.duration_ns).max(b.start_ns + b.duration_ns);
    a.duration_ns = end_ns - a.start_ns;
    let (mine, theirs) = (a.lost_ns, b.lost_ns);
    a.lost_ns += b.lost_ns;
    let slow_ios = a.slow_ios + b.slow_ios;
    let owners = joined(std::mem::take(&mut a.owners), b.owners.clone());
    if b.worst.response_ns > a.worst.response_ns {
        let (start_ns, duration_ns, lost_ns, shift) = (a.start_ns, a.duration_ns, a.lost_ns, a.shift);
        *a = Spike {
            start_ns,
            duration_ns,
            lost_ns,
            shift: shift || b.shift,
            ..b
        };
    }
    a.slow_ios = slow_ios;
    a.owners = owners;
    if let Some(first) = a.verdict.because.first_mut() {
        let part = first.split(" (the worst part").next().unwrap_or(first);
        *first = format!("{part} (the worst part; {} lost in all)", Nanos(mine + theirs));
    }
}

fn joined(mut mine: Vec<Owned>, theirs: Vec<Owned>) -> Vec<Owned> {
    for owned in theirs {
        let comm = |owned: &Owned| owned.process.map(|process| process.comm);
        let same = |known: &&mut Owned| {
            (known.class, comm(known), &known.cgroup) == (owned.class, comm(&owned), &owned.cgroup)
        };
        let known = mine.iter_mut().find(same);
        match known {
            Some(known) => known.ns += owned.ns,
            None => mine.push(owned),
        }
    }
    let lost: u64 = mine
        .iter()
        .filter(|owned| owned.class != OwnerClass::Usual)
        .map(|owned| owned.ns)
        .sum();
    for owned in &mut mine {
        if owned.class != OwnerClass::Usual {
            owned.share = ratio(owned.ns as f64, lost as f64);
        }
    }
    mine.sort_by_key(|owned| (owned.class == OwnerClass::Usual, std::cmp::Reverse(owned.ns)));
    mine
}

fn worst_io(scene: &Scene<'_>, io: &SlowIo) -> WorstIo {
    let held = scene
        .found
        .parts
        .get(io.part)
        .is_some_and(|part| part.kind == Kind::HELD);
    let op = if held { WorstIo::HELD } else { io.op.name() };
    WorstIo {
        latency_ns: io.latency_ns(),
        response_ns: io.total_ns(),
        at_ns: io.created_ns.saturating_sub(scene.context.facts.started_ns()),
        offset_bytes: io.offset_bytes,
        length_bytes: io.len_bytes,
        op: String::from(op),
    }
}

/// A spike of which no row was looked at.
pub(super) fn not_examined(context: &Context<'_, '_>, found: &Found) -> Spike {
    let mut sections: Vec<String> = Vec::new();
    for section in found.parts.iter().filter_map(|part| context.section(part)) {
        if !sections.contains(&section.name) {
            sections.push(section.name.clone());
        }
    }
    let event = found.event;
    let because = "it was not looked at: there are worse ones, and more rows than are read";
    Spike {
        start_ns: event.start_ns.saturating_sub(context.facts.started_ns()),
        duration_ns: event.end_ns - event.start_ns,
        sections,
        slow_ios: event.ios,
        threshold_ns: found.threshold_ns(),
        usual_ns: found.parts.iter().map(|part| part.usual_ns).min().unwrap_or(0),
        worst: unknown_worst(context, found),
        split: None,
        depth: Depths::default(),
        served: Vec::new(),
        newcomers: Vec::new(),
        shift: event.shift,
        lost_ns: 0,
        owners: Vec::new(),
        verdict: Verdict {
            cause: Cause::Unknown,
            process: None,
            confidence: 0.0,
            confidence_words: String::from(in_words(0.0)),
            because: vec![String::from(because)],
            also: Vec::new(),
            missing: Vec::new(),
        },
    }
}

fn unknown_worst(context: &Context<'_, '_>, found: &Found) -> WorstIo {
    let at_ns = found.event.worst_at_ns.saturating_sub(found.event.worst_ns);
    WorstIo {
        latency_ns: found.event.worst_ns,
        response_ns: found.event.worst_ns,
        at_ns: at_ns.saturating_sub(context.facts.started_ns()),
        offset_bytes: 0,
        length_bytes: 0,
        op: String::from("other"),
    }
}

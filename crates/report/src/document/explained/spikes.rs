//! The spikes and their causes.

use super::super::content::{Block, Chart, Notice, Table};
use super::super::{RunReport, measured};
use super::percent;
use crate::chart::spikes as chart;
use crate::document::SpikeWindow;
use crate::explanation::Evidence;
use crate::words::{from_to, joined, plural};
use fathom_analysis::explain::Explanation;
use fathom_analysis::explain::answer::{
    Cause, OwnerClass, Period, Process, Smaller, Spike, SpikeKind, SpikeReport, Split, Verdict, WorstIo,
};
use fathom_core::units::{Bytes, Nanos, three_digits};

/// Spikes that a page lists, and that a terminal lists: the worst ones.
const LISTED_MAX: usize = 50;
const LISTED_MAX_TERMINAL: usize = 10;
/// Owners of a spike's time that are told.
const OWNERS_MAX: usize = 6;
/// Less than this part of what was lost is not told.
const SHARE_MIN: f64 = 0.005;
/// From so many spikes on, a page's list is folded.
const FOLDED_ABOVE: usize = 15;
/// Others that the device served, and processes, that are named.
const NAMED_MAX: usize = 4;

/// For a terminal.
pub(super) fn told(explanation: &Explanation, evidence: &Evidence) -> Vec<Block> {
    // Where there is none, that has been said above.
    let Ok(found) = found(explanation) else {
        return Vec::new();
    };
    let mut blocks = overview(found, "");
    let worst = worst(found, usize::MAX);
    let listed = &worst[..worst.len().min(LISTED_MAX_TERMINAL)];
    let row = |(index, spike): (usize, &&Spike)| {
        vec![
            (index + 1).to_string(),
            at(spike.start_ns),
            Nanos(spike.duration_ns).to_string(),
            lost(spike),
            Nanos(spike.worst.response_ns).to_string(),
            cause_in_short(&spike.verdict),
        ]
    };
    let head = ["#", "at", "for", "lost", "worst", "cause"];
    let table = Table::new(0, head, listed.iter().enumerate().map(row));
    blocks.push(Block::Gap);
    blocks.push(Block::Table(table.on_terminal(|layout| layout.rest = Some(0))));
    if worst.len() > listed.len() {
        let more = worst.len() - listed.len();
        blocks.push(Block::Text(format!(
            "and {more} smaller ones (--json has them all)"
        )));
    }
    if *evidence == Evidence::None {
        blocks.push(Block::Text(String::from(
            "--evidence 1 tells what shows the first of them, --evidence all everything.",
        )));
    }
    for (index, spike) in worst.into_iter().enumerate() {
        if evidence.is_of(index + 1) {
            blocks.push(Block::Heading(format!("#{}, {}", index + 1, title(spike))));
            blocks.push(Block::List(entries(spike, Some(in_flight(spike)))));
        }
    }
    blocks
}

/// What its slow I/Os lost, where that is known.
fn lost(spike: &Spike) -> String {
    match spike.lost_ns {
        0 => String::from("-"),
        ns => Nanos(ns).to_string(),
    }
}

/// For a page, with the I/Os around the worst.
pub(in crate::document) fn drawn(report: &RunReport<'_>, explanation: &Explanation) -> Vec<Block> {
    let found = match found(explanation) {
        Ok(found) => found,
        Err(nothing) => return nothing,
    };
    let mut blocks = overview(found, ".");
    let ends = found.kept.iter().map(|spike| spike.start_ns + spike.duration_ns);
    let clock = measured::clock(report.series, ends.max().unwrap_or(0));
    blocks.push(Block::Charts(vec![Chart::whole(
        "Spikes over the run",
        "A mark for the worst I/O of each spike; the spike's time is shaded.",
        320,
        chart::overview(found, clock),
    )]));
    blocks.push(Block::Table(list(found)));
    let windows = report.windows.iter();
    let windows: Vec<(&SpikeWindow, &Spike)> = windows
        .filter_map(|window| Some((window, found.kept.get(window.spike())?)))
        .collect();
    let named: Vec<(String, &Spike)> = windows
        .iter()
        .map(|&(_, spike)| (at(spike.start_ns), spike))
        .collect();
    blocks.extend(chart::splits(&named).map(|figure| {
        Block::Charts(vec![Chart::whole(
            "Where the slow I/Os of each spike spent their time",
            "Means over the slow I/Os, from when each was due to when the load saw it done.",
            170 + 26 * named.len() as u32,
            figure,
        )])
    }));
    for (window, spike) in windows {
        blocks.push(Block::Heading(title(spike)));
        blocks.push(around(window, spike));
        blocks.push(Block::List(entries(spike, None)));
    }
    blocks
}

/// The spikes, or why there are none.
fn found(explanation: &Explanation) -> Result<&SpikeReport, Vec<Block>> {
    match &explanation.spikes {
        Some(found) if found.found > 0 => Ok(found),
        Some(_) => Err("None: no I/O took far longer than those around it."),
        None => Err(
            "Not looked for: neither the I/Os of the load nor the requests of its devices are in the record.",
        ),
    }
    .map_err(|text| vec![Block::Text(String::from(text))])
}

/// How many by which cause, and which come regularly.
fn overview(found: &SpikeReport, end: &str) -> Vec<Block> {
    let mut text = plural(found.found, "spike");
    if (found.kept.len() as u64) < found.found {
        text = format!("{text}, the worst {} of them kept", found.kept.len());
    }
    let causes = found
        .causes
        .iter()
        .map(|(cause, n)| format!("{} {n}", cause.name()));
    let mut blocks = vec![Block::Text(format!("{text}: {}{end}", joined(causes, ", ")))];
    blocks.extend(smaller(found).map(|text| Block::Text(format!("{text}{end}"))));
    let lines = regularities(found);
    if !lines.is_empty() {
        blocks.push(Block::List(lines));
    }
    blocks
}

/// `and 412 smaller ones, not looked at one by one: 1.2 s lost in all (3 %), the worst I/O 61 ms`.
fn smaller(found: &SpikeReport) -> Option<String> {
    let Smaller {
        spikes,
        lost_ns,
        worst_max_ns,
    } = found.smaller;
    let share = lost_ns as f64 / found.lost_ns.max(1) as f64;
    (spikes > 0).then(|| {
        format!(
            "and {}, not looked at one by one: {} lost in all ({}), the worst I/O {}",
            plural(spikes, "smaller one"),
            Nanos(lost_ns),
            percent(share),
            Nanos(worst_max_ns)
        )
    })
}

/// The kinds of those causes that have several, and what comes regularly beside.
fn regularities(found: &SpikeReport) -> Vec<String> {
    let several = |cause: Cause| found.kinds.iter().filter(|kind| kind.cause == cause).count() > 1;
    let kinds: Vec<&SpikeKind> = found.kinds.iter().filter(|kind| several(kind.cause)).collect();
    let told = |period: &&Period| !kinds.iter().any(|kind| kind.period.as_ref() == Some(*period));
    let others = found.periods.iter().filter(told).map(regular);
    kinds.iter().map(|kind| of_kind(kind)).chain(others).collect()
}

/// `211 stalls by device of 494 to 640 ms, 124 s lost; every 400 s, first at …`.
fn of_kind(kind: &SpikeKind) -> String {
    let what = if kind.stalls { "stall" } else { "short one" };
    let length = match (kind.worst_min_ns, kind.worst_max_ns) {
        (least, most) if least == most => Nanos(most).to_string(),
        (least, most) => from_to(Nanos(least), Nanos(most)),
    };
    let lost = if kind.lost_ns > 0 {
        format!(", {} lost", Nanos(kind.lost_ns))
    } else {
        String::new()
    };
    let period = kind.period.as_ref().map(|period| {
        format!(
            "; every {}, first at {}: {} on time to {}, {} none came",
            Nanos(period.period_ns),
            at(period.phase_ns),
            period.spikes,
            Nanos(period.jitter_ns),
            plural(period.missed, "time")
        )
    });
    format!(
        "{} by {} of {length}{lost}{}",
        plural(kind.spikes, what),
        kind.cause.name(),
        period.unwrap_or_default()
    )
}

fn regular(period: &Period) -> String {
    let which = period
        .cause
        .map_or(String::from("they"), |cause| format!("those by {}", cause.name()));
    format!(
        "{which} of {} and more come every {}, first at {}: {} on time to {}, {} none came",
        Nanos(period.worst_min_ns),
        Nanos(period.period_ns),
        at(period.phase_ns),
        plural(period.spikes, "spike"),
        Nanos(period.jitter_ns),
        plural(period.missed, "time")
    )
}

/// The worst spikes, the worst of them first.
fn worst(found: &SpikeReport, most: usize) -> Vec<&Spike> {
    let mut worst: Vec<&Spike> = found.kept.iter().collect();
    worst.sort_by_key(|spike| std::cmp::Reverse((spike.lost_ns, spike.worst.response_ns)));
    worst.truncate(most);
    worst
}

/// The worst spikes, in the order of time.
fn list(found: &SpikeReport) -> Table {
    let mut worst = worst(found, LISTED_MAX);
    worst.sort_by_key(|spike| spike.start_ns);
    let caption = if found.kept.len() > worst.len() {
        format!("The worst {} spikes", worst.len())
    } else {
        String::from("All spikes")
    };
    let row = |spike: &&Spike| {
        vec![
            at(spike.start_ns),
            verdict(&spike.verdict),
            Nanos(spike.duration_ns).to_string(),
            lost(spike),
            spike.slow_ios.to_string(),
            Nanos(spike.worst.response_ns).to_string(),
            match spike.usual_ns {
                0 => String::from("-"),
                ns => Nanos(ns).to_string(),
            },
        ]
    };
    let head = ["at", "cause", "for", "lost", "slow I/Os", "worst", "usual"];
    Table::new(2, head, worst.iter().map(row))
        .captioned(caption)
        .folded_above(FOLDED_ABOVE)
}

/// A moment since the start: `0:04:07.250`.
fn at(ns: u64) -> String {
    let ms = ns / 1_000_000;
    let (s, ms) = (ms / 1000, ms % 1000);
    format!("{}:{:02}:{:02}.{ms:03}", s / 3600, s / 60 % 60, s % 60)
}

fn who(cause: Cause, process: Option<&Process>) -> String {
    match process {
        Some(process) => format!("{} by {} ({})", cause.name(), process.comm, process.pid),
        None => String::from(cause.name()),
    }
}

/// So that it fits beside the figures.
fn cause_in_short(verdict: &Verdict) -> String {
    let cause = match verdict.cause {
        Cause::LoadStopped => "stopped",
        cause => cause.name(),
    };
    match verdict.process {
        Some(process) if verdict.cause != Cause::Unknown => format!("{cause}: {}", process.comm),
        _ => String::from(cause),
    }
}

fn verdict(verdict: &Verdict) -> String {
    let who = who(verdict.cause, verdict.process.as_ref());
    if verdict.cause == Cause::Unknown {
        return who;
    }
    let sure = percent(verdict.confidence);
    format!("{who} ({}, {sure})", verdict.confidence_words)
}

fn title(spike: &Spike) -> String {
    let length = Nanos(spike.duration_ns);
    format!("{}: {length}, {}", at(spike.start_ns), verdict(&spike.verdict))
}

/// Why a spike is thought to be what it is, and what was seen of it.
fn entries(spike: &Spike, in_flight: Option<String>) -> Vec<String> {
    let verdict = &spike.verdict;
    let because = verdict.because.iter().map(|text| format!("because {text}"));
    let mut entries: Vec<String> = because.collect();
    entries.extend(owners(spike));
    let also = verdict.also.iter();
    entries.extend(also.map(|(cause, process)| format!("also: {}", who(*cause, process.as_ref()))));
    let missing = verdict.missing.iter();
    entries.extend(missing.map(|text| format!("missing to decide: {text}")));
    entries.push(slow(spike));
    let split = spike.split.as_ref();
    entries.extend(split.map(|split| format!("their time: {}", parts(split))));
    entries.extend(in_flight);
    entries.extend(others(spike));
    entries
}

/// Whose the time was that was lost, and what shows it.
fn owners(spike: &Spike) -> impl Iterator<Item = String> {
    let lost = spike
        .owners
        .iter()
        .filter(|owned| owned.class != OwnerClass::Usual);
    let lost = lost.filter(|owned| owned.share >= SHARE_MIN);
    lost.take(OWNERS_MAX).map(|owned| {
        let who = owned.process.map(|process| match &owned.cgroup {
            Some(cgroup) => format!(", {} ({}, cgroup {cgroup})", process.comm, process.pid),
            None => format!(", {} ({})", process.comm, process.pid),
        });
        format!(
            "{} ({}) {}{}: {}",
            Nanos(owned.ns),
            percent(owned.share),
            owned.class.words(),
            who.unwrap_or_default(),
            owned.evidence
        )
    })
}

/// How many I/Os were slow, and how slow the worst of them was.
fn slow(spike: &Spike) -> String {
    let (worst, sections) = (&spike.worst, spike.sections.join(", "));
    let number = |what| plural(spike.slow_ios, what);
    if worst.op == WorstIo::HELD {
        let longest = Nanos(worst.response_ns);
        return format!(
            "{} of threads that use {sections} and were not let run; the longest {longest}",
            number("wait")
        );
    }
    format!(
        "{} of {sections}; the worst, a {} of {}, took {}; normal is {}",
        number("slow I/O"),
        worst.op,
        Bytes(u64::from(worst.length_bytes)),
        took(worst.latency_ns, worst.response_ns),
        Nanos(spike.usual_ns)
    )
}

fn took(latency_ns: u64, response_ns: u64) -> String {
    let latency = Nanos(latency_ns);
    // An I/O that was sent in time has one number.
    if response_ns > latency_ns + latency_ns / 100 {
        format!("{latency} ({} from when it was due)", Nanos(response_ns))
    } else {
        latency.to_string()
    }
}

/// The parts that took any of the time, in the order in which an I/O meets them.
fn parts(split: &Split) -> String {
    let total = split.total_ns().max(1.0);
    let each = chart::PARTS.into_iter().map(|(name, part)| (name, part(split)));
    let shown = each.filter(|(_, ns)| ns / total >= 0.005);
    let shown =
        shown.map(|(name, ns)| format!("{name} {} ({})", Nanos(ns.round() as u64), percent(ns / total)));
    let ambiguous = (split.ambiguous >= 0.005).then(|| {
        let share = percent(split.ambiguous);
        format!("for {share} of them several requests fit, so this is approximate")
    });
    joined(shown.chain(ambiguous), ", ")
}

fn in_flight(spike: &Spike) -> String {
    let depth = &spike.depth;
    let device = depth.device_during.map_or(String::new(), |device| {
        format!("; {} at the device meanwhile", three_digits(device))
    });
    format!(
        "in flight: {} before, {} during, {} after{device}",
        three_digits(depth.before),
        three_digits(depth.during),
        three_digits(depth.after)
    )
}

/// Whom else the device served, and who was busy then and not before.
fn others(spike: &Spike) -> Vec<String> {
    let served = spike.served.iter().filter(|served| !served.own).map(|served| {
        format!(
            "{} ({}) {} of {}, {} in flight, before {}",
            served.process.comm,
            served.process.pid,
            plural(served.requests, "request"),
            Bytes(served.bytes),
            three_digits(served.in_flight),
            three_digits(served.in_flight_before)
        )
    });
    let new = spike.newcomers.iter().map(|used| {
        format!(
            "{} ({}) {} of CPU, {} read, {} written",
            used.process.comm,
            used.process.pid,
            Nanos(used.cpu_ns),
            Bytes(used.read_bytes),
            Bytes(used.written_bytes)
        )
    });
    let named = [
        ("also served", joined(served.take(NAMED_MAX), "; ")),
        (
            "busy then and not before (no proof of guilt)",
            joined(new.take(NAMED_MAX), "; "),
        ),
    ];
    let named = named.into_iter().filter(|(_, names)| !names.is_empty());
    named.map(|(what, names)| format!("{what}: {names}")).collect()
}

/// The I/Os around a spike.
fn around(window: &SpikeWindow, spike: &Spike) -> Block {
    if window.slow.met + window.usual.met == 0 {
        let text = String::from("Its I/Os are not in the record, so its window cannot be drawn.");
        return Block::Notice(Notice::Note, text);
    }
    let share = |kept: usize, met: u64| {
        if kept as u64 == met {
            format!("all {met}")
        } else {
            format!("{kept} of {met}, evenly chosen")
        }
    };
    let about = format!(
        "A mark for each I/O where it was completed. Slow ones: {}; others: {}.",
        share(window.slow.kept.len(), window.slow.met),
        share(window.usual.kept.len(), window.usual.met)
    );
    let figure = chart::window(window, spike);
    Block::Charts(vec![Chart::whole("I/Os around it", about, 300, figure)])
}

//! What became of the time of a command that was recorded: how much of it a disk was at a limit, and what the rest was spent on.
//!
//! Data in: the run's commands, the devices with their seconds. Data out: [`CommandTime`]s. Where no limit can be told from
//! the seconds, none is claimed.

use super::super::answer::{CommandTime, LimitKind, LimitTime, OutsideLimits, Unit};
use super::super::facts::LimitScope;
use super::super::section::Section;
use super::super::timeline::SECOND_NS;
use super::super::{Facts, Scanned};
use super::measures::Measures;
use super::unloaded::{PLATEAU, plateau};
use fathom_core::run::{CommandCourse, CommandSummary, TimeSplit};

/// From when to when, on the clock of the run.
type Span = (u64, u64);

pub(in super::super) fn of(
    facts: &Facts<'_>,
    scanned: &Scanned,
    sections: &[Section<'_>],
) -> Vec<CommandTime> {
    let commands = facts.run.summary.commands.iter();
    commands
        .map(|command| {
            let at = sections.iter().filter_map(|section| {
                at_limit(facts, &Measures::of(facts, scanned, section), section, command)
            });
            let (limits, spans): (Vec<LimitTime>, Vec<Vec<Span>>) = at.unzip();
            let course = command.course.as_ref();
            CommandTime {
                argv: command.argv.clone(),
                duration_ns: command.duration_ns(),
                cpu_ns: command.cpu.user_ns + command.cpu.system_ns,
                waits: command.waits,
                limits,
                outside_limits: course.map(|course| outside(command, course, spans.concat())),
            }
        })
        .collect()
}

/// The limit that the device was at for the longest part of the command's time.
fn at_limit(
    facts: &Facts<'_>,
    measures: &Measures,
    section: &Section<'_>,
    command: &CommandSummary,
) -> Option<(LimitTime, Vec<Span>)> {
    let own = facts
        .known_disks
        .iter()
        .filter(|disk| disk.own && disk.scope == LimitScope::Disk);
    let known = own.flat_map(|disk| {
        let iops = disk.iops.map(|rate| (LimitKind::Iops, rate));
        let bytes = disk.bytes_per_second.map(|rate| (LimitKind::Bandwidth, rate));
        iops.into_iter().chain(bytes)
    });
    let latencies = &measures.latencies_by_second;
    let iops = plateau(&measures.rates, latencies).map(|found| (LimitKind::Iops, found.rate));
    let bytes = plateau(&measures.bytes_by_second, latencies).map(|found| (LimitKind::Bandwidth, found.rate));
    let candidates = known.chain(iops).chain(bytes);
    let times = candidates.map(|(kind, rate)| {
        let (rates, unit) = match kind {
            LimitKind::Iops => (&measures.rates, Unit::Iops),
            _ => (&measures.bytes_by_second, Unit::BytesPerSecond),
        };
        let spans = spans_at(facts, measures, rates, rate, command);
        let limit = LimitTime {
            device: section.name.clone(),
            limit: kind,
            rate,
            unit,
            ns: spans.iter().map(|(from_ns, to_ns)| to_ns - from_ns).sum(),
        };
        (limit, spans)
    });
    // Of equal ones the first: what is stated before what was seen.
    let best = times.reduce(|best, other| if other.0.ns > best.0.ns { other } else { best });
    best.filter(|best| best.0.ns > 0)
}

/// What of the command's time lies in seconds at this rate, second by second.
fn spans_at(
    facts: &Facts<'_>,
    measures: &Measures,
    rates: &[f64],
    limit: f64,
    command: &CommandSummary,
) -> Vec<Span> {
    let seconds = rates.iter().zip(measures.from..);
    let at = seconds.filter(|(rate, _)| **rate >= limit * PLATEAU);
    at.filter_map(|(_, number)| {
        let start_ns = facts.started_ns() + number * SECOND_NS;
        let end_ns = (start_ns + SECOND_NS).min(command.ended_ns);
        let start_ns = start_ns.max(command.started_ns);
        (start_ns < end_ns).then_some((start_ns, end_ns))
    })
    .collect()
}

/// What the command's time was spent on that lies in none of these spans. Within a part of its course, time in and out of them is
/// taken to be spent alike: a part is a second of a command of up to a quarter of an hour.
fn outside(command: &CommandSummary, course: &CommandCourse, mut spans: Vec<Span>) -> OutsideLimits {
    spans.sort_unstable();
    let mut apart: Vec<Span> = Vec::new();
    for span in spans {
        match apart.last_mut() {
            Some(last) if span.0 <= last.1 => last.1 = last.1.max(span.1),
            _ => apart.push(span),
        }
    }
    let within = |from_ns: u64, to_ns: u64| -> u64 {
        let first = apart.partition_point(|span| span.1 <= from_ns);
        let inside = apart[first..].iter().take_while(|span| span.0 < to_ns);
        inside.map(|span| span.1.min(to_ns) - span.0.max(from_ns)).sum()
    };
    let mut spent = TimeSplit::default();
    for (number, part) in (0u64..).zip(&course.parts) {
        let from_ns = command.started_ns + number * course.part_ns;
        let to_ns = (from_ns + course.part_ns).min(command.ended_ns);
        let Some(length_ns) = to_ns.checked_sub(from_ns).filter(|&ns| ns > 0) else {
            break;
        };
        let out = (length_ns - within(from_ns, to_ns)) as f64 / length_ns as f64;
        let of = |ns: u64| (ns as f64 * out).round() as u64;
        spent.cpu_ns += of(part.cpu_ns);
        spent.ready_ns += of(part.ready_ns);
        spent.disk_ns += of(part.disk_ns);
        spent.other_ns += of(part.other_ns);
    }
    OutsideLimits {
        ns: command.duration_ns() - within(command.started_ns, command.ended_ns),
        spent,
    }
}

#[cfg(test)]
mod tests;

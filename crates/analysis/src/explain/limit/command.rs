//! What became of the time of a command that was recorded: how much of it a disk was at a limit.
//!
//! Data in: the run's commands, the devices with their seconds. Data out: [`CommandTime`]s. Where no limit can be told from
//! the seconds, none is claimed.

use super::super::answer::{CommandTime, LimitKind, LimitTime, Unit};
use super::super::facts::LimitScope;
use super::super::section::Section;
use super::super::timeline::SECOND_NS;
use super::super::{Facts, Scanned};
use super::measures::Measures;
use super::unloaded::{PLATEAU, plateau};
use fathom_core::run::CommandSummary;

pub(in super::super) fn of(
    facts: &Facts<'_>,
    scanned: &Scanned,
    sections: &[Section<'_>],
) -> Vec<CommandTime> {
    let commands = facts.run.summary.commands.iter();
    commands
        .map(|command| CommandTime {
            argv: command.argv.clone(),
            duration_ns: command.duration_ns(),
            cpu_ns: command.cpu.user_ns + command.cpu.system_ns,
            waits: command.waits,
            limits: sections
                .iter()
                .filter_map(|section| {
                    at_limit(facts, &Measures::of(facts, scanned, section), section, command)
                })
                .collect(),
        })
        .collect()
}

/// The limit that the device was at for the longest part of the command's time.
fn at_limit(
    facts: &Facts<'_>,
    measures: &Measures,
    section: &Section<'_>,
    command: &CommandSummary,
) -> Option<LimitTime> {
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
        LimitTime {
            device: section.name.clone(),
            limit: kind,
            rate,
            unit,
            ns: time_at(facts, measures, rates, rate, command),
        }
    });
    // Of equal ones the first: what is stated before what was seen.
    let best = times.reduce(|best, other| if other.ns > best.ns { other } else { best });
    best.filter(|best| best.ns > 0)
}

/// How much of the command's time lies in seconds at this rate.
fn time_at(
    facts: &Facts<'_>,
    measures: &Measures,
    rates: &[f64],
    limit: f64,
    command: &CommandSummary,
) -> u64 {
    let seconds = rates.iter().zip(measures.from..);
    let at = seconds.filter(|(rate, _)| **rate >= limit * PLATEAU);
    at.map(|(_, number)| {
        let start_ns = facts.started_ns() + number * SECOND_NS;
        let end_ns = (start_ns + SECOND_NS).min(command.ended_ns);
        end_ns.saturating_sub(start_ns.max(command.started_ns))
    })
    .sum()
}

#[cfg(test)]
mod tests;

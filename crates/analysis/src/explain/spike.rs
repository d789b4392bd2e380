//! Spikes: which they are, and what caused each.
//!
//! Data in: the sections with their events, the rows of the windows around them. Data out: the report of spikes. The rows
//! are read in lots of bounded size, in the order of time.

mod account;
mod gaps;
mod held;
mod kinds;
mod matching;
mod memory;
mod rows;
mod sample;
mod scene;
mod served;
mod usually;
mod verdict;

use super::answer::{Cause, Smaller, Spike, SpikeReport};
use super::block_scan::Whose;
use super::detect::{Event, GAP_NS};
use super::evidence::{Evidence, Window};
use super::pulse::{Normal, Pulse};
use super::section::Section;
use super::timeline::SECOND_NS;
use super::victims::{Kind, Victims};
use super::{Facts, Scanned};
use fathom_core::record::Comm;
use rows::{Lot, Rows};
use std::cmp::Reverse;
use std::num::NonZero;
use usually::Table;

/// Spikes that are kept.
const KEPT_MAX: usize = 1000;
/// What comes more often than once in so many seconds is no exception but the tail of the distribution, unless it is set
/// apart from the rest of it; what comes more often than once in so few is in any case.
const SECONDS_RARE: f64 = 60.0;
const SECONDS_OFTEN: f64 = 2.0;
/// However short a section was, so many of its events count as spikes.
const FEW: usize = 50;
/// Of what a victim lost, so much is to lie in what is told of it.
const COVERED: f64 = 0.9;
/// Of a tail, so many are left at most where the bar is raised so far; of what is set apart, more.
const TAIL_LEFT: f64 = 0.9;
const BAR_STEP: f64 = 1.5;
/// Rows that are looked at for one spike, and for all spikes together.
const ROWS_A_LOT: u64 = 300_000;
const ROWS_MAX: u64 = 2_500_000;
/// The time before and after a spike that is looked at.
const CONTEXT_MIN_NS: u64 = 250_000_000;
const CONTEXT_MAX_NS: u64 = 3_000_000_000;
/// I/Os of the quiet time that are enough to know what is usual.
const QUIET_IOS: f64 = 2_000.0;
/// Requests from which on a program is one whose I/Os are looked at.
const PROGRAM_MIN: u64 = 30;
/// Spikes of the same cause and process that are nearer to each other than this, or than the longer of them, are one.
const SAME_NS: u64 = 500_000_000;
/// I/Os of the time before that are enough to know it.
const CONTEXT_ROWS: f64 = 5_000.0;

/// An interval with slow I/Os, over all sections that it met.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub event: Event,
    pub parts: Vec<Part>,
    /// The rows to look at: before, during and after.
    pub window: Window,
    /// About how many there are.
    pub rows: u64,
}

impl Found {
    /// Takes another victim's part in.
    fn take(&mut self, part: Part) {
        let mut parts = self.parts.iter_mut();
        match parts.find(|known| known.victim() == part.victim()) {
            Some(known) => known.shift |= part.shift,
            None => self.parts.push(part),
        }
    }

    /// From which latency on an I/O counts as slow in it.
    fn threshold_ns(&self) -> u64 {
        self.parts.iter().map(|part| part.threshold_ns).min().unwrap_or(0)
    }
}

/// One victim's part in a spike: a kind of I/O of a section, or of a task where there is no load.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    pub section: usize,
    pub kind: Kind,
    /// Without a load: whose requests.
    pub task: Option<Comm>,
    pub threshold_ns: u64,
    pub usual_ns: u64,
    pub mean_ns: f64,
    /// Whether all were slower, not single ones far slower.
    pub shift: bool,
    /// A part of its quiet time.
    pub quiet: Window,
}

/// Whose I/Os: a section's or, without a load, a task's, of one kind.
type VictimKey = (usize, Kind, Option<Comm>);

impl Part {
    fn victim(&self) -> VictimKey {
        (self.section, self.kind, self.task)
    }
}

/// The events of a victim.
#[derive(Debug, Default)]
struct Chosen {
    /// Those that are exceptions, and those without which too little of what was lost would be told.
    told: Vec<Event>,
    /// All others.
    rest: Vec<Event>,
}

/// A victim with the events that it met.
struct Met<'s> {
    part: Part,
    events: Chosen,
    pulse: &'s Pulse,
    normal: Normal,
}

/// Finds and explains the spikes of a run.
pub(super) fn of<E: Evidence>(
    facts: &Facts<'_>,
    scanned: &Scanned,
    sections: &[Section<'_>],
    evidence: &mut E,
) -> Result<SpikeReport, E::Error> {
    let met = met(facts, sections);
    let held = held::of(scanned, sections);
    let mut found = find(&met, &held);
    let number = found.len() as u64;
    found.sort_unstable_by_key(|found| Reverse((found.event.lost_ns, found.event.worst_ns)));
    let cut = found.split_off(found.len().min(KEPT_MAX));
    let mut budget = ROWS_MAX;
    let mut examined: Vec<bool> = Vec::with_capacity(found.len());
    for found in &mut found {
        plan(sections, found);
        examined.push(found.rows <= budget);
        budget = budget.saturating_sub(found.rows);
    }
    let mut found: Vec<(Found, bool)> = found.into_iter().zip(examined).collect();
    found.sort_unstable_by_key(|(found, _)| found.event.start_ns);
    let (mut lost_ns, mut covered_ns) = lost(&met, &found);
    let (held_ns, held_covered_ns) = held::lost(scanned, &held, &found);
    lost_ns += held_ns;
    covered_ns += held_covered_ns;
    let rest = met.iter().map(|met| &met.events);
    let rest = rest.chain(held.iter().map(|(_, events)| events));
    let rest = rest.flat_map(|events| &events.rest);
    let smaller = smaller(rest.chain(cut.iter().map(|found| &found.event)));
    let kept = merged(explain(facts, scanned, sections, &found, evidence)?);
    let kinds = kinds::of(&kept);
    Ok(SpikeReport {
        found: number,
        lost_ns: lost_ns as u64,
        covered: if lost_ns > 0.0 { covered_ns / lost_ns } else { 1.0 },
        smaller,
        causes: tally(&kept),
        periods: kinds::periods(&kept, &kinds),
        kinds,
        kept,
    })
}

/// The victims of a section: the kinds of its I/Os, or of those of the programs that used its device.
fn victims<'s>(section: &'s Section<'_>) -> Vec<(Option<Comm>, &'s Victims)> {
    if let Some(load) = section.load {
        return vec![(None, &load.scan.victims)];
    }
    let users = || section.devices.iter().flat_map(|device| &device.users);
    // What kernel threads send they send for programs; they are victims only where no program is seen.
    let programs = users().any(|user| user.whose != Whose::Kernel && user.ios >= PROGRAM_MIN);
    users()
        .filter(|user| !programs || user.whose != Whose::Kernel)
        .map(|user| (Some(user.comm), &user.victims))
        .collect()
}

/// What each victim met.
fn met<'s>(facts: &Facts<'_>, sections: &'s [Section<'_>]) -> Vec<Met<'s>> {
    let mut all = Vec::new();
    for section in sections {
        for (task, victims) in victims(section) {
            for kind in victims.iter() {
                let pulse = &kind.pulse;
                let normal = pulse.normal();
                let events = pulse.events(&normal);
                let part = Part {
                    section: section.index,
                    kind: kind.kind,
                    task,
                    threshold_ns: normal.threshold_ns(),
                    usual_ns: normal.usual.median_ns,
                    mean_ns: normal.mean_ns,
                    shift: false,
                    quiet: quiet(facts, &normal),
                };
                let seconds = pulse.last_ns.saturating_sub(pulse.first_ns) as f64 / 1e9;
                let (all_ns, each_ns) = pulse.excess_ns(&normal, &events);
                let with_lost = events.into_iter().zip(each_ns);
                let events = with_lost.map(|(event, lost_ns)| Event {
                    lost_ns: lost_ns as u64,
                    ..event
                });
                all.push(Met {
                    part,
                    events: exceptional(events.collect(), &part, seconds, all_ns),
                    pulse,
                    normal,
                });
            }
        }
    }
    all
}

/// A part of the quiet time: of its middle second so much as holds enough I/Os.
fn quiet(facts: &Facts<'_>, normal: &Normal) -> Window {
    let second = normal.quiet.get(normal.quiet.len() / 2).copied().unwrap_or(0);
    let rate = normal.ios as f64 / normal.quiet.len().max(1) as f64;
    let start_ns = facts.started_ns() + second * SECOND_NS;
    let enough_ns = (QUIET_IOS / rate.max(1.0) * 1e9) as u64;
    Window {
        start_ns,
        end_ns: start_ns + enough_ns.min(SECOND_NS),
    }
}

/// Shifts of level, and of the single events those that are exceptions; where most of the `all_ns` that were lost would not lie
/// in these, so many more that it does, those first in which most was lost.
fn exceptional(events: Vec<Event>, part: &Part, seconds: f64, all_ns: f64) -> Chosen {
    let (mut told, mut single): (Vec<Event>, Vec<Event>) = events.into_iter().partition(|event| event.shift);
    let height = |event: &Event| event.worst_ns as f64 / part.threshold_ns.max(1) as f64;
    single.sort_unstable_by(|a, b| height(b).total_cmp(&height(a)));
    let mut rest = single.split_off(exceptions(&single, height, seconds));
    told.extend(single);
    let mut covered_ns: f64 = told.iter().map(|event| event.lost_ns as f64).sum();
    rest.sort_unstable_by_key(|event| (event.lost_ns, event.worst_ns));
    while covered_ns < all_ns * COVERED
        && let Some(most) = rest.pop_if(|event| event.lost_ns > 0)
    {
        covered_ns += most.lost_ns as f64;
        told.push(most);
    }
    Chosen { told, rest }
}

/// What was lost in events that are not told one by one; those in which no more was lost than chance has it are none.
fn smaller<'e>(events: impl Iterator<Item = &'e Event>) -> Smaller {
    let mut smaller = Smaller::default();
    for event in events.filter(|event| event.lost_ns > 0) {
        smaller.spikes += 1;
        smaller.lost_ns += event.lost_ns;
        smaller.worst_max_ns = smaller.worst_max_ns.max(event.worst_ns);
    }
    smaller
}

/// All spikes, those of several victims at the same time as one.
fn find(met: &[Met<'_>], held: &[(Part, Chosen)]) -> Vec<Found> {
    let met = met.iter().map(|met| (&met.part, &met.events));
    let held = held.iter().map(|(part, events)| (part, events));
    let each = met.chain(held).flat_map(|(part, events)| {
        events.told.iter().map(|event| Found {
            event: *event,
            parts: vec![Part {
                shift: event.shift,
                ..*part
            }],
            window: Window {
                start_ns: 0,
                end_ns: 0,
            },
            rows: 0,
        })
    });
    let mut found: Vec<Found> = each.collect();
    found.sort_unstable_by_key(|found| found.event.start_ns);
    let mut merged: Vec<Found> = Vec::with_capacity(found.len());
    for found in found {
        match merged.last_mut() {
            Some(last) if found.event.start_ns <= last.event.end_ns => {
                last.event.join(&found.event);
                for part in found.parts {
                    last.take(part);
                }
            }
            _ => merged.push(found),
        }
    }
    merged
}

/// By how much all victims were slower, and how much of it lies in these spikes.
fn lost(met: &[Met<'_>], found: &[(Found, bool)]) -> (f64, f64) {
    let (mut all, mut within) = (0.0, 0.0);
    for met in met {
        let met_it = |found: &Found| found.parts.iter().any(|part| part.victim() == met.part.victim());
        let events: Vec<Event> = found
            .iter()
            .filter(|(found, _)| met_it(found))
            .map(|(found, _)| found.event)
            .collect();
        let (lost_ns, each_ns) = met.pulse.excess_ns(&met.normal, &events);
        all += lost_ns;
        within += each_ns.iter().sum::<f64>();
    }
    (all, within)
}

/// How many of these events, the highest first, are exceptions.
fn exceptions(events: &[Event], height: impl Fn(&Event) -> f64, seconds: f64) -> usize {
    let rare = FEW.max((seconds / SECONDS_RARE) as usize);
    let often = FEW.max((seconds / SECONDS_OFTEN) as usize);
    let mut left = events.len();
    while left > rare {
        let bar = height(&events[left - 1]) * BAR_STEP;
        let above = events.partition_point(|event| height(event) >= bar);
        if above as f64 > left as f64 * TAIL_LEFT && left <= often {
            break;
        }
        left = above;
    }
    left.max(rare.min(events.len()))
}

/// Which rows are to be looked at: fewer around a spike where there are many I/Os.
fn plan(sections: &[Section<'_>], found: &mut Found) {
    let event = found.event;
    let duration_ns = event.end_ns - event.start_ns;
    let around = |section: &Section<'_>, from: u64, to: u64| -> f64 {
        let timeline = section.timeline;
        let (from, to) = (timeline.number_of(from), timeline.number_of(to));
        let ios: u64 = timeline
            .seconds(from, to)
            .map(|(_, second)| u64::from(second.ios))
            .sum();
        ios as f64 / (to - from + 1) as f64
    };
    let near = CONTEXT_MAX_NS.max(SECOND_NS);
    let rate: f64 = sections
        .iter()
        .map(|section| around(section, event.start_ns.saturating_sub(near), event.end_ns + near))
        .sum::<f64>()
        .max(1.0);
    let enough_ns = (CONTEXT_ROWS / rate * 1e9) as u64;
    let context_ns = (duration_ns * 2)
        .clamp(CONTEXT_MIN_NS, CONTEXT_MAX_NS)
        .max((100.0 / rate * 1e9) as u64)
        .min(CONTEXT_MAX_NS)
        .min(enough_ns.max(GAP_NS / 2));
    let most_ns = (ROWS_A_LOT as f64 / rate * 1e9) as u64;
    let end_ns = event
        .start_ns
        .saturating_add(duration_ns.min(most_ns) + context_ns);
    found.window = Window {
        start_ns: event.start_ns.saturating_sub(context_ns),
        end_ns,
    };
    found.rows = (rate * found.window.duration_ns() as f64 / 1e9) as u64;
}

/// Explains the spikes, ascending in time; those that are not `examined` get no cause.
fn explain<E: Evidence>(
    facts: &Facts<'_>,
    scanned: &Scanned,
    sections: &[Section<'_>],
    found: &[(Found, bool)],
    evidence: &mut E,
) -> Result<Vec<Spike>, E::Error> {
    let context = scene::Context::new(facts, scanned, sections);
    let usually = usually::of(&context, found, evidence)?;
    let mut spikes = Vec::with_capacity(found.len());
    for lot in lots(found) {
        let rows = Rows::read(&context, &lot, evidence)?;
        spikes.extend(judged(&context, &lot, &rows, &usually));
    }
    Ok(spikes)
}

/// The spikes of a lot, on all cores: each is judged for itself.
fn judged(context: &scene::Context<'_, '_>, lot: &Lot<'_>, rows: &Rows, usually: &Table) -> Vec<Spike> {
    let judge = |(found, examined): &(Found, bool)| match examined {
        true => verdict::spike(context, found, rows, &usually.of(found)),
        false => verdict::not_examined(context, found),
    };
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let each = lot.found.len().div_ceil(cores).max(1);
    std::thread::scope(|scope| {
        let mut parts = lot.found.chunks(each);
        let own = parts.next().unwrap_or_default();
        let others: Vec<_> = parts
            .map(|part| scope.spawn(|| part.iter().map(judge).collect::<Vec<Spike>>()))
            .collect();
        let mut spikes: Vec<Spike> = own.iter().map(judge).collect();
        for other in others {
            spikes.extend(
                other
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            );
        }
        spikes
    })
}

/// Neighbours, as many as may be in memory at a time.
fn lots(found: &[(Found, bool)]) -> Vec<Lot<'_>> {
    let mut lots = Vec::new();
    let mut from = 0;
    while from < found.len() {
        let mut rows = 0;
        let more = found[from..].iter().take_while(|(found, examined)| {
            let first = rows == 0;
            rows += if *examined { found.rows.max(1) } else { 0 };
            first || rows <= ROWS_A_LOT
        });
        let to = from + more.count().max(1);
        lots.push(Lot {
            found: &found[from..to],
        });
        from = to;
    }
    lots
}

/// Neighbours with the same cause by the same process as one.
fn merged(spikes: Vec<Spike>) -> Vec<Spike> {
    let mut merged: Vec<Spike> = Vec::with_capacity(spikes.len());
    for spike in spikes {
        match merged.last_mut() {
            Some(last) if verdict::are_one(last, &spike, SAME_NS) => verdict::join(last, spike),
            _ => merged.push(spike),
        }
    }
    merged
}

fn tally(kept: &[Spike]) -> Vec<(Cause, u64)> {
    let number = |cause| kept.iter().filter(|spike| spike.verdict.cause == cause).count() as u64;
    let mut causes: Vec<(Cause, u64)> = Cause::ALL
        .into_iter()
        .map(|cause| (cause, number(cause)))
        .filter(|(_, number)| *number > 0)
        .collect();
    causes.sort_by_key(|(_, number)| Reverse(*number));
    causes
}

#[cfg(test)]
mod tests;

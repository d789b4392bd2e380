//! Threads that were kept from running, where there is no load whose I/Os show it: an I/O that a thread is not let make
//! is not slow, it is missing.
//!
//! Data in: the times in which threads were held, who used the devices. Data out: what those users met. It must not know who
//! held them.

use super::{Chosen, Found, Part, exceptional, victims};
use crate::explain::Scanned;
use crate::explain::detect::{Event, merge};
use crate::explain::evidence::Window;
use crate::explain::sched_scan::Held;
use crate::explain::section::Section;
use crate::explain::victims::Kind;
use fathom_core::record::Comm;

/// Of each program that used a device: when its threads were held.
pub(super) fn of(scanned: &Scanned, sections: &[Section<'_>]) -> Vec<(Part, Chosen)> {
    let mut all: Vec<(Part, Chosen)> = Vec::new();
    for section in sections.iter().filter(|section| section.load.is_none()) {
        for task in victims(section).into_iter().filter_map(|(task, _)| task) {
            // One that uses several devices is one program.
            if all.iter().any(|(part, _)| part.task == Some(task)) {
                continue;
            }
            let part = part(section, task);
            let timeline = section.timeline;
            let seconds = timeline.last_ns.saturating_sub(timeline.first_ns) as f64 / 1e9;
            let events = events(scanned, task);
            if !events.is_empty() {
                let all_ns = events.iter().map(|event| event.lost_ns as f64).sum();
                all.push((part, exceptional(events, &part, seconds, all_ns)));
            }
        }
    }
    all
}

fn part(section: &Section<'_>, task: Comm) -> Part {
    Part {
        section: section.index,
        kind: Kind::HELD,
        task: Some(task),
        threshold_ns: crate::explain::sched_scan::HELD_MIN_NS,
        usual_ns: 0,
        mean_ns: 0.0,
        shift: false,
        quiet: Window {
            start_ns: 0,
            end_ns: 0,
        },
    }
}

/// When the threads of that name were held.
pub(super) fn spans(scanned: &Scanned, task: Comm) -> impl Iterator<Item = &Held> {
    let all = scanned.sched.iter().flat_map(|sched| &sched.held);
    all.filter(move |held| held.comm == task)
}

fn events(scanned: &Scanned, task: Comm) -> Vec<Event> {
    let event = |held: &Held| Event {
        start_ns: held.from_ns,
        end_ns: held.to_ns,
        ios: 1,
        worst_ns: held.to_ns - held.from_ns,
        worst_at_ns: held.to_ns,
        shift: false,
        lost_ns: held.to_ns - held.from_ns,
    };
    let mut events: Vec<Event> = spans(scanned, task).map(event).collect();
    merge(&mut events);
    events
}

/// How long threads were held, and how much of it lies in these spikes.
pub(super) fn lost(scanned: &Scanned, held: &[(Part, Chosen)], found: &[(Found, bool)]) -> (f64, f64) {
    let (mut all, mut within) = (0.0, 0.0);
    for (part, _) in held {
        let met: Vec<&Found> = found
            .iter()
            .map(|(found, _)| found)
            .filter(|found| found.parts.iter().any(|own| own.victim() == part.victim()))
            .collect();
        for span in part.task.into_iter().flat_map(|task| spans(scanned, task)) {
            let ns = (span.to_ns - span.from_ns) as f64;
            all += ns;
            let meets =
                |found: &&&Found| found.event.start_ns <= span.from_ns && span.to_ns <= found.event.end_ns;
            within += if met.iter().any(|found| meets(&found)) {
                ns
            } else {
                0.0
            };
        }
    }
    (all, within)
}

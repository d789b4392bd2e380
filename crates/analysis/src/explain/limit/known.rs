//! Disks and machines whose stated limits fit what was reached.
//!
//! A limit is the run's own, or equal to one on sale by chance: some of hundreds always are. What concurrent sections reach
//! they reach together, on their device and on their machine.

use super::super::answer::{Candidate, LimitKind, Unit};
use super::super::facts::LimitScope;
use super::Question;

/// How far a rate may be from a limit. Measured on Azure: throttled at 1.02 × the stated limit.
const LEAST: f64 = 0.97;
const MOST: f64 = 1.045;
/// What is nearest: between the stated limit and what is measured where it is applied.
const MIDDLE: f64 = 1.01;

/// A stated limit that fits.
#[derive(Debug, Clone)]
pub(super) struct Match {
    pub candidate: Candidate,
    pub kind: LimitKind,
    pub scope: LimitScope,
}

/// I/Os and bytes a second.
type Rates = (f64, f64);

/// Those that fit what was reached, the run's own first, then the nearest.
pub(super) fn best(question: &Question<'_, '_>) -> Vec<Match> {
    let (on_device, on_machine) = together(question);
    let mut matches: Vec<Match> = Vec::new();
    for known in question.facts.known_disks {
        let (iops, bytes_per_second) = match known.scope {
            LimitScope::Disk => on_device,
            LimitScope::Machine => on_machine,
        };
        let limits = [
            (iops, known.iops, Unit::Iops, LimitKind::Iops),
            (
                bytes_per_second,
                known.bytes_per_second,
                Unit::BytesPerSecond,
                LimitKind::Bandwidth,
            ),
        ];
        for (reached, limit, unit, kind) in limits {
            let Some(limit) = limit.filter(|limit| *limit > 0.0) else {
                continue;
            };
            let ratio = reached / limit;
            if !(LEAST..=MOST).contains(&ratio) {
                continue;
            }
            matches.push(Match {
                candidate: Candidate {
                    name: known.name.clone(),
                    limit,
                    unit,
                    ratio,
                    own: known.own,
                },
                // A machine that nobody named limits nothing.
                kind: match known.scope {
                    LimitScope::Machine if known.own => LimitKind::Machine,
                    LimitScope::Machine | LimitScope::Disk => kind,
                },
                scope: known.scope,
            });
        }
    }
    let off = |found: &Match| (found.candidate.ratio - MIDDLE).abs();
    matches.sort_by(|a, b| {
        let own = b.candidate.own.cmp(&a.candidate.own);
        own.then(off(a).total_cmp(&off(b)))
            .then(a.candidate.name.cmp(&b.candidate.name))
    });
    matches
}

/// What this section and those at the same time reach together: on its devices, and on the machine.
fn together(question: &Question<'_, '_>) -> (Rates, Rates) {
    let own = &question.measures;
    let mut on_device = (own.iops, own.bytes_per_second);
    let mut beside = (0.0, 0.0);
    for other in &question.others {
        let common = own.to.min(other.measures.to) + 1;
        let common = common.saturating_sub(own.from.max(other.measures.from));
        if common * 2 < own.to - own.from + 1 {
            continue;
        }
        let sum = if other.same_devices {
            &mut on_device
        } else {
            &mut beside
        };
        sum.0 += other.measures.iops;
        sum.1 += other.measures.bytes_per_second;
    }
    // Requests of the devices count for all who use them, and as the limit counts them.
    let on_device = own.served().unwrap_or(on_device);
    (on_device, (on_device.0 + beside.0, on_device.1 + beside.1))
}

/// Those of a limit of that kind: of disks, and of machines that have one.
pub(super) fn of_kind(matches: &[Match], kind: LimitKind) -> Vec<Candidate> {
    let of_kind = matches.iter().filter(|found| found.kind == kind);
    // Where the run's own is known, that others have the same limit says nothing.
    let own = matches.iter().any(|found| found.candidate.own);
    let named = of_kind.filter(|found| found.candidate.own || (!own && found.scope == LimitScope::Disk));
    named.map(|found| found.candidate.clone()).collect()
}

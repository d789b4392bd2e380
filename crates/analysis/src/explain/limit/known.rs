//! Disks and machines on sale whose limits fit a rate.

use super::super::answer::{Candidate, LimitKind, Unit};
use super::super::facts::LimitScope;
use super::Question;

/// How far a rate may be from a limit. Measured on Azure: throttled at 1.02 × the stated limit.
const LEAST: f64 = 0.97;
const MOST: f64 = 1.045;
/// What is nearest: between the stated limit and what is measured where it is applied.
const MIDDLE: f64 = 1.01;

/// A limit on sale that fits.
#[derive(Debug, Clone)]
pub(super) struct Match {
    pub candidate: Candidate,
    pub kind: LimitKind,
}

/// Those that fit the section's rate or bandwidth, the nearest first.
pub(super) fn best(question: &Question<'_, '_>) -> Vec<Match> {
    let measures = &question.measures;
    let mut matches: Vec<Match> = Vec::new();
    for disk in question.facts.known_disks {
        let limits = [
            (measures.iops, disk.iops, Unit::Iops, LimitKind::Iops),
            (
                measures.bytes_per_second,
                disk.bytes_per_second,
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
                    name: disk.name.clone(),
                    limit,
                    unit,
                    ratio,
                },
                kind: match disk.scope {
                    LimitScope::Disk => kind,
                    LimitScope::Machine => LimitKind::Machine,
                },
            });
        }
    }
    matches.sort_by(|a, b| {
        let off = |found: &Match| (found.candidate.ratio - MIDDLE).abs();
        off(a)
            .total_cmp(&off(b))
            .then(a.candidate.name.cmp(&b.candidate.name))
    });
    matches
}

/// Those of one kind.
pub(super) fn of_kind(matches: &[Match], kind: LimitKind) -> Vec<Candidate> {
    let of_kind = matches.iter().filter(|found| found.kind == kind);
    of_kind.map(|found| found.candidate.clone()).collect()
}

//! What I/Os of a victim take in its quiet time, step by step.
//!
//! Data in: the rows of a part of each victim's quiet time. Data out: the means of the steps.

use super::account::Usually;
use super::matching::Matcher;
use super::rows::Rows;
use super::scene::{Context, SlowIo};
use super::{Evidence, Found, Part, VictimKey, Window};
use crate::explain::victims::Kind;
use fathom_core::record::{BlockRequest, IoRecord};

/// Of each victim.
#[derive(Debug, Default)]
pub(super) struct Table(Vec<(VictimKey, Usually)>);

impl Table {
    /// Of each part of a spike.
    pub(super) fn of(&self, found: &Found) -> Vec<Usually> {
        let of_part = |part: &Part| {
            let known = self.0.iter().find(|(known, _)| *known == part.victim());
            known.map_or_else(|| by_mean(part), |(_, usually)| *usually)
        };
        found.parts.iter().map(of_part).collect()
    }
}

/// Where no row tells, all of it is the device's.
fn by_mean(part: &Part) -> Usually {
    Usually {
        parts: [0.0, 0.0, 0.0, 0.0, part.mean_ns, 0.0],
        ..Usually::default()
    }
}

/// Reads a part of the quiet time of each victim of these spikes.
pub(super) fn of<E: Evidence>(
    context: &Context<'_, '_>,
    found: &[(Found, bool)],
    evidence: &mut E,
) -> Result<Table, E::Error> {
    let mut parts: Vec<&Part> = found.iter().flat_map(|(found, _)| &found.parts).collect();
    parts.sort_by_key(|part| part.victim());
    parts.dedup_by_key(|part| part.victim());
    let windows: Vec<Window> = parts.iter().map(|part| part.quiet).collect();
    let rows = Rows::quiet(context, &windows, evidence)?;
    let mut table = Table::default();
    for part in parts {
        let usually = in_rows(context, part, &rows);
        if usually.ios > 0 {
            table.0.push((part.victim(), usually));
        }
    }
    Ok(table)
}

fn in_rows(context: &Context<'_, '_>, part: &Part, rows: &Rows) -> Usually {
    let of_kind = |io: &&IoRecord| {
        io.job as usize == part.section
            && Kind::of_io(io.op, io.len_bytes) == part.kind
            && part.quiet.holds(io.completed_ns)
    };
    let split: Vec<SlowIo> = if context.has_load() {
        let mut matcher = Matcher::new(context.facts, &rows.ios, &rows.requests);
        rows.ios
            .iter()
            .filter(of_kind)
            .map(|io| matcher.split(io))
            .collect()
    } else {
        let of_victim = |request: &&BlockRequest| {
            Some(request.comm) == part.task
                && Kind::of_request(request.op, request.len_bytes) == part.kind
                && part.quiet.holds(request.completed_ns)
        };
        let requests = rows.requests.iter().filter(of_victim);
        requests.map(|request| SlowIo::of_request(request, 0)).collect()
    };
    mean(&split)
}

/// The quiet time is quiet: an I/O far off in it is left out, as one in twenty at either end is.
fn mean(split: &[SlowIo]) -> Usually {
    let mut order: Vec<&SlowIo> = split.iter().collect();
    order.sort_unstable_by_key(|io| io.total_ns());
    let cut = order.len() / 20;
    let kept = &order[cut..order.len() - cut];
    let n = kept.len().max(1) as f64;
    let mut parts = [0.0; 6];
    for io in kept {
        for (sum, part) in parts.iter_mut().zip(io.parts) {
            *sum += part as f64 / n;
        }
    }
    // Little's law: what of its own is below the block layer while it is.
    let first = split.iter().map(|io| io.created_ns).min().unwrap_or(0);
    let last = split.iter().map(|io| io.completed_ns).max().unwrap_or(0);
    let below: f64 = split
        .iter()
        .map(|io| (io.parts[2] + io.parts[3] + io.parts[4]) as f64)
        .sum();
    let in_flight = below / last.saturating_sub(first).max(1) as f64;
    Usually {
        parts,
        bytes: split.iter().map(|io| f64::from(io.len_bytes)).sum::<f64>() / split.len().max(1) as f64,
        ahead: (in_flight - 1.0).max(0.0),
        ios: kept.len() as u64,
    }
}

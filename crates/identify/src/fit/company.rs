//! How I/Os in flight slow each other down.
//!
//! Data in: measurements. Data out: whether one thing handles all I/Os, and how long each occupies it; else what each other I/O in
//! service adds. It must not know limits of products.

use super::{Direction, Fit};
use crate::probe::{Mix, Outcome, Purpose};
use crate::schedule::{LARGE_BYTES, SMALL_BYTES, Schedule};

/// What several at once take longer counts from this share of the time of one.
const SHOWS: f64 = 0.05;
/// And from so many standard errors of it.
const ERRORS: f64 = 4.0;
/// The standard error of a median is so many deviations over the root of the number, and a deviation so many distances
/// between quartiles.
const OF_MEDIAN: f64 = 1.25 / 1.35;

/// How long an I/O occupies what handles all of them, one after the other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Handling {
    pub read: Occupied,
    /// `None`: nothing was written.
    pub write: Option<Occupied>,
}

/// An I/O of one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Occupied {
    /// Of any size.
    pub each_ns: u64,
    pub ns_per_kib: u64,
}

/// What others in service add to a service time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Crowding {
    pub ns_per_io: u64,
    /// No more than so many count.
    pub most: u32,
}

/// Whether time for an I/O and for its bytes adds up, in each direction that was measured, and for both together.
pub(super) fn handling(schedule: &Schedule, fit: &Fit) -> Option<Handling> {
    if fit.shared(false) == Some(false) || fit.shared(true) == Some(false) {
        return None;
    }
    let write = match &fit.write {
        Some(write) => Some(occupied(schedule, Mix::Write, write)?),
        None => None,
    };
    Some(Handling {
        read: occupied(schedule, Mix::Read, &fit.read)?,
        write,
    })
}

fn occupied(schedule: &Schedule, mix: Mix, direction: &Direction) -> Option<Occupied> {
    let even = schedule.last(Purpose::Even, mix)?;
    let (small_ns, large_ns) = (
        1e9 / direction.small.per_second.max(1e-9),
        1e9 / direction.large.per_second.max(1e-9),
    );
    let ns_per_byte = (large_ns - small_ns) / f64::from(LARGE_BYTES - SMALL_BYTES);
    let each_ns = small_ns - ns_per_byte * f64::from(SMALL_BYTES);
    if each_ns < 0.0 || ns_per_byte <= 0.0 {
        return None;
    }
    let block = f64::from(even.probe.block_bytes);
    let added_ns = each_ns + ns_per_byte * block;
    let longer_ns = small_ns.max(large_ns * block / f64::from(LARGE_BYTES));
    let seen_ns = 1e9 / even.rate().max(1e-9);
    ((seen_ns / added_ns).ln().abs() < (seen_ns / longer_ns).ln().abs()).then(|| Occupied {
        each_ns: each_ns.round() as u64,
        ns_per_kib: (ns_per_byte * 1024.0).round() as u64,
    })
}

/// By the medians of several at once. Each depth in turn may be the one from which on more make no difference: what is nearest to
/// all of them is taken.
pub(super) fn crowding(schedule: &Schedule, alone: &Outcome) -> Option<Crowding> {
    let several = schedule
        .outcomes()
        .iter()
        .filter(|outcome| outcome.probe.purpose == Purpose::Several && outcome.probe.mix == alone.probe.mix);
    let longer: Vec<(u32, f64, f64)> = several
        .map(|outcome| {
            let longer = outcome.latency_ns(50.0) as f64 - alone.latency_ns(50.0) as f64;
            (
                outcome.probe.depth - 1,
                longer,
                error_ns(outcome).hypot(error_ns(alone)),
            )
        })
        .collect();
    let least = alone.latency_ns(50.0) as f64 * SHOWS;
    let shows = longer
        .iter()
        .any(|&(_, ns, error)| ns > least && ns > error * ERRORS);
    if !shows {
        return None;
    }
    let fitted = |most: u32| {
        let counted = |others: u32| f64::from(others.min(most));
        let (over, under) = longer.iter().fold((0.0, 0.0), |(over, under), &(others, ns, _)| {
            (over + counted(others) * ns, under + counted(others).powi(2))
        });
        let each: f64 = over / under;
        let missed: f64 = longer
            .iter()
            .map(|&(others, ns, _)| (ns - each * counted(others)).powi(2))
            .sum();
        (each, missed)
    };
    let most = longer.iter().map(|&(others, ..)| others).max()?;
    // Beyond the deepest measurement it goes on: nothing shows that it ends.
    let open = [schedule.options().depth_max.max(most)];
    let ends = longer
        .iter()
        .map(|&(others, ..)| others)
        .filter(|&others| others < most);
    let (each, most) = open
        .into_iter()
        .chain(ends)
        .map(|most| (fitted(most), most))
        .min_by(|((_, one), _), ((_, other), _)| one.total_cmp(other))
        .map(|((each, _), most)| (each, most))?;
    (each >= 1.0).then(|| Crowding {
        ns_per_io: each.round() as u64,
        most,
    })
}

fn error_ns(outcome: &Outcome) -> f64 {
    let between = outcome.latency_ns(75.0) as f64 - outcome.latency_ns(25.0) as f64;
    between * OF_MEDIAN / (outcome.ios.len().max(1) as f64).sqrt()
}

#[cfg(test)]
mod tests;

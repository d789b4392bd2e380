//! Which point of an adaptive sweep to measure next, and what follows for those that need not be measured.
//!
//! Data in: the plan and the results so far, nothing else: a resumed sweep decides as an undisturbed one does. Data out:
//! [`Next`]. It must not know how points are measured.
//!
//! Corners first: for each order and number of threads the purest mixes, the smallest and the largest blocks, the least and
//! the greatest depth, and the middle mix at the greatest depth. Then, again and again, the point whose measurement is
//! expected to settle most others. A point is settled when what is known bounds it from both sides: its figures are only
//! ever inferred *between* two bounds, never beyond one, and only when the bounds are at most [`CLOSE`] apart, or
//! [`CLOSE_INTERPOLATED`] where measured neighbours on both sides (in size or in mix) say where between them it lies, or
//! [`CLOSE_BY_LAW`] where such interpolation has proved right (`adaptive/law.rs`).
//!
//! What bounds a point (`adaptive/rules.rs`, `adaptive/bounds.rs`):
//! - measured points of the same mix: more depth does not lower IOPS and does not lower latency; larger blocks do not raise
//!   IOPS and do not lower bytes a second;
//! - limits: a limit that three measured points or more agree on is not exceeded;
//! - mixes: a mix lies between those on both sides of it;
//! - order: sequential I/O is no slower than random I/O, and equal to it where the corners of both are equal.
//!
//! Each of these is tried on the measured points, and one that any of them contradicts is not used for that order and
//! number of threads. Nothing is inferred before all that is needed has been measured, so that no later point can
//! contradict what was inferred. Mean latency follows from Little's law: depth over IOPS.

mod bounds;
mod corners;
mod law;
mod rules;

use super::seen::seen;
use bounds::{Bounds, Known};
use fathom_core::sweep::{Inferred, Outcome, SweepPlan, SweepResults};

/// Bounds this far apart (upper over lower) settle a point: it is off by 5 % at most.
pub const CLOSE: f64 = 1.10;
/// The same where neighbours on both sides (in size or in mix) were measured: off by 15 % at most, and by far less where
/// latency is linear between them.
pub const CLOSE_INTERPOLATED: f64 = 1.15;
/// The same at the least depth, where that it is linear has proved right on this disk and no limit holds the neighbours.
pub const CLOSE_BY_LAW: f64 = 1.5;

/// What to do next.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// Measure this point (again, where it is to be repeated).
    Measure(u32),
    /// Take this for a point's figures.
    Infer {
        point: u32,
        /// What follows for it.
        inferred: Inferred,
    },
    /// Every point is measured, inferred or failed.
    Done,
}

/// The next step of an adaptive sweep. Points that failed are left alone.
pub fn next(plan: &SweepPlan, results: &SweepResults) -> Next {
    if let Some(point) = to_repeat(plan, results) {
        return Next::Measure(point);
    }
    let pending: Vec<u32> = (0..)
        .zip(&results.points)
        .filter(|(_, point)| point.outcome == Outcome::Pending)
        .map(|(number, _)| number)
        .collect();
    let Some(&first) = pending.first() else {
        return Next::Done;
    };
    let corners = corners::corners(plan);
    if let Some(corner) = corners.into_iter().find(|corner| pending.contains(corner)) {
        return Next::Measure(corner);
    }
    let seen = seen(results);
    let known = Known::new(plan, &seen);
    let bounds: Vec<(u32, Bounds)> = pending
        .iter()
        .map(|&point| (point, known.bounds(point)))
        .collect();
    let open: Vec<(u32, Bounds)> = bounds
        .iter()
        .filter(|(point, bounds)| !known.settles(*point, bounds))
        .cloned()
        .collect();
    if let Some(point) = most_telling(&known, &open) {
        return Next::Measure(point);
    }
    let inferred = known.infer(first, &bounds[0].1);
    Next::Infer {
        point: first,
        inferred,
    }
}

/// The first point that was measured, but not as often as planned.
fn to_repeat(plan: &SweepPlan, results: &SweepResults) -> Option<u32> {
    let points = (0..).zip(&results.points);
    let mut again = points.filter(|(_, point)| match &point.outcome {
        Outcome::Measured { repeats } => repeats.len() < plan.repeats.max(1) as usize,
        _ => false,
    });
    again.next().map(|(number, _)| number)
}

/// The open point that would settle most of the others if it came out as expected; of equal ones the first.
fn most_telling(known: &Known<'_>, open: &[(u32, Bounds)]) -> Option<u32> {
    let settled = |candidate: u32, bounds: &Bounds| {
        let then = known.with(candidate, known.guess(candidate, bounds));
        let others = open.iter().filter(|(point, _)| *point != candidate);
        others
            .filter(|(point, _)| then.settles(*point, &then.bounds(*point)))
            .count()
    };
    let scored = open
        .iter()
        .map(|(point, bounds)| (settled(*point, bounds), *point));
    let best = scored.reduce(|best, next| if next.0 > best.0 { next } else { best });
    best.map(|(_, point)| point)
}

#[cfg(test)]
mod tests;

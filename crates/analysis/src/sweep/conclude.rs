//! What a sweep says of its disk.
//!
//! Data in: the plan, the results so far. Data out: [`Conclusions`], each with the points that it is from. Maxima, limits,
//! sizes, slices and comparisons are from measured points only; what depth a line needs may rest on inferred ones and says
//! so. It must not know how anything is printed.

mod cautions;
mod contrast;
mod depths;
pub(super) mod limits;
pub(super) mod native;
mod slice;

use super::findings::{Conclusions, Counts, Peak, SCHEMA};
use super::seen::{AGREE, Seen, seen};
use fathom_core::sweep::{Outcome, SweepPlan, SweepResults};

/// Draws the conclusions. Pure: equal plans and results give equal conclusions. Results of a sweep that is still under way
/// are welcome; they say how much is missing.
pub fn conclude(plan: &SweepPlan, results: &SweepResults) -> Conclusions {
    let seen = seen(results);
    let saturated = limits::Saturated::of(&seen);
    let limits = limits::limits(&seen, &saturated);
    let native_size = native::native_size(&seen, &saturated, &limits, results.probe.as_ref());
    Conclusions {
        schema: String::from(SCHEMA),
        counts: counts(plan, results),
        iops_most: peak(&seen, |point| point.iops),
        bytes_per_second_most: peak(&seen, |point| point.bytes_per_second),
        native_size,
        slice: slice::slice(&seen, &saturated),
        depths: depths::needed(results),
        growth: depths::growth(&seen),
        read_write: contrast::read_write(&seen),
        random_sequential: contrast::random_sequential(&seen),
        shortfalls: depths::shortfalls(results),
        cautions: cautions::cautions(results, &seen, &limits),
        limits,
    }
}

fn counts(plan: &SweepPlan, results: &SweepResults) -> Counts {
    let number = |wanted: fn(&Outcome) -> bool| {
        results
            .points
            .iter()
            .filter(|point| wanted(&point.outcome))
            .count() as u32
    };
    let measured = number(|outcome| matches!(outcome, Outcome::Measured { .. }));
    let inferred = number(|outcome| matches!(outcome, Outcome::Inferred(_)));
    let failed = number(|outcome| matches!(outcome, Outcome::Failed { .. }));
    let planned = plan.points.len() as u32;
    Counts {
        planned,
        measured,
        inferred,
        failed,
        pending: planned.saturating_sub(measured + inferred + failed),
    }
}

/// The highest value; among equal ones the first point's.
fn peak(seen: &[Seen<'_>], value: fn(&Seen<'_>) -> f64) -> Option<Peak> {
    let highest = seen
        .iter()
        .reduce(|best, point| if value(point) > value(best) { point } else { best })?;
    let alike = seen
        .iter()
        .filter(|point| value(point) >= value(highest) * (1.0 - AGREE));
    Some(Peak {
        point: highest.number,
        value: value(highest),
        half_width: highest.half_width,
        alike: alike.count() as u32,
    })
}

#[cfg(test)]
mod tests;

//! What to know before trusting conclusions.
//!
//! Data in: results, measured points, limits. Data out: [`Caution`]s, the gravest first. It must not repeat what the
//! conclusions themselves say.

use super::limits::{in_scope, rate, value};
use crate::sweep::findings::{Caution, Limit, Quantity, Scope};
use crate::sweep::seen::{AGREE, Seen, agree, by_line, half_width};
use fathom_core::sweep::{Outcome, PointFigures, PointResult, SweepResults};
use std::collections::BTreeMap;

/// Half an interval wider than this is wide.
const WIDE: f64 = 0.05;
/// Repeats that differ by more than this disagree, unless their own intervals are wider.
const REPEATS: f64 = 0.05;

/// All of them.
pub(super) fn cautions(results: &SweepResults, seen: &[Seen<'_>], limits: &[Limit]) -> Vec<Caution> {
    let mut cautions = Vec::new();
    cautions.extend(failed(results));
    cautions.extend(errors(results));
    cautions.extend(repeats(results));
    cautions.extend(wide(results));
    for quantity in [Quantity::Iops, Quantity::BytesPerSecond] {
        cautions.extend(above(seen, limits, quantity));
    }
    cautions.extend(declines(seen));
    cautions.extend(no_interval(results));
    cautions.extend(warnings(results));
    let ended = numbers(results, |point| any(point, |figures| figures.ended_steady));
    cautions.extend(ended.map(|points| Caution::EndedSteady { points }));
    let inferred = numbers(results, |point| matches!(point.outcome, Outcome::Inferred(_)));
    cautions.extend(inferred.map(|points| Caution::Inferred { points }));
    let pending = numbers(results, |point| point.outcome == Outcome::Pending);
    cautions.extend(pending.map(|points| Caution::Pending {
        points: points.len() as u32,
    }));
    cautions
}

/// The points that are so, if any are.
fn numbers(results: &SweepResults, wanted: fn(&PointResult) -> bool) -> Option<Vec<u32>> {
    let points = (0..).zip(&results.points).filter(|(_, point)| wanted(point));
    let numbers: Vec<u32> = points.map(|(number, _)| number).collect();
    (!numbers.is_empty()).then_some(numbers)
}

/// Whether a repeat of a point is so.
fn any(point: &PointResult, wanted: fn(&PointFigures) -> bool) -> bool {
    point.repeats().iter().any(wanted)
}

fn failed(results: &SweepResults) -> Option<Caution> {
    let points = numbers(results, |point| matches!(point.outcome, Outcome::Failed { .. }))?;
    let Outcome::Failed { message } = &results.points[points[0] as usize].outcome else {
        return None;
    };
    Some(Caution::Failed {
        message: message.clone(),
        points,
    })
}

fn errors(results: &SweepResults) -> Option<Caution> {
    let points = numbers(results, |point| any(point, |figures| figures.errors > 0))?;
    let all = results.points.iter().flat_map(PointResult::repeats);
    let errors = all.map(|figures| figures.errors).sum();
    Some(Caution::Errors { points, errors })
}

fn repeats(results: &SweepResults) -> Vec<Caution> {
    let points = (0..).zip(&results.points);
    let of_point = |(number, point): (u32, &PointResult)| {
        let rates = point.repeats().iter().map(|repeat| repeat.total.iops);
        let (least, most) = (rates.clone().reduce(f64::min)?, rates.reduce(f64::max)?);
        let own = point.repeats().iter().filter_map(|repeat| repeat.iops_half_width);
        let tolerated = REPEATS.max(2.0 * own.fold(0.0, f64::max));
        (most - least > tolerated * most).then_some(Caution::RepeatsDisagree {
            point: number,
            least,
            most,
        })
    };
    points.filter_map(of_point).collect()
}

fn wide(results: &SweepResults) -> Option<Caution> {
    let points = (0..).zip(&results.points);
    let mut wide: Vec<(f64, u32)> = points
        .filter_map(|(number, point)| Some((half_width(point)?, number)))
        .filter(|(half, _)| *half > WIDE)
        .collect();
    wide.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let half_width = wide.first()?.0;
    Some(Caution::WideInterval {
        points: wide.into_iter().map(|(_, number)| number).collect(),
        half_width,
    })
}

fn no_interval(results: &SweepResults) -> Option<Caution> {
    let points = numbers(results, |point| {
        any(point, |figures| figures.iops_half_width.is_none())
    })?;
    Some(Caution::NoInterval { points })
}

/// Points faster than the limit that deeper ones agree on.
fn above(seen: &[Seen<'_>], limits: &[Limit], quantity: Quantity) -> Option<Caution> {
    let limit = rate(limits, quantity, Scope::All)?;
    let above = seen.iter().filter(|point| {
        in_scope(Scope::All, point.at) && value(quantity, point) > limit * (1.0 + 2.0 * AGREE)
    });
    let most = above
        .clone()
        .map(|point| value(quantity, point))
        .reduce(f64::max)?;
    Some(Caution::AboveLimit {
        quantity,
        points: above.map(|point| point.number).collect(),
        most,
        limit,
    })
}

/// Neighbours over depth of which the deeper one is slower.
fn declines(seen: &[Seen<'_>]) -> Vec<Caution> {
    let mut found = Vec::new();
    for line in by_line(seen).values() {
        for pair in line.windows(2) {
            let (shallow, deep) = (pair[0], pair[1]);
            if deep.iops < shallow.iops && !agree(shallow, deep, shallow.iops, deep.iops) {
                found.push(Caution::Declines {
                    from: shallow.number,
                    to: deep.number,
                    ratio: deep.iops / shallow.iops,
                });
            }
        }
    }
    found
}

fn warnings(results: &SweepResults) -> Vec<Caution> {
    let mut texts: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for (number, point) in (0..).zip(&results.points) {
        for text in point.repeats().iter().flat_map(|repeat| &repeat.warnings) {
            let points = texts.entry(text).or_default();
            if points.last() != Some(&number) {
                points.push(number);
            }
        }
    }
    texts
        .into_iter()
        .map(|(text, points)| Caution::Warning {
            text: text.to_owned(),
            points,
        })
        .collect()
}

#[cfg(test)]
mod tests;

//! What to beware of, in words.
//!
//! Data in: conclusions. Data out: one paragraph. It must not judge.

use super::{Context, named, percent, rate};
use crate::document::Paragraph;
use crate::words::plural;
use fathom_analysis::sweep::findings::Caution;
use fathom_core::sweep::Outcome;
use fathom_core::units::count;

/// Points where more depth made it slower that are named.
const DECLINES: usize = 3;

pub(super) fn cautions(context: Context<'_>) -> Option<Paragraph> {
    let cautions = &context.conclusions.cautions;
    let (declines, others): (Vec<&Caution>, Vec<&Caution>) = cautions
        .iter()
        .partition(|caution| matches!(caution, Caution::Declines { .. }));
    let others = others.into_iter().map(|caution| in_words(context, caution));
    let mut evidence: Vec<String> = others.collect();
    if !declines.is_empty() {
        let named = named(&declines, DECLINES, |caution| in_words(context, caution));
        evidence.push(format!("more depth made it slower: {named}"));
    }
    let text = || String::from("Before trusting this:");
    (!evidence.is_empty()).then(|| Paragraph::new("Beware", text(), evidence))
}

fn in_words(context: Context<'_>, caution: &Caution) -> String {
    match caution {
        Caution::Failed { points, message } => format!(
            "{} could not be measured ({}): {message}",
            plural(points.len(), "point"),
            context.points(points)
        ),
        Caution::Pending { points } => format!("{} not yet measured", plural(*points, "point")),
        Caution::Inferred { points } => inferred(context, points),
        Caution::WideInterval { points, half_width } => format!(
            "the mean IOPS of {} is known poorly, up to ±{}: its seconds differ or drift ({})",
            plural(points.len(), "point"),
            percent(*half_width),
            context.points(points)
        ),
        Caution::NoInterval { points } => format!(
            "{} counted too few seconds to say how well their means are known ({})",
            plural(points.len(), "point"),
            context.points(points)
        ),
        Caution::RepeatsDisagree { point, least, most } => format!(
            "repeats of {} disagree: {} to {} IOPS",
            context.point(*point),
            count(least.round()),
            count(most.round())
        ),
        Caution::AboveLimit {
            quantity,
            points,
            most,
            limit,
        } => format!(
            "{} exceed the limit of {} that deeper ones agree on, up to {}: credit for bursts or a cache may be behind it ({})",
            plural(points.len(), "point"),
            rate(*quantity, *limit),
            rate(*quantity, *most),
            context.points(points)
        ),
        Caution::Declines { from, to, ratio } => format!(
            "{} reaches {} of {}",
            context.point(*to),
            percent(*ratio),
            context.point(*from)
        ),
        Caution::Errors { points, errors } => format!(
            "{} failed at {} ({})",
            plural(*errors, "I/O"),
            plural(points.len(), "point"),
            context.points(points)
        ),
        Caution::Warning { text, points } => {
            format!("{}: {text}", plural(points.len(), "point"))
        }
        Caution::EndedSteady { points } => {
            format!(
                "{} ended early, their interval being narrow enough",
                plural(points.len(), "point")
            )
        }
    }
}

/// How many were inferred, and one of them as an example.
fn inferred(context: Context<'_>, points: &[u32]) -> String {
    let example = points.iter().find_map(|&number| {
        let point = context.results.points.get(number as usize)?;
        match &point.outcome {
            Outcome::Inferred(inferred) => {
                let point = context.point(number);
                Some(format!("; for one, {point} has {}", inferred.because))
            }
            _ => None,
        }
    });
    format!(
        "{} of {} were not measured but follow from others (marked ~ below){}",
        points.len(),
        plural(context.plan.points.len(), "point"),
        example.unwrap_or_default()
    )
}

//! What to beware of, in words.
//!
//! Data in: conclusions. Data out: one paragraph. It must not judge.

use super::{Context, percent, rate};
use crate::document::Paragraph;
use crate::words::plural;
use fathom_analysis::sweep::findings::Caution;
use fathom_core::sweep::Outcome;
use fathom_core::units::count;

/// Points where more depth made it slower that are named.
const DECLINES: usize = 3;

pub(super) fn cautions(context: Context<'_>) -> Option<Paragraph> {
    let cautions = &context.conclusions.cautions;
    let declines: Vec<&Caution> = cautions
        .iter()
        .filter(|caution| matches!(caution, Caution::Declines { .. }))
        .collect();
    let mut evidence: Vec<String> = cautions
        .iter()
        .filter(|caution| !matches!(caution, Caution::Declines { .. }))
        .map(|caution| in_words(context, caution))
        .collect();
    if !declines.is_empty() {
        let named = declines
            .iter()
            .take(DECLINES)
            .map(|caution| in_words(context, caution));
        let more = declines.len().saturating_sub(DECLINES);
        let more = if more > 0 {
            format!("; and {more} more")
        } else {
            String::new()
        };
        evidence.push(format!(
            "more depth made it slower: {}{more}",
            named.collect::<Vec<_>>().join("; ")
        ));
    }
    (!evidence.is_empty()).then(|| Paragraph {
        title: String::from("Beware"),
        text: String::from("Before trusting this:"),
        evidence,
    })
}

fn in_words(context: Context<'_>, caution: &Caution) -> String {
    match caution {
        Caution::Failed { points, message } => format!(
            "{} could not be measured ({}): {message}",
            plural(points.len() as u64, "point"),
            context.points(points)
        ),
        Caution::Pending { points } => format!("{} not yet measured", plural(u64::from(*points), "point")),
        Caution::Inferred { points } => inferred(context, points),
        Caution::WideInterval { points, half_width } => format!(
            "the mean IOPS of {} is known poorly, up to ±{}: its seconds differ or drift ({})",
            plural(points.len() as u64, "point"),
            percent(*half_width),
            context.points(points)
        ),
        Caution::NoInterval { points } => format!(
            "{} counted too few seconds to say how well their means are known ({})",
            plural(points.len() as u64, "point"),
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
            plural(points.len() as u64, "point"),
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
            plural(points.len() as u64, "point"),
            context.points(points)
        ),
        Caution::Warning { text, points } => {
            format!("{}: {text}", plural(points.len() as u64, "point"))
        }
        Caution::EndedSteady { points } => {
            format!(
                "{} ended early, their interval being narrow enough",
                plural(points.len() as u64, "point")
            )
        }
    }
}

/// How many were inferred, and one of them as an example.
fn inferred(context: Context<'_>, points: &[u32]) -> String {
    let all = context.plan.points.len() as u64;
    let example = points.iter().find_map(|&number| {
        let point = context.results.points.get(number as usize)?;
        match &point.outcome {
            Outcome::Inferred(inferred) => Some(format!(
                "; for one, {} has {}",
                context.point(number),
                inferred.because
            )),
            _ => None,
        }
    });
    format!(
        "{} of {} were not measured but follow from others (marked ~ below){}",
        points.len(),
        plural(all, "point"),
        example.unwrap_or_default()
    )
}

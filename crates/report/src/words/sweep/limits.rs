//! Maxima, limits, sizes and slices in words.
//!
//! Data in: conclusions. Data out: paragraphs. It must not judge.

use super::{Context, depths, percent, rate, sizes, sure, times};
use crate::document::Paragraph;
use fathom_analysis::sweep::findings::{Limit, NativeSize, Peak, Quantity, Scope, SliceSign, Unit, Verdict};
use fathom_core::units::{Bytes, Nanos, count};

/// Rates within this are the same to a reader.
const SAME: f64 = 0.02;
/// Points of slices that are shown.
const SIGNS: usize = 5;

pub(super) fn maxima(context: Context<'_>) -> Option<Paragraph> {
    let found = context.conclusions;
    let (iops, bytes) = (found.iops_most?, found.bytes_per_second_most?);
    let of = |quantity: Quantity, peak: Peak| {
        let others = peak.alike.saturating_sub(1);
        let interval = peak.half_width.map_or_else(
            || String::from("too short for an interval"),
            |half| format!("95 % interval ±{}", percent(half)),
        );
        format!(
            "{}: {} ({interval}); {} within 2 % of it",
            rate(quantity, peak.value),
            context.point(peak.point),
            match others {
                0 => String::from("no other point is"),
                1 => String::from("1 other point is"),
                others => format!("{others} other points are"),
            }
        )
    };
    Some(Paragraph {
        title: String::from("Maxima"),
        text: format!(
            "At most {} and {}.",
            rate(Quantity::Iops, iops.value),
            rate(Quantity::BytesPerSecond, bytes.value)
        ),
        evidence: vec![of(Quantity::Iops, iops), of(Quantity::BytesPerSecond, bytes)],
    })
}

pub(super) fn limits(context: Context<'_>) -> Vec<Paragraph> {
    let of = |quantity: Quantity, title: &str| {
        let limits: Vec<&Limit> = context
            .conclusions
            .limits
            .iter()
            .filter(|limit| limit.quantity == quantity)
            .collect();
        (!limits.is_empty()).then(|| limit(quantity, title, &limits))
    };
    [
        of(Quantity::Iops, "Limit on IOPS"),
        of(Quantity::BytesPerSecond, "Limit on bytes a second"),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn limit(quantity: Quantity, title: &str, limits: &[&Limit]) -> Paragraph {
    let rates: Vec<Option<f64>> = limits.iter().map(|limit| reached(limit)).collect();
    let alike = rates.iter().all(|rate| match (rate, rates[0]) {
        (Some(one), Some(other)) => (one / other - 1.0).abs() <= SAME,
        (one, other) => one.is_none() && other.is_none(),
    });
    let text = if alike {
        let whose = if limits.len() > 1 {
            ", for reads and writes alike"
        } else {
            ""
        };
        match limits[0].verdict {
            Verdict::Reached { rate: found, .. } => format!(
                "{}{whose}: {}.",
                rate(quantity, found),
                sure(limits[0].confidence)
            ),
            Verdict::NotReached { most } => format!(
                "Not reached: {} at most, and nothing shows that more depth would bring no more.",
                rate(quantity, most)
            ),
        }
    } else {
        let each = told(limits).into_iter().map(|limit| {
            let whose = whose(limit.scope);
            match limit.verdict {
                Verdict::Reached { rate: found, .. } => {
                    format!("{whose} {}: {}", rate(quantity, found), sure(limit.confidence))
                }
                Verdict::NotReached { most } => {
                    format!("{whose} no limit was reached, {} at most", rate(quantity, most))
                }
            }
        });
        format!("{}.", capital(&each.collect::<Vec<_>>().join("; ")))
    };
    let shown = if alike { limits[..1].to_vec() } else { told(limits) };
    Paragraph {
        title: String::from(title),
        text,
        evidence: shown.iter().filter_map(|limit| pins(quantity, limit)).collect(),
    }
}

/// All of them, but the limit of all points only where it is not that of reads or of writes.
fn told<'a>(limits: &[&'a Limit]) -> Vec<&'a Limit> {
    let same = |one: &Limit, other: &Limit| match (reached(one), reached(other)) {
        (Some(one), Some(other)) => (one / other - 1.0).abs() <= SAME,
        _ => false,
    };
    let is_told = |limit: &&&Limit| {
        limit.scope != Scope::All
            || !limits
                .iter()
                .any(|other| other.scope != Scope::All && same(limit, other))
    };
    limits.iter().filter(is_told).copied().collect()
}

fn reached(limit: &Limit) -> Option<f64> {
    match limit.verdict {
        Verdict::Reached { rate, .. } => Some(rate),
        Verdict::NotReached { .. } => None,
    }
}

fn whose(scope: Scope) -> &'static str {
    match scope {
        Scope::All => "in all",
        Scope::Reads => "reads",
        Scope::Writes => "writes",
    }
}

/// The points that pin a limit.
fn pins(quantity: Quantity, limit: &Limit) -> Option<String> {
    let Verdict::Reached { rate: found, spread } = limit.verdict else {
        return None;
    };
    let (least, most) = limit.depths?;
    let points = limit.points.len() as u64;
    Some(format!(
        "{}, {}: {} of {} at {} are as fast as more depth makes them, and agree within {}",
        whose(limit.scope),
        rate(quantity, found),
        crate::words::plural(points, "point"),
        sizes(&limit.sizes_bytes),
        depths(least, most),
        percent(spread)
    ))
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

pub(super) fn native_size(context: Context<'_>) -> Option<Paragraph> {
    let size = &context.conclusions.native_size;
    if size.steps.is_empty() && size.whole_up_to_bytes.is_none() {
        return None;
    }
    let mut text = match (size.whole_up_to_bytes, size.by_size_from_bytes) {
        (Some(whole), Some(from)) => format!(
            "I/O of up to {} costs the same whatever its size; from {} on it costs by its size.",
            Bytes(whole),
            Bytes(from)
        ),
        (Some(whole), None) => format!("I/O of up to {} costs the same whatever its size.", Bytes(whole)),
        _ => String::from("Not known: no size reaches a limit on IOPS."),
    };
    if let Some(knee) = size.knee_bytes {
        text = format!("{text} The two limits meet at {}.", Bytes(knee.round() as u64));
    }
    text = format!("{text} {}", unit(size));
    let steps = size.steps.iter().map(|step| {
        format!(
            "from {} to {} I/Os take {} as long at depth {}",
            Bytes(step.from_bytes),
            Bytes(step.to_bytes),
            times(step.latency_ratio),
            step.depth
        )
    });
    let mixed = size.mixed.map(|mixed| {
        format!(
            "{} IOPS of {} with {:.1} % of {} among them: one of those counts as {:.2}",
            count(mixed.iops.round()),
            Bytes(mixed.small_bytes),
            mixed.large_percent,
            Bytes(mixed.large_bytes),
            mixed.counted_as
        )
    });
    Some(Paragraph {
        title: String::from("Native I/O size"),
        text,
        evidence: steps.chain(mixed).collect(),
    })
}

fn unit(size: &NativeSize) -> String {
    match &size.unit {
        Unit::Found { bytes } => format!(
            "I/O above {} counts as several, one for each {} begun: {}; {}.",
            Bytes(*bytes),
            Bytes(*bytes),
            sure(size.confidence),
            match size.mixed {
                Some(_) => "mixed with small I/O it shows, alone the limit on bytes holds it first",
                None => "a limit on bytes does not explain it",
            }
        ),
        Unit::Among { bytes, or_none } => {
            let least = bytes.first().map_or_else(String::new, |least| {
                format!(" If it does, in units of at least {}.", Bytes(*least))
            });
            if *or_none {
                format!(
                    "Whether larger I/O also counts as several against the limit on IOPS cannot be told: the limit on bytes holds it first.{least}"
                )
            } else {
                let each: Vec<String> = bytes.iter().map(|bytes| Bytes(*bytes).to_string()).collect();
                format!(
                    "Larger I/O counts as several; units of {} explain it alike.",
                    each.join(", ")
                )
            }
        }
        Unit::Unknown { because } => format!("How larger I/O is counted cannot be told: {because}."),
    }
}

pub(super) fn slice(context: Context<'_>) -> Option<Paragraph> {
    let slice = &context.conclusions.slice;
    if slice.looked_at == 0 {
        return None;
    }
    let looked = crate::words::plural(u64::from(slice.looked_at), "saturated point");
    let agreeing = slice.signs.iter().filter(|sign| sign.agrees).count();
    let text = match slice.length_ns {
        Some(length) => format!(
            "Limits are enforced in time slices of {}: {}. What does not fit in one waits for the next, so that at low depth some I/Os take many times as long as the others.",
            Nanos(length.round() as u64),
            sure(slice.confidence)
        ),
        None => String::from(
            "No time slices are seen: latencies do not fall into modes that one length would explain.",
        ),
    };
    let mut evidence = vec![format!(
        "of {looked}, {} have two modes of latency or more{}",
        slice.signs.len(),
        slice.length_ns.map_or_else(String::new, |_| format!(
            "; {agreeing} agree on that length within {}",
            percent(slice.spread)
        ))
    )];
    evidence.extend(
        slice
            .signs
            .iter()
            .filter(|sign| sign.agrees)
            .take(SIGNS)
            .map(|sign| sign_in_words(context, sign)),
    );
    Some(Paragraph {
        title: String::from("Time slices"),
        text,
        evidence,
    })
}

fn sign_in_words(context: Context<'_>, sign: &SliceSign) -> String {
    format!(
        "{}: {} of I/Os take {} on average, the others {}; a slice of {} explains it",
        context.point(sign.point),
        percent(sign.share_waiting),
        Nanos(sign.upper_ns.round() as u64),
        Nanos(sign.lower_ns.round() as u64),
        Nanos(sign.length_ns.round() as u64)
    )
}

//! Maxima, limits, sizes and slices in words.
//!
//! Data in: conclusions. Data out: paragraphs. It must not judge.

use super::{Context, percent, rate, sizes, sure, times};
use crate::document::Paragraph;
use crate::words::{capital, from_to, joined, plural};
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
    let text = format!(
        "At most {} and {}.",
        rate(Quantity::Iops, iops.value),
        rate(Quantity::BytesPerSecond, bytes.value)
    );
    let evidence = [of(Quantity::Iops, iops), of(Quantity::BytesPerSecond, bytes)];
    Some(Paragraph::new("Maxima", text, evidence))
}

/// On IOPS, and on bytes.
pub(super) fn limits(context: Context<'_>) -> [Option<Paragraph>; 2] {
    [
        (Quantity::Iops, "Limit on IOPS"),
        (Quantity::BytesPerSecond, "Limit on bytes a second"),
    ]
    .map(|(quantity, title)| {
        let limits = context.conclusions.limits.iter();
        let limits: Vec<&Limit> = limits.filter(|limit| limit.quantity == quantity).collect();
        (!limits.is_empty()).then(|| limit(quantity, title, &limits))
    })
}

fn limit(quantity: Quantity, title: &str, limits: &[&Limit]) -> Paragraph {
    let alike = |limit: &&Limit| match (reached(limit), reached(limits[0])) {
        (None, None) => true,
        _ => same(limit, limits[0]),
    };
    let alike = limits.iter().all(alike);
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
        format!("{}.", capital(&joined(each, "; ")))
    };
    let shown = if alike { limits[..1].to_vec() } else { told(limits) };
    let pins = shown.iter().filter_map(|limit| pins(quantity, limit));
    Paragraph::new(title, text, pins)
}

/// All of them, but the limit of all points only where it is not that of reads or of writes.
fn told<'a>(limits: &[&'a Limit]) -> Vec<&'a Limit> {
    let is_told = |limit: &&&Limit| {
        limit.scope != Scope::All
            || !limits
                .iter()
                .any(|other| other.scope != Scope::All && same(limit, other))
    };
    limits.iter().filter(is_told).copied().collect()
}

/// Whether both are reached, and a reader would call them the same.
fn same(one: &Limit, other: &Limit) -> bool {
    let ratio = reached(one).zip(reached(other)).map(|(one, other)| one / other);
    ratio.is_some_and(|ratio| (ratio - 1.0).abs() <= SAME)
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
    Some(format!(
        "{}, {}: {} of {} at depth {} are as fast as more depth makes them, and agree within {}",
        whose(limit.scope),
        rate(quantity, found),
        plural(limit.points.len(), "point"),
        sizes(&limit.sizes_bytes),
        from_to(least, most),
        percent(spread)
    ))
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
    Some(Paragraph::new("Native I/O size", text, steps.chain(mixed)))
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
                let each = joined(bytes.iter().map(|&bytes| Bytes(bytes)), ", ");
                format!("Larger I/O counts as several; units of {each} explain it alike.")
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
    let looked = plural(slice.looked_at, "saturated point");
    let agreeing: Vec<&SliceSign> = slice.signs.iter().filter(|sign| sign.agrees).collect();
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
    let agree = slice.length_ns.map_or_else(String::new, |_| {
        let spread = percent(slice.spread);
        format!("; {} agree on that length within {spread}", agreeing.len())
    });
    let modes = format!(
        "of {looked}, {} have two modes of latency or more{agree}",
        slice.signs.len()
    );
    let signs = agreeing.into_iter().take(SIGNS);
    let signs = signs.map(|sign| sign_in_words(context, sign));
    Some(Paragraph::new(
        "Time slices",
        text,
        std::iter::once(modes).chain(signs),
    ))
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

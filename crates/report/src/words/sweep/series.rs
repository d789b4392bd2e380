//! What depth, direction and order do, in words.
//!
//! Data in: conclusions. Data out: paragraphs. It must not judge.

use super::{Context, percent, times};
use crate::document::Paragraph;
use crate::words::plural;
use fathom_analysis::sweep::findings::{Comparison, Contrast, DepthNeeded, Growth, Shortfall};
use fathom_core::units::{Bytes, Nanos, count, three_digits};
use std::collections::{BTreeMap, BTreeSet};

/// Shortfalls that are named.
const SHORTFALLS: usize = 5;
/// Ratios within this are the same to a reader.
const ALIKE: f64 = 0.05;

/// The values of a list, by block size.
fn by_size<T>(list: &[T], size: impl Fn(&T) -> u64) -> BTreeMap<u64, Vec<&T>> {
    let mut sizes: BTreeMap<u64, Vec<&T>> = BTreeMap::new();
    for entry in list {
        sizes.entry(size(entry)).or_default().push(entry);
    }
    sizes
}

fn span(values: impl Iterator<Item = u64> + Clone) -> (u64, u64) {
    (values.clone().min().unwrap_or(0), values.max().unwrap_or(0))
}

pub(super) fn depths(context: Context<'_>) -> Option<Paragraph> {
    let needed = &context.conclusions.depths;
    let several: Vec<&DepthNeeded> = needed.iter().filter(|need| need.levels_off).collect();
    let open = needed.len() - several.len();
    let (least, most) = span(several.iter().map(|need| need.depth));
    let mut text = match several.len() {
        0 => String::from("No load levels off within the depths of the matrix."),
        _ if least == most => format!("Depth {least} over all threads reaches 95 % of the most."),
        _ => format!(
            "Depth {least} to {most} over all threads reaches 95 % of the most, depending on the load."
        ),
    };
    if open > 0 && !several.is_empty() {
        text = format!("{text} {} may go on rising.", plural(open as u64, "load"));
    }
    let rows = by_size(needed, |need| need.line.block_size_bytes);
    let evidence = rows.into_iter().map(|(size, needs)| {
        let mut depths: BTreeMap<u64, Vec<&DepthNeeded>> = BTreeMap::new();
        for need in needs {
            depths.entry(need.depth).or_default().push(need);
        }
        let each = depths.into_iter().map(|(depth, needs)| {
            let loads: BTreeSet<String> = needs
                .iter()
                .map(|need| super::load(need.line.random, need.line.read_percent))
                .collect();
            let open = if needs.iter().any(|need| !need.levels_off) {
                " or more"
            } else {
                ""
            };
            let inferred = needs.iter().filter(|need| need.inferred).count();
            let inferred = if inferred > 0 {
                format!(" ({inferred} inferred)")
            } else {
                String::new()
            };
            if loads.len() <= 4 {
                let loads: Vec<String> = loads.into_iter().collect();
                format!("depth {depth}{open} for {}{inferred}", loads.join("; "))
            } else {
                format!(
                    "depth {depth}{open} for {}{inferred}",
                    plural(needs.len() as u64, "load")
                )
            }
        });
        format!("{}: {}", Bytes(size), each.collect::<Vec<_>>().join(" / "))
    });
    (!needed.is_empty()).then(|| Paragraph {
        title: String::from("Depth that is enough"),
        text,
        evidence: evidence.collect(),
    })
}

pub(super) fn growth(context: Context<'_>) -> Option<Paragraph> {
    let growth = &context.conclusions.growth;
    let fits: Vec<f64> = growth.iter().filter_map(|line| line.r_squared).collect();
    if growth.is_empty() {
        return None;
    }
    let least = fits.iter().copied().fold(f64::INFINITY, f64::min);
    let slopes: Vec<f64> = growth
        .iter()
        .filter_map(|line| Some(line.slope_ns? / line.little_slope_ns?))
        .collect();
    let off = slopes.iter().map(|ratio| (ratio - 1.0).abs()).fold(0.0, f64::max);
    let mut text = String::from("Once a load is as fast as it gets, more depth only makes I/Os wait longer.");
    if !fits.is_empty() {
        let worst = growth
            .iter()
            .find(|line| line.r_squared == Some(least))
            .map_or_else(String::new, |line| format!(" ({})", context.line(line.line)));
        text = format!(
            "Latency grows linearly with depth: R² is at least {least:.3}{worst}, over {}. {text}",
            plural(fits.len() as u64, "load")
        );
    }
    if !slopes.is_empty() {
        text = format!(
            "{text} What one more in flight adds is what Little's law says, within {}.",
            percent(off)
        );
    }
    let evidence = by_size(growth, |line| line.line.block_size_bytes);
    Some(Paragraph {
        title: String::from("Latency over depth"),
        text,
        evidence: evidence
            .into_iter()
            .map(|(size, lines)| of_size(size, &lines))
            .collect(),
    })
}

fn of_size(size: u64, lines: &[&Growth]) -> String {
    let mut parts = Vec::new();
    let slopes = lines
        .iter()
        .filter_map(|line| line.slope_ns)
        .map(|ns| ns.max(0.0).round() as u64);
    if slopes.clone().next().is_some() {
        let (least, most) = span(slopes);
        parts.push(format!("each one more in flight adds {}", from_to(least, most)));
    }
    let (least, most) = span(lines.iter().map(|line| line.lowest_ns.round() as u64));
    let depth = span(lines.iter().map(|line| line.from_depth)).0;
    parts.push(format!("{} at depth {depth}", from_to(least, most)));
    let flat = lines.iter().filter(|line| line.flat_to_depth > line.from_depth);
    let (count, to) = (flat.clone().count(), span(flat.map(|line| line.flat_to_depth)).1);
    if count > 0 {
        parts.push(format!(
            "flat up to depth {to} for {} of {}",
            count,
            plural(lines.len() as u64, "load")
        ));
    }
    format!("{}: {}", Bytes(size), parts.join("; "))
}

fn from_to(least_ns: u64, most_ns: u64) -> String {
    let (least, most) = (Nanos(least_ns).to_string(), Nanos(most_ns).to_string());
    if least == most {
        least
    } else {
        format!("{least} to {most}")
    }
}

pub(super) fn read_write(context: Context<'_>) -> Option<Paragraph> {
    compared(
        context,
        &context.conclusions.read_write,
        "Reads against writes",
        "Reads reach",
        "writes",
    )
}

pub(super) fn random_sequential(context: Context<'_>) -> Option<Paragraph> {
    let found = &context.conclusions.random_sequential;
    compared(
        context,
        found,
        "Random against sequential",
        "Random I/O reaches",
        "sequential I/O",
    )
}

fn compared(
    context: Context<'_>,
    found: &Comparison,
    title: &str,
    one: &str,
    other: &str,
) -> Option<Paragraph> {
    if found.by_size.is_empty() {
        return None;
    }
    let alike = |contrast: &&Contrast| contrast.alike as usize == contrast.pairs.len();
    let same: Vec<u64> = found
        .by_size
        .iter()
        .filter(alike)
        .map(|c| c.block_size_bytes)
        .collect();
    let text = if same.len() == found.by_size.len() {
        String::from("No difference: alike wherever they can be compared.")
    } else {
        let all = || found.by_size.iter().flat_map(|contrast| &contrast.pairs);
        let (slowest, fastest) = (
            all().map(|pair| pair.ratio).fold(f64::INFINITY, f64::min),
            all().map(|pair| pair.ratio).fold(0.0, f64::max),
        );
        let range = format!("{} to {} the IOPS", three_digits(slowest), times(fastest));
        let at = if same.is_empty() {
            String::new()
        } else {
            format!(" Alike at all depths in blocks of {}.", listed(&same))
        };
        format!(
            "{one} {range} of {other}, all else equal.{at}{}",
            with_depth(found)
        )
    };
    Some(Paragraph {
        title: String::from(title),
        text,
        evidence: found
            .by_size
            .iter()
            .map(|contrast| contrast_in_words(context, contrast))
            .collect(),
    })
}

/// What is left of a difference at the greatest depth.
fn with_depth(found: &Comparison) -> String {
    let is_alike = |contrast: &&Contrast| contrast.ratio_deepest.ln().abs() <= ALIKE;
    let alike: Vec<u64> = found
        .by_size
        .iter()
        .filter(is_alike)
        .map(|c| c.block_size_bytes)
        .collect();
    let others = found.by_size.iter().filter(|contrast| !is_alike(contrast));
    let others = others.map(|c| {
        format!(
            "{} in blocks of {}",
            times(c.ratio_deepest),
            Bytes(c.block_size_bytes)
        )
    });
    let mut parts = Vec::new();
    if !alike.is_empty() {
        parts.push(format!("alike in blocks of {}", listed(&alike)));
    }
    parts.extend(others);
    format!(" At the greatest depth: {}.", parts.join(", "))
}

fn listed(sizes: &[u64]) -> String {
    let each: Vec<String> = sizes.iter().map(|size| Bytes(*size).to_string()).collect();
    each.join(", ")
}

fn contrast_in_words(context: Context<'_>, contrast: &Contrast) -> String {
    let pairs = contrast.pairs.len();
    let mut text = format!(
        "{}: {} of {} alike, median {}",
        Bytes(contrast.block_size_bytes),
        contrast.alike,
        plural(pairs as u64, "pair"),
        times(contrast.ratio)
    );
    if let Some(far) = contrast
        .pairs
        .first()
        .filter(|pair| pair.ratio.ln().abs() > ALIKE)
    {
        let interval = far
            .half_width
            .map_or_else(String::new, |half| format!(" ±{}", percent(half)));
        text = format!(
            "{text}; farthest {}{interval} at {}",
            times(far.ratio),
            context.point(far.first)
        );
    }
    text
}

pub(super) fn shortfalls(context: Context<'_>) -> Option<Paragraph> {
    let found = &context.conclusions.shortfalls;
    let depths: BTreeSet<u64> = found.iter().map(|short| short.depth).collect();
    let deepest = depths.last()?;
    let text = format!(
        "{} of low depth (up to {deepest} over all threads) stay below 90 % of what their load reaches with more depth.",
        plural(found.len() as u64, "point")
    );
    let worst = found
        .iter()
        .take(SHORTFALLS)
        .map(|short| short_in_words(context, short));
    let mut evidence: Vec<String> = worst.collect();
    let size = |short: &Shortfall| {
        context
            .plan
            .points
            .get(short.point as usize)
            .map_or(0, |at| at.block_size_bytes)
    };
    let sizes = by_size(found, size).into_iter().map(|(size, shorts)| {
        let worst = shorts.first().map_or(1.0, |short| short.share);
        format!("{} of {} (least {})", shorts.len(), Bytes(size), percent(worst))
    });
    evidence.push(format!("by size: {}", sizes.collect::<Vec<_>>().join(", ")));
    Some(Paragraph {
        title: String::from("Low depth"),
        text,
        evidence,
    })
}

fn short_in_words(context: Context<'_>, short: &Shortfall) -> String {
    format!(
        "{}: {} of {} IOPS ({})",
        context.point(short.point),
        count(short.iops.round()),
        count(short.reachable_iops.round()),
        percent(short.share)
    )
}

//! What depth, direction and order do, in words.
//!
//! Data in: conclusions. Data out: paragraphs. It must not judge.

use super::{Context, percent, times};
use crate::document::Paragraph;
use crate::words::{from_to, joined, plural, when};
use fathom_analysis::sweep::findings::{Comparison, Contrast, DepthNeeded, Growth, Shortfall};
use fathom_core::units::{Bytes, Nanos, count, three_digits};
use std::collections::{BTreeMap, BTreeSet};

/// Shortfalls that are named.
const SHORTFALLS: usize = 5;
/// Ratios within this are the same to a reader.
const ALIKE: f64 = 0.05;

/// The values of a list, by what they have in common.
fn by<'a, T>(list: impl IntoIterator<Item = &'a T>, key: impl Fn(&T) -> u64) -> BTreeMap<u64, Vec<&'a T>> {
    let mut groups: BTreeMap<u64, Vec<&T>> = BTreeMap::new();
    for entry in list {
        groups.entry(key(entry)).or_default().push(entry);
    }
    groups
}

fn span(values: impl Iterator<Item = u64> + Clone) -> (u64, u64) {
    (values.clone().min().unwrap_or(0), values.max().unwrap_or(0))
}

pub(super) fn depths(context: Context<'_>) -> Option<Paragraph> {
    let needed = &context.conclusions.depths;
    let several: Vec<&DepthNeeded> = needed.iter().filter(|need| need.levels_off).collect();
    let open = needed.len() - several.len();
    let (least, most) = span(several.iter().map(|need| need.depth));
    let mut text = String::from("No load levels off within the depths of the matrix.");
    if !several.is_empty() {
        let depths = from_to(least, most);
        let depending = when(least != most, || String::from(", depending on the load"));
        text = format!("Depth {depths} over all threads reaches 95 % of the most{depending}.");
    }
    if open > 0 && !several.is_empty() {
        text = format!("{text} {} may go on rising.", plural(open, "load"));
    }
    let evidence = by(needed, |need| need.line.block_size_bytes).into_iter();
    let evidence = evidence.map(|(size, needs)| {
        let depths = by(needs, |need| need.depth).into_iter();
        let each = depths.map(|(depth, needs)| enough(depth, &needs));
        format!("{}: {}", Bytes(size), joined(each, " / "))
    });
    (!needed.is_empty()).then(|| Paragraph::new("Depth that is enough", text, evidence))
}

/// The loads that a depth is enough for; of more than a few, the number.
fn enough(depth: u64, needs: &[&DepthNeeded]) -> String {
    let loads = needs.iter();
    let loads = loads.map(|need| super::load(need.line.random, need.line.read_percent));
    let mut loads = loads.collect::<BTreeSet<String>>();
    if loads.len() > 4 {
        loads = BTreeSet::from([plural(needs.len(), "load")]);
    }
    let open = needs.iter().any(|need| !need.levels_off);
    let open = if open { " or more" } else { "" };
    let inferred = needs.iter().filter(|need| need.inferred).count();
    let inferred = when(inferred > 0, || format!(" ({inferred} inferred)"));
    format!("depth {depth}{open} for {}{inferred}", joined(loads, "; "))
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
            plural(fits.len(), "load")
        );
    }
    if !slopes.is_empty() {
        text = format!(
            "{text} What one more in flight adds is what Little's law says, within {}.",
            percent(off)
        );
    }
    let evidence = by(growth, |line| line.line.block_size_bytes).into_iter();
    let evidence = evidence.map(|(size, lines)| of_size(size, &lines));
    Some(Paragraph::new("Latency over depth", text, evidence))
}

fn of_size(size: u64, lines: &[&Growth]) -> String {
    let mut parts = Vec::new();
    let slopes = lines
        .iter()
        .filter_map(|line| line.slope_ns)
        .map(|ns| ns.max(0.0).round() as u64);
    if slopes.clone().next().is_some() {
        let (least, most) = span(slopes);
        parts.push(format!(
            "each one more in flight adds {}",
            from_to(Nanos(least), Nanos(most))
        ));
    }
    let (least, most) = span(lines.iter().map(|line| line.lowest_ns.round() as u64));
    let depth = span(lines.iter().map(|line| line.from_depth)).0;
    parts.push(format!("{} at depth {depth}", from_to(Nanos(least), Nanos(most))));
    let flat = lines.iter().filter(|line| line.flat_to_depth > line.from_depth);
    let (count, to) = (flat.clone().count(), span(flat.map(|line| line.flat_to_depth)).1);
    if count > 0 {
        let loads = plural(lines.len(), "load");
        parts.push(format!("flat up to depth {to} for {count} of {loads}"));
    }
    format!("{}: {}", Bytes(size), parts.join("; "))
}

pub(super) fn read_write(context: Context<'_>) -> Option<Paragraph> {
    let found = &context.conclusions.read_write;
    compared(context, found, ["Reads against writes", "Reads reach", "writes"])
}

pub(super) fn random_sequential(context: Context<'_>) -> Option<Paragraph> {
    let found = &context.conclusions.random_sequential;
    let words = [
        "Random against sequential",
        "Random I/O reaches",
        "sequential I/O",
    ];
    compared(context, found, words)
}

fn compared(context: Context<'_>, found: &Comparison, words: [&str; 3]) -> Option<Paragraph> {
    let [title, one, other] = words;
    if found.by_size.is_empty() {
        return None;
    }
    let alike = |contrast: &&Contrast| contrast.alike as usize == contrast.pairs.len();
    let same: Vec<&Contrast> = found.by_size.iter().filter(alike).collect();
    let text = if same.len() == found.by_size.len() {
        String::from("No difference: alike wherever they can be compared.")
    } else {
        let all = || found.by_size.iter().flat_map(|contrast| &contrast.pairs);
        let (slowest, fastest) = (
            all().map(|pair| pair.ratio).fold(f64::INFINITY, f64::min),
            all().map(|pair| pair.ratio).fold(0.0, f64::max),
        );
        let range = format!("{} to {} the IOPS", three_digits(slowest), times(fastest));
        let at = when(!same.is_empty(), || {
            format!(" Alike at all depths in blocks of {}.", listed(&same))
        });
        format!(
            "{one} {range} of {other}, all else equal.{at}{}",
            with_depth(found)
        )
    };
    let evidence = found.by_size.iter();
    let evidence = evidence.map(|contrast| contrast_in_words(context, contrast));
    Some(Paragraph::new(title, text, evidence))
}

/// What is left of a difference at the greatest depth.
fn with_depth(found: &Comparison) -> String {
    let (alike, others): (Vec<&Contrast>, Vec<&Contrast>) = found
        .by_size
        .iter()
        .partition(|contrast| contrast.ratio_deepest.ln().abs() <= ALIKE);
    let others = others.into_iter().map(|contrast| {
        let ratio = times(contrast.ratio_deepest);
        format!("{ratio} in blocks of {}", Bytes(contrast.block_size_bytes))
    });
    let alike = (!alike.is_empty()).then(|| format!("alike in blocks of {}", listed(&alike)));
    format!(
        " At the greatest depth: {}.",
        joined(alike.into_iter().chain(others), ", ")
    )
}

fn listed(contrasts: &[&Contrast]) -> String {
    joined(
        contrasts.iter().map(|contrast| Bytes(contrast.block_size_bytes)),
        ", ",
    )
}

fn contrast_in_words(context: Context<'_>, contrast: &Contrast) -> String {
    let mut text = format!(
        "{}: {} of {} alike, median {}",
        Bytes(contrast.block_size_bytes),
        contrast.alike,
        plural(contrast.pairs.len(), "pair"),
        times(contrast.ratio)
    );
    let far = contrast.pairs.first();
    if let Some(far) = far.filter(|pair| pair.ratio.ln().abs() > ALIKE) {
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
        plural(found.len(), "point")
    );
    let worst = found.iter().take(SHORTFALLS);
    let worst = worst.map(|short| short_in_words(context, short));
    let size = |short: &Shortfall| {
        let at = context.plan.points.get(short.point as usize);
        at.map_or(0, |at| at.block_size_bytes)
    };
    let sizes = by(found, size).into_iter().map(|(size, shorts)| {
        let least = shorts.first().map_or(1.0, |short| short.share);
        format!("{} of {} (least {})", shorts.len(), Bytes(size), percent(least))
    });
    let sizes = format!("by size: {}", joined(sizes, ", "));
    Some(Paragraph::new("Low depth", text, worst.chain([sizes])))
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

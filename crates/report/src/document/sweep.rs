//! The document of a sweep: what follows from it, the maxima, the matrices, the curves over depth, every point.
//!
//! Data in: a [`SweepReport`]. Data out: a [`Document`]. It must not judge, nor know any file format.

mod matrices;
mod points;

use super::content::{Block, Card, Document, Notice, Table};
use super::origin::{civil, ended, modelled, on, some};
use super::{SweepReport, explained, origin, published};
use crate::words::{self, duration, joined, plural, told_if_any};
use fathom_analysis::sweep::findings::{Conclusions, Counts};
use fathom_core::run::Status;
use fathom_core::sweep::{Outcome, PointOrder, PointResult, SweepPlan, SweepResults, Timing};
use fathom_core::units::{Bytes, Nanos, binary_rate, count, decimal_rate, three_digits};
use std::collections::BTreeMap;

/// Warnings that are told, each once.
const WARNINGS_MAX: usize = 20;

pub(super) fn document(report: &SweepReport<'_>) -> Document {
    let (plan, results) = (report.plan, report.results);
    let mut document = Document {
        title: format!("Sweep {} on {}", plan.name, plan.target.description),
        lead: lead(report),
        written_by: format!("fathom {}", plan.build.version),
        ..Document::default()
    };
    if let Some(outline) = report.outline {
        document.add("In short", [explained::outline::lead(outline)]);
        document.add(
            "Utilization, saturation, errors",
            explained::outline::table(outline),
        );
    }
    document.add("Numbers", numbers(report));
    document.add("Warnings", warnings(results));
    let found = conclusions(plan, results, report.conclusions);
    document.add("Conclusions", found);
    document.add("What was run", what(plan));
    document.add("Block size × depth", matrices::heat_maps(plan, results));
    document.add("Over depth", matrices::depth_curves(plan, results));
    document.add(
        "Published",
        report.published.into_iter().flat_map(published::blocks),
    );
    document.add("Every point", points::table(results));
    document
}

/// For a terminal.
pub(crate) fn told(plan: &SweepPlan, results: &SweepResults, conclusions: &Conclusions) -> Document {
    let target = &plan.target;
    let mut document = Document::titled(format!(
        "fathom {}: sweep {} on {}",
        plan.build.version, plan.name, target.description
    ));
    let failed = "points could not be measured, or had I/O errors; see below.";
    let ended = ended(results.status, failed, "the sweep is under way or was killed.");
    let ended = ended.map(|(notice, text)| Block::Notice(notice, text));
    let outset = some(&plan.about).into_iter().chain(modelled(target));
    let outset = outset.chain([in_short(plan), counts(plan, conclusions.counts)]);
    document.add("", ended.into_iter().chain(outset.map(Block::Text)));
    document.add("Conclusions", self::conclusions(plan, results, conclusions));
    matrices::told(&mut document, plan, results);
    document
}

/// The matrix in a line.
fn in_short(plan: &SweepPlan) -> String {
    let axes = &plan.axes;
    let mixes = match axes.read_percent.as_slice() {
        [100] => String::from("reads"),
        [0] => String::from("writes"),
        mixes => format!("{} % reads", joined(mixes, ", ")),
    };
    format!(
        "{}; {mixes}; blocks of {}; depth {} a thread; {} threads; {}",
        orders(plan, " and "),
        sizes(&axes.block_size_bytes),
        joined(&axes.iodepth, ", "),
        joined(&axes.threads, ", "),
        timing(plan.timing),
    )
}

fn timing(timing: Timing) -> String {
    told_if_any(
        [
            (timing.idle_ns, "idle"),
            (timing.warmup_ns, "of warm-up"),
            (timing.duration_ns, "counted"),
            (timing.cooldown_ns, "of cooldown"),
        ],
        |ns| duration(Nanos(ns)),
    )
}

fn counts(plan: &SweepPlan, counts: Counts) -> String {
    let parts = [
        (counts.measured.into(), "measured"),
        (counts.inferred.into(), "inferred"),
        (counts.failed.into(), "failed"),
        (counts.pending.into(), "not yet measured"),
    ];
    let parts = told_if_any(parts, |n| n.to_string());
    let repeats = match plan.repeats {
        ..=1 => String::new(),
        repeats => format!(", {repeats} times each"),
    };
    format!("{}: {parts}{repeats}", plural(counts.planned, "point"))
}

fn lead(report: &SweepReport<'_>) -> Vec<String> {
    let plan = report.plan;
    let mut lead: Vec<String> = some(&plan.about).into_iter().collect();
    let on = on(&plan.environment.host);
    lead.push(format!("Sweep{on}, {}.", civil(plan.started_unix_ns)));
    lead.extend(modelled(&plan.target));
    lead.push(progress(report.results.status, report.conclusions.counts));
    lead
}

/// What became of the points, in a sentence.
fn progress(status: Status, counts: Counts) -> String {
    let others = [
        (counts.inferred.into(), "inferred from those"),
        (counts.failed.into(), "failed"),
        (counts.pending.into(), "not measured yet"),
    ];
    let others = Some(told_if_any(others, |n| n.to_string())).filter(|others| !others.is_empty());
    let points = plural(counts.planned, "point");
    let measured = format!("{} of {points} measured", counts.measured);
    let text = joined(std::iter::once(measured).chain(others), ", ");
    match status {
        Status::Complete => format!("{text}."),
        Status::Running => format!("{text}; it is under way or was killed."),
        Status::Interrupted => format!("{text}; it was interrupted."),
        Status::Failed => format!("{text}; it failed."),
    }
}

/// The extremes among measured points, and where they are.
fn numbers(report: &SweepReport<'_>) -> Vec<Block> {
    let points = &report.results.points;
    let place = |number: u32| words::point(points[number as usize].coordinates);
    let mut cards = Vec::new();
    let conclusions = report.conclusions;
    cards.extend(conclusions.iops_most.map(|most| {
        let iops = format!("{} IOPS", count(most.value));
        Card::new("most IOPS", iops, [place(most.point)])
    }));
    cards.extend(conclusions.bytes_per_second_most.map(|most| {
        let notes = [binary_rate(most.value), place(most.point)];
        Card::new("most throughput", decimal_rate(most.value), notes)
    }));
    let latencies = points.iter().filter(|point| !point.repeats().is_empty());
    let latencies = latencies.filter_map(|point| Some((point.lat_ns_mean()?, point.coordinates)));
    let latencies = latencies.filter(|(ns, _)| *ns > 0.0);
    let least = latencies.min_by(|a, b| a.0.total_cmp(&b.0));
    cards.extend(least.map(|(ns, at)| {
        let mean = Nanos(ns.round() as u64).to_string();
        Card::new("shortest mean latency", mean, [words::point(at)])
    }));
    if cards.is_empty() {
        let text = String::from("No point has been measured.");
        return vec![Block::Notice(Notice::Warning, text)];
    }
    vec![Block::Cards(cards)]
}

/// Failed points, then what the runs of the points warned of, each warning once with how many points it met.
fn warnings(results: &SweepResults) -> Vec<Block> {
    let error = |text| Block::Notice(Notice::Error, text);
    let failed = results.points.iter().filter_map(|point| match &point.outcome {
        Outcome::Failed { message } => Some(format!("{}: {message}", words::point(point.coordinates))),
        _ => None,
    });
    let mut blocks: Vec<Block> = failed.map(error).collect();
    let repeats = || results.points.iter().flat_map(PointResult::repeats);
    let errors: u64 = repeats().map(|figures| figures.errors).sum();
    if errors > 0 {
        let errors = plural(errors, "I/O");
        blocks.push(error(format!(
            "{errors} failed; their points are counted without them."
        )));
    }
    let mut told: BTreeMap<&str, u64> = BTreeMap::new();
    for warning in repeats().flat_map(|figures| &figures.warnings) {
        *told.entry(warning).or_default() += 1;
    }
    let mut told: Vec<(&str, u64)> = told.into_iter().collect();
    told.sort_by_key(|&(_, runs)| std::cmp::Reverse(runs));
    let more = told.len().saturating_sub(WARNINGS_MAX);
    for (warning, runs) in told.into_iter().take(WARNINGS_MAX) {
        let text = format!("{warning} ({})", plural(runs, "run"));
        blocks.push(Block::Notice(Notice::Warning, text));
    }
    if more > 0 {
        let more = plural(more, "warning");
        blocks.push(Block::Text(format!(
            "{more} more: each run's directory has its own."
        )));
    }
    blocks
}

fn conclusions(plan: &SweepPlan, results: &SweepResults, conclusions: &Conclusions) -> Vec<Block> {
    let paragraphs = words::paragraphs(plan, results, conclusions).into_iter();
    paragraphs.map(Block::Conclusion).collect()
}

/// The plan in words.
fn what(plan: &SweepPlan) -> Vec<Block> {
    let mut facts = axes(plan);
    facts.push(("each point", each_point(plan.timing)));
    facts.push(("measured", how(plan)));
    facts.extend(origin::facts(
        &plan.target,
        &plan.environment,
        &plan.command,
        &plan.build,
    ));
    let mut blocks = vec![Block::Facts(facts)];
    if !plan.options.is_empty() {
        let rows = plan
            .options
            .iter()
            .map(|(name, value)| vec![name.clone(), value.clone().unwrap_or_default()]);
        let table = Table::new(2, ["option", "value"], rows);
        let table = table.captioned("What all points share").folded_above(12);
        blocks.push(Block::Table(table));
    }
    blocks
}

/// The values of the matrix.
fn axes(plan: &SweepPlan) -> Vec<(&'static str, String)> {
    let axes = &plan.axes;
    let percents = axes.read_percent.iter();
    let percents = percents.map(|percent| format!("{percent} %"));
    vec![
        ("order", orders(plan, ", ")),
        ("share of reads", joined(percents, ", ")),
        ("block size", sizes(&axes.block_size_bytes)),
        ("iodepth", format!("{} a thread", joined(&axes.iodepth, ", "))),
        ("threads", joined(&axes.threads, ", ")),
    ]
}

fn orders(plan: &SweepPlan, between: &str) -> String {
    let order = |&random: &bool| if random { "random" } else { "sequential" };
    joined(plan.axes.random.iter().map(order), between)
}

fn sizes(sizes: &[u64]) -> String {
    joined(sizes.iter().map(|&size| Bytes(size)), ", ")
}

fn each_point(timing: Timing) -> String {
    let parts = [
        (timing.duration_ns, "counted"),
        (timing.warmup_ns, "before, not counted"),
        (timing.cooldown_ns, "after, not counted"),
        (timing.idle_ns, "idle between points"),
    ];
    told_if_any(parts, |ns| duration(Nanos(ns)))
}

/// How often, in which order, with what rule.
fn how(plan: &SweepPlan) -> String {
    let times = match plan.repeats {
        1 => String::from("once each"),
        n => format!("{n} times each"),
    };
    let order = match plan.order {
        PointOrder::AsGiven => String::from("in the matrix's order"),
        PointOrder::Shuffled => format!("in shuffled order (seed {})", plan.seed),
    };
    let mut text = format!("{times}, {order}");
    if plan.precondition {
        text = format!("{text}; the whole region was written first");
    }
    if let Some(rule) = plan.steady {
        text = format!(
            "{text}; a point ends early once the 95 % confidence interval of its IOPS is within ±{} % (not before {} s)",
            three_digits(rule.half_width * 100.0),
            rule.least_seconds
        );
    }
    if plan.adaptive {
        text = format!("{text}; points that follow from others are inferred");
    }
    text
}

#[cfg(test)]
mod tests;

//! The document of a sweep: what follows from it, the maxima, the matrices, the curves over depth, every point.
//!
//! Data in: a [`SweepReport`]. Data out: a [`Document`]. It must not judge, nor know any file format.

mod matrices;
mod points;

use super::content::{Block, Card, Document, Notice, Table};
use super::run::{civil, machine, modelled, on, target};
use super::{SweepReport, published};
use crate::words::{self, duration, plural};
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
        lead: lead(plan, results),
        written_by: format!("fathom {}", plan.build.version),
        ..Document::default()
    };
    document.add("Numbers", numbers(results));
    document.add("Warnings", warnings(results));
    let found = conclusions(plan, results, report.conclusions);
    document.add("Conclusions", found);
    document.add("What was run", what(plan));
    document.add("Block size × depth", matrices::heat_maps(plan, results));
    document.add("Over depth", matrices::depth_curves(plan, results));
    document.add(
        "Published",
        report.published.map_or_else(Vec::new, published::blocks),
    );
    document.add("Every point", points::table(results));
    document
}

/// For a terminal.
pub(crate) fn told(plan: &SweepPlan, results: &SweepResults, conclusions: &Conclusions) -> Document {
    let target = &plan.target;
    let mut document = Document {
        title: format!(
            "fathom {}: sweep {} on {}",
            plan.build.version, plan.name, target.description
        ),
        ..Document::default()
    };
    let ended = match results.status {
        Status::Complete => None,
        Status::Running => Some((Notice::Unfinished, "the sweep is under way or was killed.")),
        Status::Interrupted => Some((Notice::Interrupted, "the results are those up to then.")),
        Status::Failed => Some((
            Notice::Failed,
            "points could not be measured, or had I/O errors; see below.",
        )),
    };
    let ended = ended.map(|(notice, text)| Block::Notice(notice, String::from(text)));
    let about = Some(plan.about.clone()).filter(|about| !about.is_empty());
    let outset = about.into_iter().chain(modelled(target));
    let outset = outset.chain([in_short(plan), counts(plan, conclusions.counts)]);
    document.add("", ended.into_iter().chain(outset.map(Block::Text)).collect());
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
        mixes => format!("{} % reads", list(mixes)),
    };
    format!(
        "{}; {mixes}; blocks of {}; depth {} a thread; {} threads; {}",
        axes.random
            .iter()
            .map(|&random| order(random))
            .collect::<Vec<_>>()
            .join(" and "),
        sizes(&axes.block_size_bytes),
        list(&axes.iodepth),
        list(&axes.threads),
        timing(plan.timing),
    )
}

fn timing(timing: Timing) -> String {
    let parts = [
        (timing.idle_ns, "idle"),
        (timing.warmup_ns, "of warm-up"),
        (timing.duration_ns, "counted"),
        (timing.cooldown_ns, "of cooldown"),
    ];
    let parts = parts.into_iter().filter(|(ns, _)| *ns > 0);
    let parts = parts.map(|(ns, what)| format!("{} {what}", duration(Nanos(ns))));
    parts.collect::<Vec<_>>().join(", ")
}

fn counts(plan: &SweepPlan, counts: Counts) -> String {
    let parts = [
        (counts.measured, "measured"),
        (counts.inferred, "inferred"),
        (counts.failed, "failed"),
        (counts.pending, "not yet measured"),
    ];
    let parts = parts.into_iter().filter(|(number, _)| *number > 0);
    let parts: Vec<String> = parts.map(|(number, what)| format!("{number} {what}")).collect();
    let repeats = match plan.repeats {
        ..=1 => String::new(),
        repeats => format!(", {repeats} times each"),
    };
    let planned = plural(counts.planned, "point");
    format!("{planned}: {}{repeats}", parts.join(", "))
}

fn lead(plan: &SweepPlan, results: &SweepResults) -> Vec<String> {
    let about = Some(plan.about.clone()).filter(|about| !about.is_empty());
    let mut lead: Vec<String> = about.into_iter().collect();
    let on = on(&plan.environment.host);
    lead.push(format!("Sweep{on}, {}.", civil(plan.started_unix_ns)));
    lead.extend(modelled(&plan.target));
    lead.push(progress(results));
    lead
}

/// What became of the points, in a sentence.
fn progress(results: &SweepResults) -> String {
    let number =
        |of: fn(&Outcome) -> bool| results.points.iter().filter(|point| of(&point.outcome)).count() as u64;
    let measured = number(|outcome| matches!(outcome, Outcome::Measured { .. }));
    let mut text = format!(
        "{} of {} measured",
        measured,
        plural(results.points.len(), "point")
    );
    for (n, word) in [
        (
            number(|outcome| matches!(outcome, Outcome::Inferred(_))),
            "inferred from those",
        ),
        (
            number(|outcome| matches!(outcome, Outcome::Failed { .. })),
            "failed",
        ),
        (
            number(|outcome| matches!(outcome, Outcome::Pending)),
            "not measured yet",
        ),
    ] {
        if n > 0 {
            text = format!("{text}, {n} {word}");
        }
    }
    match results.status {
        Status::Complete => format!("{text}."),
        Status::Running => format!("{text}; it is under way or was killed."),
        Status::Interrupted => format!("{text}; it was interrupted."),
        Status::Failed => format!("{text}; it failed."),
    }
}

/// The extremes among measured points, and where they are.
fn numbers(results: &SweepResults) -> Vec<Block> {
    let measured: Vec<&PointResult> = results
        .points
        .iter()
        .filter(|point| !point.repeats().is_empty())
        .collect();
    let most = |of: fn(&PointResult) -> Option<f64>| {
        measured
            .iter()
            .filter_map(|point| Some((of(point)?, &point.coordinates)))
            // Of equals the first: that with the smallest depth.
            .reduce(|best, next| if next.0 > best.0 { next } else { best })
    };
    let mut cards = Vec::new();
    if let Some((iops, at)) = most(PointResult::iops) {
        cards.push(Card {
            label: String::from("most IOPS"),
            value: format!("{} IOPS", count(iops)),
            notes: vec![words::point(*at)],
        });
    }
    if let Some((rate, at)) = most(PointResult::bytes_per_second) {
        cards.push(Card {
            label: String::from("most throughput"),
            value: decimal_rate(rate),
            notes: vec![binary_rate(rate), words::point(*at)],
        });
    }
    let least = measured
        .iter()
        .filter_map(|point| Some((point.lat_ns_mean()?, &point.coordinates)))
        .filter(|(ns, _)| *ns > 0.0)
        .min_by(|a, b| a.0.total_cmp(&b.0));
    if let Some((ns, at)) = least {
        cards.push(Card {
            label: String::from("shortest mean latency"),
            value: Nanos(ns.round() as u64).to_string(),
            notes: vec![words::point(*at)],
        });
    }
    if cards.is_empty() {
        let text = String::from("No point has been measured.");
        return vec![Block::Notice(Notice::Warning, text)];
    }
    vec![Block::Cards(cards)]
}

/// Failed points, then what the runs of the points warned of, each warning once with how many points it met.
fn warnings(results: &SweepResults) -> Vec<Block> {
    let mut blocks = Vec::new();
    for point in &results.points {
        if let Outcome::Failed { message } = &point.outcome {
            let text = format!("{}: {message}", words::point(point.coordinates));
            blocks.push(Block::Notice(Notice::Error, text));
        }
    }
    let mut told: BTreeMap<&str, u64> = BTreeMap::new();
    let mut failed = 0;
    for figures in results.points.iter().flat_map(PointResult::repeats) {
        failed += figures.errors;
        for warning in &figures.warnings {
            *told.entry(warning).or_default() += 1;
        }
    }
    if failed > 0 {
        let text = format!(
            "{} failed; their points are counted without them.",
            plural(failed, "I/O")
        );
        blocks.push(Block::Notice(Notice::Error, text));
    }
    let mut told: Vec<(&str, u64)> = told.into_iter().collect();
    told.sort_by_key(|&(_, runs)| std::cmp::Reverse(runs));
    let more = told.len().saturating_sub(WARNINGS_MAX);
    for (warning, runs) in told.into_iter().take(WARNINGS_MAX) {
        let text = format!("{warning} ({})", plural(runs, "run"));
        blocks.push(Block::Notice(Notice::Warning, text));
    }
    if more > 0 {
        let text = format!(
            "{} more: each run's directory has its own.",
            plural(more, "warning")
        );
        blocks.push(Block::Text(text));
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
    facts.extend(target(&plan.target));
    facts.extend(machine(&plan.environment));
    if !plan.command.is_empty() {
        facts.push(("command", plan.command.join(" ")));
    }
    facts.push(("program", format!("fathom {}", plan.build.version)));
    let mut blocks = vec![Block::Facts(facts)];
    if !plan.options.is_empty() {
        let rows = plan
            .options
            .iter()
            .map(|(name, value)| vec![name.clone(), value.clone().unwrap_or_default()]);
        let table = Table::new(2, ["option", "value"], rows.collect());
        let table = table.captioned("What all points share").folded_above(12);
        blocks.push(Block::Table(table));
    }
    blocks
}

/// The values of the matrix.
fn axes(plan: &SweepPlan) -> Vec<(&'static str, String)> {
    let axes = &plan.axes;
    let orders = axes.random.iter().map(|&random| order(random));
    let percents = axes.read_percent.iter().map(|percent| format!("{percent} %"));
    vec![
        ("order", orders.collect::<Vec<_>>().join(", ")),
        ("share of reads", percents.collect::<Vec<_>>().join(", ")),
        ("block size", sizes(&axes.block_size_bytes)),
        ("iodepth", format!("{} a thread", list(&axes.iodepth))),
        ("threads", list(&axes.threads)),
    ]
}

fn order(random: bool) -> &'static str {
    if random { "random" } else { "sequential" }
}

fn list<T: ToString>(values: &[T]) -> String {
    values.iter().map(T::to_string).collect::<Vec<_>>().join(", ")
}

fn sizes(sizes: &[u64]) -> String {
    list(&sizes.iter().map(|&size| Bytes(size)).collect::<Vec<_>>())
}

fn each_point(timing: Timing) -> String {
    let span = |ns: u64| duration(Nanos(ns));
    let mut each = format!("{} counted", span(timing.duration_ns));
    for (ns, word) in [
        (timing.warmup_ns, "before, not counted"),
        (timing.cooldown_ns, "after, not counted"),
        (timing.idle_ns, "idle between points"),
    ] {
        if ns > 0 {
            each = format!("{each}, {} {word}", span(ns));
        }
    }
    each
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

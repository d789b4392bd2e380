//! The document of a sweep: what follows from it, the maxima, the matrices, the curves over depth, every point.
//!
//! Data in: a [`SweepReport`]. Data out: a [`Document`]. It must not judge, nor know any file format.

mod matrices;
mod points;

use super::content::{Block, Card, Document, Notice, Table};
use super::run::{machine, target};
use super::{SweepReport, published};
use crate::text::civil;
use crate::words::{self, duration, plural};
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
        sections: Vec::new(),
        written_by: format!("fathom {}", plan.build.version),
    };
    document.add("Numbers", numbers(results));
    document.add("Warnings", warnings(results));
    document.add("Conclusions", conclusions(report));
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

fn lead(plan: &SweepPlan, results: &SweepResults) -> Vec<String> {
    let host = &plan.environment.host;
    let on = if host.is_empty() {
        String::new()
    } else {
        format!(" on {host}")
    };
    let mut lead = Vec::new();
    if !plan.about.is_empty() {
        lead.push(plan.about.clone());
    }
    lead.push(format!("Sweep{on}, {}.", civil(plan.started_unix_ns)));
    if plan.target.modelled {
        lead.push(String::from("The disk is a model and the time virtual."));
    }
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
        plural(results.points.len() as u64, "point")
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
            plural(more as u64, "warning")
        );
        blocks.push(Block::Text(text));
    }
    blocks
}

fn conclusions(report: &SweepReport<'_>) -> Vec<Block> {
    let mut blocks = Vec::new();
    for conclusion in words::paragraphs(report.plan, report.results, report.conclusions) {
        blocks.push(Block::Heading(conclusion.title));
        blocks.push(Block::Text(conclusion.text));
        if !conclusion.evidence.is_empty() {
            blocks.push(Block::List(conclusion.evidence));
        }
    }
    blocks
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
        blocks.push(Block::Table(Table {
            caption: String::from("What all points share"),
            head: ["option", "value"].map(str::to_owned).into(),
            words: 2,
            rows: rows.collect(),
            folded: plan.options.len() > 12,
        }));
    }
    blocks
}

/// The values of the matrix.
fn axes(plan: &SweepPlan) -> Vec<(&'static str, String)> {
    fn list<T>(values: &[T], write: impl Fn(&T) -> String) -> String {
        values.iter().map(write).collect::<Vec<_>>().join(", ")
    }
    let axes = &plan.axes;
    let order = |random: &bool| String::from(if *random { "random" } else { "sequential" });
    let iodepth = list(&axes.iodepth, ToString::to_string);
    vec![
        ("order", list(&axes.random, order)),
        (
            "share of reads",
            list(&axes.read_percent, |percent| format!("{percent} %")),
        ),
        (
            "block size",
            list(&axes.block_size_bytes, |&size| Bytes(size).to_string()),
        ),
        ("iodepth", format!("{iodepth} a thread")),
        ("threads", list(&axes.threads, ToString::to_string)),
    ]
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

//! What was published of experiments, beside what came out here.
//!
//! Data in: chapters of judged figures. Data out: blocks. It must not know how the figures were made.

use super::content::{Block, Document, Notice, Table};
use crate::reproduction::{Chapter, Near, Tally, deviation, number, span};
use fathom_analysis::figures::{Judged, Published, Verdict};
use fathom_core::units::count;

/// The columns of a terminal that a mechanism gets at least.
const MECHANISM_COLUMNS_MIN: usize = 16;

const INTRODUCTION: [&str; 2] = [
    "Each figure below comes out of a run of the experiment on the disk model, in virtual time; none is looked up. A figure is \
     marked *fitted* where a constant of the model was fitted to it, or assumed for its sake: it tests the fit. The others are \
     *predicted*: they test the model, though many follow from the same few limits. What was fitted to what is listed with each \
     experiment. *Source* says where a figure was published: in the post, in output that it links, in a graph, derived from \
     figures of the post, or as a statement in words that was put as a number.",
    "This page is written by `fathom reproduce all --markdown docs/reproduction.md`; `fathom reproduce all --check` fails where \
     a figure is beyond its bound (10 % unless the table of figures says less) and no reason is known.",
];

/// One experiment, within the report of a run or a sweep.
pub(super) fn blocks(chapter: &Chapter) -> Vec<Block> {
    let mut blocks = vec![
        Block::Text(format!("{}. {}.", chapter.title, chapter.source)),
        Block::Text(format!("{}.", Tally::of(&chapter.figures).sentence())),
    ];
    blocks.extend(chapter.notes.iter().cloned().map(Block::Text));
    let row = |judged: &Judged| {
        let figure = &judged.figure;
        let mark = mark(judged).map_or_else(String::new, |mark| format!(" ({mark})"));
        vec![
            figure.run.clone(),
            figure.what.clone(),
            figure.unit.name.to_string(),
            figure.source.name().to_owned(),
            published(figure.published),
            number(judged.modelled),
            format!("{}{mark}", deviation(judged)),
        ]
    };
    let head = ["run", "figure", "unit", "stated in", "published", "here", "off"];
    let table = Table::new(4, head, chapter.figures.iter().map(row));
    blocks.push(Block::Table(table.captioned("Published and here")));
    if !chapter.not_modelled.is_empty() {
        blocks.push(Block::Heading(String::from("Published and not compared")));
        blocks.push(Block::List(reasons(&chapter.not_modelled)));
    }
    blocks
}

/// Experiments, for a terminal.
pub(crate) fn told(chapters: &[Chapter]) -> Document {
    let mut document = Document::default();
    for chapter in chapters {
        let title = Block::Headline(format!("{}: {}", chapter.name, chapter.title));
        let about = std::iter::once(&chapter.source).chain(&chapter.notes);
        let about = about.map(|text| Block::Nested(vec![text.clone()]));
        document.add("", std::iter::once(title).chain(about));
        let runs = chapter.figures.chunk_by(|a, b| a.figure.run == b.figure.run);
        for figures in runs {
            document.add("", [run(chapter, figures), Block::Table(in_short(figures))]);
        }
        let sum = format!(
            "{}: {}. {} I/Os, {} of virtual time",
            chapter.name,
            Tally::of(&chapter.figures).sentence(),
            count(chapter.ios as f64),
            span(chapter.virtual_ns)
        );
        let sum = std::iter::once(sum).chain(known_misses(chapter, "", ""));
        document.add("", [Block::Nested(sum.collect()), Block::Gap]);
    }
    if chapters.len() > 1 {
        let sum = format!("all: {}", tally(chapters).sentence());
        document.add("", [Block::Headline(sum)]);
    }
    document
}

fn run(chapter: &Chapter, figures: &[Judged]) -> Block {
    let name = &figures[0].figure.run;
    let about = chapter.runs.iter().find(|known| known.name == *name);
    let about = about.map_or(String::new(), |run| format!(": {}", run.about));
    Block::Nested(vec![format!("{name}{about}")])
}

/// The figures of a run; mechanisms take what is left of the width.
fn in_short(figures: &[Judged]) -> Table {
    let row = |judged: &Judged| {
        let figure = &judged.figure;
        vec![
            figure.what.clone(),
            published(figure.published),
            number(judged.modelled),
            figure.unit.name.to_owned(),
            deviation(judged),
            mark(judged).map_or_else(|| figure.mechanism.clone(), String::from),
        ]
    };
    let loud = |judged: &Judged| match judged.verdict() {
        Verdict::Met => None,
        Verdict::KnownMiss => Some(Notice::Warning),
        Verdict::Missed | Verdict::NotMissed => Some(Notice::Error),
    };
    let head = ["figure", "published", "modelled", "unit", "off", "made by"];
    Table::new(1, head, figures.iter().map(row)).on_terminal(|layout| {
        layout.rest = Some(MECHANISM_COLUMNS_MIN);
        layout.marks = figures.iter().map(loud).collect();
    })
}

/// Experiments as a document in Markdown, of which their notes may make use.
pub(crate) fn page(chapters: &[Chapter]) -> Document {
    let mut document = Document {
        title: String::from("Published experiments on the disk model"),
        lead: INTRODUCTION.map(String::from).into(),
        is_markdown: true,
        ..Document::default()
    };
    document.add("", [Block::Table(overview(chapters))]);
    for chapter in chapters {
        let mut blocks = vec![Block::Text(format!("{}. {}.", chapter.title, chapter.source))];
        blocks.extend(chapter.notes.iter().cloned().map(Block::Text));
        let runs = chapter.runs.iter();
        let runs = runs.map(|run| vec![format!("`{}`", run.name), run.about.clone()]);
        blocks.push(Block::Table(Table::new(2, ["run", "what it is"], runs)));
        blocks.push(Block::Table(in_full(&chapter.figures)));
        for (title, entries) in [
            ("Known misses", known_misses(chapter, "`", ".").collect()),
            ("Fitted", reasons(&chapter.fitted)),
            ("Published and not modelled", reasons(&chapter.not_modelled)),
        ] {
            if !entries.is_empty() {
                blocks.push(Block::Text(format!("{title}:")));
                blocks.push(Block::List(entries));
            }
        }
        document.add(&chapter.name, blocks);
    }
    document
}

/// A row an experiment.
fn overview(chapters: &[Chapter]) -> Table {
    let near = |near: Near| [near.figures, near.within_2, near.within_5, near.within_10];
    let row = |name: String, chapters: &[Chapter]| {
        let tally = tally(chapters);
        let ios: u64 = chapters.iter().map(|chapter| chapter.ios).sum();
        let time = chapters.iter().map(|chapter| chapter.virtual_ns).sum();
        let counts = near(tally.all).into_iter().chain(near(tally.predicted));
        let counts = counts.chain([tally.known_misses]).map(|n| n.to_string());
        let sums = [count(ios as f64), span(time)];
        std::iter::once(name).chain(counts).chain(sums).collect()
    };
    let each = chapters.chunks(1);
    let mut rows: Vec<Vec<String>> = each
        .map(|one| row(format!("[{0}](#{0})", one[0].name), one))
        .collect();
    if chapters.len() > 1 {
        rows.push(row(String::from("all"), chapters));
    }
    let near = ["within 2 %", "within 5 %", "within 10 %"];
    let head = [&["experiment", "figures"], &near[..], &["predicted"], &near];
    let head = head
        .concat()
        .into_iter()
        .chain(["known misses", "I/Os", "virtual time"]);
    Table::new(12, head, rows)
}

fn in_full(figures: &[Judged]) -> Table {
    let row = |judged: &Judged| {
        let figure = &judged.figure;
        let off = deviation(judged);
        vec![
            format!("`{}`", figure.run),
            figure.what.clone(),
            published(figure.published),
            number(judged.modelled),
            figure.unit.name.to_owned(),
            mark(judged).map_or(off.clone(), |mark| format!("**{off}** ({mark})")),
            figure.source.name().to_owned(),
            String::from(if figure.fitted { "yes" } else { "" }),
            figure.mechanism.clone(),
        ]
    };
    let head = [
        "run",
        "figure",
        "published",
        "modelled",
        "unit",
        "off",
        "source",
        "fitted",
        "made by",
    ];
    let mut table = Table::new(2, head, figures.iter().map(row));
    table.words_further = vec![4, 6, 7, 8];
    table
}

fn tally(chapters: &[Chapter]) -> Tally {
    Tally::of(chapters.iter().flat_map(|chapter| &chapter.figures))
}

fn known_misses(chapter: &Chapter, quote: &str, end: &str) -> impl Iterator<Item = String> {
    let misses = chapter.figures.iter();
    let misses = misses.filter(|judged| judged.verdict() == Verdict::KnownMiss);
    misses.map(move |judged| {
        let figure = &judged.figure;
        let reason = figure.known_miss.as_deref().unwrap_or_default();
        let off = deviation(judged);
        format!(
            "{quote}{}{quote}, {} ({off}): {reason}{end}",
            figure.run, figure.what
        )
    })
}

fn reasons(entries: &[(String, String)]) -> Vec<String> {
    let entries = entries.iter();
    entries.map(|(what, why)| format!("{what}: {why}.")).collect()
}

fn published(value: Published) -> String {
    match value {
        Published::Value(value) => value.to_string(),
        Published::Between(low, high) => format!("{low} to {high}"),
        Published::AtLeast(low) => format!("at least {low}"),
        Published::AtMost(high) => format!("at most {high}"),
    }
}

/// A mark for figures that are not within their bounds.
fn mark(judged: &Judged) -> Option<&'static str> {
    match judged.verdict() {
        Verdict::Met => None,
        Verdict::KnownMiss => Some("known miss"),
        Verdict::NotMissed => Some("no miss any more"),
        Verdict::Missed => Some("MISSED"),
    }
}

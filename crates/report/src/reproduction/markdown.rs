//! Published against modelled as Markdown.
//!
//! Data in: chapters. Data out: a document. It must not know where numbers are from.

use super::{Chapter, Near, Tally, deviation, mark, number, published, span};
use fathom_analysis::figures::{Judged, Verdict};
use fathom_core::units::count;
use std::fmt::Write;

const INTRODUCTION: &str = "\
Each figure below comes out of a run of the experiment on the disk model, in virtual time; none is looked up. A figure is \
marked *fitted* where a constant of the model was fitted to it, or assumed for its sake: it tests the fit. The others are *predicted*: they test the \
model, though many follow from the same few limits. What was fitted to what is listed with each experiment. *Source* says where a figure was published: in the post, in output that it links, in a graph, derived from figures of \
the post, or as a statement in words that was put as a number.

This page is written by `fathom reproduce all --markdown docs/reproduction.md`; `fathom reproduce all --check` fails where a figure is \
beyond its bound (10 % unless the table of figures says less) and no reason is known.
";

const TALLY_HEADER: &str = "\
| experiment | figures | within 2 % | within 5 % | within 10 % | predicted | within 2 % | within 5 % | within 10 % | known misses | I/Os | virtual time |
|---|---|---|---|---|---|---|---|---|---|---|---|
";

/// The whole document.
pub fn render(chapters: &[Chapter]) -> String {
    let mut text = format!("# Published experiments on the disk model\n\n{INTRODUCTION}\n");
    text.push_str(TALLY_HEADER);
    for chapter in chapters {
        let tally = Tally::of(&chapter.figures);
        let link = format!("[{0}](#{0})", chapter.name);
        tally_row(&link, tally, chapter.ios, chapter.virtual_ns, &mut text);
    }
    if chapters.len() > 1 {
        let tally = Tally::of(chapters.iter().flat_map(|chapter| &chapter.figures));
        let ios = chapters.iter().map(|chapter| chapter.ios).sum();
        let time = chapters.iter().map(|chapter| chapter.virtual_ns).sum();
        tally_row("all", tally, ios, time, &mut text);
    }
    for chapter in chapters {
        render_chapter(chapter, &mut text);
    }
    text
}

fn near(near: Near) -> String {
    format!(
        "{} | {} | {} | {}",
        near.figures, near.within_2, near.within_5, near.within_10
    )
}

fn tally_row(name: &str, tally: Tally, ios: u64, virtual_ns: u64, text: &mut String) {
    let _ = writeln!(
        text,
        "| {name} | {} | {} | {} | {} | {} |",
        near(tally.all),
        near(tally.predicted),
        tally.known_misses,
        count(ios as f64),
        span(virtual_ns)
    );
}

fn render_chapter(chapter: &Chapter, text: &mut String) {
    let _ = writeln!(
        text,
        "\n## {}\n\n{}. {}.",
        chapter.name,
        cell(&chapter.title),
        cell(&chapter.source)
    );
    for note in &chapter.notes {
        let _ = writeln!(text, "\n{note}");
    }
    text.push_str("\n| run | what it is |\n|---|---|\n");
    for run in &chapter.runs {
        let _ = writeln!(text, "| `{}` | {} |", run.name, cell(&run.about));
    }
    text.push_str("\n| run | figure | published | modelled | unit | off | source | fitted | made by |\n");
    text.push_str("|---|---|---:|---:|---|---:|---|---|---|\n");
    for judged in &chapter.figures {
        row(judged, text);
    }
    let misses = chapter.figures.iter();
    let misses: Vec<&Judged> = misses
        .filter(|judged| judged.verdict() == Verdict::KnownMiss)
        .collect();
    if !misses.is_empty() {
        text.push_str("\nKnown misses:\n\n");
        for judged in misses {
            let figure = &judged.figure;
            let reason = figure.known_miss.as_deref().unwrap_or_default();
            let off = deviation(judged);
            let _ = writeln!(text, "- `{}`, {} ({off}): {reason}.", figure.run, figure.what);
        }
    }
    list("Fitted", &chapter.fitted, text);
    list("Published and not modelled", &chapter.not_modelled, text);
}

fn row(judged: &Judged, text: &mut String) {
    let figure = &judged.figure;
    let off = match mark(judged) {
        "" => deviation(judged),
        mark => format!("**{}** ({mark})", deviation(judged)),
    };
    let _ = writeln!(
        text,
        "| `{}` | {} | {} | {} | {} | {off} | {} | {} | {} |",
        figure.run,
        cell(&figure.what),
        published(figure.published),
        number(judged.modelled),
        figure.unit.name,
        figure.source.name(),
        if figure.fitted { "yes" } else { "" },
        cell(&figure.mechanism)
    );
}

fn list(title: &str, entries: &[(String, String)], text: &mut String) {
    if entries.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n{title}:\n");
    for (what, why) in entries {
        let _ = writeln!(text, "- {what}: {why}.");
    }
}

/// A text that does not end its cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

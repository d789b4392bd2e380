//! Published against modelled on a terminal.
//!
//! Data in: chapters, the terminal's [`Style`]. Data out: tables. It must not know where numbers are from.

use super::{Chapter, Tally, deviation, mark, number, published, span};
use crate::layout::{fit, table, wrap};
use crate::style::{Look, Style};
use fathom_analysis::figures::{Judged, Verdict};
use fathom_core::units::count;
use std::fmt::Write;

/// The columns that a mechanism gets at least.
const MECHANISM_COLUMNS_MIN: usize = 16;

/// The whole text.
pub fn render(chapters: &[Chapter], style: Style) -> String {
    let mut text = String::new();
    for chapter in chapters {
        render_chapter(chapter, style, &mut text);
    }
    if chapters.len() > 1 {
        let tally = Tally::of(chapters.iter().flat_map(|chapter| &chapter.figures));
        let line = format!("all: {}", tally.sentence());
        let _ = writeln!(text, "{}", style.paint(Look::Bold, &line));
    }
    style.finish(text)
}

fn render_chapter(chapter: &Chapter, style: Style, text: &mut String) {
    let title = format!("{}: {}", chapter.name, chapter.title);
    let _ = writeln!(text, "{}", style.paint(Look::Bold, &title));
    paragraph(&chapter.source, style, text);
    for note in &chapter.notes {
        paragraph(note, style, text);
    }
    let shown: Vec<&Judged> = chapter.figures.iter().collect();
    for group in shown.chunk_by(|a, b| a.figure.run == b.figure.run) {
        let run = &group[0].figure.run;
        let about = chapter.runs.iter().find(|known| known.name == *run);
        let about = about.map_or(String::new(), |run| format!(": {}", run.about));
        text.push('\n');
        paragraph(&format!("{run}{about}"), style, text);
        for line in rows(group, style) {
            let _ = writeln!(text, "{line}");
        }
    }
    text.push('\n');
    let tally = Tally::of(&chapter.figures);
    let line = format!(
        "{}: {}. {} I/Os, {} of virtual time",
        chapter.name,
        tally.sentence(),
        count(chapter.ios as f64),
        span(chapter.virtual_ns)
    );
    paragraph(&line, style, text);
    for judged in &chapter.figures {
        if judged.verdict() == Verdict::KnownMiss {
            let reason = judged.figure.known_miss.as_deref().unwrap_or_default();
            let line = format!(
                "  {}, {} ({}): {reason}",
                judged.figure.run,
                judged.figure.what,
                deviation(judged)
            );
            paragraph(&line, style, text);
        }
    }
    text.push('\n');
}

fn paragraph(words: &str, style: Style, text: &mut String) {
    for line in wrap(words, style.columns(), 4) {
        let _ = writeln!(text, "{line}");
    }
}

/// A table of figures; mechanisms take what is left of the width.
fn rows(group: &[&Judged], style: Style) -> Vec<String> {
    let mut rows: Vec<Vec<String>> = vec![
        ["figure", "published", "modelled", "unit", "off"]
            .map(str::to_owned)
            .into(),
    ];
    rows.extend(group.iter().map(|judged| {
        vec![
            judged.figure.what.clone(),
            published(judged.figure.published),
            number(judged.modelled),
            judged.figure.unit.name.to_owned(),
            deviation(judged),
        ]
    }));
    let lines = table(&rows, 1, 2);
    let widest = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
    let room = style.columns().saturating_sub(widest + 2);
    let last = |at: usize| match at.checked_sub(1).map(|at| group[at]) {
        None => String::from("made by"),
        Some(judged) => match mark(judged) {
            "" => judged.figure.mechanism.clone(),
            mark => mark.to_owned(),
        },
    };
    let lines = lines.into_iter().enumerate().map(|(at, line)| {
        let look = match at.checked_sub(1).map(|at| group[at].verdict()) {
            None | Some(Verdict::Met) => None,
            Some(Verdict::KnownMiss) => Some(Look::Yellow),
            Some(Verdict::Missed | Verdict::NotMissed) => Some(Look::Red),
        };
        let line = if room < MECHANISM_COLUMNS_MIN {
            line
        } else {
            format!("{line:widest$}  {}", fit(&last(at), room))
        };
        look.map_or(line.clone(), |look| style.paint(look, &line))
    });
    lines.collect()
}

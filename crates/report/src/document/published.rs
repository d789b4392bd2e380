//! What was published of an experiment, beside what came out here.
//!
//! Data in: a chapter of judged figures. Data out: blocks. It must not know how the figures were made.

use super::content::{Block, Table};
use crate::reproduction::{Chapter, Tally, deviation, mark, number, published};
use fathom_analysis::figures::Judged;

pub(super) fn blocks(chapter: &Chapter) -> Vec<Block> {
    let mut blocks = vec![
        Block::Text(format!("{}. {}.", chapter.title, chapter.source)),
        Block::Text(format!("{}.", Tally::of(&chapter.figures).sentence())),
    ];
    blocks.extend(chapter.notes.iter().cloned().map(Block::Text));
    blocks.push(Block::Table(Table {
        caption: String::from("Published and here"),
        head: ["run", "figure", "unit", "stated in", "published", "here", "off"]
            .map(str::to_owned)
            .into(),
        words: 4,
        rows: chapter.figures.iter().map(row).collect(),
        folded: false,
    }));
    if !chapter.not_modelled.is_empty() {
        blocks.push(Block::Heading(String::from("Published and not compared")));
        let entries = chapter
            .not_modelled
            .iter()
            .map(|(what, why)| format!("{what}: {why}."));
        blocks.push(Block::List(entries.collect()));
    }
    blocks
}

fn row(judged: &Judged) -> Vec<String> {
    let figure = &judged.figure;
    let off = match mark(judged) {
        "" => deviation(judged),
        mark => format!("{} ({mark})", deviation(judged)),
    };
    vec![
        figure.run.clone(),
        figure.what.clone(),
        figure.unit.name.to_string(),
        figure.source.name().to_owned(),
        published(figure.published),
        number(judged.modelled),
        off,
    ]
}

//! A document as Markdown, with tables as GitHub shows them.
//!
//! Data in: a document. Data out: the text of a file. Charts are left out; a chart that has a table gives that. It must not know
//! what the document is about.

use crate::document::content::{Block, Card, Document, Table};
use std::fmt::Write;

pub(crate) fn render(document: &Document) -> String {
    let mut out = String::new();
    line(&mut out, &format!("# {}", inline(&document.title)));
    for text in &document.lead {
        paragraph(&mut out, text);
    }
    for section in &document.sections {
        let mut body = String::new();
        for part in &section.blocks {
            block(&mut body, part);
        }
        // A section of charts alone has nothing to say here.
        if !body.is_empty() {
            line(&mut out, &format!("\n## {}", inline(&section.title)));
            out.push_str(&body);
        }
    }
    paragraph(&mut out, &format!("Written by {}.", document.written_by));
    out
}

fn line(out: &mut String, text: &str) {
    out.push_str(text);
    out.push('\n');
}

fn paragraph(out: &mut String, text: &str) {
    line(out, &format!("\n{}", inline(text)));
}

fn block(out: &mut String, block: &Block) {
    match block {
        Block::Heading(text) => line(out, &format!("\n### {}", inline(text))),
        Block::Text(text) => paragraph(out, text),
        Block::List(entries) => list(out, entries.iter().map(|entry| inline(entry))),
        Block::Notice(kind, text) => line(out, &format!("\n**{}:** {}", kind.name(), inline(text))),
        Block::Facts(facts) => {
            let entries = facts
                .iter()
                .map(|(name, text)| format!("**{name}:** {}", inline(text)));
            list(out, entries);
        }
        Block::Cards(cards) => list(out, cards.iter().map(card)),
        Block::Table(table) => self::table(out, table),
        Block::Charts(charts) => {
            for table in charts.iter().filter_map(|chart| chart.table.as_ref()) {
                self::table(out, table);
            }
        }
    }
}

fn list(out: &mut String, entries: impl Iterator<Item = String>) {
    out.push('\n');
    for entry in entries {
        line(out, &format!("- {entry}"));
    }
}

fn card(card: &Card) -> String {
    let notes = card.notes.iter().map(|note| inline(note)).collect::<Vec<_>>();
    format!(
        "**{}:** {} ({})",
        inline(&card.label),
        inline(&card.value),
        notes.join(", ")
    )
}

fn table(out: &mut String, table: &Table) {
    if !table.caption.is_empty() {
        line(out, &format!("\n{}:", inline(&table.caption)));
    }
    out.push('\n');
    row(out, &table.head);
    let rule = (0..table.head.len()).map(|column| if column < table.words { "---" } else { "---:" });
    line(out, &format!("|{}|", rule.collect::<Vec<_>>().join("|")));
    for cells in &table.rows {
        row(out, cells);
    }
}

fn row(out: &mut String, cells: &[String]) {
    out.push('|');
    for cell in cells {
        // Writing to a string does not fail.
        let _ = write!(out, " {} |", inline(cell));
    }
    out.push('\n');
}

/// A text on one line in which no letter is taken for a sign of Markdown or HTML.
fn inline(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (index, letter) in text.trim().chars().enumerate() {
        match letter {
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' => {
                out.push('\\');
                out.push(letter);
            }
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '-' | '+' | '=' | '~' if index == 0 => {
                out.push('\\');
                out.push(letter);
            }
            letter if letter.is_control() => out.push(' '),
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests;

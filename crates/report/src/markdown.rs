//! A document as Markdown, with tables as GitHub shows them.
//!
//! Data in: a document. Data out: the text of a file. Charts are left out; a chart that has a table gives that. It must not know
//! what the document is about.

use crate::document::content::{Block, Card, Document, Table};
use std::fmt::Write;

struct Writer {
    out: String,
    /// How a text comes to stand in a line.
    inline: fn(&str) -> String,
}

pub(crate) fn render(document: &Document) -> String {
    let mut writer = Writer {
        out: String::new(),
        inline: if document.is_markdown { on_one_line } else { inline },
    };
    writer.line(&format!("# {}", inline(&document.title)));
    for text in &document.lead {
        writer.paragraph(text);
    }
    for section in &document.sections {
        let before = writer.out.len();
        if !section.title.is_empty() {
            writer.line(&format!("\n## {}", inline(&section.title)));
        }
        let after_title = writer.out.len();
        for block in &section.blocks {
            writer.block(block);
        }
        // A section of charts alone has nothing to say here.
        if writer.out.len() == after_title {
            writer.out.truncate(before);
        }
    }
    if !document.written_by.is_empty() {
        writer.paragraph(&format!("Written by {}.", document.written_by));
    }
    writer.out
}

impl Writer {
    fn line(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn paragraph(&mut self, text: &str) {
        self.line(&format!("\n{}", (self.inline)(text)));
    }

    fn block(&mut self, block: &Block) {
        let inline = self.inline;
        match block {
            Block::Heading(text) => self.line(&format!("\n### {}", inline(text))),
            Block::Text(text) => self.paragraph(text),
            Block::List(entries) => self.list(entries.iter().map(|entry| inline(entry))),
            Block::Notice(kind, text) => self.line(&format!("\n**{}:** {}", kind.name(), inline(text))),
            Block::Facts(facts) => {
                let entries = facts.iter();
                self.list(entries.map(|(name, text)| format!("**{name}:** {}", inline(text))));
            }
            Block::Conclusion(paragraph) => {
                self.line(&format!("\n### {}", inline(&paragraph.title)));
                self.paragraph(&paragraph.text);
                if !paragraph.evidence.is_empty() {
                    self.list(paragraph.evidence.iter().map(|entry| inline(entry)));
                }
            }
            Block::Cards(cards) => self.list(cards.iter().map(card)),
            Block::Table(table) => self.table(table),
            Block::Charts(charts) => {
                for table in charts.iter().filter_map(|chart| chart.table.as_ref()) {
                    self.table(table);
                }
            }
            Block::Nested(_) | Block::Headline(_) | Block::Grid(..) | Block::Gap => {}
        }
    }

    fn list(&mut self, entries: impl Iterator<Item = String>) {
        self.out.push('\n');
        for entry in entries {
            self.line(&format!("- {entry}"));
        }
    }

    fn table(&mut self, table: &Table) {
        if !table.caption.is_empty() {
            self.line(&format!("\n{}:", inline(&table.caption)));
        }
        self.out.push('\n');
        self.row(&table.head);
        let rule = (0..table.head.len()).map(|column| {
            let words = column < table.words || table.words_further.contains(&column);
            if words { "---" } else { "---:" }
        });
        self.line(&format!("|{}|", rule.collect::<Vec<_>>().join("|")));
        for cells in &table.rows {
            self.row(cells);
        }
    }

    fn row(&mut self, cells: &[String]) {
        self.out.push('|');
        for cell in cells {
            // Writing to a string does not fail.
            let _ = write!(self.out, " {} |", (self.inline)(cell));
        }
        self.out.push('\n');
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

/// Markdown that does not end its cell.
fn on_one_line(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
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

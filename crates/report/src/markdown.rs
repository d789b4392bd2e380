//! A document as Markdown, with tables as GitHub shows them.
//!
//! Data in: a document. Data out: the text of a file. Charts are left out; a chart that has a table gives that. It must not know
//! what the document is about.

use crate::document::content::{Block, Document, Section};
use askama::Template;

#[derive(Template)]
#[template(path = "report.md", escape = "none")]
struct Page<'a> {
    document: &'a Document,
}

/// The whole page.
///
/// # Panics
/// Never: the template only writes to a string.
pub(crate) fn render(document: &Document) -> String {
    let page = Page { document };
    page.render().expect("a template that writes to a string")
}

impl Page<'_> {
    /// A text as it comes to stand in a line.
    fn text(&self, text: &str) -> String {
        if self.document.is_markdown {
            on_one_line(text)
        } else {
            inline(text)
        }
    }

    /// Whether a section has anything to say here: one of charts alone has not.
    fn has_text(section: &Section) -> bool {
        let has_text = |block: &Block| match block {
            Block::Charts(charts) => charts.iter().any(|chart| chart.table.is_some()),
            _ => true,
        };
        section.blocks.iter().any(has_text)
    }
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

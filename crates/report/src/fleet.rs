//! The same load on many machines at one moment, as text for a terminal and as JSON.

use crate::document::fleet;
use crate::{Format, Style, html, markdown, terminal};
use fathom_analysis::fleet::Fleet;
use serde_json::{Value, json};

/// What there is to tell.
#[derive(Debug, Clone, Copy)]
pub struct FleetReport<'a> {
    /// What they ran on, in words.
    pub on: &'a str,
    pub fleet: &'a Fleet,
    /// From the first beginning to the last, and what the clocks leave open, in nanoseconds.
    pub skew_ns: Option<(u64, u64)>,
    /// The program's version.
    pub version: &'a str,
}

impl FleetReport<'_> {
    /// For a terminal.
    pub fn text(&self, style: Style) -> String {
        terminal::render(&fleet::document(self), style)
    }

    /// As the text of a file; there is no table of it alone.
    pub fn render(&self, format: Format) -> Option<String> {
        let mut document = fleet::document(self);
        document.written_by = format!("fathom {}", self.version);
        match format {
            Format::Html => Some(html::render(&document)),
            Format::Markdown => Some(markdown::render(&document)),
            Format::Csv => None,
        }
    }

    /// As a part of a document.
    pub fn json(&self) -> Value {
        let mut document = json!(self.fleet);
        document["on"] = json!(self.on);
        document["start_skew_ns"] = json!(self.skew_ns.map(|(skew, _)| skew));
        document["start_skew_uncertainty_ns"] = json!(self.skew_ns.map(|(_, open)| open));
        document
    }
}

#[cfg(test)]
mod tests;

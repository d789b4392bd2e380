//! Plans: the cheapest layouts for a need, and layouts side by side, as text, page, Markdown and JSON.
//!
//! Data in: what the planner found. Data out: texts. It must not plan.

mod json;

use crate::document::plan;
use crate::document::{Format, Reader};
use crate::{Style, html, markdown, terminal};
use fathom_plan::explain::Explained;
use fathom_plan::need::Need;
use fathom_plan::plan::{Plan, Proven};
use fathom_plan::seen::Recording;

/// In what prices are told.
#[derive(Debug, Clone, PartialEq)]
pub struct Currency {
    /// Its code: `USD`.
    pub code: String,
    /// What a US dollar is in it.
    pub per_usd: f64,
}

impl Default for Currency {
    fn default() -> Self {
        Self {
            code: String::from("USD"),
            per_usd: 1.0,
        }
    }
}

/// What a plan was made from, where that is recorded.
#[derive(Debug, Clone)]
pub struct SeenReport<'a> {
    pub recordings: Vec<&'a Recording>,
    /// Of their seconds so many are to be carried in full, in percent.
    pub percent: f64,
}

/// All that is said of a plan.
#[derive(Debug, Clone)]
pub struct PlanReport<'a> {
    pub plan: &'a Plan<'a>,
    /// What stands at present, to be compared with.
    pub present: Option<&'a Proven<'a>>,
    /// The recordings that it is made from, if it is.
    pub seen: Option<SeenReport<'a>>,
    /// Where the prices are from, in a sentence.
    pub prices: String,
    pub money: Currency,
    /// The program's version.
    pub version: &'a str,
}

/// Layouts to be told beside each other; one alone is explained.
#[derive(Debug, Clone)]
pub struct PairReport<'a> {
    pub layouts: &'a [Explained<'a>],
    /// What they are judged for: a load, or the kind of I/O alone.
    pub need: &'a Need,
    /// Where the prices are from, in a sentence.
    pub prices: String,
    pub money: Currency,
}

impl PlanReport<'_> {
    /// For a terminal.
    pub fn text(&self, style: Style) -> String {
        terminal::render(&plan::document(self, Reader::Terminal), style)
    }

    /// As one JSON document, indented, with a newline at its end.
    pub fn json(&self) -> String {
        json::plan(self)
    }

    /// As the text of a file.
    pub fn render(&self, format: Format) -> String {
        let mut document = plan::document(self, Reader::Page);
        document.written_by = format!("fathom {}", self.version);
        match format {
            Format::Html => html::render(&document),
            Format::Markdown => markdown::render(&document),
            Format::Csv => json::csv(self),
        }
    }

    /// Why there is no layout, in one paragraph; `None`: there is one.
    pub fn why_none(&self) -> Option<String> {
        let nothing = self.plan.nothing.as_ref()?;
        Some(plan::none(self, nothing))
    }
}

impl PairReport<'_> {
    /// For a terminal.
    pub fn text(&self, style: Style) -> String {
        terminal::render(&plan::pairs(self, Reader::Terminal), style)
    }

    /// As one JSON document, indented, with a newline at its end.
    pub fn json(&self) -> String {
        json::pairs(self)
    }
}

#[cfg(test)]
mod tests;

//! Two sides compared, as text, page, Markdown, CSV, JSON and `JUnit`'s XML.
//!
//! Data in: what the comparison found. Data out: texts. It must not compare.

mod json;
mod junit;

use crate::document::compare;
use crate::document::{Format, Reader};
use crate::{Style, html, markdown, terminal};
use fathom_analysis::compare::{Better, Caution, Condition, Field, Judged, Measured, Ruled, Settings};
use serde_json::Value;
use std::path::Path;

/// What was compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Runs,
    Sweeps,
    /// What others did to a device.
    Recordings,
    /// Commands that were run and recorded.
    Commands,
    /// Plain numbers.
    Columns,
}

/// One side.
#[derive(Debug, Clone)]
pub struct SideReport<'a> {
    /// What it is called: `A`, or as the user says.
    pub name: String,
    /// Where it is from: directories, files.
    pub from: Vec<String>,
    /// Its runs; empty of sweeps and columns.
    pub measured: &'a [Measured],
    /// What only this side has: points of a sweep.
    pub alone: Vec<String>,
    /// What to know of it before trusting its numbers: a run that was interrupted, I/Os that failed.
    pub notes: Vec<String>,
}

/// All that is said of a comparison.
#[derive(Debug, Clone)]
pub struct CompareReport<'a> {
    pub kind: Kind,
    /// A and B.
    pub sides: [SideReport<'a>; 2],
    pub judged: &'a [Judged],
    /// What differs between the sides, and within them.
    pub conditions: &'a [Condition],
    /// What forbids to compare and was allowed to differ all the same.
    pub allowed: &'a [Field],
    pub cautions: &'a [Caution],
    pub ruled: &'a [Ruled],
    /// Whether a rule that is neither kept nor broken counts as broken.
    pub strict: bool,
    pub settings: Settings,
    /// Of plain numbers: their unit, and which way is the better one.
    pub unit: Option<&'a str>,
    pub better: Better,
    /// The program's version.
    pub version: &'a str,
}

/// What kind of file a comparison is written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompareFormat {
    Report(Format),
    /// What programs that run tests read.
    Junit,
}

impl CompareFormat {
    /// The format that a file's name asks for by its ending.
    pub fn of(path: &Path) -> Option<Self> {
        let is_xml = path
            .extension()
            .is_some_and(|ending| ending.eq_ignore_ascii_case("xml"));
        if is_xml {
            return Some(Self::Junit);
        }
        Format::of(path).map(Self::Report)
    }
}

impl CompareReport<'_> {
    /// For a terminal.
    pub fn text(&self, style: Style) -> String {
        terminal::render(&compare::document(self, Reader::Terminal), style)
    }

    /// As one JSON document, indented, with a newline at its end.
    pub fn json(&self) -> String {
        format!("{:#}\n", self.value())
    }

    /// As a part of a document.
    pub fn value(&self) -> Value {
        json::document(self)
    }

    /// As the text of a file.
    pub fn render(&self, format: CompareFormat) -> String {
        let document = || {
            let mut document = compare::document(self, Reader::Page);
            document.written_by = format!("fathom {}", self.version);
            document
        };
        match format {
            CompareFormat::Report(Format::Html) => html::render(&document()),
            CompareFormat::Report(Format::Markdown) => markdown::render(&document()),
            CompareFormat::Report(Format::Csv) => json::csv(self),
            CompareFormat::Junit => junit::render(self),
        }
    }

    /// The rules that are not kept, in a line each.
    pub fn broken(&self) -> Vec<String> {
        compare::rules::broken(self)
    }

    /// Rules that are neither kept nor broken, in a line each.
    pub fn undecided(&self) -> Vec<String> {
        compare::rules::undecided(self)
    }
}

#[cfg(test)]
mod tests;

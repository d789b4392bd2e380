//! What a document consists of, whatever file it becomes.
//!
//! Data in: text as it is, not yet escaped, and figures. Data out: plain data that each writer walks. It must not know any
//! file format.

use crate::chart::Figure;

/// A report.
#[derive(Debug, Default)]
pub(crate) struct Document {
    /// What it is about, in one line.
    pub(crate) title: String,
    /// What to know at once: a line each.
    pub(crate) lead: Vec<String>,
    /// Its sections, in the order in which they are read.
    pub(crate) sections: Vec<Section>,
    /// The program that wrote it.
    pub(crate) written_by: String,
}

impl Document {
    /// Adds a section, unless there is nothing in it.
    pub(crate) fn add(&mut self, title: &str, blocks: Vec<Block>) {
        if !blocks.is_empty() {
            self.sections.push(Section {
                title: title.to_owned(),
                blocks,
            });
        }
    }
}

/// A section and what is in it.
#[derive(Debug)]
pub(crate) struct Section {
    pub(crate) title: String,
    pub(crate) blocks: Vec<Block>,
}

/// A part of a section.
#[derive(Debug)]
pub(crate) enum Block {
    /// A heading below the section's.
    Heading(String),
    /// A paragraph.
    Text(String),
    /// Entries.
    List(Vec<String>),
    /// What must not be missed.
    Notice(Notice, String),
    /// Names and what they are.
    Facts(Vec<(&'static str, String)>),
    /// Numbers to see first.
    Cards(Vec<Card>),
    Table(Table),
    /// Charts that belong beside each other.
    Charts(Vec<Chart>),
}

/// How loud a notice is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Notice {
    /// Good to know.
    Note,
    /// A reason to doubt numbers.
    Warning,
    /// Something failed.
    Error,
}

impl Notice {
    /// Its label, which is its style's name as well.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// A number to see first.
#[derive(Debug)]
pub(crate) struct Card {
    pub(crate) label: String,
    /// The number with its unit.
    pub(crate) value: String,
    /// What goes with it, a line each.
    pub(crate) notes: Vec<String>,
}

/// A table whose first columns are words and whose others are numbers.
#[derive(Debug, Default)]
pub(crate) struct Table {
    /// What it shows; empty where the section says it.
    pub(crate) caption: String,
    /// The names of the columns.
    pub(crate) head: Vec<String>,
    /// How many columns from the left hold words.
    pub(crate) words: usize,
    /// Cells.
    pub(crate) rows: Vec<Vec<String>>,
    /// Whether it is long and shown only when asked for.
    pub(crate) folded: bool,
}

/// How wide a chart is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Width {
    /// As wide as the page.
    Whole,
    /// About half of it.
    Half,
    /// About a third of it.
    Third,
}

impl Width {
    /// Its style's name.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Half => "half",
            Self::Third => "third",
        }
    }
}

#[derive(Debug)]
pub(crate) struct Chart {
    /// What it shows.
    pub(crate) title: String,
    /// How to read it, and what was done to the numbers; may be empty.
    pub(crate) about: String,
    /// How wide it is.
    pub(crate) width: Width,
    /// Its height, in CSS pixels.
    pub(crate) height: u32,
    /// What is drawn.
    pub(crate) figure: Figure,
    /// The same as a table, for files without charts.
    pub(crate) table: Option<Table>,
}

//! What a document consists of, whatever file it becomes.
//!
//! Data in: text as it is, not yet escaped, and figures. Data out: plain data that each writer walks. It must not know any
//! file format.

use super::Paragraph;
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
    /// Whether its texts are Markdown already.
    pub(crate) is_markdown: bool,
}

impl Document {
    pub(crate) fn titled(title: String) -> Self {
        Self {
            title,
            ..Self::default()
        }
    }

    /// Adds a section, unless there is nothing in it.
    pub(crate) fn add(&mut self, title: &str, blocks: impl IntoIterator<Item = Block>) {
        let blocks: Vec<Block> = blocks.into_iter().collect();
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
    /// A conclusion, and what shows it.
    Conclusion(Paragraph),
    /// A command, to be copied: on a terminal in lines that a shell joins, broken between words only.
    Command(String),
    /// A line, and below it what belongs to it.
    Nested(Vec<String>),
    /// On a terminal: a line that stands out, whatever its length.
    Headline(String),
    /// On a terminal: names and values, as many side by side as fit.
    Grid(String, Vec<[String; 2]>),
    /// On a terminal: an empty line.
    Gap,
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
    /// The same, without a label.
    Failure,
    /// How a run or a sweep ended, where not as it should.
    Failed,
    Interrupted,
    Unfinished,
}

impl Notice {
    /// Its label, which is its style's name as well.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Failure => "",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
            Self::Unfinished => "unfinished",
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

impl Card {
    pub(crate) fn new(label: &str, value: String, notes: impl IntoIterator<Item = String>) -> Self {
        Self {
            label: label.to_owned(),
            value,
            notes: notes.into_iter().collect(),
        }
    }
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
    /// Columns further to the right that do.
    pub(crate) words_further: Vec<usize>,
    /// Cells.
    pub(crate) rows: Vec<Vec<String>>,
    /// Whether it is long and shown only when asked for.
    pub(crate) folded: bool,
    /// What a terminal does with it.
    pub(crate) terminal: Layout,
}

/// How a table is made to fit a terminal, and how it looks there.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    /// Columns that are left out where it is too wide, the least needed first.
    pub(crate) spare: Vec<usize>,
    /// Words are cut to so many letters: at most these, and where it is too wide as few as those.
    pub(crate) cut: Option<(usize, usize)>,
    /// The last column has words and takes what is left of the width, if that is so much.
    pub(crate) rest: Option<usize>,
    /// Columns that stay together, by the names of their groups: what does not fit goes into further tables.
    pub(crate) groups: Vec<&'static str>,
    /// Rows in place of the others where those are too wide.
    pub(crate) narrow: Vec<Vec<String>>,
    /// Whether it is told as a sentence: each row's name and value.
    pub(crate) sentence: bool,
    /// Which rows stand out.
    pub(crate) bold: Bold,
    /// How loud each row is, where any is.
    pub(crate) marks: Vec<Option<Notice>>,
}

/// Rows that stand out.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bold {
    #[default]
    None,
    Head,
    All,
}

impl Table {
    /// A table with these columns, the first of which hold words.
    pub(crate) fn new(
        words: usize,
        head: impl IntoIterator<Item = impl Into<String>>,
        rows: impl IntoIterator<Item = Vec<String>>,
    ) -> Self {
        Self {
            head: head.into_iter().map(Into::into).collect(),
            words,
            rows: rows.into_iter().collect(),
            ..Self::default()
        }
    }

    /// Whether a column holds words.
    pub(crate) fn has_words(&self, column: usize) -> bool {
        column < self.words || self.words_further.contains(&column)
    }

    /// The same with a caption.
    pub(crate) fn captioned(mut self, caption: impl Into<String>) -> Self {
        self.caption = caption.into();
        self
    }

    /// The same, folded where it has more rows than that.
    pub(crate) fn folded_above(mut self, rows: usize) -> Self {
        self.folded = self.rows.len() > rows;
        self
    }

    /// The same with what a terminal does with it.
    pub(crate) fn on_terminal(mut self, set: impl FnOnce(&mut Layout)) -> Self {
        set(&mut self.terminal);
        self
    }
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

impl Chart {
    /// A chart as wide as the page.
    pub(crate) fn whole(title: &str, about: impl Into<String>, height: u32, figure: Figure) -> Self {
        Self {
            title: title.to_owned(),
            about: about.into(),
            width: Width::Whole,
            height,
            figure,
            table: None,
        }
    }
}

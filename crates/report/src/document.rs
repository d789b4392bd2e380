//! Whole reports: what was run on what, the numbers, the warnings, the charts, as one document for people or as a table for
//! programs.
//!
//! Duty: say what a report consists of and in which order. Data in: all that is known of a run ([`RunReport`]) or of a sweep
//! ([`SweepReport`]). Data out: documents for the writers of [`Format`]s and for terminals, which are told the same in fewer
//! words (the functions that are called `told`). It must not judge, nor know where anything is stored.

pub(crate) mod command;
pub(crate) mod compare;
pub(crate) mod content;
pub(crate) mod explained;
pub(crate) mod fleet;
mod heat;
pub(crate) mod identified;
mod measured;
mod origin;
pub(crate) mod plan;
pub(crate) mod published;
pub(crate) mod repeats;
pub(crate) mod run;
pub(crate) mod sweep;
pub(crate) mod window;

pub use heat::{HeatSource, LatencyHeat};
pub use window::{SpikeWindow, WINDOWS_MAX};

use crate::reproduction::Chapter;
use crate::{csv, html, markdown};
use fathom_analysis::explain::Explanation;
use fathom_analysis::outline::Outline;
use fathom_analysis::sweep::findings::Conclusions;
use fathom_core::run::{HistogramRow, Run, SeriesRow};
use fathom_core::sweep::{SweepPlan, SweepResults};
use std::path::Path;

/// What kind of file a report is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// One page with charts that needs nothing else, not even a network.
    Html,
    /// Tables and text, as GitHub shows them.
    Markdown,
    /// One table: a row a second and direction of a run, a row a point of a sweep.
    Csv,
}

impl Format {
    /// The format that a file's name asks for by its ending; `None` where it asks for none of them.
    pub fn of(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?.to_ascii_lowercase();
        match ending.as_str() {
            "html" | "htm" => Some(Self::Html),
            "md" | "markdown" => Some(Self::Markdown),
            "csv" => Some(Self::Csv),
            _ => None,
        }
    }
}

/// Items by what they have in common, in the order of their first ones.
fn grouped<T, K: PartialEq>(items: impl IntoIterator<Item = T>, key: impl Fn(&T) -> K) -> Vec<(K, Vec<T>)> {
    let mut groups: Vec<(K, Vec<T>)> = Vec::new();
    for item in items {
        let key = key(&item);
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, group)) => group.push(item),
            None => groups.push((key, vec![item])),
        }
    }
    groups
}

/// Who reads a document: the same is said in fewer words on a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reader {
    Page,
    Terminal,
}

/// All that a report of a run is made from.
#[derive(Debug, Clone, Copy)]
pub struct RunReport<'a> {
    /// Its document.
    pub run: &'a Run,
    /// Its seconds.
    pub series: &'a [SeriesRow],
    pub histograms: &'a [HistogramRow],
    /// Its I/Os by time and latency, where its record has them; without it, what the series tells is drawn.
    pub heat: Option<&'a LatencyHeat>,
    /// What was found about it, where that was asked for and there is a record of it.
    pub explanation: Option<&'a Explanation>,
    /// Where there is none: what its own figures tell.
    pub outline: Option<&'a Outline>,
    /// The I/Os around its worst spikes: those of [`SpikeWindow::worst`], filled.
    pub windows: &'a [SpikeWindow],
    /// What was published of the same experiment, with what came out here.
    pub published: Option<&'a Chapter>,
}

impl RunReport<'_> {
    /// The report as the text of a file.
    pub fn render(&self, format: Format) -> String {
        match format {
            Format::Html => html::render(&run::document(self)),
            Format::Markdown => markdown::render(&run::document(self)),
            Format::Csv => csv::series(self.run, self.series),
        }
    }
}

/// A conclusion about a sweep, ready to be read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Paragraph {
    /// What it is about, in a few words.
    pub title: String,
    /// What was concluded.
    pub text: String,
    /// What shows it, an entry each.
    pub evidence: Vec<String>,
}

impl Paragraph {
    pub(crate) fn new(title: &str, text: String, evidence: impl IntoIterator<Item = String>) -> Self {
        Self {
            title: title.to_owned(),
            text,
            evidence: evidence.into_iter().collect(),
        }
    }
}

/// All that a report of a sweep is made from.
#[derive(Debug, Clone, Copy)]
pub struct SweepReport<'a> {
    /// What was to be measured.
    pub plan: &'a SweepPlan,
    /// What came out.
    pub results: &'a SweepResults,
    /// What follows from it.
    pub conclusions: &'a Conclusions,
    /// What limited it, by the figures of its points.
    pub outline: Option<&'a Outline>,
    /// What was published of the same experiment, with what came out here.
    pub published: Option<&'a Chapter>,
}

impl SweepReport<'_> {
    /// The report as the text of a file.
    pub fn render(&self, format: Format) -> String {
        match format {
            Format::Html => html::render(&sweep::document(self)),
            Format::Markdown => markdown::render(&sweep::document(self)),
            Format::Csv => csv::points(self.results),
        }
    }
}

#[cfg(test)]
mod tests;

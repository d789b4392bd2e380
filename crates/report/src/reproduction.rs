//! Published experiments against the disk model: as text, Markdown and JSON.
//!
//! Data in: [`Chapter`]s. Data out: strings. It must not know how the modelled values were made.

pub mod json;

use crate::document::published;
use crate::{Style, markdown, terminal};
use fathom_analysis::figures::{Judged, Verdict};
use serde::Serialize;

/// Experiments on a terminal.
pub fn text(chapters: &[Chapter], style: Style) -> String {
    terminal::render(&published::told(chapters), style)
}

/// Experiments as a document in Markdown.
pub fn markdown(chapters: &[Chapter]) -> String {
    markdown::render(&published::page(chapters))
}

/// One experiment.
#[derive(Debug, Clone)]
pub struct Chapter {
    /// Its short name.
    pub name: String,
    /// In a few words.
    pub title: String,
    /// Post, author, date.
    pub source: String,
    /// What to know before reading the figures.
    pub notes: Vec<String>,
    /// Its runs, in their order.
    pub runs: Vec<Run>,
    /// Its figures, in their order.
    pub figures: Vec<Judged>,
    /// Constants that were fitted, and to what.
    pub fitted: Vec<(String, String)>,
    /// What was published and is not modelled, and why.
    pub not_modelled: Vec<(String, String)>,
    /// I/Os simulated.
    pub ios: u64,
    /// Virtual time simulated.
    pub virtual_ns: u64,
}

#[derive(Debug, Clone)]
pub struct Run {
    /// As figures call it.
    pub name: String,
    /// In words.
    pub about: String,
}

/// How many figures are how near.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Near {
    pub figures: usize,
    #[serde(rename = "within_2_percent")]
    pub within_2: usize,
    #[serde(rename = "within_5_percent")]
    pub within_5: usize,
    #[serde(rename = "within_10_percent")]
    pub within_10: usize,
}

/// What came out in all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Of all figures.
    pub all: Near,
    /// Of those that nothing was fitted to: these test the model, the others the fit.
    pub predicted: Near,
    /// Missed for a known reason.
    pub known_misses: usize,
    /// Beyond their bounds otherwise, or said to be missed and not.
    pub wrong: usize,
}

impl Near {
    fn add(&mut self, judged: &Judged) {
        self.figures += 1;
        self.within_2 += usize::from(judged.within(2.0));
        self.within_5 += usize::from(judged.within(5.0));
        self.within_10 += usize::from(judged.within(10.0));
    }

    fn sentence(self) -> String {
        format!(
            "{} within 2 %, {} within 5 %, {} within 10 %",
            self.within_2, self.within_5, self.within_10
        )
    }
}

impl Tally {
    /// Of these figures.
    pub fn of<'a>(figures: impl IntoIterator<Item = &'a Judged>) -> Self {
        let mut tally = Self::default();
        for judged in figures {
            tally.all.add(judged);
            if !judged.figure.fitted {
                tally.predicted.add(judged);
            }
            match judged.verdict() {
                Verdict::Met => {}
                Verdict::KnownMiss => tally.known_misses += 1,
                Verdict::Missed | Verdict::NotMissed => tally.wrong += 1,
            }
        }
        tally
    }

    /// In words.
    pub fn sentence(self) -> String {
        let wrong = match self.wrong {
            0 => String::new(),
            wrong => format!(", {wrong} not as they should be"),
        };
        let misses = match self.known_misses {
            0 => String::from("no known miss"),
            1 => String::from("1 known miss"),
            misses => format!("{misses} known misses"),
        };
        format!(
            "{} figures: {}; of the {} that nothing was fitted to, {}; {misses}{wrong}",
            self.all.figures,
            self.all.sentence(),
            self.predicted.figures,
            self.predicted.sentence()
        )
    }
}

/// A number with about four digits that count; whole from 1000 on.
pub(crate) fn number(value: f64) -> String {
    let decimals = match value.abs() {
        size if size >= 1000.0 => 0,
        size if size >= 100.0 => 1,
        size if size >= 10.0 => 2,
        _ => 3,
    };
    let text = format!("{value:.decimals$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// How far off, with its sign.
pub(crate) fn deviation(judged: &Judged) -> String {
    if judged.deviation_percent == 0.0 {
        return String::from("0 %");
    }
    format!("{:+.1} %", judged.deviation_percent)
}

/// Hours, minutes, seconds of virtual time.
pub(crate) fn span(ns: u64) -> String {
    let seconds = ns / 1_000_000_000;
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

#[cfg(test)]
mod tests;

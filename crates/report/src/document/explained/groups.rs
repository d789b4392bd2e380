//! Sections of which the same is to be said, as one.
//!
//! Data in: what limits each section. Data out: groups with what to say of each, numbers that differ as ranges. It must not
//! judge.

use super::super::grouped;
use super::percent;
use super::ranges::{merged, shape};
use crate::words::{from_to, joined, plural, when};
use fathom_analysis::explain::answer::{Candidate, LimitKind, SectionLimit, Unit, in_words};
use fathom_core::units::{Bytes, Nanos, bandwidth, count, three_digits};

/// Candidates that are named.
const CANDIDATES_MAX: usize = 4;
/// Of so many sections each name is told; of more, where each row of them begins and ends.
const NAMES_MAX: usize = 3;

/// Sections with the same limit for the same reasons, and with the same remedy.
#[derive(Debug)]
pub(crate) struct Group<'a> {
    /// The place of each among all sections, and what was found of it.
    members: Vec<(usize, &'a SectionLimit)>,
}

/// What must be the same.
#[derive(Debug, PartialEq)]
struct Key<'a> {
    limit: LimitKind,
    change: &'a str,
    because: Vec<String>,
    candidates: Vec<&'a str>,
    misleading: Vec<String>,
    missing: &'a [String],
}

fn key(limit: &SectionLimit) -> Key<'_> {
    let shapes = |texts: &[String]| texts.iter().map(|text| shape(text)).collect();
    let mut candidates: Vec<&str> = limit.candidates.iter().map(|known| known.name.as_str()).collect();
    candidates.sort_unstable();
    Key {
        limit: limit.limit,
        change: &limit.change,
        because: shapes(&limit.because),
        candidates,
        misleading: shapes(&limit.misleading),
        missing: &limit.missing,
    }
}

/// The groups, in the order of their first sections.
pub(crate) fn groups(all: &[SectionLimit]) -> Vec<Group<'_>> {
    let groups = grouped(all.iter().enumerate(), |&(_, limit)| key(limit));
    groups.into_iter().map(|(_, members)| Group { members }).collect()
}

impl Group<'_> {
    /// Who, and what limits them: `24 sections (h00 … h23): CPU (likely, 80 to 85 %)`.
    pub(crate) fn title(&self) -> String {
        let limit = self.members[0].1.limit.name();
        let sure = |limit: &&SectionLimit| limit.confidence > 0.0;
        let mut confidences: Vec<f64> = self.each().filter(sure).map(|limit| limit.confidence).collect();
        confidences.sort_unstable_by(f64::total_cmp);
        let (Some(&low), Some(&high)) = (confidences.first(), confidences.last()) else {
            return format!("{}: {limit}", self.name());
        };
        let words = from_to(in_words(low), in_words(high));
        let share = merged(&[percent(low), percent(high)]);
        format!("{}: {limit} ({words}, {share})", self.name())
    }

    fn name(&self) -> String {
        let names: Vec<&str> = self.each().map(|limit| limit.name.as_str()).collect();
        let n = names.len();
        match n {
            1 => String::from(names[0]),
            _ if n <= NAMES_MAX => format!("{n} sections ({})", names.join(", ")),
            _ => format!("{} ({})", plural(n, "section"), self.rows().join(", ")),
        }
    }

    /// Names of sections that follow one another, as their first and their last.
    fn rows(&self) -> Vec<String> {
        let rows = self.members.chunk_by(|a, b| a.0 + 1 == b.0);
        let names = rows.flat_map(|row| {
            let name = |index: usize| row[index].1.name.clone();
            match row.len() {
                1 => vec![name(0)],
                2 => vec![name(0), name(1)],
                n => vec![format!("{} … {}", name(0), name(n - 1))],
            }
        });
        names.collect()
    }

    fn each(&self) -> impl Iterator<Item = &SectionLimit> {
        self.members.iter().map(|(_, limit)| *limit)
    }

    /// Figures and their values.
    pub(crate) fn figures(&self) -> Vec<Vec<String>> {
        let figures = self.each().flat_map(|limit| &limit.figures);
        let named = grouped(figures, |figure| figure.what.as_str());
        let ranges = named.into_iter().map(|(what, figures)| {
            let values = figures.iter().map(|figure| stated(figure.value, figure.unit));
            vec![String::from(what), merged(&values.collect::<Vec<_>>())]
        });
        ranges.collect()
    }

    /// Why, with so many reasons at most, whose limit it is, what would change it, what points the wrong way, what is missing: an
    /// entry each.
    pub(crate) fn entries(&self, reasons: usize) -> Vec<String> {
        let first = self.members[0].1;
        let of_all = |texts: fn(&SectionLimit) -> &[String], label: &str, most: usize| -> Vec<String> {
            let said = (0..texts(first).len().min(most)).map(|index| {
                let each: Vec<&String> = self.each().filter_map(|limit| texts(limit).get(index)).collect();
                format!("{label} {}", merged(&each))
            });
            said.collect()
        };
        let mut entries = of_all(|limit| &limit.because, "because", reasons);
        entries.extend(self.candidates());
        if !first.change.is_empty() {
            entries.push(format!("to change it: {}", first.change));
        }
        entries.extend(of_all(|limit| &limit.misleading, "beware:", usize::MAX));
        entries.extend(of_all(|limit| &limit.missing, "missing:", usize::MAX));
        entries
    }

    fn candidates(&self) -> Option<String> {
        let named = &self.members[0].1.candidates;
        let shown = named.iter().take(CANDIDATES_MAX).map(|known| {
            let same = self
                .each()
                .flat_map(|limit| &limit.candidates)
                .filter(|candidate| candidate.name == known.name);
            merged(&same.map(candidate).collect::<Vec<_>>())
        });
        let shown = joined(shown, "; ");
        let more = named.len().saturating_sub(CANDIDATES_MAX);
        let more = when(more > 0, || format!("; and {more} more"));
        let whose = if named.first().is_some_and(|known| known.own) {
            "the limit of"
        } else {
            "equal to the limit of"
        };
        (!named.is_empty()).then(|| format!("{whose}: {shown}{more}"))
    }
}

fn candidate(candidate: &Candidate) -> String {
    format!(
        "{} ({}, measured {} of it)",
        candidate.name,
        stated(candidate.limit, candidate.unit),
        percent(candidate.ratio)
    )
}

fn stated(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Iops => format!("{} IOPS", count(value)),
        Unit::BytesPerSecond => bandwidth(value),
        Unit::Bytes => Bytes(value.max(0.0) as u64).to_string(),
        Unit::Nanoseconds => Nanos(value.max(0.0).round() as u64).to_string(),
        Unit::Percent => format!("{} %", three_digits(value)),
        Unit::Number => three_digits(value),
    }
}

#[cfg(test)]
mod tests;

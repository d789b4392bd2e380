//! What limits each section.

use super::percent;
use crate::style::Look;
use crate::text::Page;
use fathom_analysis::explain::answer::{Candidate, Figure, SectionLimit, Unit, in_words};
use fathom_core::units::{Bytes, Nanos, bandwidth, count, three_digits};

/// Candidates that are named.
const CANDIDATES_MAX: usize = 4;

pub(super) fn render(page: &mut Page, limits: &[SectionLimit]) {
    if limits.is_empty() {
        return;
    }
    page.gap();
    page.painted(Look::Bold, "What limits it", 2);
    for (index, limit) in limits.iter().enumerate() {
        if index > 0 {
            page.gap();
        }
        section(page, limit);
    }
}

fn section(page: &mut Page, limit: &SectionLimit) {
    let sure = if limit.confidence > 0.0 {
        format!(" ({}, {})", in_words(limit.confidence), percent(limit.confidence))
    } else {
        String::new()
    };
    page.painted(
        Look::Bold,
        &format!("  {}: {}{sure}", limit.name, limit.limit.name()),
        4,
    );
    let figures: Vec<String> = limit.figures.iter().map(figure).collect();
    if !figures.is_empty() {
        page.paragraph(&format!("    {}", figures.join(", ")), 4);
    }
    for because in &limit.because {
        page.paragraph(&format!("    because {because}"), 6);
    }
    if !limit.candidates.is_empty() {
        let shown = limit.candidates.iter().take(CANDIDATES_MAX).map(candidate);
        let more = limit.candidates.len().saturating_sub(CANDIDATES_MAX);
        let mut text = shown.collect::<Vec<_>>().join("; ");
        if more > 0 {
            text = format!("{text}; and {more} more");
        }
        page.paragraph(&format!("    the limit of: {text}"), 6);
    }
    if !limit.change.is_empty() {
        page.paragraph(&format!("    to change it: {}", limit.change), 6);
    }
    for misleading in &limit.misleading {
        page.paragraph(&format!("    beware: {misleading}"), 6);
    }
    for missing in &limit.missing {
        page.paragraph(&format!("    missing: {missing}"), 6);
    }
}

pub(crate) fn candidate(candidate: &Candidate) -> String {
    format!(
        "{} ({}, measured {} of it)",
        candidate.name,
        stated(candidate.limit, candidate.unit),
        percent(candidate.ratio)
    )
}

pub(crate) fn stated(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Iops => format!("{} IOPS", count(value)),
        Unit::BytesPerSecond => bandwidth(value),
        Unit::Bytes => Bytes(value.max(0.0) as u64).to_string(),
        Unit::Nanoseconds => Nanos(value.max(0.0).round() as u64).to_string(),
        Unit::Percent => format!("{} %", three_digits(value)),
        Unit::Number => three_digits(value),
    }
}

pub(crate) fn figure(figure: &Figure) -> String {
    format!("{} {}", figure.what, stated(figure.value, figure.unit))
}

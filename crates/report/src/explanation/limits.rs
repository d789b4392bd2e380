//! What limits each section: those of which the same is to be said, once.

use super::groups::{Group, groups};
use super::percent;
use crate::style::Look;
use crate::text::Page;
use fathom_analysis::explain::answer::{Candidate, SectionLimit, Unit};
use fathom_core::units::{Bytes, Nanos, bandwidth, count, three_digits};

pub(super) fn render(page: &mut Page, limits: &[SectionLimit]) {
    if limits.is_empty() {
        return;
    }
    page.gap();
    page.painted(Look::Bold, "What limits it", 2);
    for (index, group) in groups(limits).iter().enumerate() {
        if index > 0 {
            page.gap();
        }
        section(page, group);
    }
}

fn section(page: &mut Page, group: &Group<'_>) {
    page.painted(Look::Bold, &format!("  {}", group.title()), 4);
    let figures = group.figures().into_iter();
    let figures: Vec<String> = figures.map(|(what, value)| format!("{what} {value}")).collect();
    if !figures.is_empty() {
        page.paragraph(&format!("    {}", figures.join(", ")), 4);
    }
    for entry in group.entries() {
        page.paragraph(&format!("    {entry}"), 6);
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

//! All sections at once: cards and a table for a page, a table for a terminal.

use super::super::content::{Bold, Card, Table};
use super::latency::COLUMNS;
use super::section::{self, Direction, Section};
use crate::reproduction::span;
use crate::words::{block_sizes, or, pattern, when};
use fathom_core::run::Run;
use fathom_core::units::{Bytes, Nanos, binary_rate, count, decimal_rate, three_digits};

/// Letters of names and patterns: at most, and where the width allows no more.
const NAME_LETTERS: (usize, usize) = (24, 6);

/// What to see of a direction first.
pub(super) fn cards(section: &Section<'_>, direction: &Direction<'_>, several: bool) -> [Card; 3] {
    let (op, summary) = (direction.op.name(), direction.summary);
    let label = if several {
        format!("{}, {op}", section.summary.name)
    } else {
        op.to_owned()
    };
    let p99 = direction.percentile(99.0).map(|p99| format!("p99 {p99}"));
    let slowest = direction.slowest().map(|slowest| format!("slowest {slowest}"));
    let ios = format!("{} I/Os", count(summary.ios as f64));
    let took = format!("in {}", took(summary.runtime_ns));
    let in_all = format!("{} in all", Bytes(summary.bytes));
    let (rate, mean) = (summary.bytes_per_second, or(direction.mean(), "not measured"));
    [
        Card::new(&label, format!("{} IOPS", count(summary.iops)), [ios, took]),
        Card::new(&label, decimal_rate(rate), [binary_rate(rate), in_all]),
        Card::new(
            &format!("{label}, mean latency"),
            mean,
            p99.into_iter().chain(slowest),
        ),
    ]
}

/// A length of time: in hours and minutes where it is long.
fn took(ns: u64) -> String {
    if ns < 600_000_000_000 {
        Nanos(ns).to_string()
    } else {
        span(ns)
    }
}

/// A row a direction, then the totals.
pub(super) fn in_full(run: &Run, sections: &[Section<'_>]) -> Table {
    let mut head = ["job", "direction", "IOPS", "MiB/s", "MB/s", "mean"]
        .map(str::to_owned)
        .to_vec();
    head.extend(COLUMNS.map(|percentile| format!("p{percentile}")));
    head.extend(["slowest", "I/Os", "errors"].map(str::to_owned));
    let rows = |name: &str, section: &Section<'_>| -> Vec<Vec<String>> {
        section
            .directions()
            .map(|direction| row(name, &direction))
            .collect()
    };
    let each = sections
        .iter()
        .flat_map(|section| rows(&section.summary.name, section));
    let totals = section::totals(run);
    let totals = totals
        .iter()
        .flat_map(|(name, section)| rows(&format!("total of {name}"), section));
    Table::new(2, head, each.chain(totals))
}

/// One direction of a section, or of several together.
fn row(name: &str, direction: &Direction<'_>) -> Vec<String> {
    let summary = direction.summary;
    let mut row = vec![
        name.to_owned(),
        direction.op.name().to_owned(),
        count(summary.iops),
        three_digits(summary.bytes_per_second / f64::from(1 << 20)),
        three_digits(summary.bytes_per_second / 1e6),
        or(direction.mean(), "–"),
    ];
    row.extend(COLUMNS.map(|percentile| or(direction.percentile(percentile), "–")));
    row.push(or(direction.slowest(), "–"));
    row.push(count(summary.ios as f64));
    row.push(summary.errors.to_string());
    row
}

/// For a terminal.
pub(super) fn in_short(sections: &[Section<'_>]) -> Table {
    let head = ["job", "what", "IOPS", "MiB/s", "mean", "p99"];
    Table::new(2, head, sections.iter().flat_map(lines_of)).on_terminal(|layout| {
        layout.cut = Some(NAME_LETTERS);
        layout.bold = Bold::Head;
    })
}

/// One line a direction: the percentiles of two directions cannot be made one.
fn lines_of(section: &Section<'_>) -> Vec<Vec<String>> {
    let directions: Vec<Direction<'_>> = section.directions().collect();
    let name = |index| when(index == 0, || section.summary.name.clone());
    if directions.is_empty() {
        let mut line = vec![name(0), String::from("no I/O")];
        line.resize(6, String::from("-"));
        return vec![line];
    }
    let line = |(index, direction): (usize, &Direction<'_>)| {
        let op = direction.op.name();
        let what = match section.jobs.as_slice() {
            [job] if directions.len() == 1 => format!("{} {}", pattern(job), block_sizes(job)),
            [job] => format!("{op} {}", block_sizes(job)),
            _ => op.to_owned(),
        };
        let (summary, latency) = (direction.summary, direction.latency);
        let p99 = latency.percentile(99.0).filter(|_| latency.n > 0);
        vec![
            name(index),
            what,
            count(summary.iops),
            three_digits(summary.bytes_per_second / f64::from(1 << 20)),
            or(direction.mean(), "-"),
            or(p99.map(Nanos), "-"),
        ]
    };
    directions.iter().enumerate().map(line).collect()
}

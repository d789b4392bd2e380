//! All sections in one table: a line for each and direction.

use super::super::content::{Bold, Layout, Table};
use super::latency::main_latency;
use super::section::Section;
use crate::words::{block_sizes, pattern};
use fathom_core::units::{Nanos, count, three_digits};

/// Letters of names and patterns: at most, and where the width allows no more.
const NAME_LETTERS: (usize, usize) = (24, 6);

pub(super) fn table(sections: &[Section<'_>]) -> Table {
    let head = ["job", "what", "IOPS", "MiB/s", "mean", "p99"];
    let layout = Layout {
        cut: Some(NAME_LETTERS),
        bold: Bold::Head,
        ..Layout::default()
    };
    Table::new(2, head, sections.iter().flat_map(lines_of).collect()).laid_out(layout)
}

/// One line a direction: the percentiles of two directions cannot be made one.
fn lines_of(section: &Section<'_>) -> Vec<Vec<String>> {
    let sizes = section
        .jobs
        .first()
        .map_or_else(String::new, |job| block_sizes(job));
    let mut lines = Vec::new();
    let directions: Vec<_> = section.directions().collect();
    for (op, summary) in &directions {
        let what = match section.jobs.as_slice() {
            [job] if directions.len() == 1 => pattern(job),
            _ => op.name().to_owned(),
        };
        let what = match section.jobs.as_slice() {
            [_] => format!("{what} {sizes}"),
            _ => what,
        };
        let (latency, _) = main_latency(section, summary);
        let time = |ns: Option<u64>| ns.map_or_else(|| String::from("-"), |ns| Nanos(ns).to_string());
        let name = if lines.is_empty() {
            section.summary.name.as_str()
        } else {
            ""
        };
        lines.push(vec![
            name.to_owned(),
            what,
            count(summary.iops),
            three_digits(summary.bytes_per_second / f64::from(1 << 20)),
            time((latency.n > 0).then_some(latency.mean.round() as u64)),
            time(latency.percentile(99.0).filter(|_| latency.n > 0)),
        ]);
    }
    if lines.is_empty() {
        let mut line = vec![section.summary.name.clone(), String::from("no I/O")];
        line.resize(6, String::from("-"));
        lines.push(line);
    }
    lines
}

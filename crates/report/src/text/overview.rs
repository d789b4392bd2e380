//! All sections in one table: a line for each and direction.

use super::Page;
use super::latency::main_latency;
use super::section::Section;
use crate::layout::{fit, table, table_width};
use crate::style::Look;
use crate::words::{block_sizes, pattern};
use fathom_core::units::{Nanos, count, three_digits};

/// Columns for names and patterns at most, as far as the width allows.
const NAME_COLUMNS: usize = 24;

pub(super) fn render(page: &mut Page, sections: &[Section<'_>]) {
    let head = ["job", "what", "IOPS", "MiB/s", "mean", "p99"].map(String::from);
    let mut rows = vec![head.to_vec()];
    for section in sections {
        rows.extend(lines_of(section));
    }
    shrink(&mut rows, page.columns());
    for (index, line) in table(&rows, 2, 0).iter().enumerate() {
        if index == 0 {
            page.painted_line(Look::Bold, line);
        } else {
            page.line(line);
        }
    }
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

/// Cuts names and patterns until the table fits.
fn shrink(rows: &mut [Vec<String>], columns: usize) {
    for limit in (6..=NAME_COLUMNS).rev() {
        for row in rows.iter_mut() {
            for cell in &mut row[..2] {
                *cell = fit(cell, limit);
            }
        }
        if table_width(rows, 0) <= columns {
            return;
        }
    }
}

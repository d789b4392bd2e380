//! Averages against I/Os: of one section in sentences, of several in tables.

use super::percent;
use crate::layout::{fit, table, table_width};
use crate::style::Look;
use crate::text::Page;
use crate::words::plural;
use fathom_analysis::explain::answer::{AVERAGE_ABOVE_MS, Distribution, SectionTruth};
use fathom_core::units::{Nanos, count};

/// The letters of a section's name that a table of a terminal shows.
const NAME_MAX: usize = 20;

pub(super) fn render(page: &mut Page, truths: &[SectionTruth]) {
    let truths = told(truths);
    if truths.is_empty() {
        return;
    }
    page.gap();
    page.painted(Look::Bold, "Averages against truth", 2);
    if let [truth] = truths.as_slice() {
        section(page, truth);
        return;
    }
    for (index, several) in tables(&truths).into_iter().enumerate() {
        if index > 0 {
            page.gap();
        }
        page.paragraph(&format!("  {}", several.about), 4);
        fitted(page, several);
    }
}

/// Those that have I/Os.
pub(crate) fn told(truths: &[SectionTruth]) -> Vec<&SectionTruth> {
    truths.iter().filter(|truth| truth.whole.n > 0).collect()
}

/// A table of several sections.
pub(crate) struct Several {
    /// What it shows.
    pub(crate) about: &'static str,
    /// The head, then the sections.
    pub(crate) rows: Vec<Vec<String>>,
    /// Columns that can be done without, the least needed first.
    spare: &'static [usize],
}

/// What averages said and what I/Os say, shares of I/Os, seconds whose averages hid I/Os.
pub(crate) fn tables(truths: &[&SectionTruth]) -> [Several; 3] {
    [
        Several {
            about: "Latency: of averages over a second (avg), and of the I/Os",
            rows: latency_rows(truths),
            spare: &[5, 2, 8],
        },
        Several {
            about: "The share of I/Os above so many milliseconds",
            rows: several_share_rows(truths),
            spare: &[3, 5],
        },
        Several {
            about: "Seconds with an average of at most so many milliseconds, of those with an I/O above",
            rows: hidden_rows(truths),
            spare: &[3, 5, 2],
        },
    ]
}

/// A table in the width that there is: columns that can be done without are left out where it is too narrow.
fn fitted(page: &mut Page, several: Several) {
    let Several { mut rows, spare, .. } = several;
    for row in &mut rows {
        row[0] = fit(&row[0], NAME_MAX);
    }
    let mut left_out: Vec<usize> = Vec::new();
    for &column in spare {
        if table_width(&rows, 2) <= page.columns() {
            break;
        }
        let before = left_out.iter().filter(|&&out| out < column).count();
        for row in &mut rows {
            row.remove(column - before);
        }
        left_out.push(column);
    }
    for line in table(&rows, 1, 2) {
        page.line(&fit(&line, page.columns()));
    }
}

fn head(columns: &[&str]) -> Vec<String> {
    columns.iter().map(|&column| String::from(column)).collect()
}

fn latency_rows(truths: &[&SectionTruth]) -> Vec<Vec<String>> {
    let mut rows = vec![head(&[
        "section", "I/Os", "avg p5", "avg p95", "avg max", "mean", "p50", "p99", "p99.9", "max",
    ])];
    rows.extend(truths.iter().map(|truth| {
        let (whole, averages) = (&truth.whole, &truth.averages);
        // Too few I/Os do not decide a percentile.
        let at = |percentile: f64| {
            let known = whole
                .percentiles
                .iter()
                .find(|(p, _)| (p - percentile).abs() < 1e-9);
            known.map_or(String::from("-"), |(_, value)| Nanos(*value).to_string())
        };
        vec![
            truth.name.clone(),
            count(whole.n as f64),
            time(averages.p5_ns).to_string(),
            time(averages.p95_ns).to_string(),
            time(averages.max_ns).to_string(),
            time(whole.mean_ns).to_string(),
            at(50.0),
            at(99.0),
            at(99.9),
            Nanos(whole.max_ns).to_string(),
        ]
    }));
    rows
}

fn several_share_rows(truths: &[&SectionTruth]) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for truth in truths {
        let mut own = share_rows(truth);
        let head = own.remove(0);
        if rows.is_empty() {
            rows.push(head);
        }
        for (index, row) in own.iter_mut().enumerate() {
            row[0] = if index == 0 {
                truth.name.clone()
            } else {
                format!("{}, {}", truth.name, row[0])
            };
        }
        rows.extend(own);
    }
    rows
}

fn hidden_rows(truths: &[&SectionTruth]) -> Vec<Vec<String>> {
    let mut head = vec![String::from("> ms")];
    head.extend(AVERAGE_ABOVE_MS.map(|ms| ms.to_string()));
    let mut rows = vec![head];
    rows.extend(truths.iter().map(|truth| {
        let mut row = vec![truth.name.clone()];
        row.extend(AVERAGE_ABOVE_MS.map(|ms| {
            let hidden = truth.averages.hidden.iter().find(|hidden| hidden.above_ms == ms);
            hidden.map_or(String::from("-"), |hidden| {
                format!("{}/{}", hidden.hidden, hidden.with_slow_io)
            })
        }));
        row
    }));
    rows
}

fn time(ns: f64) -> Nanos {
    Nanos(ns.max(0.0).round() as u64)
}

fn section(page: &mut Page, truth: &SectionTruth) {
    page.painted(
        Look::Bold,
        &format!("  {}: {} I/Os", truth.name, count(truth.whole.n as f64)),
        4,
    );
    for text in texts(truth) {
        page.paragraph(&format!("    {text}"), 6);
    }
    shares(page, truth);
    page.gap();
}

/// What averages said of a section, what its I/Os say, and what the averages hid.
pub(crate) fn texts(truth: &SectionTruth) -> Vec<String> {
    let (whole, averages) = (&truth.whole, &truth.averages);
    let at = |percentile: f64| {
        let known = whole
            .percentiles
            .iter()
            .find(|(p, _)| (p - percentile).abs() < 1e-9);
        known.map_or(whole.max_ns, |(_, value)| *value)
    };
    let mut texts = vec![
        format!(
            "1-second averages: {} to {}, nine of ten between {} and {}",
            time(averages.min_ns),
            time(averages.max_ns),
            time(averages.p5_ns),
            time(averages.p95_ns)
        ),
        format!(
            "the I/Os: {} to {}, nine of ten between {} and {}, mean {}",
            Nanos(whole.min_ns),
            Nanos(whole.max_ns),
            Nanos(at(5.0)),
            Nanos(at(95.0)),
            time(whole.mean_ns)
        ),
    ];
    for hidden in averages.hidden.iter().filter(|hidden| hidden.hidden > 0) {
        texts.push(format!(
            "an I/O above {} ms is in {}; in {} of them the average is below that",
            hidden.above_ms,
            plural(hidden.with_slow_io, "second"),
            hidden.hidden
        ));
    }
    texts.push(percentiles(whole));
    texts
}

fn percentiles(whole: &Distribution) -> String {
    let each = whole
        .percentiles
        .iter()
        .map(|(percentile, value)| format!("p{percentile} {}", Nanos(*value)));
    each.collect::<Vec<_>>().join(", ")
}

/// The shares above each limit: of all, and of each hour.
fn shares(page: &mut Page, truth: &SectionTruth) {
    for line in table(&share_rows(truth), 1, 2) {
        page.line(&line);
    }
}

/// The same as cells, their names first.
pub(crate) fn share_rows(truth: &SectionTruth) -> Vec<Vec<String>> {
    let mut head = vec![String::from("> ms")];
    head.extend(AVERAGE_ABOVE_MS.map(|ms| ms.to_string()));
    head.push(String::from("max"));
    let mut rows = vec![head];
    let row = |name: String, ios: &Distribution| {
        let mut row = vec![name];
        let n = ios.n.max(1) as f64;
        row.extend(ios.above.iter().map(|&above| percent(above as f64 / n)));
        row.push(Nanos(ios.max_ns).to_string());
        row
    };
    rows.push(row(String::from("all"), &truth.whole));
    for hour in &truth.hours {
        rows.push(row(format!("hour {}", hour.hour + 1), &hour.ios));
    }
    rows
}

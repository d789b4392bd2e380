//! Averages against I/Os: of one section in sentences, of several in tables.

use super::super::Reader;
use super::super::content::{Block, Table};
use super::percent;
use crate::words::{joined, or, plural};
use fathom_analysis::explain::Explanation;
use fathom_analysis::explain::answer::{AVERAGE_ABOVE_MS, Distribution, SectionDistribution};
use fathom_core::units::{Nanos, count};

/// The letters of a section's name that a table of a terminal shows.
const NAME_MAX: usize = 20;
/// From so many rows on, a page's table is folded.
const FOLDED_ABOVE: usize = 25;

/// Of those that have I/Os.
pub(in crate::document) fn blocks(explanation: &Explanation, reader: Reader) -> Vec<Block> {
    let sections = explanation
        .distributions
        .iter()
        .filter(|section| section.whole.n > 0);
    let sections: Vec<&SectionDistribution> = sections.collect();
    match sections.as_slice() {
        [] => Vec::new(),
        [section] => alone(section, reader),
        several => tables(several, reader),
    }
}

fn alone(section: &SectionDistribution, reader: Reader) -> Vec<Block> {
    let (n, caption) = match reader {
        Reader::Terminal => (format!("{} I/Os", count(section.whole.n as f64)), ""),
        Reader::Page => (plural(section.whole.n, "I/O"), "Share of I/Os above a latency"),
    };
    let table = table(reader, caption, &share_head(), share_rows(section), &[]);
    vec![
        Block::Heading(format!("{}: {n}", section.name)),
        Block::List(texts(section)),
        table,
    ]
}

/// What averages said and what I/Os say, shares of I/Os, seconds whose averages hid I/Os.
fn tables(sections: &[&SectionDistribution], reader: Reader) -> Vec<Block> {
    let latencies = [
        "section", "I/Os", "avg p5", "avg p95", "avg max", "mean", "p50", "p99", "p99.9", "max",
    ];
    let shares = sections.iter().flat_map(|section| {
        let mut rows = share_rows(section);
        for (index, row) in rows.iter_mut().enumerate() {
            row[0] = match index {
                0 => section.name.clone(),
                _ => format!("{}, {}", section.name, row[0]),
            };
        }
        rows
    });
    vec![
        table(
            reader,
            "Latency: of averages over a second (avg), and of the I/Os",
            &latencies.map(String::from),
            sections.iter().map(|section| latency_row(section)).collect(),
            &[5, 2, 8],
        ),
        table(
            reader,
            "The share of I/Os above so many milliseconds",
            &share_head(),
            shares.collect(),
            &[3, 5],
        ),
        table(
            reader,
            "Seconds with an average of at most so many milliseconds, of those with an I/O above",
            &share_head()[..=AVERAGE_ABOVE_MS.len()],
            sections.iter().map(|section| hidden_row(section)).collect(),
            &[3, 5, 2],
        ),
    ]
}

/// On a page, heads that are latencies get their unit.
fn table(reader: Reader, caption: &str, head: &[String], rows: Vec<Vec<String>>, spare: &[usize]) -> Block {
    let name = |name: &String| match name.as_str() {
        "> ms" if reader == Reader::Page => String::from("I/Os of"),
        digits if reader == Reader::Page && digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            format!("above {digits} ms")
        }
        _ => name.clone(),
    };
    let table = Table::new(1, head.iter().map(name), rows).on_terminal(|layout| {
        layout.spare = spare.to_vec();
        layout.cut = Some((NAME_MAX, NAME_MAX));
    });
    Block::Table(table.captioned(caption).folded_above(FOLDED_ABOVE))
}

/// The value of a percentile; `None` where too few I/Os decide it.
fn at(whole: &Distribution, percentile: f64) -> Option<u64> {
    let known = whole.percentiles.iter();
    let mut known = known.filter(|(p, _)| (p - percentile).abs() < 1e-9);
    known.next().map(|(_, value)| *value)
}

fn latency_row(section: &SectionDistribution) -> Vec<String> {
    let (whole, averages) = (&section.whole, &section.averages);
    let mut row = vec![section.name.clone(), count(whole.n as f64)];
    let means = [averages.p5_ns, averages.p95_ns, averages.max_ns, whole.mean_ns];
    row.extend(means.map(|ns| time(ns).to_string()));
    row.extend([50.0, 99.0, 99.9].map(|percentile| or(at(whole, percentile).map(Nanos), "-")));
    row.push(Nanos(whole.max_ns).to_string());
    row
}

fn hidden_row(section: &SectionDistribution) -> Vec<String> {
    let mut row = vec![section.name.clone()];
    row.extend(AVERAGE_ABOVE_MS.map(|ms| {
        let hidden = section
            .averages
            .hidden
            .iter()
            .find(|hidden| hidden.above_ms == ms);
        hidden.map_or(String::from("-"), |hidden| {
            format!("{}/{}", hidden.hidden, hidden.with_slow_io)
        })
    }));
    row
}

fn time(ns: f64) -> Nanos {
    Nanos(ns.max(0.0).round() as u64)
}

/// What averages said of a section, what its I/Os say, and what the averages hid.
fn texts(section: &SectionDistribution) -> Vec<String> {
    let (whole, averages) = (&section.whole, &section.averages);
    let at = |percentile: f64| Nanos(at(whole, percentile).unwrap_or(whole.max_ns));
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
            at(5.0),
            at(95.0),
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
    let percentiles = whole.percentiles.iter();
    let percentiles = percentiles.map(|(percentile, value)| format!("p{percentile} {}", Nanos(*value)));
    texts.push(joined(percentiles, ", "));
    texts
}

fn share_head() -> Vec<String> {
    let mut head = vec![String::from("> ms")];
    head.extend(AVERAGE_ABOVE_MS.map(|ms| ms.to_string()));
    head.push(String::from("max"));
    head
}

/// The shares above each limit: of all, and of each hour.
fn share_rows(section: &SectionDistribution) -> Vec<Vec<String>> {
    let row = |name: String, ios: &Distribution| {
        let mut row = vec![name];
        let n = ios.n.max(1) as f64;
        row.extend(ios.above.iter().map(|&above| percent(above as f64 / n)));
        row.push(Nanos(ios.max_ns).to_string());
        row
    };
    let hours = section.hours.iter();
    let hours = hours.map(|hour| row(format!("hour {}", hour.hour + 1), &hour.ios));
    std::iter::once(row(String::from("all"), &section.whole))
        .chain(hours)
        .collect()
}

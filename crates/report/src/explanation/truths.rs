//! Averages against I/Os.

use super::percent;
use crate::layout::table;
use crate::style::Look;
use crate::text::Page;
use crate::words::plural;
use fathom_analysis::explain::answer::{AVERAGE_ABOVE_MS, Distribution, SectionTruth};
use fathom_core::units::{Nanos, count};

pub(super) fn render(page: &mut Page, truths: &[SectionTruth]) {
    if truths.is_empty() {
        return;
    }
    page.gap();
    page.painted(Look::Bold, "Averages against truth", 2);
    for truth in truths.iter().filter(|truth| truth.whole.n > 0) {
        section(page, truth);
    }
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

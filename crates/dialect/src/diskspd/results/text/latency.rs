//! The tables of percentiles.
//!
//! Data in: latencies. Data out: lines. A table a target where there are several, then one of all.

use crate::diskspd::results::input::SpanResult;
use crate::diskspd::results::latency::Latency;
use std::fmt::Write as _;

/// diskspd's percentiles and their names.
pub(in crate::diskspd) const PERCENTILES: [(f64, &str); 13] = [
    (25.0, "25th"),
    (50.0, "50th"),
    (75.0, "75th"),
    (90.0, "90th"),
    (95.0, "95th"),
    (99.0, "99th"),
    (99.9, "3-nines"),
    (99.99, "4-nines"),
    (99.999, "5-nines"),
    (99.9999, "6-nines"),
    (99.999_99, "7-nines"),
    (99.999_999, "8-nines"),
    (99.999_999_9, "9-nines"),
];

pub(super) fn write(text: &mut String, span: &SpanResult) {
    let mut paths: Vec<&str> = Vec::new();
    for row in &span.rows {
        if !paths.contains(&row.path.as_str()) {
            paths.push(&row.path);
        }
    }
    // A pool's files have no histograms.
    let known = span.rows.iter().all(|row| row.read.buckets.is_some());
    if paths.len() > 1 && known {
        for path in paths {
            let rows = || span.rows.iter().filter(|row| row.path == path);
            let read = rows().fold(Latency::default(), |all, row| all.and(&row.read.latency));
            let write = rows().fold(Latency::default(), |all, row| all.and(&row.write.latency));
            let _ = writeln!(text, "\nLatency distribution: {path}");
            chart(text, &read, &write);
        }
    }
    text.push_str("\nTotal latency distribution:\n");
    chart(text, &span.totals.read, &span.totals.write);
}

fn chart(text: &mut String, read: &Latency, write: &Latency) {
    let total = read.and(write);
    let _ = writeln!(
        text,
        "  %-ile |  Read (ms) | Write (ms) | Total (ms)\n{}",
        "-".repeat(46)
    );
    let mut line = |name: &str, of: &dyn Fn(&Latency) -> Option<f64>| {
        let cell = |latency: &Latency| {
            of(latency).map_or_else(|| String::from("N/A"), |ns| format!("{:.3}", ns / 1e6))
        };
        let _ = writeln!(
            text,
            "{name:>7} | {:>10} | {:>10} | {:>10}",
            cell(read),
            cell(write),
            cell(&total)
        );
    };
    line("min", &|latency| latency.at(0.0));
    for (percent, name) in PERCENTILES {
        line(name, &|latency| latency.at(percent / 100.0));
    }
    line("max", &|latency| latency.at(1.0));
}

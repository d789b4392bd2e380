//! The tables of bytes, I/Os and rates.
//!
//! Data in: rows. Data out: lines. Columns depend on what was asked for (`-L`, `-D`).

use crate::diskspd::print::{aligned_size, size};
use crate::diskspd::results::input::{Bucket, Direction, Row, SpanResult};
use crate::diskspd::results::latency::{Latency, iops_stddev};
use crate::diskspd::results::ranges::{EffectiveRange, trimmed};
use std::fmt::Write as _;

/// Which I/Os a table counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    Total,
    Read,
    Write,
}

/// MiB a second and I/Os a second.
pub(super) fn rates(bytes: u64, ios: u64, seconds: f64) -> (f64, f64) {
    if seconds <= 0.0 {
        return (0.0, 0.0);
    }
    (bytes as f64 / 1024.0 / 1024.0 / seconds, ios as f64 / seconds)
}

impl Which {
    /// What counts of reads and of writes.
    fn of(self, read: &Direction, write: &Direction) -> Direction {
        match self {
            Self::Read => read.clone(),
            Self::Write => write.clone(),
            Self::Total => read.and(write),
        }
    }

    /// All rows together.
    fn total(self, span: &SpanResult) -> Direction {
        let sum = |of: fn(&Row) -> &Direction, latency: &Latency, buckets: &[Bucket]| Direction {
            ios: span.rows.iter().map(|row| of(row).ios).sum(),
            bytes: span.rows.iter().map(|row| of(row).bytes).sum(),
            latency: latency.clone(),
            buckets: Some(buckets.to_vec()),
        };
        let totals = &span.totals;
        let read = sum(|row| &row.read, &totals.read, &totals.read_buckets);
        self.of(
            &read,
            &sum(|row| &row.write, &totals.write, &totals.write_buckets),
        )
    }
}

fn line(figures: &Direction, span: &SpanResult) -> String {
    let (mib, iops) = rates(figures.bytes, figures.ios, span.seconds());
    let mut line = format!(
        "{:15} | {:12} | {mib:10.2} | {iops:10.2}",
        figures.bytes, figures.ios
    );
    if span.measure_latency {
        let _ = write!(line, " | {:8.3}", figures.latency.mean_ns / 1e6);
    }
    if let Some(bucket_ms) = span.io_bucket_ms {
        let _ = match &figures.buckets {
            Some(buckets) => write!(line, " | {:10.2}", iops_stddev(buckets, bucket_ms)),
            None => write!(line, " | {:>10}", "N/A"),
        };
    }
    if span.measure_latency {
        let _ = if figures.latency.n > 0 {
            write!(line, " |  {:8.3}", figures.latency.stddev_ns / 1e6)
        } else {
            write!(line, " | {:>9}", "N/A")
        };
    }
    line
}

pub(super) fn section(text: &mut String, span: &SpanResult, which: Which) {
    let (latency, deviation) = (span.measure_latency, span.io_bucket_ms.is_some());
    let optional = |shown: bool, column: &'static str| if shown { column } else { "" };
    let _ = writeln!(
        text,
        "thread |       bytes     |     I/Os     |    MiB/s   |  I/O per s {}{}{}|  file",
        optional(latency, "|  AvgLat  "),
        optional(deviation, "| IopsStdDev "),
        optional(latency, "| LatStdDev "),
    );
    let wider = [(latency, 11), (deviation, 13), (latency, 12)];
    let width = 78
        + wider
            .iter()
            .filter(|(shown, _)| *shown)
            .map(|(_, more)| more)
            .sum::<usize>();
    let rule = "-".repeat(width);
    let _ = writeln!(text, "{rule}");
    for row in &span.rows {
        let figures = line(&which.of(&row.read, &row.write), span);
        let size = row.file_size_bytes.map_or_else(|| String::from("N/A"), size);
        let _ = writeln!(text, "{:6} | {figures} | {} ({size})", row.thread, row.path);
    }
    let total = line(&which.total(span), span);
    let _ = writeln!(text, "{rule}\ntotal:   {total}");
}

/// Distributions as they came out on targets of these sizes; equal ones once, with all that used them.
pub(super) fn effective(text: &mut String, span: &SpanResult) {
    let mut different: Vec<&[EffectiveRange]> = Vec::new();
    for row in span.rows.iter().filter(|row| !row.ranges.is_empty()) {
        if !different.contains(&row.ranges.as_slice()) {
            different.push(&row.ranges);
        }
    }
    if !different.is_empty() {
        text.push_str("\nEffective IO Distributions\n--------------------------\n");
    }
    for ranges in different {
        let users: Vec<&Row> = span.rows.iter().filter(|row| row.ranges == ranges).collect();
        let mut paths: Vec<&str> = users.iter().map(|row| row.path.as_str()).collect();
        paths.sort_unstable();
        paths.dedup();
        for path in paths {
            let threads: Vec<u32> = users
                .iter()
                .filter(|row| row.path == path)
                .map(|row| row.thread)
                .collect();
            let _ = writeln!(text, "target: {path} [thread:{}]", threads_in_words(&threads));
        }
        for range in ranges {
            let share = if trimmed(ranges) {
                format!("    {:.1}", range.io_percent)
            } else {
                format!("   {:3.0}", range.io_percent)
            };
            let (from, to) = (aligned_size(range.begin), aligned_size(range.end));
            let _ = writeln!(text, "{share}% of IO => [{from} - {to})");
        }
    }
}

/// ` 0 - 2 4`: runs of three and more are shortened.
fn threads_in_words(threads: &[u32]) -> String {
    let mut sorted = threads.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let mut words = String::new();
    for run in sorted.chunk_by(|one, next| one + 1 == *next) {
        let _ = match run {
            [first, .., last] if run.len() > 2 => write!(words, " {first} - {last}"),
            [first, last] => write!(words, " {first} {last}"),
            _ => write!(words, " {}", run[0]),
        };
    }
    words
}

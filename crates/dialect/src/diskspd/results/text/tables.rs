//! The tables of bytes, I/Os and rates.
//!
//! Data in: rows. Data out: lines. Columns depend on what was asked for (`-L`, `-D`).

use crate::diskspd::print::{aligned_size, size};
use crate::diskspd::results::input::{Bucket, Direction, Row, SpanResult};
use crate::diskspd::results::latency::{Latency, iops_stddev, merged};
use crate::diskspd::results::ranges::{EffectiveRange, trimmed};
use std::fmt::Write as _;

/// Which I/Os a table counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    Total,
    Read,
    Write,
}

/// What a line shows.
struct Figures {
    bytes: u64,
    ios: u64,
    latency: Latency,
    buckets: Option<Vec<Bucket>>,
}

/// MiB a second and I/Os a second.
pub(super) fn rates(bytes: u64, ios: u64, seconds: f64) -> (f64, f64) {
    if seconds <= 0.0 {
        return (0.0, 0.0);
    }
    (bytes as f64 / 1024.0 / 1024.0 / seconds, ios as f64 / seconds)
}

impl Figures {
    fn of(row: &Row, which: Which) -> Self {
        let one = |direction: &Direction| Self {
            bytes: direction.bytes,
            ios: direction.ios,
            latency: direction.latency.clone(),
            buckets: direction.buckets.clone(),
        };
        match which {
            Which::Read => one(&row.read),
            Which::Write => one(&row.write),
            Which::Total => Self {
                bytes: row.read.bytes + row.write.bytes,
                ios: row.read.ios + row.write.ios,
                latency: row.read.latency.and(&row.write.latency),
                buckets: match (&row.read.buckets, &row.write.buckets) {
                    (Some(read), Some(write)) => Some(merged(read, write)),
                    _ => None,
                },
            },
        }
    }

    fn total(span: &SpanResult, which: Which) -> Self {
        let rows = span.rows.iter().map(|row| Self::of(row, which));
        let (bytes, ios) = rows.fold((0, 0), |(bytes, ios), row| (bytes + row.bytes, ios + row.ios));
        let totals = &span.totals;
        let (latency, buckets) = match which {
            Which::Read => (totals.read.clone(), totals.read_buckets.clone()),
            Which::Write => (totals.write.clone(), totals.write_buckets.clone()),
            Which::Total => (
                totals.read.and(&totals.write),
                merged(&totals.read_buckets, &totals.write_buckets),
            ),
        };
        Self {
            bytes,
            ios,
            latency,
            buckets: Some(buckets),
        }
    }

    fn line(&self, span: &SpanResult) -> String {
        let (mib, iops) = rates(self.bytes, self.ios, span.seconds());
        let mut line = format!("{:15} | {:12} | {mib:10.2} | {iops:10.2}", self.bytes, self.ios);
        if span.measure_latency {
            let _ = write!(line, " | {:8.3}", self.latency.mean_ns / 1e6);
        }
        if let Some(bucket_ms) = span.io_bucket_ms {
            let _ = match &self.buckets {
                Some(buckets) => write!(line, " | {:10.2}", iops_stddev(buckets, bucket_ms)),
                None => write!(line, " | {:>10}", "N/A"),
            };
        }
        if span.measure_latency {
            let _ = if self.latency.n > 0 {
                write!(line, " |  {:8.3}", self.latency.stddev_ns / 1e6)
            } else {
                write!(line, " | {:>9}", "N/A")
            };
        }
        line
    }
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
        let figures = Figures::of(row, which).line(span);
        let size = row.file_size_bytes.map_or_else(|| String::from("N/A"), size);
        let _ = writeln!(text, "{:6} | {figures} | {} ({size})", row.thread, row.path);
    }
    let total = Figures::total(span, which).line(span);
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

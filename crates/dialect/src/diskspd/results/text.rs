//! The results as text.
//!
//! Data in: a [`DiskspdResult`]. Data out: lines in diskspd's layout. It must not know XML.

mod latency;
mod system;
mod tables;

pub(in crate::diskspd) use latency::PERCENTILES;
pub(super) use system::start_time;

use super::input::{DiskspdResult, Row, SpanResult};
use std::fmt::Write as _;

/// The results as diskspd prints them.
pub fn text(result: &DiskspdResult) -> String {
    let mut text = result.profile_text.clone();
    system::write(&mut text, &result.system);
    for (number, span) in (1..).zip(&result.spans) {
        let _ = write!(text, "\nResults for timespan {number}:\n{}\n", "*".repeat(79));
        if span.test_time_ns == 0 {
            text.push_str(
                "The test was interrupted before the measurements began. No results are displayed.\n",
            );
        } else {
            time_span(&mut text, result, span);
        }
    }
    if result.spans.len() > 1 {
        totals(&mut text, &result.spans);
    }
    text
}

fn time_span(text: &mut String, result: &DiskspdResult, span: &SpanResult) {
    let _ = write!(text, "\nactual test time:\t{:.2}s\n", span.seconds());
    let _ = writeln!(text, "thread count:\t\t{}", span.thread_count);
    if span.request_count != 0 {
        let _ = writeln!(text, "request count:\t\t{}", span.request_count);
    }
    system::cpus(text, &result.system, &span.cpus);
    tables::effective(text, span);
    for (heading, which) in [
        ("Total IO", tables::Which::Total),
        ("Read IO", tables::Which::Read),
        ("Write IO", tables::Which::Write),
    ] {
        let _ = writeln!(text, "\n{heading}");
        tables::section(text, span, which);
    }
    if span.measure_latency {
        latency::write(text, span);
    }
    if result.verbose_stats {
        wait_statistics(text, span);
    }
}

/// diskspd's loop waits in other places: none of these numbers is known.
fn wait_statistics(text: &mut String, span: &SpanResult) {
    text.push_str("\nWait Statistics\n");
    text.push_str(
        "thread | completion wait | throttle wait  -  sleep | lookaside | 0 - 7+ complete per lookaside\n",
    );
    let _ = writeln!(text, "{}", "-".repeat(95));
    let mut threads: Vec<u32> = span.rows.iter().map(|row| row.thread).collect();
    threads.dedup();
    for thread in threads {
        let na = "N/A";
        let _ = writeln!(
            text,
            "{thread:6} | {na:>15} | {na:>13}  - {na:>6} | {na:>9} | {na}"
        );
    }
}

/// All time spans together.
fn totals(text: &mut String, spans: &[SpanResult]) {
    let rule = "-".repeat(79);
    let _ = write!(text, "\n\nTotals:\n{}\n\n", "*".repeat(79));
    let _ = writeln!(
        text,
        "type   |       bytes     |     I/Os     |    MiB/s   |  I/O per s\n{rule}"
    );
    let seconds: f64 = spans.iter().map(SpanResult::seconds).sum();
    let rows = || {
        spans
            .iter()
            .filter(|span| span.test_time_ns > 0)
            .flat_map(|span| &span.rows)
    };
    let sum = |of: fn(&Row) -> (u64, u64)| {
        rows()
            .map(of)
            .fold((0, 0), |all, row| (all.0 + row.0, all.1 + row.1))
    };
    let read = sum(|row| (row.read.bytes, row.read.ios));
    let write = sum(|row| (row.write.bytes, row.write.ios));
    let line = |name: &str, (bytes, ios): (u64, u64)| {
        let (mib, iops) = tables::rates(bytes, ios, seconds);
        format!("{name:<6} | {bytes:15} | {ios:12} | {mib:10.2} | {iops:10.2}\n")
    };
    text.push_str(&line("write", write));
    text.push_str(&line("read", read));
    let total = line("total", (read.0 + write.0, read.1 + write.1));
    let _ = writeln!(text, "{rule}\n{total}");
    let _ = writeln!(text, "total test time:\t{seconds:.2}s");
}

//! What goes with the latencies: CPU, disks, errors, warnings, the program's own cost, what was recorded.

use super::super::content::{Block, Notice};
use crate::words::{joined, plural, when};
use fathom_analysis::failures;
use fathom_core::record::StreamKind;
use fathom_core::run::{CpuUsage, DiskSummary, JobSummary, Run, RunError, Warning};
use fathom_core::units::{Bytes, Nanos, count, three_digits};

/// What an open loop could not send in time.
pub(super) fn backlog(summary: &JobSummary) -> String {
    format!(
        "at most {} due and not sent, {} at the end",
        plural(summary.backlog_max, "I/O"),
        summary.backlog_end
    )
}

/// CPU time of the workers: shares of one CPU each, and the cost of one I/O.
pub(super) fn cpu(summary: &JobSummary) -> Option<String> {
    let CpuUsage {
        user_ns,
        system_ns,
        voluntary_switches,
        involuntary_switches,
        ..
    } = summary.cpu;
    let capacity_ns = summary.runtime_ns as f64 * f64::from(summary.workers.max(1));
    let used_ns = user_ns as f64 + system_ns as f64;
    if capacity_ns <= 0.0 || used_ns <= 0.0 {
        return None;
    }
    let percent = |ns: u64| three_digits(ns as f64 / capacity_ns * 100.0);
    let each = if summary.workers > 1 { " a worker" } else { "" };
    let mut text = format!(
        "CPU{each}: {} % user, {} % system",
        percent(user_ns),
        percent(system_ns)
    );
    let ios = summary.total_ios() as f64;
    if ios > 0.0 {
        let switches = (voluntary_switches as f64 + involuntary_switches as f64) / ios;
        text = format!(
            "{text}; {} and {} context switches an I/O",
            Nanos((used_ns / ios).round() as u64),
            three_digits(switches)
        );
    }
    Some(text)
}

/// What a disk counted over the whole run: a line in all, then one each for what it did.
pub(super) fn disk(disk: &DiskSummary) -> Vec<String> {
    let ns = disk.duration_ns as f64;
    if ns <= 0.0 {
        return vec![format!("disk {}: not observed", disk.name)];
    }
    let mut texts = vec![format!(
        "disk {}: {} % of the time busy, {} I/Os in flight on average",
        disk.name,
        three_digits(disk.busy_ns as f64 / ns * 100.0),
        three_digits(disk.weighted_busy_ns as f64 / ns)
    )];
    let seconds = ns / 1e9;
    let mut data = |name: &str, ios: u64, merges: u64, bytes: u64, time_ns: u64| {
        if ios > 0 {
            let n = ios as f64;
            texts.push(format!(
                "{} {name}/s of {} on average, {} each, {} % merged",
                count(n / seconds),
                Bytes((bytes as f64 / n).round() as u64),
                Nanos((time_ns as f64 / n).round() as u64),
                three_digits(merges as f64 / (n + merges as f64) * 100.0)
            ));
        }
    };
    data(
        "reads",
        disk.read_ios,
        disk.read_merges,
        disk.read_bytes,
        disk.read_time_ns,
    );
    data(
        "writes",
        disk.write_ios,
        disk.write_merges,
        disk.write_bytes,
        disk.write_time_ns,
    );
    for (name, ios) in [("discards", disk.discard_ios), ("flushes", disk.flush_ios)] {
        if ios > 0 {
            texts.push(format!("{} {name}/s", count(ios as f64 / seconds)));
        }
    }
    texts
}

/// Errors of all jobs, by kind, the first of each with its place and what to do.
pub(super) fn errors(run: &Run) -> Vec<Block> {
    let texts = error_texts(run).into_iter();
    texts.map(|text| Block::Notice(Notice::Error, text)).collect()
}

/// The same, a text each.
pub fn error_texts(run: &Run) -> Vec<String> {
    let texts = remedies(run).map(|(job, error, remedy)| {
        let remedy = remedy.map_or_else(String::new, |remedy| format!(". {remedy}"));
        format!("{}{remedy}", error_text(&job.name, error))
    });
    texts.collect()
}

/// Each error with its job, and what to do about it where that is known.
pub(crate) fn remedies(run: &Run) -> impl Iterator<Item = (&JobSummary, &RunError, Option<String>)> {
    let jobs = run.summary.jobs.iter().enumerate();
    jobs.flat_map(move |(index, job)| {
        let errors = job.errors.iter();
        errors.map(move |error| (job, error, failures::remedy(run, index, error)))
    })
}

fn error_text(job: &str, error: &RunError) -> String {
    let RunError {
        what,
        errno,
        message,
        count,
        path,
        offset_bytes,
        length_bytes,
    } = error;
    let times = when(*count != 1, || format!("{count} times, first "));
    // The system's own words may have the number already, in theirs.
    let message = message.replace(&format!(" (os error {errno})"), "");
    let number = when(*errno != 0, || format!(" (errno {errno})"));
    let on = when(!path.is_empty(), || format!("on {path}"));
    let place = when(*length_bytes != 0, || {
        format!(", {} at offset {offset_bytes}", Bytes(u64::from(*length_bytes)))
    });
    let where_and_how_often = format!("{times}{on}{place}");
    let comma = if where_and_how_often.is_empty() { "" } else { ", " };
    format!("{job}: {what} failed: {message}{number}{comma}{where_and_how_often}")
}

/// Each warning with its remedy.
pub(crate) fn warnings(warnings: &[Warning]) -> Vec<Block> {
    let texts = warnings.iter().map(Warning::in_full);
    texts.map(|text| Block::Notice(Notice::Warning, text)).collect()
}

/// What the program itself costs, beside the mean latency of all I/Os.
pub(super) fn floor(run: &Run) -> Option<String> {
    let floor = run.summary.floor?;
    let cost = Nanos(floor.ns_per_io.round() as u64);
    let mut text = format!("fathom's own cost: {cost} of each I/O");
    let directions = run
        .summary
        .jobs
        .iter()
        .flat_map(|job| [&job.read, &job.write, &job.trim]);
    let latencies = directions.map(|op| (op.lat_ns.n as f64, op.lat_ns.mean));
    let (n, sum_ns) = latencies.fold((0.0, 0.0), |(all, sum), (n, mean)| (all + n, sum + n * mean));
    if sum_ns > 0.0 {
        let percent = three_digits(floor.ns_per_io / (sum_ns / n) * 100.0);
        text = format!("{text} ({percent} % of the mean latency)");
    }
    Some(text)
}

/// What became of the streams that were asked for: a line in all, then what is missing.
pub(super) fn streams(run: &Run) -> Vec<String> {
    let streams = &run.summary.streams;
    if streams.is_empty() {
        return Vec::new();
    }
    // What a recording says of itself is a stream of its own, whether or not it was asked for.
    let told = streams.iter().filter(|stream| {
        stream.kind != StreamKind::Counters || stream.rows > 0 || !stream.missing.is_empty()
    });
    let parts = told.map(|stream| {
        if stream.rows == 0 && !stream.missing.is_empty() {
            return format!("{} not recorded", stream.kind.name());
        }
        let lost = when(stream.dropped > 0, || format!(" ({} lost)", stream.dropped));
        format!("{} {}{lost}", stream.kind.name(), stream.rows)
    });
    let all = format!("recorded, in rows: {}", joined(parts, ", "));
    let missing = streams.iter().flat_map(|stream| {
        let missing = stream.missing.iter();
        missing.map(|missing| format!("not recorded ({}): {missing}", stream.kind.name()))
    });
    std::iter::once(all).chain(missing).collect()
}

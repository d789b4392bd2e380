//! The way back: a workload as a job file that parses to the same workload.
//!
//! Data in: a workload. Data out: text in canonical form, with only what differs from the defaults. It must
//! not know how the workload was written.

use crate::draft::Draft;
use crate::scan;
use crate::table::{OptionRow, table};
use fathom_core::workload::{Job, Rate, Workload};
use std::fmt::Write as _;
use std::sync::LazyLock;

/// What no job file can say.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PrintError {
    /// A text holds a character that ends a line or begins a comment, or begins or ends with a space.
    #[error(
        "job `{job}`: a job file cannot hold {option}=`{text}`; use no `#`, `;`, line end or outer space"
    )]
    Text {
        job: String,
        option: &'static str,
        text: String,
    },
    /// A setting that no option describes.
    #[error("job `{job}`: no option of a job file says {what}")]
    Setting { job: String, what: &'static str },
}

/// Prints `workload` as a job file. Parsing it gives the same workload.
///
/// # Errors
/// A [`PrintError`] if the workload holds something that no job file can say; workloads that came from job
/// files do so only if an environment variable brought it in.
pub fn print(workload: &Workload) -> Result<String, PrintError> {
    let sections = workload.jobs.iter().enumerate().map(|(index, job)| {
        let before = index.checked_sub(1).map(|before| workload.jobs[before].group);
        section(job, before)
    });
    Ok(sections.collect::<Result<Vec<_>, _>>()?.join("\n"))
}

/// The table in the order in which a job is read best.
static ROWS: LazyLock<Vec<&OptionRow>> = LazyLock::new(|| {
    let (mut rows, moved): (Vec<&OptionRow>, Vec<_>) =
        table().iter().partition(|row| row.shown_behind.is_empty());
    for row in moved {
        let at = rows.iter().position(|other| other.name == row.shown_behind);
        rows.insert(at.map_or(rows.len(), |at| at + 1), row);
    }
    rows
});

/// The section of `job`: what differs from a job without options. `before` is the group of the job before it.
fn section(job: &Job, before: Option<u32>) -> Result<String, PrintError> {
    if let Some((_, what)) = without_words(job).into_iter().find(|(asked, _)| *asked) {
        let job = job.name.clone();
        return Err(PrintError::Setting { job, what });
    }
    let plain = Draft::default();
    let mut draft = Draft::from(job);
    draft.new_group = !job.start.stonewall && before.is_some_and(|before| before != job.group);
    // Variables are replaced in values, not in headers.
    let is_header = is_one_line(&job.name) && !job.name.contains(']') && !scan::is_global(&job.name);
    draft.name = (!is_header).then(|| job.name.clone());
    let mut text = format!("[{}]\n", if is_header { &job.name } else { "job" });
    for row in &*ROWS {
        let shown = row
            .show(&draft)
            .filter(|shown| row.always_shown || Some(shown) != row.show(&plain).as_ref());
        let Some(shown) = shown else { continue };
        if shown.is_empty() && row.rule.bare() == Some("") {
            let _ = writeln!(text, "{}", row.name);
            continue;
        }
        let shown = if row.rule.holds_sizes() && job.reporting.kb_base != 1024 {
            without_units(&shown)
        } else {
            shown
        };
        if !is_plain(&shown) {
            return Err(PrintError::Text {
                job: job.name.clone(),
                option: row.name,
                text: shown,
            });
        }
        let _ = writeln!(text, "{}={shown}", row.name);
    }
    Ok(text)
}

/// A text of sizes, each in bytes: their units are powers of 1024, which a job with another `kb_base` reads as something else.
fn without_units(text: &str) -> String {
    let mut result = String::new();
    let mut rest = text;
    while let Some(begin) = rest.find(|letter: char| letter.is_ascii_digit()) {
        let (before, number) = rest.split_at(begin);
        let end = number
            .find(|letter: char| !letter.is_ascii_digit())
            .unwrap_or(number.len());
        let (digits, behind) = number.split_at(end);
        let power = behind.chars().next().and_then(|unit| "kmgtp".find(unit));
        let bytes = power.and_then(|power| digits.parse::<u64>().ok()?.checked_shl(10 * (power as u32 + 1)));
        result.push_str(before);
        if let Some(bytes) = bytes {
            let _ = write!(result, "{bytes}");
            rest = &behind[1..];
        } else {
            result.push_str(digits);
            rest = behind;
        }
    }
    result + rest
}

/// What no option of fio's stands for.
fn without_words(job: &Job) -> [(bool, &'static str); 12] {
    let (pattern, buffers, errors) = (&job.pattern, &job.buffers, job.on_error);
    let mut paths = job.files.names.iter().chain(&job.files.directories);
    let rates = job.pace.rate.iter().flatten();
    let in_bytes = rates
        .filter(|rate| matches!(rate, Rate::BytesPerSecond(_)))
        .count();
    [
        (!job.limit.cooldown_time.is_zero(), "a cooldown"),
        (pattern.shared_sequence, "a sequence that its workers share"),
        (pattern.same_offset, "a sequence for each I/O in flight"),
        (
            pattern.first_offset_bytes > 0,
            "a sequence that begins within its region",
        ),
        (pattern.keeps_direction, "runs of one direction"),
        (buffers.huge_pages, "buffers in large pages"),
        (
            buffers.source_bytes.is_some(),
            "a store that writes are taken from",
        ),
        (job.count_files, "counts of each file"),
        (job.count_workers, "counts of each worker"),
        (
            paths.any(|path| path.to_str().is_none()),
            "a path that is not UTF-8",
        ),
        (
            in_bytes > 0 && in_bytes < job.pace.rate.iter().flatten().count(),
            "a rate in bytes beside a rate in I/Os",
        ),
        (
            errors.verify && errors.read != errors.write,
            "which of reads, writes and verification go on after errors",
        ),
    ]
}

/// Whether a value survives being written into a job file.
fn is_plain(text: &str) -> bool {
    let replaced = ["${", "$pagesize", "$mb_memory", "$ncpus"];
    is_one_line(text) && !replaced.iter().any(|word| text.contains(word))
}

/// Whether text stays whole within a line: not cut by a comment, a trim or an end of line.
fn is_one_line(text: &str) -> bool {
    !text.is_empty() && text.trim() == text && !text.contains(['#', ';', '\n'])
}

#[cfg(test)]
mod tests;

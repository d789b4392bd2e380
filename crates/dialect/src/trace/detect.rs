//! Which format a file has, by its beginning.

use super::{blkparse, blktrace, csv, lines::cut};
use fathom_core::workload::RecordFormat;

/// The format of a file that begins with `head` (some KiB, or all of it).
///
/// # Errors
/// What it looks like instead, and what to do.
pub fn detect(head: &[u8]) -> Result<RecordFormat, String> {
    if head.is_empty() {
        return Err(String::from("it is empty"));
    }
    if blktrace::begins_like_one(head) {
        return Ok(RecordFormat::Blktrace);
    }
    for (magic, what, tool) in [
        (&b"\x1f\x8b"[..], "gzip", "gunzip -k"),
        (&b"\x28\xb5\x2f\xfd"[..], "zstd", "zstd -d"),
        (&b"\xfd7zXZ"[..], "xz", "xz -dk"),
        (&b"BZh"[..], "bzip2", "bunzip2 -k"),
        (&b"PK\x03\x04"[..], "zip", "unzip"),
    ] {
        if head.starts_with(magic) {
            return Err(format!("it is packed ({what}): unpack it first ({tool})"));
        }
    }
    if head.starts_with(b"PAR1") {
        return Err(String::from(
            "it is a Parquet file: of a fathom run, give the directory",
        ));
    }
    let text = String::from_utf8_lossy(head);
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or("");
    let second = lines.next();
    if first.starts_with("fio version") {
        return Ok(RecordFormat::FioIolog);
    }
    let by_commas = |line: &str| -> Option<RecordFormat> {
        let fields: Vec<&str> = line.split(',').map(str::trim).collect();
        let digits =
            |at: usize| fields[at].bytes().all(|byte| byte.is_ascii_digit()) && !fields[at].is_empty();
        match fields.len() {
            7 if matches!(fields[3], "Read" | "Write") => Some(RecordFormat::MsrCambridge),
            5 if matches!(fields[1], "R" | "W") => Some(RecordFormat::Alibaba),
            5 if (0..5).all(digits) && matches!(fields[3], "0" | "1") => Some(RecordFormat::Tencent),
            _ => None,
        }
    };
    let header = csv::is_header(first);
    let telling = if header { second.unwrap_or(first) } else { first };
    if let Some(format) = by_commas(telling) {
        return Ok(format);
    }
    if first.split(',').count() == 6
        && telling
            .split(',')
            .nth(2)
            .is_some_and(|kind| matches!(kind, "R" | "W" | ""))
    {
        return Err(String::from(
            "it looks like a trace of SYSTOR '17, which is not read",
        ));
    }
    if blkparse::event(first).is_ok() {
        return Ok(RecordFormat::Blkparse);
    }
    Err(format!(
        "its first line, `{}`, is of no format that is read: a fathom run directory, fio's iolog, blkparse's text, blktrace's \
         files, CSV of MSR Cambridge, Alibaba or Tencent",
        cut(first)
    ))
}

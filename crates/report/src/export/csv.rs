//! Streams as CSV (RFC 4180): a line of names, then a line a row; lines end with CR LF.
//!
//! Data in: rows. Data out: lines with all that a row holds and what follows from it: stamps as they were, latencies
//! beside them. What was not seen is empty. It must not know which rows there are.

use fathom_core::backend::Op;
use fathom_core::record::{BlockFlags, BlockRequest, CounterRow, IoRecord, ProcessRow, SchedSlice};
use std::fmt::{Display, Write as _};
use std::io::{self, Write};

/// A row that has a line.
pub trait CsvRow {
    /// The names of its fields.
    const NAMES: &'static [&'static str];

    /// Adds its fields, in the order of their names.
    fn fields(&self, line: &mut Line<'_>);
}

/// A line being made.
#[derive(Debug)]
pub struct Line<'a> {
    text: &'a mut String,
    first: bool,
}

impl<'a> Line<'a> {
    pub(crate) fn new(text: &'a mut String) -> Self {
        Self { text, first: true }
    }

    fn comma(&mut self) {
        if !std::mem::take(&mut self.first) {
            self.text.push(',');
        }
    }

    /// Adds a number.
    pub(crate) fn number(&mut self, value: impl Display) -> &mut Self {
        self.comma();
        // Writing to a string does not fail.
        let _ = write!(self.text, "{value}");
        self
    }

    /// Adds a number, or nothing.
    pub(crate) fn optional(&mut self, value: Option<u64>) -> &mut Self {
        match value {
            Some(value) => self.number(value),
            None => self.word(""),
        }
    }

    /// Adds a text, in quotes where it needs them.
    pub(crate) fn word(&mut self, text: &str) -> &mut Self {
        self.comma();
        if text.contains([',', '"', '\r', '\n']) {
            self.text.push('"');
            self.text.push_str(&text.replace('"', "\"\""));
            self.text.push('"');
        } else {
            self.text.push_str(text);
        }
        self
    }
}

/// Writes the line of names.
///
/// # Errors
/// `out` could not be written.
pub fn header<R: CsvRow>(out: &mut dyn Write) -> io::Result<()> {
    write!(out, "{}\r\n", R::NAMES.join(","))
}

/// Writes a line a row.
///
/// # Errors
/// `out` could not be written.
pub fn rows<R: CsvRow>(rows: &[R], out: &mut dyn Write) -> io::Result<()> {
    let mut text = String::new();
    for row in rows {
        row.fields(&mut Line::new(&mut text));
        text.push_str("\r\n");
        if text.len() > 1 << 16 {
            out.write_all(text.as_bytes())?;
            text.clear();
        }
    }
    out.write_all(text.as_bytes())
}

/// The difference of two stamps, below 0 where they are the wrong way round.
fn difference(to: u64, from: u64) -> i128 {
    i128::from(to) - i128::from(from)
}

impl CsvRow for IoRecord {
    const NAMES: &'static [&'static str] = &[
        "intended_ns",
        "created_ns",
        "submitted_ns",
        "completed_ns",
        "slat_ns",
        "clat_ns",
        "lat_ns",
        "response_ns",
        "op",
        "offset_bytes",
        "len_bytes",
        "job",
        "worker",
        "file",
        "depth",
        "errno",
    ];

    fn fields(&self, line: &mut Line<'_>) {
        line.number(self.intended_ns)
            .number(self.created_ns)
            .number(self.submitted_ns)
            .number(self.completed_ns)
            .number(difference(self.submitted_ns, self.created_ns))
            .number(difference(self.completed_ns, self.submitted_ns))
            .number(difference(self.completed_ns, self.created_ns))
            .number(difference(self.completed_ns, self.intended_ns))
            .word(if self.op == Op::DataSync {
                "datasync"
            } else {
                self.op.name()
            })
            .number(self.offset_bytes)
            .number(self.len_bytes)
            .number(self.job)
            .number(self.worker)
            .number(self.file)
            .number(self.depth)
            .number(self.errno);
    }
}

impl CsvRow for BlockRequest {
    const NAMES: &'static [&'static str] = &[
        "device_major",
        "device_minor",
        "queued_ns",
        "allocated_ns",
        "inserted_ns",
        "issued_ns",
        "completed_ns",
        "queue_ns",
        "device_ns",
        "op",
        "sector",
        "len_bytes",
        "sync",
        "meta",
        "read_ahead",
        "fua",
        "preflush",
        "unfinished",
        "requeues",
        "merges",
        "errno",
        "pid",
        "comm",
    ];

    fn fields(&self, line: &mut Line<'_>) {
        line.number(self.device >> 20)
            .number(self.device & 0xf_ffff)
            .optional(self.queued_ns)
            .optional(self.allocated_ns)
            .optional(self.inserted_ns)
            .optional(self.issued_ns)
            .number(self.completed_ns)
            .optional(self.queue_ns())
            .optional(self.device_ns())
            .word(self.op.name())
            .optional(Some(self.sector).filter(|&sector| sector != u64::MAX))
            .number(self.len_bytes);
        for flag in [
            BlockFlags::SYNC,
            BlockFlags::META,
            BlockFlags::READ_AHEAD,
            BlockFlags::FUA,
            BlockFlags::PREFLUSH,
            BlockFlags::UNFINISHED,
        ] {
            line.number(u8::from(self.flags.has(flag)));
        }
        line.number(self.requeues)
            .number(self.merges)
            .number(self.errno)
            .number(self.pid)
            .word(&self.comm.to_string());
    }
}

impl CsvRow for CounterRow {
    const NAMES: &'static [&'static str] = &["at_ns", "metric", "labels", "value"];

    fn fields(&self, line: &mut Line<'_>) {
        line.number(self.at_ns)
            .word(&self.metric)
            .word(&self.labels)
            .number(self.value);
    }
}

impl CsvRow for ProcessRow {
    const NAMES: &'static [&'static str] = &[
        "at_ns",
        "duration_ns",
        "pid",
        "comm",
        "cpu_ns",
        "run_delay_ns",
        "read_bytes",
        "written_bytes",
    ];

    fn fields(&self, line: &mut Line<'_>) {
        line.number(self.at_ns)
            .number(self.duration_ns)
            .number(self.pid)
            .word(&self.comm.to_string())
            .number(self.cpu_ns)
            .number(self.run_delay_ns)
            .number(self.read_bytes)
            .number(self.written_bytes);
    }
}

impl CsvRow for SchedSlice {
    const NAMES: &'static [&'static str] = &[
        "ready_ns",
        "start_ns",
        "end_ns",
        "waited_ns",
        "ran_ns",
        "cpu",
        "tid",
        "comm",
        "state",
    ];

    fn fields(&self, line: &mut Line<'_>) {
        line.optional(self.ready_ns)
            .number(self.start_ns)
            .number(self.end_ns)
            .optional(self.ready_ns.map(|ready| self.start_ns.saturating_sub(ready)))
            .number(difference(self.end_ns, self.start_ns))
            .number(self.cpu)
            .number(self.tid)
            .word(&self.comm.to_string())
            .word(self.state.name());
    }
}

#[cfg(test)]
mod tests;

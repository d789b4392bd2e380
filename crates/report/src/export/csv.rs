//! Streams as CSV (RFC 4180): a line of names, then a line a row; lines end with CR LF.
//!
//! Data in: rows. Data out: lines with all that a row holds and what follows from it: stamps as they were, latencies
//! beside them. What was not seen is empty. It must not know which rows there are.

use fathom_core::backend::Op;
use fathom_core::record::{
    BlockFlags, BlockRequest, CounterRow, CpuShare, IoRecord, KernelSpan, ProcessRow, SchedSlice,
};
use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write};

/// What a row has in a column.
#[derive(Debug)]
pub enum Cell {
    Empty,
    Number(u64),
    Difference(i128),
    Text(Cow<'static, str>),
}

impl Cell {
    /// A number with so many decimals, where it is one.
    pub(crate) fn decimal(value: Option<f64>, decimals: usize) -> Self {
        let value = value.filter(|value| value.is_finite());
        value.map(|value| format!("{value:.decimals$}")).into()
    }
}

macro_rules! numbers {
    ($($number:ty)*) => { $(
        impl From<$number> for Cell {
            fn from(number: $number) -> Self {
                Self::Number(number.into())
            }
        }
    )* };
}
numbers!(bool u8 u16 u32 u64);

impl From<&'static str> for Cell {
    fn from(text: &'static str) -> Self {
        Self::Text(text.into())
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Self {
        number.to_string().into()
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

impl<T: Into<Self>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Empty, T::into)
    }
}

/// Columns by name, each with what a row has there.
pub struct Columns<'a, R>(Vec<(String, CellOf<'a, R>)>);

type CellOf<'a, R> = Box<dyn Fn(&R) -> Cell + 'a>;

impl<'a, R> Columns<'a, R> {
    pub(crate) const fn new() -> Self {
        Self(Vec::new())
    }

    pub(crate) fn add<C: Into<Cell>>(&mut self, name: impl Into<String>, cell: impl Fn(&R) -> C + 'a) {
        self.0.push((name.into(), Box::new(move |row| cell(row).into())));
    }

    /// The line of names.
    pub(crate) fn head(&self) -> String {
        let names: Vec<&str> = self.0.iter().map(|(name, _)| name.as_str()).collect();
        format!("{}\r\n", names.join(","))
    }

    /// Adds the line of a row. Texts are in quotes where they need them.
    pub(crate) fn line(&self, row: &R, text: &mut String) {
        for (index, (_, cell)) in self.0.iter().enumerate() {
            if index > 0 {
                text.push(',');
            }
            match cell(row) {
                Cell::Empty => {}
                Cell::Text(word) if word.contains([',', '"', '\r', '\n']) => {
                    text.extend(["\"", &word.replace('"', "\"\""), "\""]);
                }
                Cell::Text(word) => text.push_str(&word),
                // Writing to a string does not fail.
                Cell::Number(number) => drop(write!(text, "{number}")),
                Cell::Difference(difference) => drop(write!(text, "{difference}")),
            }
        }
        text.push_str("\r\n");
    }
}

impl<R: CsvRow> Columns<'_, R> {
    fn all() -> Self {
        let mut columns = Self::new();
        R::columns(&mut columns);
        columns
    }
}

/// A row that has a line.
pub trait CsvRow: Sized {
    /// Adds all that it holds.
    fn columns(columns: &mut Columns<'_, Self>);
}

/// Writes the line of names.
///
/// # Errors
/// `out` could not be written.
pub fn header<R: CsvRow>(out: &mut dyn Write) -> io::Result<()> {
    out.write_all(Columns::<R>::all().head().as_bytes())
}

/// Writes a line a row.
///
/// # Errors
/// `out` could not be written.
pub fn rows<R: CsvRow>(rows: &[R], out: &mut dyn Write) -> io::Result<()> {
    let columns = Columns::<R>::all();
    let mut text = String::new();
    for row in rows {
        columns.line(row, &mut text);
        if text.len() > 1 << 16 {
            out.write_all(text.as_bytes())?;
            text.clear();
        }
    }
    out.write_all(text.as_bytes())
}

/// The difference of two stamps, below 0 where they are the wrong way round.
fn difference(to: u64, from: u64) -> Cell {
    Cell::Difference(i128::from(to) - i128::from(from))
}

impl CsvRow for IoRecord {
    fn columns(columns: &mut Columns<'_, Self>) {
        columns.add("intended_ns", |io| io.intended_ns);
        columns.add("created_ns", |io| io.created_ns);
        columns.add("submitted_ns", |io| io.submitted_ns);
        columns.add("completed_ns", |io| io.completed_ns);
        columns.add("slat_ns", |io| difference(io.submitted_ns, io.created_ns));
        columns.add("clat_ns", |io| difference(io.completed_ns, io.submitted_ns));
        columns.add("lat_ns", |io| difference(io.completed_ns, io.created_ns));
        columns.add("response_ns", |io| difference(io.completed_ns, io.intended_ns));
        columns.add("op", |io| match io.op {
            Op::DataSync => "datasync",
            op => op.name(),
        });
        columns.add("offset_bytes", |io| io.offset_bytes);
        columns.add("len_bytes", |io| io.len_bytes);
        columns.add("job", |io| io.job);
        columns.add("worker", |io| io.worker);
        columns.add("file", |io| io.file);
        columns.add("depth", |io| io.depth);
        columns.add("errno", |io| io.errno);
    }
}

impl CsvRow for BlockRequest {
    fn columns(columns: &mut Columns<'_, Self>) {
        columns.add("device_major", |request| request.device >> 20);
        columns.add("device_minor", |request| request.device & 0xf_ffff);
        columns.add("queued_ns", |request| request.queued_ns);
        columns.add("allocated_ns", |request| request.allocated_ns);
        columns.add("inserted_ns", |request| request.inserted_ns);
        columns.add("issued_ns", |request| request.issued_ns);
        columns.add("completed_ns", |request| request.completed_ns);
        columns.add("queue_ns", Self::queue_ns);
        columns.add("device_ns", Self::device_ns);
        columns.add("op", |request| request.op.name());
        columns.add("sector", |request| {
            Some(request.sector).filter(|&sector| sector != u64::MAX)
        });
        columns.add("len_bytes", |request| request.len_bytes);
        for (name, flag) in [
            ("sync", BlockFlags::SYNC),
            ("meta", BlockFlags::META),
            ("read_ahead", BlockFlags::READ_AHEAD),
            ("fua", BlockFlags::FUA),
            ("preflush", BlockFlags::PREFLUSH),
            ("unfinished", BlockFlags::UNFINISHED),
        ] {
            columns.add(name, move |request| request.flags.has(flag));
        }
        columns.add("requeues", |request| request.requeues);
        columns.add("merges", |request| request.merges);
        columns.add("errno", |request| request.errno);
        columns.add("pid", |request| request.pid);
        columns.add("comm", |request| request.comm.to_string());
        columns.add("owner_pid", |request| request.owner_pid);
        columns.add("owner_comm", |request| request.owner_comm.to_string());
    }
}

impl CsvRow for CounterRow {
    fn columns(columns: &mut Columns<'_, Self>) {
        columns.add("at_ns", |row| row.at_ns);
        columns.add("metric", |row| row.metric.to_string());
        columns.add("labels", |row| row.labels.to_string());
        columns.add("value", |row| row.value);
    }
}

impl CsvRow for ProcessRow {
    fn columns(columns: &mut Columns<'_, Self>) {
        columns.add("at_ns", |row| row.at_ns);
        columns.add("duration_ns", |row| row.duration_ns);
        columns.add("pid", |row| row.pid);
        columns.add("comm", |row| row.comm.to_string());
        columns.add("cpu_ns", |row| row.cpu_ns);
        columns.add("run_delay_ns", |row| row.run_delay_ns);
        columns.add("read_bytes", |row| row.read_bytes);
        columns.add("written_bytes", |row| row.written_bytes);
    }
}

impl CsvRow for SchedSlice {
    fn columns(columns: &mut Columns<'_, Self>) {
        columns.add("ready_ns", |slice| slice.ready_ns);
        columns.add("start_ns", |slice| slice.start_ns);
        columns.add("end_ns", |slice| slice.end_ns);
        columns.add("waited_ns", |slice| {
            slice.ready_ns.map(|ready| slice.start_ns.saturating_sub(ready))
        });
        columns.add("ran_ns", |slice| difference(slice.end_ns, slice.start_ns));
        columns.add("cpu", |slice| slice.cpu);
        columns.add("tid", |slice| slice.tid);
        columns.add("comm", |slice| slice.comm.to_string());
        columns.add("state", |slice| slice.state.name());
        columns.add("blocked_on", |slice| slice.blocked_on.name());
        columns.add("waker_tid", |slice| slice.waker_tid);
        columns.add("waker_comm", |slice| slice.waker_comm.to_string());
    }
}

impl CsvRow for CpuShare {
    fn columns(columns: &mut Columns<'_, Self>) {
        columns.add("end_ns", |share| share.end_ns);
        columns.add("duration_ns", |share| share.duration_ns);
        columns.add("cpu", |share| share.cpu);
        columns.add("tid", |share| share.tid);
        columns.add("comm", |share| share.comm.to_string());
        columns.add("ran_ns", |share| share.ran_ns);
    }
}

impl CsvRow for KernelSpan {
    fn columns(columns: &mut Columns<'_, Self>) {
        columns.add("start_ns", |span| span.start_ns);
        columns.add("end_ns", |span| span.end_ns);
        columns.add("duration_ns", |span| difference(span.end_ns, span.start_ns));
        columns.add("kind", |span| span.kind.name());
        columns.add("device", |span| {
            format!("{}:{}", span.device >> 20, span.device & 0xf_ffff)
        });
        columns.add("tid", |span| span.tid);
        columns.add("comm", |span| span.comm.to_string());
        columns.add("about", |span| span.about);
        columns.add("by_tid", |span| span.by_tid);
        columns.add("by_comm", |span| span.by_comm.to_string());
    }
}

#[cfg(test)]
mod tests;

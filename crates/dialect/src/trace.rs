//! Recorded block I/O in the formats of others: bytes in, I/Os out.
//!
//! Data in: the bytes of one or more files, piece by piece, in the order in which [`Reader::wants`] asks for them. Data out:
//! [`Row`]s, in about the order of their ends; an error that names the input, the line or the byte, and what to do. Memory does not
//! grow with the input. Formats: fio's iolog (versions 2 and 3), `blkparse`'s default text, blktrace's own files (versions 7
//! and 8), the CSV of MSR Cambridge, Alibaba and Tencent. It must not know files, nor what is made of the I/Os.

mod blkparse;
mod blktrace;
mod csv;
mod detect;
mod events;
mod iolog;
mod lines;

pub use detect::detect;

use fathom_core::arrival::Sent;
use fathom_core::workload::RecordFormat;
use std::collections::BTreeMap;
use std::fmt;

/// A time so far before the latest one is not in order any more. Less than [`fathom_core::arrival::HELD_NS`], within which order is
/// restored.
const DISORDER_NS: u64 = 2_000_000_000;
/// The longest I/O that moves data.
const LEN_BYTES_MAX: u32 = 1 << 30;
/// Volumes that are told apart, at most.
const VOLUMES_MAX: usize = 1 << 16;

/// One I/O, and of which volume: an index into [`Reader::volumes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    pub volume: u32,
    pub sent: Sent,
}

/// Where in an input something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    /// 1-based.
    Line(u64),
    /// From the beginning of the file.
    Byte(u64),
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Byte(byte) => write!(f, "byte {byte}"),
        }
    }
}

/// What is wrong with an input. Prints as `line 7: the offset `x1` is no number; …`, without its name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{at}: {message}")]
pub struct TraceError {
    /// Which input, by its number.
    pub input: usize,
    pub at: At,
    /// What, and what to do.
    pub message: String,
}

/// What is to be said of a record beside its I/Os.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Known {
    /// Whether I/Os have times.
    pub times: bool,
    /// Whether it is known when they ended.
    pub ends: bool,
    /// Whether volumes are files of one load, which belong together, not disks.
    pub files: bool,
}

/// Reads a record.
#[derive(Debug)]
pub struct Reader {
    parser: Parser,
    out: Out,
}

#[derive(Debug)]
enum Parser {
    Iolog(iolog::Iolog),
    Blkparse(Box<blkparse::Blkparse>),
    Blktrace(Box<blktrace::Blktrace>),
    Csv(csv::Csv),
}

/// What parsers fill.
#[derive(Debug, Default)]
struct Out {
    rows: Vec<Row>,
    volumes: Volumes,
    skipped: BTreeMap<&'static str, u64>,
}

/// The names of volumes, in the order in which they were met.
#[derive(Debug, Default)]
struct Volumes {
    names: Vec<String>,
    numbers: BTreeMap<String, u32>,
    /// The last one that was asked for: most often the next one, too.
    last: Option<u32>,
}

impl Volumes {
    /// Its number; `None`: there are too many.
    fn number(&mut self, name: &str) -> Option<u32> {
        if let Some(last) = self.last
            && self.names[last as usize] == name
        {
            return Some(last);
        }
        let number = match self.numbers.get(name) {
            Some(&number) => number,
            None if self.names.len() >= VOLUMES_MAX => return None,
            None => {
                let number = self.names.len() as u32;
                self.names.push(name.to_owned());
                self.numbers.insert(name.to_owned(), number);
                number
            }
        };
        self.last = Some(number);
        Some(number)
    }
}

impl Out {
    fn skip(&mut self, why: &'static str) {
        *self.skipped.entry(why).or_default() += 1;
    }

    fn volume(&mut self, name: &str) -> Result<u32, String> {
        self.volumes.number(name).ok_or_else(|| {
            format!("more than {VOLUMES_MAX} volumes: cut the ones that are wanted out of it first")
        })
    }
}

/// The length of an I/O that a disk could be asked for.
///
/// # Errors
/// None could.
fn length(offset_bytes: u64, len_bytes: u64) -> Result<u32, String> {
    let end = offset_bytes.checked_add(len_bytes);
    if end.is_none_or(|end| i64::try_from(end).is_err()) {
        return Err(format!(
            "{len_bytes} bytes from the offset {offset_bytes} on lie beyond any disk"
        ));
    }
    let len = u32::try_from(len_bytes).ok().filter(|&len| len <= LEN_BYTES_MAX);
    len.ok_or_else(|| format!("a length of {len_bytes} bytes: no I/O has more than 1 GiB"))
}

/// The length of a trim, which moves no data.
///
/// # Errors
/// No disk could be asked for it.
fn trim_length(offset_bytes: u64, len_bytes: u64) -> Result<u32, String> {
    match u32::try_from(len_bytes) {
        Ok(len) if len > LEN_BYTES_MAX => length(offset_bytes.saturating_add(len_bytes), 0).map(|_| len),
        Ok(len) => length(offset_bytes, len.into()),
        Err(_) => Err(format!(
            "a trim of {len_bytes} bytes: 4 GiB and more is not one I/O"
        )),
    }
}

/// Whether times go on: noted line by line, record by record.
#[derive(Debug, Default)]
struct Order {
    latest_ns: u64,
}

impl Order {
    /// Takes the next time.
    ///
    /// # Errors
    /// It lies too far before an earlier one.
    fn take(&mut self, ns: u64) -> Result<(), String> {
        if ns.saturating_add(DISORDER_NS) < self.latest_ns {
            let back = (self.latest_ns - ns) as f64 / 1e9;
            return Err(format!(
                "its time lies {back:.3} s before an earlier one: sort the record by time first"
            ));
        }
        self.latest_ns = self.latest_ns.max(ns);
        Ok(())
    }
}

impl Reader {
    /// Reads `inputs` files of a format: one, but of blktrace one a processor.
    ///
    /// # Panics
    /// `format` is a run directory, or `inputs` is 0: callers have looked.
    pub fn new(format: RecordFormat, inputs: usize) -> Self {
        assert!(inputs > 0, "a record has a file");
        let parser = match format {
            RecordFormat::FioIolog => Parser::Iolog(iolog::Iolog::default()),
            RecordFormat::Blkparse => Parser::Blkparse(Box::default()),
            RecordFormat::Blktrace => Parser::Blktrace(Box::new(blktrace::Blktrace::new(inputs))),
            RecordFormat::MsrCambridge => Parser::Csv(csv::Csv::new(csv::Columns::Msr)),
            RecordFormat::Alibaba => Parser::Csv(csv::Csv::new(csv::Columns::Alibaba)),
            RecordFormat::Tencent => Parser::Csv(csv::Csv::new(csv::Columns::Tencent)),
            RecordFormat::FathomIos | RecordFormat::FathomRequests => {
                panic!("a run directory is no file of others")
            }
        };
        Self {
            parser,
            out: Out::default(),
        }
    }

    /// Which input it wants more of; `None`: all have ended.
    pub fn wants(&self) -> Option<usize> {
        match &self.parser {
            Parser::Iolog(one) => (!one.has_ended()).then_some(0),
            Parser::Blkparse(one) => (!one.has_ended()).then_some(0),
            Parser::Blktrace(many) => many.wants(),
            Parser::Csv(one) => (!one.has_ended()).then_some(0),
        }
    }

    /// Takes the next bytes of an input; none: it has ended.
    ///
    /// # Errors
    /// [`TraceError`].
    pub fn feed(&mut self, input: usize, bytes: &[u8]) -> Result<(), TraceError> {
        let out = &mut self.out;
        match &mut self.parser {
            Parser::Iolog(one) => one.feed(bytes, out),
            Parser::Blkparse(one) => one.feed(bytes, out),
            Parser::Blktrace(many) => many.feed(input, bytes, out),
            Parser::Csv(one) => one.feed(bytes, out),
        }
    }

    /// The I/Os of what was fed since the last call.
    pub fn take(&mut self) -> std::vec::Drain<'_, Row> {
        self.out.rows.drain(..)
    }

    /// The volumes met so far.
    pub fn volumes(&self) -> &[String] {
        &self.out.volumes.names
    }

    /// What was skipped so far: why, and how many.
    pub fn skipped(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        self.out.skipped.iter().map(|(&why, &n)| (why, n))
    }

    /// What is to be said of it; at its end.
    pub fn known(&self) -> Known {
        match &self.parser {
            Parser::Iolog(log) => Known {
                times: log.has_times(),
                ends: false,
                files: true,
            },
            Parser::Blkparse(text) => Known {
                times: true,
                ends: text.has_ends(),
                files: false,
            },
            Parser::Blktrace(trace) => Known {
                times: true,
                ends: trace.has_ends(),
                files: false,
            },
            Parser::Csv(csv) => Known {
                times: true,
                ends: csv.has_ends(),
                files: false,
            },
        }
    }
}

#[cfg(test)]
mod tests;

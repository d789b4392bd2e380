//! The errors of one worker: counted by kind, the first of each with its place; without allocation.
//!
//! Data in: failed I/Os. Data out: a short list. It must not know how errors are worded in a report.

use fathom_core::backend::{Errno, Op, Request};

/// Kinds of error a worker keeps apart; more are counted together.
const KINDS: usize = 16;

/// What failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum What {
    /// An I/O.
    Io(Op),
    /// A read that got nothing: the file is shorter than it was.
    EndOfFile(Op),
    /// The contents were not what was written.
    Mismatch,
    /// Something else, named.
    Other(&'static str),
}

/// A kind of error, and where it was first met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErrorEntry {
    /// What failed.
    pub what: What,
    /// The system's error; 0 where it had none.
    pub errno: Errno,
    /// How often.
    pub count: u64,
    /// The file of the first one.
    pub file: u32,
    /// Its offset in bytes.
    pub offset: u64,
    /// Its length in bytes.
    pub len: u32,
}

/// The errors of a worker.
#[derive(Debug, Clone, Default)]
pub struct ErrorLog {
    entries: [Option<ErrorEntry>; KINDS],
    /// Errors of kinds for which there was no room.
    pub others: u64,
}

impl ErrorLog {
    /// An I/O failed.
    pub fn add(&mut self, request: &Request, errno: Errno) {
        self.count(What::Io(request.op), errno, request);
    }
    /// A read got nothing.
    pub fn add_end_of_file(&mut self, request: &Request) {
        self.count(What::EndOfFile(request.op), Errno(0), request);
    }
    /// Verification found other contents.
    pub fn add_mismatch(&mut self, request: &Request) {
        self.count(What::Mismatch, Errno(0), request);
    }
    /// Something failed that is no I/O.
    pub fn add_other(&mut self, what: &'static str, errno: Errno) {
        let nowhere = Request {
            slot: 0,
            op: Op::Read,
            file: 0,
            offset: 0,
            len: 0,
        };
        self.count(What::Other(what), errno, &nowhere);
    }

    fn count(&mut self, what: What, errno: Errno, at: &Request) {
        for entry in &mut self.entries {
            match entry {
                Some(known) if known.what == what && known.errno == errno => {
                    known.count += 1;
                    return;
                }
                Some(_) => {}
                None => {
                    let (file, offset, len) = (at.file, at.offset, at.len);
                    *entry = Some(ErrorEntry {
                        what,
                        errno,
                        count: 1,
                        file,
                        offset,
                        len,
                    });
                    return;
                }
            }
        }
        self.others += 1;
    }

    /// The kinds met, in the order in which they were met.
    pub fn entries(&self) -> impl Iterator<Item = &ErrorEntry> {
        self.entries.iter().flatten()
    }
    /// Whether there was none.
    pub fn is_empty(&self) -> bool {
        self.entries[0].is_none()
    }
}

//! An export of an NBD server: a connection a worker, as many requests on it as there are slots.
//!
//! Data in: requests, and what a server answers, who is not trusted. Data out: completions. Nothing is allocated behind the
//! start; a server that says nothing for a while, or what nobody asked, ends the run.

mod export;

pub use export::{Export, agree};

use crate::backends::timeout;
use export::Wire;
use fathom_core::backend::{Backend, BackendError, Capabilities, Errno, Op, Outcome, Request, Submit};
use fathom_core::nbd::{RequestHeader, SimpleReply, Uri, can, command, flag};
use fathom_core::units::MonoTime;
use fathom_sys::arena::{Arena, PageKind};
use fathom_sys::clock::monotonic_ns;
use rustix::event::PollFlags;
use rustix::io::Errno as System;
use std::collections::VecDeque;
use std::io::{self, ErrorKind, IoSlice};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// So long a server may be silent while something is asked of it, and so long it may take to agree.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// What fails where the connection does.
const CALL: &str = "nbd";

/// What an export has to be able to do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wanted {
    pub writes: bool,
    /// Writes are complete when they are on the medium.
    pub forced: bool,
    /// The largest block of the load, in bytes.
    pub block_bytes: u64,
}

/// An export of a server.
#[derive(Debug)]
pub struct NbdBackend {
    wire: Wire,
    export: Export,
    forced: bool,
    arena: Arena,
    slots: Vec<Slot>,
    /// Slots that are still to be sent, in their order; of the first, so many bytes were.
    unsent: VecDeque<u32>,
    sent_bytes: usize,
    /// Requests without an answer.
    outstanding: u32,
    /// Requests that were made: with the slot, what a reply names.
    made: u32,
    header: [u8; SimpleReply::BYTES],
    /// Bytes of the header that were read, then of the data.
    read_bytes: usize,
    /// The read whose data comes.
    data_of: Option<u32>,
    /// When a server last did anything that was waited for.
    heard_ns: u64,
    patience: Duration,
}

/// What was asked in a slot.
#[derive(Debug, Clone, Copy)]
struct Slot {
    header: [u8; RequestHeader::BYTES],
    op: Op,
    len: u32,
    /// `None`: nothing is asked.
    cookie: Option<u64>,
}

impl NbdBackend {
    /// Connects to `uri`, for as many slots as `arena` has.
    ///
    /// # Errors
    /// Nobody serves it there, or the export cannot do what is wanted.
    pub fn connect(
        uri: &Uri,
        wanted: Wanted,
        depth: u32,
        arena: Arena,
        patience: Duration,
    ) -> io::Result<Self> {
        Self::agreed(export::open(uri, patience)?, wanted, depth, arena, patience)
    }

    /// The same over a connection to a server, which has said nothing yet, of the export of this name.
    ///
    /// # Errors
    /// As of [`NbdBackend::connect`].
    pub fn over(
        stream: UnixStream,
        name: &str,
        wanted: Wanted,
        depth: u32,
        arena: Arena,
        patience: Duration,
    ) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        let agreed = export::agreed(Wire::Unix(stream), name, patience)?;
        Self::agreed(agreed, wanted, depth, arena, patience)
    }

    fn agreed(
        (wire, export): (Wire, Export),
        wanted: Wanted,
        depth: u32,
        arena: Arena,
        patience: Duration,
    ) -> io::Result<Self> {
        let unfit = |words: String| Err(io::Error::new(ErrorKind::Unsupported, words));
        if wanted.writes && export.can & can::READ_ONLY != 0 {
            return unfit(String::from("the export is read-only"));
        }
        if wanted.forced && export.can & can::FUA == 0 {
            return unfit(String::from(
                "the server cannot write through (FUA): leave sync= out, and use fsync=",
            ));
        }
        if wanted.block_bytes > export.request_bytes_max.into() {
            return unfit(format!(
                "the server takes no blocks of more than {} bytes: lower bs",
                export.request_bytes_max
            ));
        }
        if !wanted.block_bytes.is_multiple_of(export.block_bytes.into()) {
            return unfit(format!(
                "the server takes multiples of {} bytes alone: change bs",
                export.block_bytes
            ));
        }
        let slot = Slot {
            header: [0; RequestHeader::BYTES],
            op: Op::Read,
            len: 0,
            cookie: None,
        };
        Ok(Self {
            wire,
            export,
            forced: wanted.forced,
            arena,
            slots: vec![slot; depth as usize],
            unsent: VecDeque::with_capacity(depth as usize),
            sent_bytes: 0,
            outstanding: 0,
            made: 0,
            header: [0; SimpleReply::BYTES],
            read_bytes: 0,
            data_of: None,
            heard_ns: monotonic_ns(),
            patience,
        })
    }

    /// What the server says of the export.
    pub fn export(&self) -> Export {
        self.export
    }

    /// Sends what the connection takes.
    fn send(&mut self) -> io::Result<()> {
        while let Some(&number) = self.unsent.front() {
            let slot = &self.slots[number as usize];
            let data: &[u8] = if slot.op == Op::Write {
                &self.arena.slot(number)[..slot.len as usize]
            } else {
                &[]
            };
            let header = slot.header.get(self.sent_bytes..).unwrap_or_default();
            let data_sent = self.sent_bytes.saturating_sub(RequestHeader::BYTES);
            let parts = [IoSlice::new(header), IoSlice::new(&data[data_sent..])];
            match self.wire.write(&parts) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(bytes) => {
                    self.sent_bytes += bytes;
                    self.heard_ns = monotonic_ns();
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            }
            if self.sent_bytes == RequestHeader::BYTES + data.len() {
                self.unsent.pop_front();
                self.sent_bytes = 0;
            }
        }
        Ok(())
    }

    /// Reads what has come, up to the end of one answer; `None`: there is none yet.
    fn receive(&mut self) -> io::Result<Option<(u32, Outcome)>> {
        loop {
            if let Some(number) = self.data_of {
                let len = self.slots[number as usize].len;
                let rest = &mut self.arena.slot_mut(number)[self.read_bytes..len as usize];
                if !rest.is_empty() {
                    let Some(bytes) = taken(self.wire.read(rest))? else {
                        return Ok(None);
                    };
                    self.read_bytes += bytes;
                    self.heard_ns = monotonic_ns();
                    continue;
                }
                self.data_of = None;
                self.read_bytes = 0;
                return Ok(Some(self.answered(number, Ok(len))));
            }
            let Some(bytes) = taken(self.wire.read(&mut self.header[self.read_bytes..]))? else {
                return Ok(None);
            };
            self.read_bytes += bytes;
            self.heard_ns = monotonic_ns();
            if self.read_bytes < SimpleReply::BYTES {
                continue;
            }
            self.read_bytes = 0;
            let reply = SimpleReply::from_bytes(&self.header).ok_or_else(|| lie("what is no reply"))?;
            // The low half is the slot.
            let number = reply.cookie as u32;
            let slot = self.slots.get(number as usize);
            let slot = slot.filter(|slot| slot.cookie == Some(reply.cookie));
            let slot = slot.ok_or_else(|| lie("an answer to what was not asked"))?;
            if reply.errno != 0 {
                return Ok(Some(self.answered(number, Err(errno(reply.errno)))));
            }
            if slot.op == Op::Read {
                self.data_of = Some(number);
                continue;
            }
            let len = slot.len;
            return Ok(Some(self.answered(number, Ok(len))));
        }
    }

    fn answered(&mut self, number: u32, outcome: Outcome) -> (u32, Outcome) {
        self.slots[number as usize].cookie = None;
        self.outstanding -= 1;
        (number, outcome)
    }

    /// Whether a write is answered that was not sent to its end: what is left of it would be taken for requests.
    fn is_ahead(&self, number: u32) -> bool {
        self.unsent.contains(&number)
    }
}

/// The bytes of a read; `None`: there are none yet.
fn taken(read: io::Result<usize>) -> io::Result<Option<usize>> {
    match read {
        Ok(0) => Err(io::Error::new(
            ErrorKind::ConnectionAborted,
            "the server ended the connection",
        )),
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Ok(None),
        Err(error) => Err(error),
    }
}

#[cold]
fn lie(what: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, format!("the server says {what}"))
}

/// The protocol's numbers are Linux's; others are failures all the same.
#[cold]
fn errno(number: u32) -> Errno {
    let known = matches!(number, 1 | 5 | 12 | 22 | 28 | 75 | 95 | 108);
    Errno(if known {
        number as i32
    } else {
        System::IO.raw_os_error()
    })
}

impl Backend for NbdBackend {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            asynchronous: true,
            has_buffers: true,
        }
    }

    #[inline]
    fn submit(&mut self, request: Request, _now: MonoTime) -> Submit {
        let (command, needs) = match request.op {
            Op::Read => (command::READ, 0),
            Op::Write => (command::WRITE, 0),
            Op::Trim => (command::TRIM, can::TRIM),
            Op::Sync | Op::DataSync => (command::FLUSH, can::FLUSH),
        };
        if self.export.can & needs != needs {
            return Submit::Done(match request.op {
                Op::Trim => Err(Errno(System::OPNOTSUPP.raw_os_error())),
                // There is no cache before the medium.
                _ => Ok(0),
            });
        }
        let forced = self.forced && matches!(request.op, Op::Write | Op::Trim);
        self.made = self.made.wrapping_add(1);
        let cookie = u64::from(self.made) << 32 | u64::from(request.slot);
        let flushes = command == command::FLUSH;
        let header = RequestHeader {
            flags: if forced { flag::FUA } else { 0 },
            command,
            cookie,
            offset_bytes: if flushes { 0 } else { request.offset },
            len_bytes: request.len,
        };
        self.slots[request.slot as usize] = Slot {
            header: header.to_bytes(),
            op: request.op,
            len: request.len,
            cookie: Some(cookie),
        };
        self.unsent.push_back(request.slot);
        if self.outstanding == 0 {
            self.heard_ns = monotonic_ns();
        }
        self.outstanding += 1;
        Submit::Queued
    }

    #[inline]
    fn commit(&mut self) -> Result<(), BackendError> {
        self.send().map_err(failed)
    }

    fn reap(
        &mut self,
        min: u32,
        max: u32,
        until: MonoTime,
        done: &mut impl FnMut(u32, Outcome),
    ) -> Result<u32, BackendError> {
        let mut count = 0;
        loop {
            self.send().map_err(failed)?;
            // No more than are waited for: each takes system calls, and meanwhile nothing would be sent.
            while count < min.max(1).min(max)
                && let Some((slot, outcome)) = self.receive().map_err(failed)?
            {
                if self.is_ahead(slot) {
                    return Err(failed(lie("an answer to what was not sent yet")));
                }
                done(slot, outcome);
                count += 1;
            }
            if count >= min.min(max) || self.outstanding == 0 {
                return Ok(count);
            }
            let silent = Duration::from_nanos(monotonic_ns().saturating_sub(self.heard_ns));
            let Some(left) = self.patience.checked_sub(silent).filter(|left| !left.is_zero()) else {
                let words = format!(
                    "the server has said nothing for {} s",
                    self.patience.as_secs_f64()
                );
                return Err(failed(io::Error::new(ErrorKind::TimedOut, words)));
            };
            let wait = timeout(until).map_or(left, |timeout| timeout.min(left));
            if wait.is_zero() {
                return Ok(count);
            }
            let writes = if self.unsent.is_empty() {
                PollFlags::empty()
            } else {
                PollFlags::OUT
            };
            self.wire.wait(PollFlags::IN | writes, wait).map_err(failed)?;
        }
    }

    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        self.arena.slot_mut(slot)
    }
}

#[cold]
fn failed(source: io::Error) -> BackendError {
    BackendError { call: CALL, source }
}

impl Drop for NbdBackend {
    fn drop(&mut self) {
        if self.unsent.is_empty() {
            let header = RequestHeader {
                flags: 0,
                command: command::DISCONNECT,
                cookie: 0,
                offset_bytes: 0,
                len_bytes: 0,
            };
            // A server that is not told sees the end of the connection.
            let _told = self.wire.write(&[IoSlice::new(&header.to_bytes())]);
        }
    }
}

/// What a server says of the export at `uri`.
///
/// # Errors
/// Nobody serves it there.
pub fn look(uri: &Uri) -> io::Result<Export> {
    export::open(uri, PATIENCE).map(|(_, export)| export)
}

/// Reads an export here and there, one read after the other.
#[derive(Debug)]
pub struct Reader {
    backend: NbdBackend,
    /// Where what is in the buffer begins.
    at: Option<u64>,
}

/// So much is read at a time.
const READER_BYTES: u64 = 64 << 10;

impl Reader {
    /// Connects to `uri`.
    ///
    /// # Errors
    /// Nobody serves it there.
    pub fn connect(uri: &Uri) -> io::Result<Self> {
        let arena = Arena::new(1, READER_BYTES as usize, PageKind::Normal)?;
        let backend = NbdBackend::connect(uri, Wanted::default(), 1, arena, PATIENCE)?;
        Ok(Self { backend, at: None })
    }

    /// Fills `bytes`, which lie in the export, with what is at `offset`.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn read_exact_at(&mut self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        let mut done = 0;
        while done < bytes.len() {
            let place = offset + done as u64;
            let begin = place - place % READER_BYTES;
            let held = self.hold(begin)?;
            let inside = (place - begin) as usize;
            let part = held.get(inside..).filter(|part| !part.is_empty());
            let part = part.ok_or(ErrorKind::UnexpectedEof)?;
            let count = part.len().min(bytes.len() - done);
            bytes[done..done + count].copy_from_slice(&part[..count]);
            done += count;
        }
        Ok(())
    }

    /// What lies at `begin`.
    fn hold(&mut self, begin: u64) -> io::Result<&[u8]> {
        let len = READER_BYTES.min(self.backend.export.size_bytes.saturating_sub(begin)) as u32;
        if self.at != Some(begin) && len > 0 {
            self.at = None;
            let request = Request {
                slot: 0,
                op: Op::Read,
                file: 0,
                offset: begin,
                len,
            };
            let _queued = self.backend.submit(request, MonoTime(0));
            let mut outcome = Ok(0);
            let reaped = self
                .backend
                .reap(1, 1, MonoTime::NEVER, &mut |_, answer| outcome = answer);
            reaped.map_err(|error| error.source)?;
            outcome.map_err(|errno| io::Error::from_raw_os_error(errno.0))?;
            self.at = Some(begin);
        }
        Ok(&self.backend.buffer(0)[..len as usize])
    }
}

#[cfg(test)]
mod tests;

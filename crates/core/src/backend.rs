//! What carries an I/O out: the contract between the measured loop and a backend.
//!
//! Data in: a prepared I/O in a numbered slot. Data out: completions of slots. Backends live in `engine`
//! (real ones, on `sys`) and in `model` (virtual time); neither knows the other, both know this trait.

use crate::units::MonoTime;
use std::fmt;

/// What an I/O does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum Op {
    /// Read `len` bytes at `offset`.
    Read = 0,
    /// Write `len` bytes at `offset`.
    Write = 1,
    /// Discard `len` bytes at `offset` (punch a hole where it is a file).
    Trim = 2,
    /// Flush the file's data and metadata (fsync).
    Sync = 3,
    /// Flush the file's data (fdatasync).
    DataSync = 4,
}

impl Op {
    /// The operations that transfer or discard data, in the order of fio's `a,b,c` lists.
    pub const DATA: [Self; 3] = [Self::Read, Self::Write, Self::Trim];

    /// Where this operation is counted: 0 read, 1 write, 2 trim, 3 both kinds of sync.
    #[inline]
    pub const fn index(self) -> usize {
        match self {
            Self::Read => 0,
            Self::Write => 1,
            Self::Trim => 2,
            Self::Sync | Self::DataSync => 3,
        }
    }
    /// `read`, `write`, `trim` or `sync`.
    pub const fn name(self) -> &'static str {
        ["read", "write", "trim", "sync"][self.index()]
    }
}

/// One I/O as a backend sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// The slot that holds its buffer and its stamps; `0..iodepth`, not in flight now.
    pub slot: u32,
    /// What to do.
    pub op: Op,
    /// Which of the job's files, in the order in which the backend was given them.
    pub file: u32,
    /// Where, in bytes from the start of the file.
    pub offset: u64,
    /// How much, in bytes; 0 for a sync.
    pub len: u32,
}

/// An error of one I/O: the positive `errno` that the system gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Errno(pub i32);

impl fmt::Display for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", std::io::Error::from_raw_os_error(self.0))
    }
}

/// How an I/O ended: the bytes that it moved, or the error.
pub type Outcome = Result<u32, Errno>;

/// What became of a submission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Submit {
    /// It is complete already (synchronous engines).
    Done(Outcome),
    /// It is under way or waits for [`Backend::commit`]; [`Backend::reap`] will report it.
    Queued,
    /// There was no room; submit it again after a reap. A value, not an error.
    Busy,
}

/// What a backend can do; fixed when it is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    /// `false` where `submit` completes each I/O before it returns: there is then no submission latency
    /// and never more than one I/O in flight.
    pub asynchronous: bool,
    /// Whether buffers exist that the loop should fill and verify (not for null and modelled disks).
    pub has_buffers: bool,
}

/// A part of a file that is written back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartSync {
    pub bytes: u64,
    /// Of the system call.
    pub flags: u32,
}

/// A failure of the backend itself, not of one I/O: the run cannot go on.
#[derive(Debug)]
pub struct BackendError {
    /// What was being done, as in `io_uring_enter`.
    pub call: &'static str,
    /// What the system said.
    pub source: std::io::Error,
}

impl fmt::Display for BackendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} failed: {}", self.call, self.source)
    }
}

impl std::error::Error for BackendError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

/// Carries I/Os out. Between the start and the stop of a run no method may allocate, lock, log or format.
pub trait Backend {
    /// What it can do.
    fn capabilities(&self) -> Capabilities;

    /// Takes one I/O. `now` is the time of its creation, for backends that live in virtual time.
    fn submit(&mut self, request: Request, now: MonoTime) -> Submit;

    /// Called once, when its job begins and before its time counts: waits for who has to be there, for instance.
    ///
    /// # Errors
    /// There will be no I/O.
    fn begin(&mut self) -> Result<(), BackendError> {
        Ok(())
    }

    /// The next I/O taken has this priority of its own ([`crate::workload::IoPriority::number`]); 0: that of its thread.
    /// Does nothing where priorities belong to threads alone.
    #[inline]
    fn prioritise(&mut self, priority: u16) {
        let _ = priority;
    }

    /// The next [`Op::DataSync`] taken is one of so many bytes from its offset, by `sync_file_range(2)` with these flags. Where
    /// nothing is written back, it does nothing.
    #[inline]
    fn sync_part(&mut self, part: PartSync) {
        let _ = part;
    }

    /// Takes these files in place of those it has, of which nothing is in flight.
    ///
    /// # Errors
    /// It cannot.
    fn take_files(&mut self, files: Vec<std::os::fd::OwnedFd>) -> std::io::Result<()> {
        let _ = files;
        Err(std::io::Error::from(std::io::ErrorKind::Unsupported))
    }

    /// Hands to the system what was queued since the last commit (one system call for the batch). Does nothing
    /// unless a backend says otherwise: where `submit` completes each I/O, nothing waits.
    ///
    /// # Errors
    /// The queue itself failed; nothing that was queued is lost silently: the run ends.
    #[inline]
    fn commit(&mut self) -> Result<(), BackendError> {
        Ok(())
    }

    /// Reports completions to `done(slot, outcome)`, as soon as each is seen, waiting until at least `min`
    /// were reported or `until` has passed ([`MonoTime::NEVER`]: no limit; with `min` 0: never waits).
    /// At most `max` are reported. Returns how many were; none, unless a backend says otherwise: one that never
    /// answers [`Submit::Queued`] has nothing to report.
    ///
    /// # Errors
    /// The queue itself failed.
    #[inline]
    fn reap(
        &mut self,
        min: u32,
        max: u32,
        until: MonoTime,
        done: &mut impl FnMut(u32, Outcome),
    ) -> Result<u32, BackendError>
    where
        Self: Sized,
    {
        let _ = (min, max, until, done);
        Ok(0)
    }

    /// After the loop: blocks that were sent to it and have not come.
    fn lost(&self) -> u64 {
        0
    }

    /// After the loop: what the backend knows of the I/Os on `file` that failed with `errno`, beyond the errno, in
    /// words.
    fn remark(&self, file: u32, errno: Errno) -> Option<String> {
        let _ = (file, errno);
        None
    }

    /// The buffer of a slot that is not in flight. Empty where there are none.
    fn buffer(&mut self, slot: u32) -> &mut [u8];
}

//! An I/O, from the door that hands it in to the data that it moves.
//!
//! Data in: what is asked for. Data out: the data, or the error. It must not know when it is answered.

use crate::store::{Receipt, Store};
use fathom_core::backend::{Errno, Op};
use fathom_core::record::Comm;

/// `EIO`: all that a disk that is gone says.
pub(super) const EIO: Errno = Errno(5);
pub(super) const EINVAL: Errno = Errno(22);
/// No request is longer; trims may be.
pub(super) const LEN_MAX: u64 = u32::MAX as u64;
/// What a trim counts as, whatever its length: one I/O that moves no data.
pub(super) const TRIM_COUNTS_BYTES: u32 = 4096;

/// What becomes of an I/O: the data of a read (behind the room that was asked for), or the error.
pub type Outcome = Result<Vec<u8>, Errno>;
/// Takes the outcome to who asked. Called from the timer's thread: it must not wait.
pub type Answer = Box<dyn FnOnce(Outcome) + Send>;

/// An I/O, as a door hands it in.
#[derive(Debug, Clone, Copy)]
pub struct Io<'a> {
    /// The number of its disk.
    pub disk: usize,
    pub offset_bytes: u64,
    pub kind: IoKind<'a>,
    /// Who asked, as far as the door knows.
    pub pid: u32,
    pub comm: Comm,
}

#[derive(Debug, Clone, Copy)]
pub enum IoKind<'a> {
    /// `headroom` bytes come before the data in the answer.
    Read {
        len_bytes: u32,
        headroom: usize,
    },
    /// `forced`: on the medium when it is complete.
    Write {
        data: &'a [u8],
        forced: bool,
    },
    /// Zeros, by giving the range back.
    Trim {
        len_bytes: u64,
    },
    Flush,
}

impl IoKind<'_> {
    pub(super) fn op(&self) -> Op {
        match self {
            Self::Read { .. } => Op::Read,
            Self::Write { .. } => Op::Write,
            Self::Trim { .. } => Op::Trim,
            Self::Flush => Op::Sync,
        }
    }

    pub(super) fn len_bytes(&self) -> u64 {
        match self {
            Self::Read { len_bytes, .. } => u64::from(*len_bytes),
            Self::Write { data, .. } => data.len() as u64,
            Self::Trim { len_bytes } => *len_bytes,
            Self::Flush => 0,
        }
    }
}

/// Moves the data of an I/O.
pub(super) fn carry(store: &Store, io: &Io<'_>) -> (Outcome, Receipt) {
    let done = match io.kind {
        IoKind::Read { len_bytes, headroom } => {
            let mut data = vec![0; headroom + len_bytes as usize];
            store
                .read(io.offset_bytes, &mut data[headroom..])
                .map(|()| (data, Receipt::Nothing))
        }
        IoKind::Write { data, forced } => store
            .write(io.offset_bytes, data, forced)
            .map(|receipt| (Vec::new(), receipt)),
        IoKind::Trim { len_bytes } => store
            .trim(io.offset_bytes, len_bytes)
            .map(|receipt| (Vec::new(), receipt)),
        IoKind::Flush => Ok((Vec::new(), store.flush())),
    };
    match done {
        Ok((data, receipt)) => (Ok(data), receipt),
        Err(error) => (Err(error.raw_os_error().map_or(EIO, Errno)), Receipt::Nothing),
    }
}

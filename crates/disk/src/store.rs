//! The data of a disk: in memory or in a sparse file, with a write cache that a power cut can empty.
//!
//! Data in: reads, writes, trims; when each write is complete, when a flush is. Data out: the data; after a power cut, data of
//! which all that was flushed survives, and of the rest what a seed says: each write whole, lost, or torn by sectors. It must not
//! know how long anything takes, or who asks.

mod journal;

use fathom_door::backing;
use journal::Journal;
use rustix::fs::SeekFrom;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::sync::{Mutex, MutexGuard, PoisonError};

pub use journal::{Cut, FlushMark};

/// What holds a disk's data.
#[derive(Debug)]
pub struct Store {
    file: File,
    size_bytes: u64,
    /// `None`: each write is on the medium at once.
    cache: Option<Mutex<Journal>>,
}

/// What the store is to be told of when an I/O is complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Receipt {
    /// Nothing.
    Nothing,
    /// A write of this number, in the cache.
    Cached(u64),
    /// A write of this number that is to be on the medium when it is complete.
    Forced(u64),
    /// A flush.
    Flush(FlushMark),
}

impl Store {
    /// Over `file`, which has `size_bytes`, with a write cache of so many bytes (0: none).
    pub fn new(file: File, size_bytes: u64, cache_bytes: u64) -> Self {
        Self {
            file,
            size_bytes,
            cache: (cache_bytes > 0).then(|| Mutex::new(Journal::new(cache_bytes))),
        }
    }

    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn journal(&self) -> Option<MutexGuard<'_, Journal>> {
        let cache = self.cache.as_ref()?;
        Some(cache.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads what is at `offset`.
    ///
    /// # Errors
    /// The system refused.
    pub fn read(&self, offset_bytes: u64, data: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(data, offset_bytes)
    }

    /// Writes. `forced`: it is on the medium when it is complete.
    ///
    /// # Errors
    /// The system refused: what is there is then not known.
    pub fn write(&self, offset_bytes: u64, data: &[u8], forced: bool) -> io::Result<Receipt> {
        let Some(mut journal) = self.journal() else {
            self.file.write_all_at(data, offset_bytes)?;
            return Ok(Receipt::Nothing);
        };
        // Under the lock: of two writes to one place, the later one is the later one of the journal too.
        let mut before = vec![0; data.len()];
        self.file.read_exact_at(&mut before, offset_bytes)?;
        self.file.write_all_at(data, offset_bytes)?;
        let number = journal.wrote(offset_bytes, before);
        Ok(if forced {
            Receipt::Forced(number)
        } else {
            Receipt::Cached(number)
        })
    }

    /// Gives a range back: it reads as zeros, also after a power cut.
    ///
    /// # Errors
    /// The system refused.
    pub fn trim(&self, offset_bytes: u64, len_bytes: u64) -> io::Result<Receipt> {
        let journal = self.journal();
        if len_bytes > 0 {
            backing::punch(&self.file, offset_bytes, len_bytes)?;
        }
        if let Some(mut journal) = journal {
            journal.trimmed(offset_bytes, len_bytes);
        }
        Ok(Receipt::Nothing)
    }

    /// A flush begins: it is of all that is complete by now.
    pub fn flush(&self) -> Receipt {
        self.journal()
            .map_or(Receipt::Nothing, |journal| Receipt::Flush(journal.mark()))
    }

    /// An I/O is over. `keeps`: whether flushes and forced writes do what they promise.
    pub fn complete(&self, receipt: &Receipt, keeps: bool) {
        if *receipt == Receipt::Nothing {
            return;
        }
        let Some(mut journal) = self.journal() else { return };
        match receipt {
            Receipt::Forced(number) if keeps => journal.kept(*number),
            Receipt::Cached(number) | Receipt::Forced(number) => journal.completed(*number),
            Receipt::Flush(mark) if keeps => journal.flushed(mark),
            Receipt::Nothing | Receipt::Flush(_) => {}
        }
    }

    /// The power is gone and back: what was in the cache is whole, lost or torn, by `seed`. Nothing may be under way.
    ///
    /// # Errors
    /// The system refused: what is there is then not known.
    pub fn cut(&self, seed: u64) -> io::Result<Cut> {
        match self.journal() {
            Some(mut journal) => journal.cut(seed, &self.file),
            None => Ok(Cut::default()),
        }
    }

    /// Bytes that a power cut could take.
    pub fn unflushed_bytes(&self) -> u64 {
        self.journal().map_or(0, |journal| journal.unflushed_bytes())
    }

    /// Whether what is at `offset` was never written, and up to where that is so of what follows, within `len`.
    ///
    /// # Errors
    /// The system cannot tell.
    pub fn extent(&self, offset_bytes: u64, len_bytes: u64) -> io::Result<(bool, u64)> {
        let end = (offset_bytes + len_bytes).min(self.size_bytes);
        let seek = |to| match rustix::fs::seek(&self.file, to) {
            Ok(at) => Ok(at.min(end)),
            Err(rustix::io::Errno::NXIO) => Ok(end),
            Err(error) => Err(io::Error::from(error)),
        };
        let data = seek(SeekFrom::Data(offset_bytes))?;
        if data > offset_bytes {
            return Ok((true, data - offset_bytes));
        }
        Ok((
            false,
            seek(SeekFrom::Hole(offset_bytes))?.max(offset_bytes + 1) - offset_bytes,
        ))
    }
}

#[cfg(test)]
mod tests;

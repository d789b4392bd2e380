//! One sub-buffer of the kernel's ring buffer, as `trace_pipe_raw` gives it.
//!
//! Duty: split a page into records with their times. Data in: bytes, untrusted, and the layout from
//! `events/header_page`. Data out: [`Record`]. It must not know any event.
//!
//! The encoding (`include/linux/ring_buffer.h`, `kernel/trace/ring_buffer.c`): the page's own time, then the number of
//! bytes in use with two flags, then records. A record begins with 32 bits: 5 of a kind, 27 of the nanoseconds since
//! the record before it. Kinds 1 to 28 are a length in words of 4 bytes, 0 says that the length is in the next word,
//! 29 is padding, 30 more of the time's difference, 31 a time of its own.

use super::format::{self, Field, FormatError};
use std::ops::Range;
use thiserror::Error;

/// The two flags in the number of bytes in use: events were lost before this page, and their number follows the data
/// (`RB_MISSED_EVENTS`, `RB_MISSED_STORED`).
const MISSED: u32 = 1 << 31;
const COMMIT: u32 = (1 << 30) - 1;

const PADDING: u32 = 29;
const TIME_EXTEND: u32 = 30;
const TIME_STAMP: u32 = 31;
/// A record's time of its own has 59 bits; the rest is that of the time before (`TS_MSB`).
const STAMP_BITS: u32 = 59;
/// Sub-buffers larger than this are not believed: the kernel's largest is order 5 of 64 KiB pages.
const PAGE_MAX: usize = 8 << 20;

/// Where things are in a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageLayout {
    timestamp: Range<usize>,
    commit: Range<usize>,
    data: Range<usize>,
}

/// Why pages cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum LayoutError {
    /// A line is not of the known shape.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// A field that is needed is missing or impossible.
    #[error("its field `{0}` is missing or of an impossible size")]
    Missing(&'static str),
}

impl PageLayout {
    /// Reads the text of `events/header_page`.
    ///
    /// # Errors
    /// A field is missing or impossible.
    pub fn parse(text: &str) -> Result<Self, LayoutError> {
        let fields = format::fields(text)?;
        let place = |name: &'static str| -> Result<Range<usize>, LayoutError> {
            let field = fields.iter().find(|field| field.name == name);
            let range = |field: &Field| field.offset as usize..field.end();
            field.map(range).ok_or(LayoutError::Missing(name))
        };
        let layout = Self {
            timestamp: place("timestamp")?,
            commit: place("commit")?,
            data: place("data")?,
        };
        if layout.timestamp.len() != 8 {
            return Err(LayoutError::Missing("timestamp"));
        }
        // `local_t`: 4 bytes on a 32-bit kernel.
        if !matches!(layout.commit.len(), 4 | 8) {
            return Err(LayoutError::Missing("commit"));
        }
        if layout.data.is_empty() || layout.data.end > PAGE_MAX {
            return Err(LayoutError::Missing("data"));
        }
        Ok(layout)
    }

    /// The same with pages of `bytes` in all, for instances that have larger ones.
    #[must_use]
    pub fn with_page_bytes(mut self, bytes: usize) -> Self {
        if bytes > self.data.start && bytes <= PAGE_MAX {
            self.data.end = bytes;
        }
        self
    }

    /// How long a page is, in bytes.
    pub fn page_bytes(&self) -> usize {
        self.data.end.max(self.timestamp.end).max(self.commit.end)
    }

    /// The most bytes of records that a page holds.
    pub fn data_bytes(&self) -> usize {
        self.data.len()
    }

    /// The records of `page`. A page that is too short or says impossible things of itself has none, and is torn.
    pub fn records<'a>(&self, page: &'a [u8]) -> Records<'a> {
        let word = |range: &Range<usize>| page.get(range.clone());
        let time = word(&self.timestamp).and_then(|bytes| bytes.try_into().ok());
        let commit = word(&self.commit).map(low_word);
        let (Some(time), Some(commit)) = (time.map(u64::from_ne_bytes), commit) else {
            return Records::torn();
        };
        let end = self.data.start + (commit & COMMIT) as usize;
        let data = page.get(self.data.start..end).filter(|_| end <= self.data.end);
        Records {
            data: data.unwrap_or(&[]),
            time_ns: time,
            missed: commit & MISSED != 0,
            torn: data.is_none(),
        }
    }
}

/// The low 32 bits of a number of 4 or 8 bytes.
fn low_word(bytes: &[u8]) -> u32 {
    if let Ok(bytes) = bytes.try_into() {
        return u64::from_ne_bytes(bytes) as u32;
    }
    bytes.try_into().map_or(0, u32::from_ne_bytes)
}

/// One event's record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record<'a> {
    /// When, on the instance's clock.
    pub time_ns: u64,
    /// Its bytes: the fields that its format describes, and up to 3 bytes of filling.
    pub payload: &'a [u8],
}

/// The records of one page, in the order in which they were written.
#[derive(Debug, Clone)]
pub struct Records<'a> {
    data: &'a [u8],
    time_ns: u64,
    missed: bool,
    torn: bool,
}

impl<'a> Records<'a> {
    fn torn() -> Self {
        Self {
            data: &[],
            time_ns: 0,
            missed: false,
            torn: true,
        }
    }

    /// Whether events were lost between the page before and this one.
    pub fn missed(&self) -> bool {
        self.missed
    }

    /// The page's own time, or that of the last record given.
    pub fn time_ns(&self) -> u64 {
        self.time_ns
    }

    /// Whether the page broke off where a record was to be. Known once `next` has given `None`.
    pub fn is_torn(&self) -> bool {
        self.torn
    }

    /// Takes `count` bytes off the front.
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let Some((taken, rest)) = self.data.split_at_checked(count) else {
            self.stop();
            self.torn = true;
            return None;
        };
        self.data = rest;
        Some(taken)
    }

    fn word(&mut self) -> Option<u32> {
        let bytes = self.take(4)?;
        Some(u32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    fn stop(&mut self) {
        self.data = &[];
    }

    fn padding(&mut self, delta: u64) -> Option<()> {
        if delta == 0 {
            // The rest of the page is empty.
            self.stop();
            return Some(());
        }
        // A discarded event: its length without the first word.
        let length = self.word()? as usize;
        self.take(length.checked_sub(4).unwrap_or(usize::MAX))?;
        self.time_ns = self.time_ns.wrapping_add(delta);
        Some(())
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Record<'a>;

    #[inline]
    fn next(&mut self) -> Option<Record<'a>> {
        while !self.data.is_empty() {
            let head = self.word()?;
            // The order of the two bit fields follows the machine's byte order.
            let (kind, delta) = if cfg!(target_endian = "little") {
                (head & 31, u64::from(head >> 5))
            } else {
                (head >> 27, u64::from(head & ((1 << 27) - 1)))
            };
            let length = match kind {
                PADDING => {
                    self.padding(delta)?;
                    continue;
                }
                TIME_EXTEND => {
                    let more = (u64::from(self.word()?) << 27) + delta;
                    self.time_ns = self.time_ns.wrapping_add(more);
                    continue;
                }
                TIME_STAMP => {
                    let stamp = (u64::from(self.word()?) << 27) + delta;
                    self.time_ns = (self.time_ns >> STAMP_BITS << STAMP_BITS) | stamp;
                    continue;
                }
                // The length counts its own word.
                0 => (self.word()? as usize).checked_sub(4).unwrap_or(usize::MAX),
                words => words as usize * 4,
            };
            // Rounded up: records begin at a word.
            let payload = self.take(length.checked_next_multiple_of(4).unwrap_or(usize::MAX))?;
            self.time_ns = self.time_ns.wrapping_add(delta);
            return Some(Record {
                time_ns: self.time_ns,
                payload,
            });
        }
        None
    }
}

#[cfg(test)]
mod tests;

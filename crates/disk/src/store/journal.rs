//! What a write cache holds: of each write that is not on the medium, what was there before.
//!
//! Data in: writes in the order in which they were made, which are complete, flushes. Data out: at a power cut, the medium as it
//! was, with what survives. Memory is bounded: beyond its size the cache writes its oldest to the medium, as a disk's does. It
//! must not know time.

use fathom_core::rng::Rng;
use fathom_door::backing;
use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

/// What is written whole or not at all.
const SECTOR_BYTES: u64 = 512;
/// What an entry takes beside its bytes.
const ENTRY_BYTES: u64 = 64;

#[derive(Debug)]
pub(super) struct Journal {
    entries: VecDeque<Entry>,
    /// The number of the first entry.
    first: u64,
    bytes: u64,
    bytes_max: u64,
}

#[derive(Debug)]
struct Entry {
    offset_bytes: u64,
    what: What,
    state: State,
}

#[derive(Debug)]
enum What {
    /// A write, with what was there before.
    Write(Vec<u8>),
    /// A range that is zeros, whatever happens.
    Trim(u64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    UnderWay,
    Complete,
    /// On the medium.
    Kept,
}

/// What a flush is of: all that was complete when it began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlushMark {
    /// Up to this number …
    before: u64,
    /// … but for these.
    except: Vec<u64>,
}

/// What became of the writes that were in the cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Cut {
    /// On the medium before the cut, and in the cache behind others.
    pub flushed: u64,
    pub kept: u64,
    pub lost: u64,
    /// Some of whose sectors are there and some are not.
    pub torn: u64,
}

impl Journal {
    pub(super) fn new(bytes_max: u64) -> Self {
        Self {
            entries: VecDeque::new(),
            first: 0,
            bytes: 0,
            bytes_max,
        }
    }

    pub(super) fn unflushed_bytes(&self) -> u64 {
        self.bytes
    }

    fn push(&mut self, entry: Entry) -> u64 {
        self.bytes += size(&entry);
        self.entries.push_back(entry);
        self.first + self.entries.len() as u64 - 1
    }

    /// A write was made; its number.
    pub(super) fn wrote(&mut self, offset_bytes: u64, before: Vec<u8>) -> u64 {
        self.push(Entry {
            offset_bytes,
            what: What::Write(before),
            state: State::UnderWay,
        })
    }

    /// A range was trimmed, which is on the medium at once. What is in the cache behind older writes must be, or a power cut would
    /// bring them back.
    pub(super) fn trimmed(&mut self, offset_bytes: u64, len_bytes: u64) {
        if !self.entries.is_empty() {
            self.push(Entry {
                offset_bytes,
                what: What::Trim(len_bytes),
                state: State::Kept,
            });
        }
    }

    fn entry(&mut self, number: u64) -> Option<&mut Entry> {
        let at = usize::try_from(number.checked_sub(self.first)?).ok()?;
        self.entries.get_mut(at)
    }

    /// A write is complete, and in the cache.
    pub(super) fn completed(&mut self, number: u64) {
        if let Some(entry) = self.entry(number)
            && entry.state == State::UnderWay
        {
            entry.state = State::Complete;
        }
        self.bound();
    }

    /// A write is complete, and on the medium.
    pub(super) fn kept(&mut self, number: u64) {
        if let Some(entry) = self.entry(number) {
            entry.state = State::Kept;
        }
        self.forget();
    }

    /// What a flush that begins now is of.
    pub(super) fn mark(&self) -> FlushMark {
        let under_way = |(number, entry): (u64, &Entry)| (entry.state == State::UnderWay).then_some(number);
        FlushMark {
            before: self.first + self.entries.len() as u64,
            except: (self.first..).zip(&self.entries).filter_map(under_way).collect(),
        }
    }

    /// A flush is complete.
    pub(super) fn flushed(&mut self, mark: &FlushMark) {
        let mut except = mark.except.iter().peekable();
        for (number, entry) in (self.first..mark.before).zip(&mut self.entries) {
            while except.next_if(|&&other| other < number).is_some() {}
            if except.peek() != Some(&&number) {
                entry.state = State::Kept;
            }
        }
        self.forget();
    }

    /// Forgets what is on the medium and nothing older waits before.
    fn forget(&mut self) {
        while let Some(entry) = self.entries.front()
            && entry.state == State::Kept
        {
            self.bytes -= size(entry);
            self.entries.pop_front();
            self.first += 1;
        }
    }

    /// Writes the oldest to the medium until what is left fits.
    fn bound(&mut self) {
        if self.bytes <= self.bytes_max {
            return;
        }
        let mut left = self.bytes - self.bytes_max;
        for entry in &mut self.entries {
            if entry.state == State::Complete {
                entry.state = State::Kept;
            }
            left = left.saturating_sub(size(entry));
            if left == 0 {
                break;
            }
        }
        self.forget();
    }

    /// Goes back to what is on the medium, then forward again with what survives.
    pub(super) fn cut(&mut self, seed: u64, file: &File) -> io::Result<Cut> {
        let mut after: Vec<Vec<u8>> = Vec::with_capacity(self.entries.len());
        for entry in self.entries.iter().rev() {
            let mut written = Vec::new();
            if let What::Write(before) = &entry.what {
                written.resize(before.len(), 0);
                file.read_exact_at(&mut written, entry.offset_bytes)?;
                file.write_all_at(before, entry.offset_bytes)?;
            }
            after.push(written);
        }
        let mut cut = Cut::default();
        let mut rng = Rng::new(seed);
        for (entry, written) in self.entries.iter().zip(after.iter().rev()) {
            match (&entry.what, entry.state) {
                (What::Trim(len), _) if *len > 0 => backing::punch(file, entry.offset_bytes, *len)?,
                (What::Trim(_), _) => {}
                (What::Write(_), State::Kept) => {
                    cut.flushed += 1;
                    file.write_all_at(written, entry.offset_bytes)?;
                }
                (What::Write(_), _) => match rng.below(3) {
                    0 => cut.lost += 1,
                    1 => {
                        cut.kept += 1;
                        file.write_all_at(written, entry.offset_bytes)?;
                    }
                    _ => {
                        cut.torn += 1;
                        tear(entry.offset_bytes, written, &mut rng, file)?;
                    }
                },
            }
        }
        self.first += self.entries.len() as u64;
        self.entries.clear();
        self.bytes = 0;
        Ok(cut)
    }
}

/// Writes some of the sectors.
fn tear(offset_bytes: u64, written: &[u8], rng: &mut Rng, file: &File) -> io::Result<()> {
    let mut at = 0;
    while at < written.len() {
        let place = offset_bytes + at as u64;
        let whole = (SECTOR_BYTES - place % SECTOR_BYTES) as usize;
        let end = (at + whole).min(written.len());
        if rng.below(2) == 0 {
            file.write_all_at(&written[at..end], place)?;
        }
        at = end;
    }
    Ok(())
}

fn size(entry: &Entry) -> u64 {
    let data = match &entry.what {
        What::Write(before) => before.len() as u64,
        What::Trim(_) => 0,
    };
    data + ENTRY_BYTES
}

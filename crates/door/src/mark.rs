//! The mark on files that fathom made: what it was given for, so that it does not outlive the content.
//!
//! Data in: a file of fathom's that is written to, or was. Data out: the mark, and whether it still holds. It must not
//! decide what follows.
//!
//! A copy over a file keeps the file's attributes, and so do a file system made in it and a loop device over it. The mark
//! therefore says what the file was when fathom last wrote to it: its size, when it was last modified, and a digest of
//! blocks at places all over it. While it is written to, the mark says since when and until when that is so; fathom
//! prolongs it, so that the mark of a killed run holds no longer than the run did, but for one period.

use rustix::fs::{Advice, XattrFlags, fadvise, fgetxattr, fsetxattr};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use xxhash_rust::xxh64::Xxh64;

/// The extended attribute that says that fathom made a file.
pub const MARK: &str = "user.fathom.made";

/// Blocks whose contents a mark knows, and how long each is.
const SAMPLES: u64 = 3;
const SAMPLE_BYTES: u64 = 4096;
/// Marks are short: what is longer is not ours.
const LONGEST_BYTES: usize = 64;

/// What a mark says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// Nobody writes to it: so it was when fathom was done with it.
    Sealed {
        size_bytes: u64,
        /// When it was last modified, in ns since 1970.
        modified_ns: i64,
        /// Of the blocks sampled.
        digest: u64,
        /// No part of its inode was changed after this, in ns since 1970: nobody can set that time.
        sealed_ns: i64,
    },
    /// A run writes to it, or did until it was killed.
    Open {
        /// The largest size that the run gives it, in bytes.
        size_bytes: u64,
        /// When it was last modified before the run, in ns since 1970.
        before_ns: i64,
        /// Since when the run writes, in ns since 1970.
        since_ns: i64,
        /// Until when it is known to have done so, in ns since 1970.
        until_ns: i64,
    },
}

/// Whether the mark of a file still tells the truth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// There is none: fathom did not make the file.
    Unmarked,
    /// Its file system has no user attributes, and so no marks: whether fathom made it cannot be told.
    NoMarks,
    /// All that is in the file is fathom's.
    Made,
    /// Fathom made the file, and somebody else has written to it since.
    Changed,
}

/// The version of the form below, and what it is of.
const SEALED: &[u8; 2] = b"2s";
const OPEN: &[u8; 2] = b"2o";

impl Mark {
    /// Two letters, then numbers of 8 bytes: short enough for ext4 to keep it in the inode itself, so that prolonging it
    /// writes no block that a change of the file's time would not write anyway.
    fn encode(&self) -> Vec<u8> {
        let (kind, numbers) = match *self {
            Self::Sealed {
                size_bytes,
                modified_ns,
                digest,
                sealed_ns,
            } => (
                SEALED,
                vec![size_bytes, modified_ns as u64, digest, sealed_ns as u64],
            ),
            Self::Open {
                size_bytes,
                before_ns,
                since_ns,
                until_ns,
            } => (
                OPEN,
                vec![size_bytes, before_ns as u64, since_ns as u64, until_ns as u64],
            ),
        };
        let mut bytes = kind.to_vec();
        bytes.extend(numbers.into_iter().flat_map(u64::to_le_bytes));
        bytes
    }

    /// `None`: of another version, or not ours.
    fn decode(bytes: &[u8]) -> Option<Self> {
        let (kind, rest) = bytes.split_first_chunk::<2>()?;
        let (numbers, left_over) = rest.as_chunks::<8>();
        if !left_over.is_empty() {
            return None;
        }
        let number = |at: usize| numbers.get(at).map(|bytes| u64::from_le_bytes(*bytes));
        let time = |at: usize| number(at).map(|number| number as i64);
        match (kind, numbers.len()) {
            (SEALED, 4) => Some(Self::Sealed {
                size_bytes: number(0)?,
                modified_ns: time(1)?,
                digest: number(2)?,
                sealed_ns: time(3)?,
            }),
            (OPEN, 4) => Some(Self::Open {
                size_bytes: number(0)?,
                before_ns: time(1)?,
                since_ns: time(2)?,
                until_ns: time(3)?,
            }),
            _ => None,
        }
    }

    fn holds(&self, file: &File) -> io::Result<bool> {
        let metadata = file.metadata()?;
        let (now_ns, changed_ns) = (modified_ns(&metadata), changed_ns(&metadata));
        match *self {
            Self::Sealed {
                size_bytes,
                modified_ns,
                digest,
                sealed_ns,
            } => Ok(metadata.len() == size_bytes
                && now_ns == modified_ns
                && changed_ns <= sealed_ns
                && digest == digest_of(file)?),
            Self::Open {
                size_bytes,
                before_ns,
                since_ns,
                until_ns,
            } => {
                let written_by_it = (since_ns..=until_ns).contains(&now_ns);
                let in_time = changed_ns <= until_ns;
                Ok(metadata.len() <= size_bytes && in_time && (now_ns == before_ns || written_by_it))
            }
        }
    }
}

/// Whether fathom made a file, and nobody else wrote to it since.
///
/// # Errors
/// Its attributes or its contents cannot be read.
pub fn standing(file: &File) -> io::Result<Standing> {
    let mut value = [0u8; LONGEST_BYTES];
    let length = match fgetxattr(file, MARK, &mut value[..]) {
        Ok(length) => length,
        Err(Errno::NODATA) => return Ok(Standing::Unmarked),
        Err(Errno::OPNOTSUPP) => return Ok(Standing::NoMarks),
        // A longer value than any that is ours.
        Err(Errno::RANGE) => return Ok(Standing::Changed),
        Err(error) => return Err(error.into()),
    };
    let holds = match value.get(..length).and_then(Mark::decode) {
        Some(mark) => mark.holds(file)?,
        None => false,
    };
    Ok(if holds { Standing::Made } else { Standing::Changed })
}

/// Puts a mark on a file. `false`: the file system has no user attributes (tmpfs before Linux 6.6, NFS before 4.2, FAT).
fn put(file: &File, mark: &Mark) -> io::Result<bool> {
    match fsetxattr(file, MARK, &mark.encode(), XattrFlags::empty()) {
        Ok(()) => Ok(true),
        Err(Errno::OPNOTSUPP) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// What the mark of a file that is being written to keeps.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Writing {
    /// The size that it will have, where it grows.
    pub(crate) size_bytes: u64,
    before_ns: i64,
    since_ns: i64,
}

/// Marks a file as being written to by this run. `None`: the file system has no user attributes.
pub(crate) fn begin(file: &File, size_bytes: u64, period: Duration) -> io::Result<Option<Writing>> {
    let writing = Writing {
        size_bytes,
        before_ns: modified_ns(&file.metadata()?),
        // The kernel's stamps are those of its last tick.
        since_ns: now_ns() - TICK_NS,
    };
    Ok(prolong(file, writing, period)?.then_some(writing))
}

/// Says that it is still being written to. `false`: the file system has no user attributes.
pub(crate) fn prolong(file: &File, writing: Writing, period: Duration) -> io::Result<bool> {
    let mark = Mark::Open {
        size_bytes: file.metadata()?.len().max(writing.size_bytes),
        before_ns: writing.before_ns,
        since_ns: writing.since_ns,
        until_ns: now_ns() + period.as_nanos() as i64,
    };
    put(file, &mark)
}

/// What a file looks like from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) size_bytes: u64,
    modified_ns: i64,
}

impl Shape {
    pub(crate) fn of(file: &File) -> io::Result<Self> {
        let metadata = file.metadata()?;
        Ok(Self {
            size_bytes: metadata.len(),
            modified_ns: modified_ns(&metadata),
        })
    }
}

/// Marks a file as done with. Putting the mark changes the inode, at a time that is known only afterwards: so it is looked
/// at, and put again where the guess was too early (the clock of a file server may be another one).
pub(crate) fn seal(file: &File) -> io::Result<()> {
    let digest = digest_of(file)?;
    let metadata = file.metadata()?;
    let mut sealed_ns = now_ns() + TICK_NS;
    for _ in 0..SEAL_TRIES {
        let mark = Mark::Sealed {
            size_bytes: metadata.len(),
            modified_ns: modified_ns(&metadata),
            digest,
            sealed_ns,
        };
        put(file, &mark)?;
        let changed_ns = changed_ns(&file.metadata()?);
        if changed_ns <= sealed_ns {
            return Ok(());
        }
        sealed_ns = changed_ns + TICK_NS;
    }
    Err(io::Error::other("its time of change runs ahead of every mark"))
}

/// So often a mark is put at most.
const SEAL_TRIES: u32 = 20;

/// Marks a file as one that fathom made and somebody else has written to.
pub(crate) fn spoil(file: &File) -> io::Result<()> {
    let never = Mark::Sealed {
        size_bytes: u64::MAX,
        modified_ns: 0,
        digest: 0,
        sealed_ns: 0,
    };
    put(file, &never).map(drop)
}

/// How far a stamp of the kernel may be behind the clock: a tick at 100 Hz, and a little.
const TICK_NS: i64 = 20_000_000;

/// Until 2262.
fn now_ns() -> i64 {
    match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(since) => since.as_nanos() as i64,
        Err(before) => -(before.duration().as_nanos() as i64),
    }
}

/// When anything of the inode was changed: by writing, by naming, by setting the other times.
fn changed_ns(metadata: &std::fs::Metadata) -> i64 {
    metadata
        .ctime()
        .wrapping_mul(1_000_000_000)
        .wrapping_add(metadata.ctime_nsec())
}

fn modified_ns(metadata: &std::fs::Metadata) -> i64 {
    metadata
        .mtime()
        .wrapping_mul(1_000_000_000)
        .wrapping_add(metadata.mtime_nsec())
}

/// Where the blocks begin that are sampled of a file of this size: its first, its last, and some between.
fn places(size_bytes: u64) -> Vec<u64> {
    let last = size_bytes.saturating_sub(SAMPLE_BYTES) / SAMPLE_BYTES * SAMPLE_BYTES;
    let mut places: Vec<u64> = (0..SAMPLES)
        .map(|sample| (u128::from(last) * u128::from(sample) / u128::from(SAMPLES - 1)) as u64)
        .map(|place| place / SAMPLE_BYTES * SAMPLE_BYTES)
        .collect();
    places.dedup();
    places
}

fn digest_of(file: &File) -> io::Result<u64> {
    let mut hash = Xxh64::new(0);
    let mut block = [0; SAMPLE_BYTES as usize];
    for place in places(file.metadata()?.len()) {
        let mut have = 0;
        while have < block.len() {
            match file.read_at(&mut block[have..], place + have as u64) {
                Ok(0) => break,
                Ok(bytes) => have += bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        hash.update(&place.to_le_bytes());
        hash.update(&block[..have]);
        // Advice: what was read must not be found in the cache by a load. Where it cannot be followed, a look at the
        // cache tells.
        let length = std::num::NonZero::new(SAMPLE_BYTES);
        let _advice = fadvise(file, place, length, Advice::DontNeed);
    }
    Ok(hash.digest())
}

#[cfg(test)]
mod tests;

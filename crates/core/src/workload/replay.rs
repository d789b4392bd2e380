//! A recorded load in place of a pattern: what it is, and how it is played.

use crate::units::Nanos;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A recording that a job plays instead of drawing I/Os of its own. Its I/Os are not here: they are read while it plays.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replay {
    /// Where it was read from, as given.
    pub record: String,
    pub format: RecordFormat,
    pub order: ReplayOrder,
    /// So many thousandths as fast as recorded.
    pub speed_permille: u64,
    /// I/Os to be sent: read, write, trim, sync.
    pub ios: [u64; 4],
    /// What they move: read, write, trim.
    pub bytes: [u64; 3],
    /// From the first to the last, as recorded.
    #[serde(rename = "length_ns")]
    pub length: Nanos,
    /// How far its addresses reach, as recorded, in bytes.
    pub extent_bytes: u64,
    /// How its addresses are brought onto a smaller target; `None`: they are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fold: Option<Fold>,
    /// I/Os of the record that are not played, each kind with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// Where its addresses come to lie, where that is not the job's first file.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub layout: ReplayLayout,
}

/// How a record's addresses become offsets in files, and who plays it, for jobs of a job file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplayLayout {
    /// The job's files, each with its part of the record's addresses, in ascending order; empty: all is for the first.
    pub files: Vec<ReplayFile>,
    /// Each worker plays all of it, and not its share.
    pub by_each_worker: bool,
    /// Offsets are divided by this; at least 1 …
    pub divisor: u64,
    /// … and rounded down to a multiple of this power of two; 0: they are not.
    pub align_bytes: u64,
}

impl Default for ReplayLayout {
    fn default() -> Self {
        Self {
            files: Vec::new(),
            by_each_worker: false,
            divisor: 1,
            align_bytes: 0,
        }
    }
}

/// A file of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplayFile {
    /// Where its addresses begin among those of the record.
    pub base_bytes: u64,
    /// How much of it is touched, from its beginning, in bytes.
    pub extent_bytes: u64,
}

impl ReplayLayout {
    /// Where an I/O at an address of the record goes: the number of the file, and the offset in it, in bytes.
    #[inline]
    pub fn place(&self, address_bytes: u64) -> (u16, u64) {
        let before = self
            .files
            .partition_point(|file| file.base_bytes <= address_bytes);
        let file = before.saturating_sub(1);
        let base = self.files.get(file).map_or(0, |file| file.base_bytes);
        (file as u16, self.offset(address_bytes - base))
    }

    /// Where an offset within a file of the record comes to lie, in bytes.
    #[inline]
    pub fn offset(&self, offset_bytes: u64) -> u64 {
        let divided = offset_bytes / self.divisor.max(1);
        match self.align_bytes {
            0 => divided,
            align => divided & !(align - 1),
        }
    }
}

/// What a job file says of the record that a job is to play (`read_iolog` and what belongs to it).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadIolog {
    pub path: PathBuf,
    /// Each I/O as soon as there is room, not at its time (`replay_no_stall`).
    pub no_stall: bool,
    /// So many percent of the recorded speed (`replay_time_scale`).
    pub speed_percent: u64,
    /// All of it on this file or device (`replay_redirect`).
    pub redirect: Option<PathBuf>,
    /// See [`ReplayLayout::divisor`] (`replay_scale`).
    pub divisor: u64,
    /// See [`ReplayLayout::align_bytes`] (`replay_align`).
    pub align_bytes: u64,
    /// Not played: reads, writes, trims, syncs (`replay_skip`).
    pub skips: [bool; 4],
}

impl Default for ReadIolog {
    fn default() -> Self {
        Self {
            path: PathBuf::new(),
            no_stall: false,
            speed_percent: 100,
            redirect: None,
            divisor: 1,
            align_bytes: 0,
            skips: [false; 4],
        }
    }
}

/// When the I/Os of a recording are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplayOrder {
    /// Each at its recorded time, whatever became of the others.
    Timed,
    /// One that waited for an earlier one when it is done, as long after that as recorded; the others at their times.
    Dependent,
    /// The record has no times: each as soon as there is room.
    AsFast,
}

/// How addresses beyond a size are brought below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fold {
    /// Below this, in bytes.
    pub to_bytes: u64,
    pub how: FoldKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FoldKind {
    /// Beyond the end it goes on at the beginning: distances stay, different addresses become one.
    Wrap,
    /// All distances shrink alike, rounded down to so many bytes, to which all addresses of the record are aligned.
    Scale { align_bytes: u64 },
}

impl Fold {
    /// Where an I/O of `len_bytes` at `offset_bytes` of a record that reaches to `extent_bytes` goes; below
    /// `to_bytes` with its end, where it fits there at all.
    #[inline]
    pub fn apply(&self, offset_bytes: u64, len_bytes: u32, extent_bytes: u64) -> u64 {
        let last = self.to_bytes.saturating_sub(u64::from(len_bytes));
        match self.how {
            FoldKind::Wrap => (offset_bytes % self.to_bytes.max(1)).min(last),
            FoldKind::Scale { align_bytes } => {
                let align = align_bytes.max(1);
                let scaled =
                    u128::from(offset_bytes) * u128::from(self.to_bytes) / u128::from(extent_bytes.max(1));
                (scaled as u64 / align * align).min(last / align * align)
            }
        }
    }
}

/// I/Os of a record that are not played.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Why, in words: `writes, by --readonly`.
    pub what: String,
    pub ios: u64,
}

/// What wrote a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordFormat {
    /// A run directory, each I/O of its load.
    FathomIos,
    /// A run directory, each request of its devices.
    FathomRequests,
    /// fio's `write_iolog`, version 2 or 3.
    FioIolog,
    /// What `blkparse` prints by default.
    Blkparse,
    /// blktrace's own files.
    Blktrace,
    /// The CSV of SNIA's MSR Cambridge traces.
    MsrCambridge,
    /// The CSV of Alibaba's block traces of 2020.
    Alibaba,
    /// The CSV of Tencent's block traces of 2018.
    Tencent,
}

impl RecordFormat {
    /// All that are no run directories.
    pub const OUTSIDE: [Self; 6] = [
        Self::FioIolog,
        Self::Blkparse,
        Self::Blktrace,
        Self::MsrCambridge,
        Self::Alibaba,
        Self::Tencent,
    ];

    /// As it is called on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::FathomIos => "fathom-ios",
            Self::FathomRequests => "fathom-requests",
            Self::FioIolog => "iolog",
            Self::Blkparse => "blkparse",
            Self::Blktrace => "blktrace",
            Self::MsrCambridge => "msr",
            Self::Alibaba => "alibaba",
            Self::Tencent => "tencent",
        }
    }

    /// What it is, in words.
    pub const fn in_words(self) -> &'static str {
        match self {
            Self::FathomIos => "the I/Os of a run",
            Self::FathomRequests => "the requests of a run's devices",
            Self::FioIolog => "fio's iolog",
            Self::Blkparse => "blkparse's text",
            Self::Blktrace => "blktrace's files",
            Self::MsrCambridge => "MSR Cambridge's CSV",
            Self::Alibaba => "Alibaba's CSV",
            Self::Tencent => "Tencent's CSV",
        }
    }
}

#[cfg(test)]
mod tests;

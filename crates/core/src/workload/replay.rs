//! A recorded load in place of a pattern: what it is, and how it is played.

use crate::units::Nanos;
use serde::{Deserialize, Serialize};

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

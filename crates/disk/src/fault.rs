//! What can be done to a disk while it is served, and when.
//!
//! Data in: words, of a command or of a schedule's lines. Data out: [`Fault`]s with their disk and time. It must not know how they
//! are carried out.
//!
//! ```text
//! stall TIME                          nothing is completed for so long
//! slow NUMBERx [for TIME]             each I/O takes so many times as long
//! errors [reads|writes|flushes|trims] [at OFFSET+LENGTH] [PERCENT%] [seed N] [for TIME]
//!                                     I/Os fail with EIO
//! ignore-flushes [for TIME]           flushes are answered and do nothing
//! power-cut [seed N]                  the disk is gone; what was not flushed is whole, lost or torn
//! detach                              the disk is gone; nothing is lost
//! attach                              it is there again
//! heal                                ends stalls, slowness, errors, ignored flushes
//! ```
//! A line of a schedule: `TIME [disk NAME] FAULT`, counted from when the disk is served; `#` begins a comment.

mod words;

use fathom_core::backend::Op;

pub use words::{parse, parse_schedule};

/// Something done to a disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// Nothing is completed for so long.
    Stall { for_ns: u64 },
    /// Each I/O takes `permille` thousandths of its time.
    Slow { permille: u64, for_ns: Option<u64> },
    /// Some I/Os fail.
    Errors { rule: ErrorRule, for_ns: Option<u64> },
    /// Flushes and forced writes are answered, and what they promise is not so.
    IgnoreFlushes { for_ns: Option<u64> },
    /// The disk is gone, with what was in its write cache.
    PowerCut { seed: u64 },
    /// The disk is gone.
    Detach,
    /// It is there again.
    Attach,
    /// Ends all that goes on for a time.
    Heal,
}

/// Which I/Os fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErrorRule {
    /// `None`: of any kind.
    pub op: Option<Op>,
    /// Those that touch this range: offset and length in bytes.
    pub range_bytes: Option<(u64, u64)>,
    /// So many of a million of them.
    pub per_million: u32,
    /// Of the draw.
    pub seed: u64,
}

/// A fault of a schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scheduled {
    /// After the disk began to be served.
    pub at_ns: u64,
    /// `None`: all disks.
    pub disk: Option<String>,
    pub fault: Fault,
}

/// What is wrong with words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct FaultError(pub String);

impl ErrorRule {
    /// Whether an I/O may be one of those that fail.
    pub fn matches(&self, op: Op, offset_bytes: u64, len_bytes: u64) -> bool {
        let kind = self.op.is_none_or(|wanted| wanted.index() == op.index());
        let place = self.range_bytes.is_none_or(|(from, len)| {
            len_bytes > 0
                && offset_bytes < from.saturating_add(len)
                && from < offset_bytes.saturating_add(len_bytes)
        });
        kind && place
    }
}

#[cfg(test)]
mod tests;

//! Parts of files that are written back after every so many writes (`sync_file_range`).
//!
//! Data in: writes as they are sent. Data out: where a part begins, and how long it is.

use super::Worker;
use fathom_core::backend::PartSync;
use fathom_core::workload::RangeSync;

/// What was written since the last part was written back.
#[derive(Debug)]
pub(super) struct Parts {
    rule: RangeSync,
    writes: u32,
    /// Of each file: the first byte, and the one behind the last.
    files: Box<[(u64, u64)]>,
    /// What the data sync under way is one of.
    next: Option<PartSync>,
}

/// Nothing was written.
const NOTHING: (u64, u64) = (u64::MAX, 0);

impl Parts {
    /// `None`: nothing is written back in parts.
    pub(super) fn new(rule: RangeSync, files: u32) -> Option<Box<Self>> {
        (rule.every > 0).then(|| {
            Box::new(Self {
                rule,
                writes: 0,
                files: vec![NOTHING; files as usize].into_boxed_slice(),
                next: None,
            })
        })
    }

    /// A write was sent. Where the part begins that is to be written back now; `None`: none is.
    pub(super) fn wrote(&mut self, file: u32, offset: u64, len: u32) -> Option<u64> {
        let written = self.files.get_mut(file as usize)?;
        *written = (
            written.0.min(offset),
            written.1.max(offset.saturating_add(len.into())),
        );
        self.writes += 1;
        if self.writes < self.rule.every {
            return None;
        }
        self.writes = 0;
        let (first, end) = std::mem::replace(written, NOTHING);
        self.next = Some(PartSync {
            bytes: end.saturating_sub(first),
            flags: self.rule.flags(),
        });
        Some(first)
    }

    /// The part is not written back by itself.
    pub(super) fn drop_next(&mut self) {
        self.next = None;
    }
}

impl Worker {
    /// What the data sync that is sent now is one of; `None`: of all.
    pub fn take_part(&mut self) -> Option<PartSync> {
        self.parts.as_mut()?.next.take()
    }
}

#[cfg(test)]
mod tests;

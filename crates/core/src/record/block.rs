//! One request of a block device.

use super::Comm;

/// What a request of a block device does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum BlockOp {
    Read = 0,
    /// Writes.
    Write = 1,
    /// Discards, secure erases, zeroes.
    Discard = 2,
    /// A flush without data.
    Flush = 3,
    /// Anything else: pass-through commands, zone management.
    Other = 4,
}

impl BlockOp {
    /// All, in the order of their numbers.
    pub const ALL: [Self; 5] = [Self::Read, Self::Write, Self::Discard, Self::Flush, Self::Other];

    /// `read`, `write`, `discard`, `flush` or `other`.
    pub const fn name(self) -> &'static str {
        ["read", "write", "discard", "flush", "other"][self as usize]
    }
}

/// What else is said of a request, as bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct BlockFlags(pub u8);

impl BlockFlags {
    /// Somebody waits for it (`S`).
    pub const SYNC: u8 = 1;
    /// Metadata of a file system (`M`).
    pub const META: u8 = 2;
    /// Read ahead of its use (`A`).
    pub const READ_AHEAD: u8 = 4;
    /// To be on the medium when it completes (`F` after the operation).
    pub const FUA: u8 = 8;
    /// A flush comes before it (`F` before the operation).
    pub const PREFLUSH: u8 = 16;
    /// Its end was never seen: what is given for it is when it was given up.
    pub const UNFINISHED: u8 = 32;

    /// Whether all of `bits` are set.
    #[inline]
    pub const fn has(self, bits: u8) -> bool {
        self.0 & bits == bits
    }
}

/// One request of a block device, from the moment it was queued to its end. A time is `None` where the device or the
/// kernel has no such step, or it was not seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockRequest {
    /// The device, `major << 20 | minor` as the kernel's events have it.
    pub device: u32,
    /// When it entered the block layer (`block_bio_queue`); of a merged request, its oldest part.
    pub queued_ns: Option<u64>,
    /// When it had a tag (`block_getrq`, `block_io_start`): before that it waited for one.
    pub allocated_ns: Option<u64>,
    /// When it was put into a scheduler (`block_rq_insert`).
    pub inserted_ns: Option<u64>,
    /// When the device got it (`block_rq_issue`, the last one where it was given back).
    pub issued_ns: Option<u64>,
    /// When it was complete.
    pub completed_ns: u64,
    /// Where it begins on the whole disk, in sectors of 512 bytes; `u64::MAX` for a flush.
    pub sector: u64,
    pub len_bytes: u32,
    /// What it does.
    pub op: BlockOp,
    /// What else is said of it.
    pub flags: BlockFlags,
    /// How often the device gave it back to be sent again.
    pub requeues: u16,
    /// How many others were merged into it.
    pub merges: u16,
    /// The positive `errno` with which it failed; 0 where it did not.
    pub errno: u16,
    /// The task in whose context it was queued: for buffered writes a kernel worker, never the writer.
    pub pid: u32,
    /// That task's name.
    pub comm: Comm,
    /// On whose behalf, where that is another task: who made the pages dirty, forced the commit, freed the blocks. 0 where it
    /// is that task itself, or not known.
    pub owner_pid: u32,
    /// The name of that one; empty where there is none.
    pub owner_comm: Comm,
}

impl BlockRequest {
    /// The first moment that is known of it.
    #[inline]
    pub fn begun_ns(&self) -> u64 {
        let steps = [
            self.queued_ns,
            self.allocated_ns,
            self.inserted_ns,
            self.issued_ns,
        ];
        steps.into_iter().flatten().min().unwrap_or(self.completed_ns)
    }

    /// How long the device had it: issued to completed. Where the device has no queue of its own (bio-based), queued
    /// to completed. `None` where neither start was seen.
    #[inline]
    pub fn device_ns(&self) -> Option<u64> {
        let start = self.issued_ns.or(self.queued_ns)?;
        Some(self.completed_ns.saturating_sub(start))
    }

    /// How long it was in the guest's own queue: queued (or, not seen, allocated) to issued.
    #[inline]
    pub fn queue_ns(&self) -> Option<u64> {
        let start = self.queued_ns.or(self.allocated_ns).or(self.inserted_ns)?;
        Some(self.issued_ns?.saturating_sub(start))
    }
}

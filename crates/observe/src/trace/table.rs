//! Requests that are on their way, found by device and sector.
//!
//! Duty: keep entries and find them. Data in and out: [`Entry`]. It must not know what happens to requests. Memory is
//! bounded by the caller, who removes what is too old; nothing is allocated while the number of entries does not reach
//! a new height.

use fathom_core::record::BlockRequest;

/// How far a request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// It is an I/O without a request.
    Queued,
    /// It was merged into another one, which will be seen when that one moves on.
    Merged,
    /// It has a tag and is on its way to the driver, for the first time or again.
    Allocated,
    /// The driver has it.
    Issued,
    /// Its data is written; the flush after it is not done.
    Flushing,
}

/// One request on its way.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) row: BlockRequest,
    /// The sector that its next event will name.
    pub(super) at: u64,
    /// Sectors that are not complete.
    pub(super) left: u32,
    pub(super) phase: Phase,
    /// The order in which entries came.
    pub(super) number: u64,
    /// The next entry of the chain, or of the free ones.
    next: u32,
    live: bool,
}

const NONE: u32 = u32::MAX;
const BUCKETS_MIN: usize = 256;

#[derive(Debug)]
pub(super) struct Table {
    entries: Vec<Entry>,
    free: u32,
    buckets: Vec<u32>,
    live: usize,
    count: u64,
}

impl Table {
    pub(super) fn new() -> Self {
        Self {
            entries: Vec::new(),
            free: NONE,
            buckets: vec![NONE; BUCKETS_MIN],
            live: 0,
            count: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.live
    }

    #[inline]
    fn bucket(&self, device: u32, at: u64) -> usize {
        // Fibonacci hashing: sectors are multiples of powers of two.
        let key = at.wrapping_add(u64::from(device) << 40);
        let hash = key.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (hash >> (64 - self.buckets.len().trailing_zeros())) as usize
    }

    pub(super) fn insert(&mut self, row: BlockRequest, at: u64, left: u32, phase: Phase) -> u32 {
        if self.live >= self.buckets.len() {
            self.grow();
        }
        let entry = Entry {
            row,
            at,
            left,
            phase,
            number: self.count,
            next: NONE,
            live: true,
        };
        self.count += 1;
        self.live += 1;
        let index = if let Some(free) = self.entries.get_mut(self.free as usize) {
            let index = self.free;
            self.free = free.next;
            *free = entry;
            index
        } else {
            self.entries.push(entry);
            self.entries.len() as u32 - 1
        };
        self.link(index);
        index
    }

    fn link(&mut self, index: u32) {
        let entry = &self.entries[index as usize];
        let bucket = self.bucket(entry.row.device, entry.at);
        self.entries[index as usize].next = self.buckets[bucket];
        self.buckets[bucket] = index;
    }

    fn unlink(&mut self, index: u32) {
        let Entry { row, at, next, .. } = &self.entries[index as usize];
        let (next, bucket) = (*next, self.bucket(row.device, *at));
        let mut here = self.buckets[bucket];
        if here == index {
            self.buckets[bucket] = next;
            return;
        }
        while here != NONE {
            let entry = &mut self.entries[here as usize];
            if entry.next == index {
                entry.next = next;
                return;
            }
            here = entry.next;
        }
    }

    fn grow(&mut self) {
        self.buckets = vec![NONE; self.buckets.len() * 2];
        for index in 0..self.entries.len() {
            if self.entries[index].live {
                self.link(index as u32);
            }
        }
    }

    /// Of the entries at that place, the one with the lowest rank, the oldest among equals. Those without a rank are
    /// not meant.
    #[inline]
    pub(super) fn find(&self, device: u32, at: u64, rank: impl Fn(&Entry) -> Option<u8>) -> Option<u32> {
        let mut best: Option<(u8, u64, u32)> = None;
        let mut here = self.buckets[self.bucket(device, at)];
        while here != NONE {
            let entry = &self.entries[here as usize];
            if entry.at == at
                && entry.row.device == device
                && let Some(rank) = rank(entry)
                && best.is_none_or(|best| (rank, entry.number) < (best.0, best.1))
            {
                best = Some((rank, entry.number, here));
            }
            here = entry.next;
        }
        best.map(|best| best.2)
    }

    #[inline]
    pub(super) fn get_mut(&mut self, index: u32) -> &mut Entry {
        &mut self.entries[index as usize]
    }

    /// Whether `index` is that entry still.
    pub(super) fn is(&self, index: u32, number: u64) -> bool {
        let entry = self.entries.get(index as usize);
        entry.is_some_and(|entry| entry.live && entry.number == number)
    }

    /// Has the next event name another sector.
    pub(super) fn move_to(&mut self, index: u32, at: u64) {
        self.unlink(index);
        self.entries[index as usize].at = at;
        self.link(index);
    }

    pub(super) fn remove(&mut self, index: u32) -> BlockRequest {
        self.unlink(index);
        let entry = &mut self.entries[index as usize];
        entry.live = false;
        entry.next = self.free;
        self.free = index;
        self.live -= 1;
        self.entries[index as usize].row
    }

    /// All that are there, in no order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &Entry)> {
        let all = self.entries.iter().enumerate();
        all.filter(|(_, entry)| entry.live)
            .map(|(index, entry)| (index as u32, entry))
    }
}

#[cfg(test)]
mod tests;

//! The steps of a request, up to its completion.

use super::{Matcher, bytes, earlier, row_of, same};
use crate::trace::decode::{BlockEvent, BlockKind};
use crate::trace::table::{Entry, Phase};
use fathom_core::record::{BlockFlags, BlockRequest};

impl Matcher {
    pub(super) fn queue(&mut self, event: &BlockEvent) {
        let mut row = row_of(event);
        row.queued_ns = Some(event.time_ns);
        self.table.insert(row, event.sector, event.sectors, Phase::Queued);
    }

    pub(super) fn allocate(&mut self, disk: usize, event: &BlockEvent) {
        let index = match self.queued(event) {
            Some(index) => {
                let entry = self.table.get_mut(index);
                let rest = entry.left.saturating_sub(event.sectors);
                entry.left = event.sectors;
                entry.row.len_bytes = bytes(event.sectors);
                entry.phase = Phase::Allocated;
                if rest > 0 && event.sectors > 0 {
                    let mut row = entry.row;
                    row.sector = event.sector.saturating_add(event.sectors.into());
                    row.len_bytes = bytes(rest);
                    self.table.insert(row, row.sector, rest, Phase::Queued);
                }
                index
            }
            None => self
                .table
                .insert(row_of(event), event.sector, event.sectors, Phase::Allocated),
        };
        let entry = self.table.get_mut(index);
        entry.row.allocated_ns = Some(event.time_ns);
        if entry.row.flags.has(BlockFlags::PREFLUSH) {
            let number = entry.number;
            self.disks[disk].flushing.push((index, number));
        }
    }

    /// The I/O without a request that `event` means: the same task's, else the oldest.
    fn queued(&self, event: &BlockEvent) -> Option<u32> {
        self.table.find(event.device, event.sector, |entry| {
            let meant = entry.phase == Phase::Queued && same(entry, event);
            meant.then(|| u8::from(entry.row.pid != event.pid))
        })
    }

    /// An I/O or a request that is now part of another request.
    pub(super) fn merge(&mut self, event: &BlockEvent, phase: Phase) {
        let found = self.table.find(event.device, event.sector, |entry| {
            let exact = u8::from(entry.left != event.sectors) * 2 + u8::from(entry.row.pid != event.pid);
            (entry.phase == phase && same(entry, event)).then_some(exact)
        });
        if let Some(index) = found {
            self.table.get_mut(index).phase = Phase::Merged;
        }
    }

    pub(super) fn insert(&mut self, event: &BlockEvent) {
        let index = self.gather(event);
        let row = &mut self.table.get_mut(index).row;
        // The data of a request with a flush before it is put into the scheduler when the device has had the flush.
        if !row.flags.has(BlockFlags::PREFLUSH) || row.issued_ns.is_none() {
            row.inserted_ns = row.inserted_ns.or(Some(event.time_ns));
        }
    }

    pub(super) fn issue(&mut self, event: &BlockEvent) {
        let index = self.gather(event);
        let entry = self.table.get_mut(index);
        entry.phase = Phase::Issued;
        // Of a request with a flush before it, the device has had that.
        if !entry.row.flags.has(BlockFlags::PREFLUSH) || entry.row.issued_ns.is_none() {
            entry.row.issued_ns = Some(event.time_ns);
        }
    }

    pub(super) fn requeue(&mut self, event: &BlockEvent) {
        let found = self.table.find(event.device, event.sector, |entry| {
            let meant = entry.phase == Phase::Issued && same(entry, event);
            meant.then(|| u8::from(entry.left != event.sectors))
        });
        if let Some(index) = found {
            let entry = self.table.get_mut(index);
            entry.phase = Phase::Allocated;
            entry.row.requeues = entry.row.requeues.saturating_add(1);
        }
    }

    /// The request that `event` means, with all that was merged into it.
    fn gather(&mut self, event: &BlockEvent) -> u32 {
        let found = self.table.find(event.device, event.sector, |entry| {
            let rank = match entry.phase {
                Phase::Allocated if entry.left == event.sectors => 0,
                Phase::Allocated | Phase::Merged if entry.left < event.sectors => 1,
                // Its requeue was not seen.
                Phase::Issued if event.kind == BlockKind::Issue && entry.left == event.sectors => 2,
                // Its allocation was not seen.
                Phase::Queued if entry.left <= event.sectors => 3,
                _ => return None,
            };
            same(entry, event).then_some(rank)
        });
        let Some(index) = found else {
            return self
                .table
                .insert(row_of(event), event.sector, event.sectors, Phase::Allocated);
        };
        let mut covered = self.table.get_mut(index).left;
        while covered < event.sectors {
            let at = event.sector.saturating_add(covered.into());
            let next = self.table.find(event.device, at, |entry| {
                let rank = match entry.phase {
                    Phase::Merged => 0,
                    Phase::Allocated => 1,
                    _ => return None,
                };
                // What has no length would be found again and again.
                (same(entry, event) && entry.left > 0 && entry.left <= event.sectors - covered)
                    .then_some(rank)
            });
            let Some(next) = next else {
                break;
            };
            covered += self.table.get_mut(next).left;
            let part = self.table.remove(next);
            join(self.table.get_mut(index), &part);
        }
        let entry = self.table.get_mut(index);
        if entry.phase != Phase::Issued {
            entry.phase = Phase::Allocated;
        }
        if entry.left != event.sectors {
            let more = event.sectors.saturating_sub(entry.left);
            entry.left = event.sectors;
            entry.row.len_bytes = entry.row.len_bytes.saturating_add(bytes(more));
        }
        index
    }

    pub(super) fn complete(&mut self, disk: usize, event: &BlockEvent, out: &mut Vec<BlockRequest>) {
        let fua = self.disks[disk].watched.fua;
        let found = self.table.find(event.device, event.sector, |entry| {
            let rank = match entry.phase {
                Phase::Flushing if event.sectors == 0 => 0,
                _ if (event.sectors == 0) != (entry.left == 0) => return None,
                Phase::Issued => 1 + u8::from(entry.left != event.sectors),
                // Flushes are all of one place: one that no command was sent for is not done.
                Phase::Allocated => 3 + u8::from(entry.row.issued_ns.is_none()),
                Phase::Queued => 5,
                Phase::Flushing | Phase::Merged => return None,
            };
            same(entry, event).then_some(rank)
        });
        let Some(index) = found else {
            self.counts.unmatched_completions += 1;
            return;
        };
        let entry = self.table.get_mut(index);
        if event.errno != 0 {
            entry.row.errno = event.errno;
        }
        if event.sectors < entry.left {
            entry.left -= event.sectors;
            let at = event.sector.saturating_add(event.sectors.into());
            self.table.move_to(index, at);
            return;
        }
        let flags = entry.row.flags;
        let flushes = flags.has(BlockFlags::PREFLUSH) || (flags.has(BlockFlags::FUA) && !fua);
        if flushes && event.sectors > 0 {
            // The completion without sectors names the request's first one, whatever parts came before.
            let at = event.sector;
            entry.phase = Phase::Flushing;
            entry.left = 0;
            self.table.move_to(index, at);
            return;
        }
        self.give(index, event.time_ns, out);
    }

    /// A flush command of the block layer's own: all that waited for a flush are with the device now.
    pub(super) fn flush_command(&mut self, disk: usize, event: &BlockEvent) {
        match event.kind {
            BlockKind::Issue => {}
            BlockKind::Complete => {
                self.counts.flush_commands += 1;
                return;
            }
            _ => return,
        }
        while let Some((index, number)) = self.disks[disk].flushing.pop() {
            if self.table.is(index, number) {
                let row = &mut self.table.get_mut(index).row;
                row.issued_ns = row.issued_ns.or(Some(event.time_ns));
            }
        }
    }
}

/// Adds a part to the request that it was merged into.
fn join(entry: &mut Entry, part: &BlockRequest) {
    let row = &mut entry.row;
    let part_is_older = match (part.queued_ns, row.queued_ns) {
        (Some(part), Some(row)) => part < row,
        (part, row) => part.is_some() && row.is_none(),
    };
    if part_is_older {
        (row.pid, row.comm) = (part.pid, part.comm);
    }
    row.queued_ns = earlier(row.queued_ns, part.queued_ns);
    row.allocated_ns = earlier(row.allocated_ns, part.allocated_ns);
    row.inserted_ns = earlier(row.inserted_ns, part.inserted_ns);
    row.len_bytes = row.len_bytes.saturating_add(part.len_bytes);
    row.merges = row.merges.saturating_add(part.merges).saturating_add(1);
    row.flags.0 |= part.flags.0;
    entry.left = entry.left.saturating_add(part.len_bytes / 512);
}

//! I/Os that never become requests: those of bio-based devices, and those that fail before.

use super::{Matcher, same};
use crate::trace::decode::BlockEvent;
use crate::trace::table::{Entry, Phase};
use fathom_core::record::BlockRequest;

impl Matcher {
    /// Of a request-based device the allocation says it all again. Of a bio-based one the I/O ends with its last part.
    pub(super) fn split(&mut self, disk: usize, event: &BlockEvent) {
        if self.disks[disk].watched.device.request_based {
            return;
        }
        let new = event.new_sector;
        let holds = |entry: &Entry| {
            let end = entry.at.saturating_add(entry.left.into());
            entry.phase == Phase::Queued && same(entry, event) && entry.at < new && new < end
        };
        let rank = |entry: &Entry| holds(entry).then(|| u8::from(entry.row.pid != event.pid));
        let found = self.table.find(event.device, event.sector, rank).or_else(|| {
            // dm names only where the rest begins (drivers/md/dm.c, `dm_split_and_process_bio`). A split is rare
            // enough to look at all that is on its way.
            let all = self.table.iter();
            let meant = all.filter(|(_, entry)| entry.row.device == event.device && holds(entry));
            meant
                .min_by_key(|(_, entry)| (entry.row.pid != event.pid, entry.number))
                .map(|(index, _)| index)
        });
        let Some(index) = found else {
            return;
        };
        let entry = self.table.get_mut(index);
        entry.left -= (new - entry.at) as u32;
        self.table.move_to(index, new);
        self.disks[disk].parts = self.disks[disk].parts.saturating_add(1);
    }

    pub(super) fn complete_bio(&mut self, disk: usize, event: &BlockEvent, out: &mut Vec<BlockRequest>) {
        let disk = &mut self.disks[disk];
        disk.ends_bios = true;
        let mut found = self.table.find(event.device, event.sector, |entry| {
            let meant = entry.phase == Phase::Queued && same(entry, event);
            meant.then(|| u8::from(entry.left != event.sectors))
        });
        if found.is_none() && event.sectors == 0 {
            // Some drivers count an I/O down as they serve it: what is left at the end is its last sector.
            let all = self.table.iter();
            let ends_here = |entry: &Entry| {
                let end = entry.at.saturating_add(entry.left.into());
                end == event.sector && entry.phase == Phase::Queued && entry.row.device == event.device
            };
            let meant = all.filter(|(_, entry)| ends_here(entry) && same(entry, event));
            found = meant.min_by_key(|(_, entry)| entry.number).map(|found| found.0);
        }
        let Some(index) = found else {
            // Newer kernels tell the end of each part, older ones only that of the last.
            match disk.parts {
                0 => self.counts.unmatched_completions += 1,
                parts => disk.parts = parts - 1,
            }
            return;
        };
        self.table.get_mut(index).row.errno = event.errno;
        self.give(index, event.time_ns, out);
    }
}

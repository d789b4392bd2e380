//! What is given up.

use super::Matcher;
use crate::trace::table::{Entry, Phase};
use fathom_core::record::{BlockFlags, BlockRequest};

impl Matcher {
    /// Gives up what is too old at `now_ns`. To be called now and then with the time up to which events were given.
    pub fn expire(&mut self, now_ns: u64, out: &mut Vec<BlockRequest>) {
        let age_ns = self.patience.age_ns;
        // Looking at all that is on its way each time would cost more than the events.
        if now_ns.saturating_sub(self.checked_ns) < age_ns / 16 {
            return;
        }
        self.checked_ns = now_ns;
        let too_old = |entry: &Entry| now_ns.saturating_sub(seen_ns(entry)) >= age_ns;
        self.give_up(now_ns, too_old, out);
    }

    /// Ends: all that is on its way is given out as unfinished.
    pub fn finish(&mut self, now_ns: u64, out: &mut Vec<BlockRequest>) {
        let before = self.counts.unmatched_starts;
        self.give_up(now_ns, |_| true, out);
        self.counts.in_flight_at_end = self.counts.unmatched_starts - before;
        self.counts.unmatched_starts = before;
    }

    /// Keeps the number that is held within its bound.
    pub(super) fn make_room(&mut self, now_ns: u64, out: &mut Vec<BlockRequest>) {
        if self.table.len() < self.patience.requests.max(2) {
            return;
        }
        let mut numbers: Vec<u64> = self.table.iter().map(|(_, entry)| entry.number).collect();
        let half = numbers.len() / 2;
        let (_, &mut middle, _) = numbers.select_nth_unstable(half);
        self.give_up(now_ns, |entry| entry.number < middle, out);
    }

    fn give_up(&mut self, now_ns: u64, which: impl Fn(&Entry) -> bool, out: &mut Vec<BlockRequest>) {
        let mut old = std::mem::take(&mut self.old);
        old.clear();
        let meant = self.table.iter().filter(|(_, entry)| which(entry));
        old.extend(meant.map(|(index, entry)| (entry.number, index)));
        old.sort_unstable();
        for &(_, index) in &old {
            let entry = self.table.get_mut(index);
            let phase = entry.phase;
            let device = entry.row.device;
            entry.row.flags.0 |= BlockFlags::UNFINISHED;
            let disk = self
                .disks
                .iter_mut()
                .find(|disk| disk.watched.device.dev == device);
            match disk {
                // It is part of another request, which was given out or will be.
                _ if phase == Phase::Merged => {
                    self.table.remove(index);
                }
                // The kernel hands it on to other devices and tells its end there alone.
                Some(disk)
                    if phase == Phase::Queued && !disk.watched.device.request_based && !disk.ends_bios =>
                {
                    disk.endless += 1;
                    self.table.remove(index);
                }
                _ => {
                    self.counts.unmatched_starts += 1;
                    self.give(index, now_ns, out);
                }
            }
        }
        self.old = old;
        for disk in &mut self.disks {
            let table = &self.table;
            disk.flushing.retain(|&(index, number)| table.is(index, number));
        }
    }
}

/// The last thing that was seen of a request.
fn seen_ns(entry: &Entry) -> u64 {
    let row = &entry.row;
    let steps = [row.queued_ns, row.allocated_ns, row.inserted_ns, row.issued_ns];
    steps.into_iter().flatten().max().unwrap_or(0)
}

//! Events become requests.
//!
//! Duty: follow each request from the moment it is queued to its end. Data in: [`BlockEvent`]s in the order of time.
//! Data out: [`BlockRequest`]s in the order of their end, and what did not fit. It must not know where events come
//! from. What it holds is bounded: a request whose end is not seen is given up, oldest first.
//!
//! Requests are found by device and sector, for events name them by nothing else. The rules (block/blk-mq.c,
//! block/blk-merge.c, block/blk-flush.c):
//! - An I/O longer than the request that is allocated for it was split; the rest waits under its own first sector.
//! - What was merged is collected when the request moves on: it is then as long as all of its parts.
//! - A request that is given back is issued again; the last time counts.
//! - A completion of less than the whole request moves its sector on.
//! - A flush that is waited for, and a write with a flush before or (where the device has no FUA) after it, are driven
//!   by flush commands of the block layer's own. The device has such a request from the first of them on. It has a
//!   completion of its own, without sectors, after that of its data. So has a flush without data, which is one row
//!   here, as it is one write in `/proc/diskstats`; the commands are only counted.
//! - An I/O of a bio-based device that was split is complete when its last part is.

mod bios;
mod expiry;
mod steps;

use super::decode::{BlockEvent, BlockKind};
use super::table::{Entry, Phase, Table};
use crate::target::TraceDevice;
use fathom_core::record::{BlockFlags, BlockOp, BlockRequest, Comm};

/// What was seen, and what did not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MatchCounts {
    /// Events of the devices asked for.
    pub events: u64,
    /// Events of other devices: the kernel's filter could not be set.
    pub foreign: u64,
    /// Requests and I/Os given out, those that are not finished among them.
    pub requests: u64,
    /// Completions of which no start was seen: what was on its way when the trace began, and what belongs to lost
    /// events.
    pub unmatched_completions: u64,
    /// Starts that were given up because no completion came.
    pub unmatched_starts: u64,
    /// Requests that were on their way when the trace ended.
    pub in_flight_at_end: u64,
    /// Flush commands that the block layer sent, each for one or more of the flushes that are rows.
    pub flush_commands: u64,
}

/// How long, and how many requests, are waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// A request older than this is given up. Longer than what drivers wait before they abort a command.
    pub age_ns: u64,
    /// More than so many are not held: the older half is given up.
    pub requests: usize,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            age_ns: 120_000_000_000,
            requests: 65_536,
        }
    }
}

/// A device whose requests are followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Watched {
    pub device: TraceDevice,
    /// Whether it takes FUA itself (`queue/fua`). Where it does not, the kernel sends a flush after such a write.
    pub fua: bool,
}

/// What is known of a device while its events go by.
#[derive(Debug)]
struct Disk {
    watched: Watched,
    /// Requests that wait for a flush command and were not issued, with their numbers.
    flushing: Vec<(u32, u64)>,
    /// Parts of split I/Os (bio-based) whose completions mean nothing.
    parts: u32,
    /// Whether I/Os that never became requests were seen to end.
    ends_bios: bool,
    /// I/Os whose end the kernel does not tell under this device's number.
    endless: u64,
}

/// Makes requests of events.
#[derive(Debug)]
pub struct Matcher {
    disks: Vec<Disk>,
    /// Numbers of disks and partitions, and which disk each is.
    numbers: Vec<(u32, usize)>,
    table: Table,
    patience: Patience,
    checked_ns: u64,
    counts: MatchCounts,
    /// For giving up, so that nothing is allocated for it.
    old: Vec<(u64, u32)>,
}

impl Matcher {
    /// For the requests of `devices`.
    pub fn new(devices: &[Watched], patience: Patience) -> Self {
        let mut numbers = Vec::new();
        let mut disks = Vec::new();
        for (index, watched) in devices.iter().enumerate() {
            let partitions = watched.device.partition_devs.iter();
            numbers.push((watched.device.dev, index));
            numbers.extend(partitions.map(|&partition| (partition, index)));
            disks.push(Disk {
                watched: watched.clone(),
                flushing: Vec::new(),
                parts: 0,
                ends_bios: false,
                endless: 0,
            });
        }
        Self {
            disks,
            numbers,
            table: Table::new(),
            patience,
            checked_ns: 0,
            counts: MatchCounts::default(),
            old: Vec::new(),
        }
    }

    /// What was seen so far.
    pub fn counts(&self) -> MatchCounts {
        self.counts
    }

    /// Requests that are on their way.
    pub fn in_flight(&self) -> usize {
        self.table.len()
    }

    /// What is to be said of what was seen.
    pub fn remarks(&self) -> Vec<String> {
        let endless = self.disks.iter().filter(|disk| disk.endless > 0);
        let say = |disk: &Disk| {
            format!(
                "{}: the kernel does not tell when {} of its I/Os ended; see the disks below it",
                disk.watched.device.name, disk.endless
            )
        };
        endless.map(say).collect()
    }

    /// The next event. What it completes is appended to `out`.
    pub fn apply(&mut self, event: &BlockEvent, out: &mut Vec<BlockRequest>) {
        let found = self.numbers.iter().find(|(number, _)| *number == event.device);
        let Some(&(_, disk)) = found else {
            self.counts.foreign += 1;
            return;
        };
        self.counts.events += 1;
        // From here on a request is the whole disk's.
        let event = BlockEvent {
            device: self.disks[disk].watched.device.dev,
            ..*event
        };
        if event.what.op == BlockOp::Flush {
            self.flush_command(disk, &event);
            return;
        }
        self.make_room(event.time_ns, out);
        match event.kind {
            BlockKind::Queue => self.queue(&event),
            BlockKind::Allocate => self.allocate(disk, &event),
            BlockKind::Merge => self.merge(&event, Phase::Queued),
            BlockKind::MergeRequest => self.merge(&event, Phase::Allocated),
            BlockKind::Split => self.split(disk, &event),
            BlockKind::Insert => self.insert(&event),
            BlockKind::Issue => self.issue(&event),
            BlockKind::Requeue => self.requeue(&event),
            BlockKind::Complete => self.complete(disk, &event, out),
            BlockKind::CompleteBio => self.complete_bio(disk, &event, out),
        }
    }

    /// Takes a request from the table and gives it out.
    fn give(&mut self, index: u32, completed_ns: u64, out: &mut Vec<BlockRequest>) {
        let mut row = self.table.remove(index);
        row.completed_ns = completed_ns;
        // A flush without data has no place.
        if row.len_bytes == 0 && row.flags.has(BlockFlags::PREFLUSH) {
            row.op = BlockOp::Flush;
            row.sector = u64::MAX;
        }
        self.counts.requests += 1;
        out.push(row);
    }
}

/// A row that knows no more than `event`.
fn row_of(event: &BlockEvent) -> BlockRequest {
    BlockRequest {
        device: event.device,
        queued_ns: None,
        allocated_ns: None,
        inserted_ns: None,
        issued_ns: None,
        completed_ns: 0,
        sector: event.sector,
        len_bytes: bytes(event.sectors),
        op: event.what.op,
        flags: event.what.flags,
        requeues: 0,
        merges: 0,
        errno: 0,
        pid: event.pid,
        comm: event.comm,
        owner_pid: 0,
        owner_comm: Comm::default(),
    }
}

/// Sectors in bytes. More than a request can be is not believed.
fn bytes(sectors: u32) -> u32 {
    sectors.saturating_mul(512)
}

/// Whether an entry is one that an event of this operation can mean.
fn same(entry: &Entry, event: &BlockEvent) -> bool {
    entry.row.op == event.what.op
}

/// The earlier of two moments that may not be known.
fn earlier(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    a.into_iter().chain(b).min()
}

#[cfg(test)]
mod tests;

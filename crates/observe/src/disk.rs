//! What the disks counted: `/proc/diskstats` before and after.
//!
//! Duty: read the counters and subtract them. Data in: the table (Documentation/admin-guide/iostats.rst).
//! Data out: [`DiskSummary`]. It must not know which run the interval belongs to.

use crate::root::SystemRoot;
use crate::sysfs::{SECTOR_BYTES, parse_id};
use fathom_core::run::{DiskSummary, Warning};
use fathom_core::units::DevId;
use std::io;

/// The counters of some disks at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    wanted: Vec<String>,
    rows: Vec<Row>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Row {
    name: String,
    id: DevId,
    /// Columns 4 to 20; those that the kernel lacks are 0: before 4.18 there are no discards, before 5.5 no
    /// flushes.
    counters: [u64; COUNTERS],
}

const COUNTERS: usize = 17;

// Where each counter is, from 0 (iostats.rst numbers them from 1).
const READ_IOS: usize = 0;
const READ_MERGES: usize = 1;
const READ_SECTORS: usize = 2;
const READ_MS: usize = 3;
const WRITE_IOS: usize = 4;
const WRITE_MERGES: usize = 5;
const WRITE_SECTORS: usize = 6;
const WRITE_MS: usize = 7;
const BUSY_MS: usize = 9;
const WEIGHTED_MS: usize = 10;
const DISCARD_IOS: usize = 11;
const FLUSH_IOS: usize = 15;

/// The counters that can only grow on a 64-bit kernel; the times are printed as 32-bit numbers
/// (block/genhd.c).
const GROWING: [usize; 8] = [
    READ_IOS,
    READ_MERGES,
    READ_SECTORS,
    WRITE_IOS,
    WRITE_MERGES,
    WRITE_SECTORS,
    DISCARD_IOS,
    FLUSH_IOS,
];

impl Snapshot {
    /// The counters of `names` (kernel names, as [`crate::target::whole_disk`] gives them) now. A name that
    /// the table does not have is no error: see [`Snapshot::lost`].
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn take(root: &SystemRoot, names: &[String]) -> io::Result<Self> {
        let text = root.read("/proc/diskstats")?;
        let text = String::from_utf8_lossy(&text);
        let table: Vec<Row> = text.lines().filter_map(parse_row).collect();
        let mut rows: Vec<Row> = Vec::new();
        for name in names {
            let found = table.iter().find(|row| row.name == *name);
            rows.extend(found.filter(|row| !rows.contains(row)).cloned());
        }
        Ok(Self {
            wanted: names.to_vec(),
            rows,
        })
    }

    /// What each disk counted from here to `later`, which is `duration_ns` after. A disk that was not there
    /// at both moments, or was replaced in between, is left out: see [`Snapshot::lost`].
    ///
    /// Times wrap at 2³² ms; one wrap is undone, two are not seen. At depth 1000 the weighted time wraps in
    /// 72 minutes: over a longer time take snapshots in between and add them up with [`add`].
    pub fn until(&self, later: &Self, duration_ns: u64) -> Vec<DiskSummary> {
        let pairs = self.pairs(later);
        pairs
            .map(|(first, last)| difference(first, last, duration_ns))
            .collect()
    }

    /// The disks asked for of which [`Snapshot::until`] has nothing to say, each with the reason.
    pub fn lost(&self, later: &Self) -> Vec<Warning> {
        let mut warnings = Vec::new();
        for name in &self.wanted {
            if self.pairs(later).any(|(first, _)| first.name == *name) {
                continue;
            }
            let reason = match (self.row(name), later.row(name)) {
                (None, _) => "it had no row in /proc/diskstats at the start",
                (_, None) => "it was gone from /proc/diskstats at the end",
                _ => "its counters started again: the device was replaced meanwhile",
            };
            warnings.push(Warning::RecordIncomplete {
                detail: format!("no disk counters of {name}: {reason}"),
            });
        }
        warnings
    }

    fn row(&self, name: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.name == name)
    }

    /// The disks that can be compared.
    fn pairs<'a>(&'a self, later: &'a Self) -> impl Iterator<Item = (&'a Row, &'a Row)> {
        let both = self
            .rows
            .iter()
            .filter_map(|row| Some((row, later.row(&row.name)?)));
        both.filter(|(first, last)| {
            let grew = |&at: &usize| last.counters[at] >= first.counters[at] || wraps(first.counters[at]);
            first.id == last.id && GROWING.iter().all(grew)
        })
    }
}

/// Adds a further interval's counts to a total, disk by disk; a new disk is appended. Durations add up too.
pub fn add(total: &mut Vec<DiskSummary>, interval: &[DiskSummary]) {
    for more in interval {
        let Some(sum) = total.iter_mut().find(|sum| sum.name == more.name) else {
            total.push(more.clone());
            continue;
        };
        sum.duration_ns += more.duration_ns;
        sum.read_ios += more.read_ios;
        sum.read_merges += more.read_merges;
        sum.read_bytes += more.read_bytes;
        sum.read_time_ns += more.read_time_ns;
        sum.write_ios += more.write_ios;
        sum.write_merges += more.write_merges;
        sum.write_bytes += more.write_bytes;
        sum.write_time_ns += more.write_time_ns;
        sum.discard_ios += more.discard_ios;
        sum.flush_ios += more.flush_ios;
        sum.busy_ns += more.busy_ns;
        sum.weighted_busy_ns += more.weighted_busy_ns;
    }
}

/// Whether a growing counter may have wrapped: only a 32-bit kernel has `unsigned long` of 32 bits, and no
/// 64-bit program runs on one. Elsewhere a counter that fell belongs to another device.
fn wraps(value: u64) -> bool {
    cfg!(target_pointer_width = "32") && u32::try_from(value).is_ok()
}

/// One row; `None` for a line of another shape (kernels before 2.6.25 give partitions seven columns).
fn parse_row(line: &str) -> Option<Row> {
    let mut columns = line.split_ascii_whitespace();
    let id = parse_id(&format!("{}:{}", columns.next()?, columns.next()?))?;
    let name = columns.next()?.replace('!', "/");
    let mut counters = [0; COUNTERS];
    let mut seen = 0;
    for (counter, column) in counters.iter_mut().zip(columns) {
        *counter = column.parse().ok()?;
        seen += 1;
    }
    (seen >= 11).then_some(Row { name, id, counters })
}

fn difference(first: &Row, last: &Row, duration_ns: u64) -> DiskSummary {
    let (a, b) = (&first.counters, &last.counters);
    let grown = |at: usize| {
        if b[at] >= a[at] {
            b[at] - a[at]
        } else {
            b[at] + (1 << 32) - a[at]
        }
    };
    // Modulo 2³² whatever the kernel prints: the interval is shorter than one round.
    let time_ns = |at: usize| u64::from((b[at] as u32).wrapping_sub(a[at] as u32)) * 1_000_000;
    DiskSummary {
        name: first.name.clone(),
        duration_ns,
        read_ios: grown(READ_IOS),
        read_merges: grown(READ_MERGES),
        read_bytes: grown(READ_SECTORS).saturating_mul(SECTOR_BYTES),
        read_time_ns: time_ns(READ_MS),
        write_ios: grown(WRITE_IOS),
        write_merges: grown(WRITE_MERGES),
        write_bytes: grown(WRITE_SECTORS).saturating_mul(SECTOR_BYTES),
        write_time_ns: time_ns(WRITE_MS),
        discard_ios: grown(DISCARD_IOS),
        flush_ios: grown(FLUSH_IOS),
        busy_ns: time_ns(BUSY_MS),
        weighted_busy_ns: time_ns(WEIGHTED_MS),
    }
}

#[cfg(test)]
mod tests;

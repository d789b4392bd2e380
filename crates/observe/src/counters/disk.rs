//! What each disk counts.
//!
//! Duty: the columns of `/sys/block/NAME/stat` under the exporter's names. Data in: the file (columns as in
//! Documentation/admin-guide/iostats.rst). Data out: rows. It must not know why these disks.

use super::growing::Growing;
use super::open_file::OpenFile;
use super::text::{number, words};
use super::{Remarks, Rows};
use crate::root::SystemRoot;
use crate::sysfs::SECTOR_BYTES;
use std::io;
use std::path::PathBuf;

/// How a column becomes a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scale {
    /// A total, as it is.
    Count,
    /// A total of sectors, given in bytes.
    Sectors,
    /// A total of milliseconds printed with 32 bits, given in seconds.
    Milliseconds,
    /// What is so at this moment.
    Gauge,
}

/// The columns, and what the node exporter makes of them (its collector `diskstats`; discards alone it leaves in sectors).
const COLUMNS: [(&str, Scale); 17] = [
    ("node_disk_reads_completed_total", Scale::Count),
    ("node_disk_reads_merged_total", Scale::Count),
    ("node_disk_read_bytes_total", Scale::Sectors),
    ("node_disk_read_time_seconds_total", Scale::Milliseconds),
    ("node_disk_writes_completed_total", Scale::Count),
    ("node_disk_writes_merged_total", Scale::Count),
    ("node_disk_written_bytes_total", Scale::Sectors),
    ("node_disk_write_time_seconds_total", Scale::Milliseconds),
    ("node_disk_io_now", Scale::Gauge),
    ("node_disk_io_time_seconds_total", Scale::Milliseconds),
    ("node_disk_io_time_weighted_seconds_total", Scale::Milliseconds),
    ("node_disk_discards_completed_total", Scale::Count),
    ("node_disk_discards_merged_total", Scale::Count),
    ("node_disk_discarded_sectors_total", Scale::Count),
    ("node_disk_discard_time_seconds_total", Scale::Milliseconds),
    ("node_disk_flush_requests_total", Scale::Count),
    ("node_disk_flush_requests_time_seconds_total", Scale::Milliseconds),
];

/// Requests in flight and busy time: what is read more often.
const QUEUE_COLUMNS: [usize; 2] = [8, 9];

/// Columns of every kernel; discards came with 4.18, flushes with 5.5.
const COLUMNS_MIN: usize = 11;

#[derive(Debug)]
pub(super) struct Disks {
    root: SystemRoot,
    all: Vec<Disk>,
    buffer: Vec<u8>,
}

#[derive(Debug)]
struct Disk {
    name: String,
    labels: String,
    path: PathBuf,
    file: Option<OpenFile>,
    columns: [Growing; COLUMNS.len()],
}

impl Disks {
    pub(super) fn new(root: &SystemRoot, names: &[String], remarks: &mut Remarks) -> Self {
        let mut disks: Vec<Disk> = Vec::new();
        let mut buffer = Vec::new();
        for name in names {
            if disks.iter().any(|known| known.name == *name) {
                continue;
            }
            let mut disk = Disk::new(name);
            if let Err(reason) = disk.values(root, &mut buffer) {
                remarks.say(disk.missing(&reason));
            }
            disks.push(disk);
        }
        Self {
            root: root.clone(),
            all: disks,
            buffer,
        }
    }

    pub(super) fn sample(&mut self, rows: &mut Rows<'_>, remarks: &mut Remarks) {
        for disk in &mut self.all {
            match disk.values(&self.root, &mut self.buffer) {
                Ok((values, count)) => {
                    for (column, value) in values.into_iter().enumerate().take(count) {
                        disk.push(column, value, rows);
                    }
                }
                Err(reason) => remarks.say(disk.missing(&reason)),
            }
        }
    }

    pub(super) fn sample_queues(&mut self, rows: &mut Rows<'_>) {
        for disk in &mut self.all {
            // A disk that is gone is spoken of once a second.
            if let Ok((values, _)) = disk.values(&self.root, &mut self.buffer) {
                for column in QUEUE_COLUMNS {
                    disk.push(column, values[column], rows);
                }
            }
        }
    }
}

impl Disk {
    fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            labels: format!("device=\"{}\"", escaped(name)),
            // `/` cannot be in a file name: sysfs writes `!`.
            path: PathBuf::from(format!("/sys/class/block/{}/stat", name.replace('/', "!"))),
            file: None,
            columns: [Growing::default(); COLUMNS.len()],
        }
    }

    /// The columns and how many there are.
    fn values(
        &mut self,
        root: &SystemRoot,
        buffer: &mut Vec<u8>,
    ) -> Result<([u64; COLUMNS.len()], usize), String> {
        let unreadable = |error: io::Error| format!("{} cannot be read: {error}", self.path.display());
        let file = match self.file.take() {
            Some(file) => file,
            None => OpenFile::open(root, &self.path).map_err(unreadable)?,
        };
        // Not kept when it fails: the disk was taken away, and one of the same name may come.
        let values = parse(file.read(buffer).map_err(unreadable)?);
        self.file = Some(file);
        values.ok_or_else(|| format!("{} has fewer than {COLUMNS_MIN} numbers", self.path.display()))
    }

    fn missing(&self, reason: &str) -> String {
        format!(
            "the counters of disk {}: not available, because {reason}",
            self.name
        )
    }

    fn push(&mut self, column: usize, value: u64, rows: &mut Rows<'_>) {
        let (metric, scale) = COLUMNS[column];
        let counter = &mut self.columns[column];
        let value = match scale {
            Scale::Count => counter.read(value) as f64,
            Scale::Sectors => counter.read(value) as f64 * SECTOR_BYTES as f64,
            Scale::Milliseconds => counter.read_32_bits(value) as f64 / 1e3,
            Scale::Gauge => value as f64,
        };
        rows.push(metric, self.labels.clone(), value);
    }
}

/// The numbers of one line and how many they are; `None` for fewer than every kernel has.
fn parse(text: &[u8]) -> Option<([u64; COLUMNS.len()], usize)> {
    let mut values = [0; COLUMNS.len()];
    let mut count = 0;
    for (value, word) in values.iter_mut().zip(words(text)) {
        *value = number(word)?;
        count += 1;
    }
    (count >= COLUMNS_MIN).then_some((values, count))
}

/// A label's value as Prometheus' text format writes it.
pub(super) fn escaped(value: &str) -> String {
    value
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

#[cfg(test)]
mod tests;

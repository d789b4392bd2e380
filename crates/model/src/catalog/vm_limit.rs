//! Limits that virtual machines have on disks of one family, where a cloud has such.
//!
//! Data in: `vm-limits.csv`. Data out: rows, and which of them is a machine's. It must not know the disks' own limits.

use super::disk::{IOPS_MAX, MBPS_MAX};
use super::family::Family;
use super::rows::{self, CatalogError};
use super::{MB, Vm};

const COLUMNS: [&str; 13] = [
    "mbps_unit?",
    "series",
    "name",
    "vcpus_min",
    "vcpus_max",
    "family",
    "read_iops",
    "write_iops",
    "read_mbps",
    "write_mbps",
    "together",
    "note",
    "source",
];

/// The limits of some machines on all their disks of a family. `None`: no source states it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VmLimit {
    /// The series of the machines.
    pub series: String,
    /// The name of the only machine that is meant; empty: all of the series with so many processors.
    pub name: String,
    pub vcpus_min: Option<u32>,
    pub vcpus_max: Option<u32>,
    pub family: Family,
    /// I/O units a second that are read.
    pub read_iops: Option<u64>,
    /// I/O units a second that are written.
    pub write_iops: Option<u64>,
    /// Bytes read a second.
    pub read_bytes_per_second: Option<u64>,
    /// Bytes written a second.
    pub write_bytes_per_second: Option<u64>,
    /// Whether the limits of reads count writes too.
    pub together: bool,
    /// What is to be known of the row.
    pub note: String,
    /// Keys of the cloud's `SOURCES.md`.
    pub source: String,
}

impl VmLimit {
    /// Whether the row is about `vm`.
    pub fn is_of(&self, vm: &Vm) -> bool {
        if !self.name.is_empty() {
            return self.name == vm.name;
        }
        self.series == vm.series
            && self.vcpus_min.is_none_or(|least| vm.vcpus >= least)
            && self.vcpus_max.is_none_or(|most| vm.vcpus <= most)
    }
}

pub(super) fn read(file: &str, text: &str, families: &[Family]) -> Result<Vec<VmLimit>, CatalogError> {
    rows::read(file, text, &COLUMNS, |mut row| {
        let unit = match row.text() {
            "" | "MB" => MB,
            "MiB" => 1 << 20,
            _ => return Err(row.wrong("`MB` (10^6 bytes, also where it is blank) or `MiB` goes here")),
        };
        let vcpus = |row: &mut rows::Row<'_>| Ok(row.whole(1, 100_000)?.map(|vcpus| vcpus as u32));
        Ok(VmLimit {
            series: row.name()?,
            name: row.text().to_owned(),
            vcpus_min: vcpus(&mut row)?,
            vcpus_max: vcpus(&mut row)?,
            family: {
                let text = row.text().to_owned();
                let found = families.iter().find(|family| family.key() == text).copied();
                found.ok_or_else(|| {
                    let names: Vec<&str> = families.iter().map(|family| family.key()).collect();
                    row.wrong(format!("one of these goes here: {}", names.join(", ")))
                })?
            },
            read_iops: row.whole(1, IOPS_MAX)?,
            write_iops: row.whole(1, IOPS_MAX)?,
            read_bytes_per_second: row.amount(unit, MBPS_MAX)?,
            write_bytes_per_second: row.amount(unit, MBPS_MAX)?,
            together: row.flag()?.unwrap_or(false),
            note: row.text().to_owned(),
            source: row.text().to_owned(),
        })
    })
}

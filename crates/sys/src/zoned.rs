//! Zoned block devices (`linux/blkzoned.h`): what their zones are, and what empties or fills one.
//!
//! Data in: an open block device, places in bytes. Data out: zones, errnos. It must not decide whether a zone may be emptied:
//! that is decided before, and a device that is open for reading alone refuses it.

use rustix::ioctl::{Getter, Opcode, Setter, Updater, ioctl, opcode};
use std::fs::File;
use std::io;

const BLKREPORTZONE: Opcode = opcode::read_write::<[u64; 2]>(0x12, 130);
const BLKRESETZONE: Opcode = opcode::write::<[u64; 2]>(0x12, 131);
const BLKGETZONESZ: Opcode = opcode::read::<u32>(0x12, 132);
const BLKGETNRZONES: Opcode = opcode::read::<u32>(0x12, 133);
const BLKFINISHZONE: Opcode = opcode::write::<[u64; 2]>(0x12, 136);

/// What these ioctls count in, whatever a device's blocks are.
const SECTOR_BYTES: u64 = 512;
/// Zones that are asked for at a time.
const ZONES_AT_ONCE: usize = 256;
/// `BLK_ZONE_REP_CAPACITY`: zones are reported with what they hold.
const WITH_CAPACITY: u32 = 1;

/// `struct blk_zone`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct RawZone {
    start: u64,
    len: u64,
    write_pointer: u64,
    kind: u8,
    condition: u8,
    non_sequential: u8,
    reset: u8,
    reserved: [u8; 4],
    capacity: u64,
    more: [u8; 24],
}
const _: () = assert!(size_of::<RawZone>() == 64);

/// `struct blk_zone_report`, and room for zones.
#[repr(C)]
struct RawReport {
    sector: u64,
    count: u32,
    flags: u32,
    zones: [RawZone; ZONES_AT_ONCE],
}
const _: () = assert!(size_of::<RawReport>() == 16 + 64 * ZONES_AT_ONCE);

/// How a zone is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ZoneKind {
    /// Anywhere, as any disk.
    Conventional,
    /// At its write pointer: it has to be, or ought to.
    Sequential,
}

/// What a zone is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ZoneCondition {
    /// It has no write pointer.
    Unwritten,
    Empty,
    /// Written in part, and open by a write or by a command.
    Open,
    /// Written in part, and not open.
    Closed,
    Full,
    /// It cannot be written any more.
    ReadOnly,
    /// It can be neither read nor written.
    Offline,
}

/// A zone; all in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Zone {
    pub start_bytes: u64,
    /// To the next zone.
    pub len_bytes: u64,
    /// What of it can be written.
    pub capacity_bytes: u64,
    /// Where it is written next, from its start; of a full zone, its capacity.
    pub written_bytes: u64,
    pub kind: ZoneKind,
    pub condition: ZoneCondition,
}

impl Zone {
    fn from_raw(raw: &RawZone, has_capacity: bool) -> Self {
        let bytes = |sectors: u64| sectors.saturating_mul(SECTOR_BYTES);
        let kind = match raw.kind {
            1 => ZoneKind::Conventional,
            _ => ZoneKind::Sequential,
        };
        let condition = match raw.condition {
            0x0 => ZoneCondition::Unwritten,
            0x1 => ZoneCondition::Empty,
            0x2 | 0x3 => ZoneCondition::Open,
            0x4 => ZoneCondition::Closed,
            0xe => ZoneCondition::Full,
            0xd => ZoneCondition::ReadOnly,
            // 0xf; what nobody knows is not used either.
            _ => ZoneCondition::Offline,
        };
        let len_bytes = bytes(raw.len);
        let capacity_bytes = if has_capacity {
            bytes(raw.capacity).min(len_bytes)
        } else {
            len_bytes
        };
        let written_bytes = match condition {
            ZoneCondition::Full => capacity_bytes,
            // Of these the pointer says nothing.
            ZoneCondition::ReadOnly | ZoneCondition::Offline | ZoneCondition::Unwritten => 0,
            _ => bytes(raw.write_pointer.saturating_sub(raw.start)).min(capacity_bytes),
        };
        Self {
            start_bytes: bytes(raw.start),
            len_bytes,
            capacity_bytes,
            written_bytes,
            kind,
            condition,
        }
    }
}

/// The size of a zone in bytes; 0: the device has none.
///
/// # Errors
/// `ENOTTY` if it is not a block device, or the kernel knows of no zones.
pub fn zone_bytes(device: &File) -> io::Result<u64> {
    // SAFETY: BLKGETZONESZ writes one u32 and reads nothing.
    let request = unsafe { Getter::<BLKGETZONESZ, u32>::new() };
    // SAFETY: `request` describes the ioctl rightly; other files refuse it with ENOTTY.
    let sectors = unsafe { ioctl(device, request) }?;
    Ok(u64::from(sectors) * SECTOR_BYTES)
}

/// How many zones it has.
///
/// # Errors
/// As [`zone_bytes`].
pub fn zone_count(device: &File) -> io::Result<u32> {
    // SAFETY: BLKGETNRZONES writes one u32 and reads nothing.
    let request = unsafe { Getter::<BLKGETNRZONES, u32>::new() };
    // SAFETY: as in `zone_bytes`.
    Ok(unsafe { ioctl(device, request) }?)
}

/// All zones, in their order.
///
/// # Errors
/// As [`zone_bytes`]; `InvalidData` where the device does not come to its end.
pub fn zones(device: &File) -> io::Result<Vec<Zone>> {
    let count = zone_count(device)? as usize;
    let mut found: Vec<Zone> = Vec::with_capacity(count);
    while found.len() < count {
        let next = found.last().map_or(0, |zone| zone.start_bytes + zone.len_bytes);
        let before = found.len();
        report(device, next, ZONES_AT_ONCE, &mut |zone| found.push(zone))?;
        if found.len() == before {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("the device reports {before} zones, and says that it has {count}"),
            ));
        }
    }
    Ok(found)
}

/// The zone at a place.
///
/// # Errors
/// As [`zones`].
pub fn zone_at(device: &File, offset_bytes: u64) -> io::Result<Zone> {
    let mut found = None;
    report(device, offset_bytes, 1, &mut |zone| found = Some(zone))?;
    found.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "the device reports no zone there"))
}

/// At most so many zones, and no more than are asked for at a time, from the one at a place on.
fn report(device: &File, offset_bytes: u64, most: usize, each: &mut dyn FnMut(Zone)) -> io::Result<()> {
    let mut report = RawReport {
        sector: offset_bytes / SECTOR_BYTES,
        count: most.min(ZONES_AT_ONCE) as u32,
        flags: 0,
        zones: [RawZone::default(); ZONES_AT_ONCE],
    };
    // SAFETY: BLKREPORTZONE reads the head of the report and writes it, and at most `count` zones behind it, which it has.
    let request = unsafe { Updater::<BLKREPORTZONE, RawReport>::new(&mut report) };
    // SAFETY: `request` describes the ioctl rightly; other files refuse it with ENOTTY.
    unsafe { ioctl(device, request) }?;
    let has_capacity = report.flags & WITH_CAPACITY != 0;
    let count = (report.count as usize).min(most).min(ZONES_AT_ONCE);
    for raw in &report.zones[..count] {
        each(Zone::from_raw(raw, has_capacity));
    }
    Ok(())
}

/// Empties whole zones: what they hold is gone.
///
/// # Errors
/// `EBADF` if the device is not open for writing, `EINVAL` if these are no whole zones, `EOPNOTSUPP` if it has none; what the
/// device said.
pub fn reset(device: &File, start_bytes: u64, len_bytes: u64) -> io::Result<()> {
    // SAFETY: BLKRESETZONE reads two u64, the first sector and how many, and writes nothing.
    let request = unsafe {
        Setter::<BLKRESETZONE, [u64; 2]>::new([start_bytes / SECTOR_BYTES, len_bytes / SECTOR_BYTES])
    };
    // SAFETY: `request` describes the ioctl rightly; other files refuse it with ENOTTY.
    Ok(unsafe { ioctl(device, request) }?)
}

/// Makes whole zones full, however much of them is written.
///
/// # Errors
/// As [`reset`].
pub fn finish(device: &File, start_bytes: u64, len_bytes: u64) -> io::Result<()> {
    // SAFETY: BLKFINISHZONE reads two u64, the first sector and how many, and writes nothing.
    let request = unsafe {
        Setter::<BLKFINISHZONE, [u64; 2]>::new([start_bytes / SECTOR_BYTES, len_bytes / SECTOR_BYTES])
    };
    // SAFETY: `request` describes the ioctl rightly; other files refuse it with ENOTTY.
    Ok(unsafe { ioctl(device, request) }?)
}

#[cfg(test)]
mod tests;

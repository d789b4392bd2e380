//! What of each limit a load takes.
#![allow(clippy::unnecessary_wraps, reason = "rows of one table have one shape")]

use super::{Limit, Reaching, Use};
use crate::need::Load;
use crate::setup::{Credit, Rate, Setup, Sides, Way};

/// That of so many disks together.
fn times(rate: Rate, count: u32) -> Rate {
    let count = u64::from(count);
    Rate {
        base: rate.base.map(|base| base.saturating_mul(count)),
        credit: rate.credit.map(|credit| Credit {
            ceiling: credit.ceiling.saturating_mul(count),
            bucket: credit.bucket.saturating_mul(u128::from(count)),
        }),
    }
}

/// Bytes as the disks' limits count them.
fn counted(setup: &Setup, units: u64, bytes: u64) -> u64 {
    if setup.whole_units {
        units.saturating_mul(setup.io_unit_bytes)
    } else {
        bytes
    }
}

/// The limit of reads and writes together, of what `of` picks.
fn together(sides: &Sides, of: fn(Way) -> Rate) -> Option<Rate> {
    match sides {
        Sides::Together(way) => Some(of(*way)),
        Sides::Apart { both, .. } => Some(of(*both)).filter(|rate| *rate != Rate::OPEN),
        Sides::Open => None,
    }
}

const fn iops(way: Way) -> Rate {
    way.iops
}

const fn bytes(way: Way) -> Rate {
    way.bytes_per_second
}

const fn of_reads(sides: &Sides) -> Option<Way> {
    match sides {
        Sides::Apart { reads, .. } => Some(*reads),
        Sides::Open | Sides::Together(_) => None,
    }
}

const fn of_writes(sides: &Sides) -> Option<Way> {
    match sides {
        Sides::Apart { writes, .. } => Some(*writes),
        Sides::Open | Sides::Together(_) => None,
    }
}

/// The limit of all disks together: of each by itself so many times, or of all at once.
pub(super) fn disk_iops(setup: &Setup, _: &Load, reaching: Reaching) -> Option<Use> {
    let rate = match &setup.disks {
        Sides::Open => times(setup.disk.iops, setup.count),
        sides => together(sides, iops)?,
    };
    Some(Use {
        limit: Limit::DiskIops,
        used: reaching.disk_units,
        rate,
    })
}

pub(super) fn disk_bytes(setup: &Setup, _: &Load, reaching: Reaching) -> Option<Use> {
    let rate = match &setup.disks {
        Sides::Open => times(setup.disk.bytes_per_second, setup.count),
        sides => together(sides, bytes)?,
    };
    Some(Use {
        limit: Limit::DiskThroughput,
        used: counted(setup, reaching.disk_units, reaching.disk_bytes),
        rate,
    })
}

pub(super) fn disk_read_iops(setup: &Setup, _: &Load, reaching: Reaching) -> Option<Use> {
    let way = of_reads(&setup.disks)?;
    Some(Use {
        limit: Limit::DiskReadIops,
        used: reaching.read_units,
        rate: way.iops,
    })
}

pub(super) fn disk_read_bytes(setup: &Setup, _: &Load, reaching: Reaching) -> Option<Use> {
    let way = of_reads(&setup.disks)?;
    Some(Use {
        limit: Limit::DiskReadThroughput,
        used: counted(setup, reaching.read_units, reaching.read_bytes),
        rate: way.bytes_per_second,
    })
}

pub(super) fn disk_write_iops(setup: &Setup, _: &Load, reaching: Reaching) -> Option<Use> {
    let way = of_writes(&setup.disks)?;
    Some(Use {
        limit: Limit::DiskWriteIops,
        used: reaching.write_units,
        rate: way.iops,
    })
}

pub(super) fn disk_write_bytes(setup: &Setup, _: &Load, reaching: Reaching) -> Option<Use> {
    let way = of_writes(&setup.disks)?;
    Some(Use {
        limit: Limit::DiskWriteThroughput,
        used: counted(setup, reaching.write_units, reaching.write_bytes),
        rate: way.bytes_per_second,
    })
}

pub(super) fn machine_iops(setup: &Setup, _: &Load, reaching: Reaching) -> Option<Use> {
    Some(Use {
        limit: Limit::MachineIops,
        used: reaching.disk_units,
        rate: together(&setup.machine, iops)?,
    })
}

pub(super) fn machine_bytes(setup: &Setup, _: &Load, reaching: Reaching) -> Option<Use> {
    Some(Use {
        limit: Limit::MachineThroughput,
        used: reaching.disk_bytes,
        rate: together(&setup.machine, bytes)?,
    })
}

pub(super) fn machine_read_iops(setup: &Setup, _: &Load, reaching: Reaching) -> Option<Use> {
    let way = of_reads(&setup.machine)?;
    Some(Use {
        limit: Limit::MachineReadIops,
        used: reaching.read_units,
        rate: way.iops,
    })
}

pub(super) fn machine_read_bytes(setup: &Setup, _: &Load, reaching: Reaching) -> Option<Use> {
    let way = of_reads(&setup.machine)?;
    Some(Use {
        limit: Limit::MachineReadThroughput,
        used: reaching.read_bytes,
        rate: way.bytes_per_second,
    })
}

pub(super) fn machine_write_iops(setup: &Setup, _: &Load, reaching: Reaching) -> Option<Use> {
    let way = of_writes(&setup.machine)?;
    Some(Use {
        limit: Limit::MachineWriteIops,
        used: reaching.write_units,
        rate: way.iops,
    })
}

pub(super) fn machine_write_bytes(setup: &Setup, _: &Load, reaching: Reaching) -> Option<Use> {
    let way = of_writes(&setup.machine)?;
    Some(Use {
        limit: Limit::MachineWriteThroughput,
        used: reaching.write_bytes,
        rate: way.bytes_per_second,
    })
}

pub(super) fn uncached_iops(setup: &Setup, _: &Load, reaching: Reaching) -> Option<Use> {
    Some(Use {
        limit: Limit::UncachedIops,
        used: reaching.disk_units,
        rate: setup.uncached.iops,
    })
}

pub(super) fn uncached_bytes(setup: &Setup, _: &Load, reaching: Reaching) -> Option<Use> {
    Some(Use {
        limit: Limit::UncachedThroughput,
        used: reaching.disk_bytes,
        rate: setup.uncached.bytes_per_second,
    })
}

pub(super) fn cached_iops(setup: &Setup, _: &Load, reaching: Reaching) -> Option<Use> {
    setup.cache?;
    Some(Use {
        limit: Limit::CachedIops,
        used: reaching.units,
        rate: setup.cached.iops,
    })
}

pub(super) fn cached_bytes(setup: &Setup, load: &Load, _: Reaching) -> Option<Use> {
    setup.cache?;
    Some(Use {
        limit: Limit::CachedThroughput,
        used: load.bytes,
        rate: setup.cached.bytes_per_second,
    })
}

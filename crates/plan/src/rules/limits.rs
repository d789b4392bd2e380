//! What of each limit a load takes.
#![allow(clippy::unnecessary_wraps, reason = "rows of one table have one shape")]

use super::{Limit, Reaching, Use};
use crate::need::Load;
use crate::setup::{Credit, Rate, Setup};

/// That of so many disks together.
fn times(rate: Rate, count: u32) -> Rate {
    let count = u64::from(count);
    Rate {
        base: rate.base.map(|base| base.saturating_mul(count)),
        credit: rate.credit.map(|credit| Credit {
            ceiling: credit.ceiling.saturating_mul(count),
            ..credit
        }),
    }
}

pub(super) fn disk_iops(setup: &Setup, _: &Load, reaching: Reaching) -> Option<Use> {
    Some(Use {
        limit: Limit::DiskIops,
        used: reaching.disk_units,
        rate: times(setup.disk.iops, setup.count),
    })
}

pub(super) fn disk_bytes(setup: &Setup, _: &Load, reaching: Reaching) -> Option<Use> {
    Some(Use {
        limit: Limit::DiskThroughput,
        used: reaching.disk_bytes,
        rate: times(setup.disk.bytes_per_second, setup.count),
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

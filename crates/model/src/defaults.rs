//! What neither a target in words nor the catalogue says: the stripe, the host's cache, the guest.
//!
//! Data in: a family, a size of memory. Data out: the parts of a [`Spec`](crate::Spec). Each number says whether it
//! is documented, fitted to published figures, or assumed. It must not know the catalogue's rows.

mod services;

pub(crate) use services::{read_hit, write_hit};
pub use services::{read_service, write_service};

use crate::catalog::{Disk, GIB};
use crate::spec::{CacheMode, GuestSpec, HostCacheSpec, KIB, Limit, PageCacheSpec};

/// The stripe's chunk, as mdadm and LVM are commonly set up for it.
pub const CHUNK_BYTES: u64 = 512 * KIB;

/// The guest's memory where no virtual machine is named: that of the node in the published tests of 2019.
pub const RAM_BYTES: u64 = 28 * GIB;

/// The size of a freely sized disk where none is given: 1 TiB.
pub const FLEX_SIZE_BYTES: u64 = 1024 * GIB;

/// The seed where none is given.
pub const SEED: u64 = 1;

/// A full bucket lasts 30 minutes at full burst (documented, for disks and virtual machines alike).
pub const BURST_SECONDS: u64 = 1_800;

/// The host's cache holds at most so many blocks in the model, which bounds the simulation's memory: a larger cache
/// has larger blocks.
const HOST_CACHE_BLOCKS: u64 = 1 << 24;

/// IOPS and bytes a second of a freely sized disk that costs extra for all of them, where they are not given: what
/// the smallest Premium SSD that holds as much has, `like` it, so that the two can be compared.
pub const fn flex_limits(like: &Disk) -> (u64, u64) {
    (like.iops, like.bytes_per_second)
}

/// A guest with `ram_bytes` of memory.
///
/// The page cache's shares are the kernel's (`dirty_background_ratio` 10, `dirty_ratio` 20; writers are held at the
/// set point between the middle of the two and the upper one, 17.5 %; `dirty_expire_centisecs` 3000,
/// `dirty_writeback_centisecs` 500). That they are shares of 80 % of memory is fitted: a node of 28 GiB was held at
/// 3.7 GB. Processor times are assumed (a call of 1.5 µs, 4 GB/s to copy).
pub fn guest(ram_bytes: u64) -> GuestSpec {
    let dirtyable = ram_bytes / 5 * 4;
    GuestSpec {
        submit_ns: 0,
        page_cache: PageCacheSpec {
            capacity_bytes: dirtyable,
            background_bytes: dirtyable / 10,
            throttle_bytes: dirtyable / 1000 * 175,
            expire_ns: 30_000_000_000,
            wake_ns: 5_000_000_000,
            merge_bytes: 512 * KIB,
            in_flight: 64,
            call_ns: 1_500,
            copy_ns_per_kib: 250,
        },
    }
}

/// The host's cache of `capacity_bytes`.
///
/// Assumed: up to 10 % of it, at most 6 GiB, may wait to be written (in the published test with a write cache about
/// 5.9 GB were taken before a stall); a stall ends at half of that; it is written as fast as the disk takes it.
pub fn host_cache(mode: CacheMode, capacity_bytes: u64) -> HostCacheSpec {
    let block_bytes = capacity_bytes
        .div_ceil(HOST_CACHE_BLOCKS)
        .next_power_of_two()
        .max(4 * KIB);
    let dirty_limit_bytes = (capacity_bytes / 10).clamp(1, 6 * GIB);
    HostCacheSpec {
        mode,
        capacity_bytes,
        block_bytes,
        read_hit: read_hit(),
        write_hit: write_hit(),
        dirty_limit_bytes,
        dirty_resume_bytes: dirty_limit_bytes / 2,
        flush_bytes_per_second: Limit::Off,
    }
}

#[cfg(test)]
mod tests;

//! What the tests of the mechanisms share: seeds, and specs in which everything is switched off.

use crate::catalog::{Catalog, Family};
use crate::spec::{
    CacheMode, DiskSpec, GuestSpec, HostCacheSpec, KIB, Limit, PageCacheSpec, PathLimits, ServiceSpec,
    SliceSpec, Spec,
};
use std::hash::BuildHasher;

pub(crate) const MS: u64 = 1_000_000;
pub(crate) const SECOND: u64 = 1_000_000_000;
pub(crate) const GIB: u64 = 1 << 30;

/// A family of Azure's disks.
pub(crate) fn family(key: &str) -> Family {
    let family = Catalog::azure().family(key);
    family.unwrap_or_else(|| panic!("no family {key}"))
}

/// 50 ms, the nominal limit.
pub(crate) const SLICES: SliceSpec = SliceSpec {
    slice_ns: 50 * MS,
    factor_permille: 1000,
};

/// A seed for this run, printed so that a failure can be repeated (`FATHOM_TEST_SEED`).
pub(crate) fn seed() -> u64 {
    let given = std::env::var("FATHOM_TEST_SEED").ok();
    let given = given.and_then(|text| text.parse().ok());
    let seed = given.unwrap_or_else(|| std::hash::RandomState::new().hash_one(0));
    eprintln!("FATHOM_TEST_SEED={seed}");
    seed
}

/// Always the same time, whatever the size.
pub(crate) fn flat(us: f64) -> ServiceSpec {
    ServiceSpec {
        quantiles_us: vec![(0.0, us), (100.0, us)],
        reference_bytes: 4096,
        ns_per_kib: 0,
        origin: String::new(),
    }
}

/// Evenly between two times.
pub(crate) fn between(low_us: f64, high_us: f64) -> ServiceSpec {
    ServiceSpec {
        quantiles_us: vec![(0.0, low_us), (100.0, high_us)],
        ..flat(low_us)
    }
}

/// 1 GiB that takes 1 ms for everything.
pub(crate) fn disk() -> DiskSpec {
    DiskSpec {
        name: String::from("disk"),
        size_bytes: GIB,
        io_unit_bytes: 256 * KIB,
        limits: PathLimits::default(),
        write_bytes_per_second: Limit::Off,
        read: flat(1000.0),
        write: flat(1000.0),
        seek: None,
        crowding: None,
        outages: Vec::new(),
        handling: None,
        merged_streams: 0,
        whole_units: false,
        burst_bytes_need_io_credit: false,
        released: None,
    }
}

/// So many such disks, with nothing above them.
pub(crate) fn spec(disks: usize) -> Spec {
    Spec {
        name: String::from("test"),
        seed: 1,
        disks: vec![disk(); disks],
        stripe_chunk_bytes: 64 * KIB,
        slices: SLICES,
        vm: None,
        shared: Vec::new(),
        assumed: Vec::new(),
        host_cache: None,
        guest: GuestSpec {
            submit_ns: 0,
            page_cache: PageCacheSpec {
                capacity_bytes: 64 << 20,
                background_bytes: 4 << 20,
                throttle_bytes: 8 << 20,
                expire_ns: 30 * SECOND,
                wake_ns: 5 * SECOND,
                merge_bytes: 512 * KIB,
                in_flight: 4,
                call_ns: 1000,
                copy_ns_per_kib: 250,
            },
        },
    }
}

/// 1 MiB in blocks of 4 KiB; hits take 100 µs.
pub(crate) fn host_cache(mode: CacheMode) -> HostCacheSpec {
    HostCacheSpec {
        mode,
        capacity_bytes: 1 << 20,
        block_bytes: 4 * KIB,
        read_hit: flat(100.0),
        write_hit: flat(100.0),
        dirty_limit_bytes: 256 * KIB,
        dirty_resume_bytes: 128 * KIB,
        flush_bytes_per_second: Limit::Off,
    }
}

/// Limits on I/O units and bytes a second.
pub(crate) fn limits(iops: u64, bytes_per_second: u64) -> PathLimits {
    PathLimits {
        iops: Limit::At(iops),
        bytes_per_second: Limit::At(bytes_per_second),
        burst: None,
    }
}

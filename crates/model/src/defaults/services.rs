//! How long the host's cache takes to serve one I/O; of disks, `data/CLOUD/cloud.toml` says it.
//!
//! Data in: nothing, or a family. Data out: quantile tables, each naming its origin. A model file replaces any of them. It must
//! not know sizes or limits.

use crate::catalog::Family;
use crate::spec::ServiceSpec;

/// The size that all tables are of.
const REFERENCE_BYTES: u64 = 4_096;

const READ_HIT: [(f64, f64); 8] = [
    (0.0, 70.0),
    (10.0, 90.0),
    (50.0, 120.0),
    (90.0, 200.0),
    (99.0, 400.0),
    (99.9, 900.0),
    (99.99, 3_000.0),
    (100.0, 10_000.0),
];
const READ_HIT_ORIGIN: &str = "assumed: a solid-state disk in the host";

/// Writes of 4 KiB into the host's write cache.
const WRITE_HIT: [(f64, f64); 9] = [
    (0.0, 45.0),
    (1.0, 52.0),
    (50.0, 69.0),
    (90.0, 94.0),
    (95.0, 106.0),
    (99.0, 174.0),
    (99.9, 644.0),
    (99.99, 3_621.0),
    (100.0, 20_000.0),
];
const WRITE_HIT_ORIGIN: &str = "fitted to test 1 (4k writes into the host's cache) of \"Disk performance on AKS, Part 1\" \
     (2019); the ends are assumed";

fn service(quantiles_us: &[(f64, f64)], ns_per_kib: u64, origin: &str) -> ServiceSpec {
    ServiceSpec {
        quantiles_us: quantiles_us.to_vec(),
        reference_bytes: REFERENCE_BYTES,
        ns_per_kib,
        origin: origin.to_owned(),
    }
}

/// How long a disk of this family takes to read, by the newest measurements.
pub fn read_service(family: Family) -> ServiceSpec {
    family.newest().read.clone()
}

/// How long a disk of this family takes to write, by the newest measurements.
pub fn write_service(family: Family) -> ServiceSpec {
    family.newest().write.clone()
}

/// How long a read takes that the host's cache has.
pub(crate) fn read_hit() -> ServiceSpec {
    service(&READ_HIT, 500, READ_HIT_ORIGIN)
}

/// How long a write takes that ends in the host's cache.
pub(crate) fn write_hit() -> ServiceSpec {
    service(&WRITE_HIT, 500, WRITE_HIT_ORIGIN)
}

//! How long each family of disks takes to serve one I/O.
//!
//! Data in: a family. Data out: quantile tables, each naming its origin. Where nobody published measurements, the
//! documentation's words are turned into a table: it says so, and a model file replaces it. It must not know sizes
//! or limits.

use crate::catalog::Family;
use crate::spec::{CrowdingSpec, SeekSpec, ServiceSpec};

/// The size that all tables are of.
const REFERENCE_BYTES: u64 = 4_096;

/// Premium SSD, writes of 4 KiB, one at a time, no host cache (`clat` in microseconds).
const PREMIUM: [(f64, f64); 19] = [
    (0.0, 2043.0),
    (1.0, 2180.0),
    (5.0, 2278.0),
    (10.0, 2311.0),
    (20.0, 2376.0),
    (30.0, 2409.0),
    (40.0, 2442.0),
    (50.0, 2474.0),
    (60.0, 2507.0),
    (70.0, 2540.0),
    (80.0, 2606.0),
    (90.0, 2802.0),
    (95.0, 3326.0),
    (99.0, 5538.0),
    (99.5, 6194.0),
    (99.9, 7898.0),
    (99.95, 8455.0),
    (99.99, 12_256.0),
    (100.0, 47_769.0),
];
const PREMIUM_WRITES: &str = "fitted to test 3 (4k writes, depth 1, P15) and the slope to test 5 (128k) of \
     \"Disk performance on AKS, Part 1\" (2019)";
const PREMIUM_READS: &str = "fitted to the writes of test 3 of \"Disk performance on AKS, Part 1\" (2019); the slope \
     to the published median of 4.08 ms for 256k reads of a premium disk over 24 h";

const STANDARD_SSD: [(f64, f64); 8] = [
    (0.0, 2_000.0),
    (10.0, 3_000.0),
    (50.0, 4_500.0),
    (90.0, 7_000.0),
    (99.0, 9_900.0),
    (99.9, 25_000.0),
    (99.99, 60_000.0),
    (100.0, 200_000.0),
];
const STANDARD_SSD_ORIGIN: &str =
    "assumed from the documentation: single-digit milliseconds, 99 % of the time; the tail is a guess";

/// Without the seek.
const HDD_READS: [(f64, f64); 8] = [
    (0.0, 1_000.0),
    (10.0, 1_400.0),
    (50.0, 2_000.0),
    (90.0, 4_000.0),
    (99.0, 10_000.0),
    (99.9, 40_000.0),
    (99.99, 120_000.0),
    (100.0, 400_000.0),
];
const HDD_READS_ORIGIN: &str =
    "assumed from the documentation: reads below 20 ms for most I/O, seek included";
const HDD_WRITES: [(f64, f64); 8] = [
    (0.0, 1_500.0),
    (10.0, 2_200.0),
    (50.0, 3_500.0),
    (90.0, 6_500.0),
    (99.0, 9_900.0),
    (99.9, 40_000.0),
    (99.99, 120_000.0),
    (100.0, 400_000.0),
];
const HDD_WRITES_ORIGIN: &str = "assumed from the documentation: writes below 10 ms for most I/O";

const PREMIUM_V2: [(f64, f64); 8] = [
    (0.0, 250.0),
    (10.0, 380.0),
    (50.0, 500.0),
    (90.0, 700.0),
    (99.0, 950.0),
    (99.9, 2_000.0),
    (99.99, 5_000.0),
    (100.0, 30_000.0),
];
const PREMIUM_V2_ORIGIN: &str = "assumed from the documentation: below a millisecond; the tail is a guess";

const ULTRA: [(f64, f64); 8] = [
    (0.0, 180.0),
    (10.0, 260.0),
    (50.0, 330.0),
    (90.0, 450.0),
    (99.0, 650.0),
    (99.9, 950.0),
    (99.99, 2_000.0),
    (100.0, 10_000.0),
];
const ULTRA_ORIGIN: &str =
    "assumed from the documentation: consistently below a millisecond; the tail is a guess";

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

/// How long a disk of this family takes to read.
pub fn read_service(family: Family) -> ServiceSpec {
    match family {
        Family::PremiumSsd => service(&PREMIUM, 6_400, PREMIUM_READS),
        Family::StandardSsd => service(&STANDARD_SSD, 10_000, STANDARD_SSD_ORIGIN),
        Family::StandardHdd => service(&HDD_READS, 10_000, HDD_READS_ORIGIN),
        Family::PremiumSsdV2 => service(&PREMIUM_V2, 2_000, PREMIUM_V2_ORIGIN),
        Family::UltraDisk => service(&ULTRA, 1_000, ULTRA_ORIGIN),
    }
}

/// How long a disk of this family takes to write.
pub fn write_service(family: Family) -> ServiceSpec {
    match family {
        Family::PremiumSsd => service(&PREMIUM, 20_000, PREMIUM_WRITES),
        Family::StandardHdd => service(&HDD_WRITES, 10_000, HDD_WRITES_ORIGIN),
        other => read_service(other),
    }
}

/// What a seek costs, on a family with heads. Assumed: reads below 20 ms for most I/O, of which the medium itself
/// takes 2 ms; so one random read at a time gives about 90 a second, two about 180, and sequential reads the full 500.
/// Writes are taken up by a cache and do not wait for the heads.
pub fn seek(family: Family) -> Option<SeekSpec> {
    (family == Family::StandardHdd).then_some(SeekSpec {
        read_min_ns: 4_000_000,
        read_max_ns: 14_000_000,
        write_min_ns: 0,
        write_max_ns: 0,
        write_cost_bytes: 0,
        streams: 16,
    })
}

/// How I/Os in service slow each other down.
///
/// Premium SSD: 16 µs for each of up to 16 others, fitted to the percentiles below the 70th of the published test at
/// queue depth 16, which are 3 to 15 % above those at depth 1. Nothing that was published says it of others: not at all.
pub fn crowding(family: Family) -> Option<CrowdingSpec> {
    (family == Family::PremiumSsd).then_some(CrowdingSpec {
        ns_per_io: 16_000,
        most: 16,
    })
}

/// How long a read takes that the host's cache has.
pub(crate) fn read_hit() -> ServiceSpec {
    service(&READ_HIT, 500, READ_HIT_ORIGIN)
}

/// How long a write takes that ends in the host's cache.
pub(crate) fn write_hit() -> ServiceSpec {
    service(&WRITE_HIT, 500, WRITE_HIT_ORIGIN)
}

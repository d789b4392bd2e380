//! A model of what was measured.
//!
//! Data in: a [`Fit`]. Data out: a valid [`Spec`] that behaves so. What did not show is left out, not made up. It must not
//! know any product.

use crate::fit::{Counted, Credit, Direction, Fit, Handling, Rate, Release};
use crate::schedule::LARGE_BYTES;
use fathom_model::defaults;
use fathom_model::spec::{
    BurstSpec, Counts, CrowdingSpec, DiskSpec, HandlingSpec, HostCacheSpec, Limit, PathLimits, SeekSpec,
    ServiceSpec, SharedSpec, SliceSpec, Spec, VmSpec,
};

/// The unit where none showed: the one that most clouds count in.
const UNIT_BYTES: u64 = 256 << 10;
/// The unit where an I/O of any size costs the same.
const ANY_UNIT_BYTES: u64 = 64 << 20;
/// Two directions' limits are one limit within this.
const SAME: f64 = 0.02;
/// The least size that a modelled disk has.
const SIZE_BYTES_MIN: u64 = 64 << 20;
/// Streams in order that are told apart from random I/O.
const STREAMS: u32 = 8;

/// The model of `fit`, called `name`, on a disk of `size_bytes`.
pub fn spec(fit: &Fit, name: &str, size_bytes: u64) -> Spec {
    let write = fit.write.as_ref().unwrap_or(&fit.read);
    let size_bytes = size_bytes.max(SIZE_BYTES_MIN);
    let (limits, shared) = limits(fit);
    let slice_ns = match fit.release {
        Release::Slices { slice_ns } => slice_ns,
        Release::Even | Release::NotShown => 0,
    };
    let cache = fit.again_ns.map(|again_ns| cache(again_ns, size_bytes));
    Spec {
        name: name.to_owned(),
        seed: defaults::SEED,
        disks: vec![DiskSpec {
            name: String::from("identified"),
            size_bytes,
            io_unit_bytes: match fit.unit {
                Counted::Unit(bytes) => bytes,
                // Up to a size at which units would have shown, bytes held.
                Counted::NotShown if fit.main().bytes.block_bytes > LARGE_BYTES => ANY_UNIT_BYTES,
                Counted::NotShown => UNIT_BYTES,
                Counted::Any => ANY_UNIT_BYTES,
            },
            limits,
            write_bytes_per_second: Limit::Off,
            read: service(&fit.read),
            write: service(write),
            seek: seek(&fit.read, write),
            crowding: crowding(&fit.read, write),
            handling: fit.handling.map(handling),
            outages: Vec::new(),
            merged_streams: 0,
            whole_units: false,
            burst_bytes_need_io_credit: false,
            released: None,
        }],
        stripe_chunk_bytes: defaults::CHUNK_BYTES,
        slices: SliceSpec {
            slice_ns,
            factor_permille: 1000,
        },
        // The host's cache is a machine's; its limits did not show apart from the disk's.
        vm: cache.is_some().then(|| VmSpec {
            name: String::from("identified"),
            vcpus: None,
            uncached: PathLimits::default_off(),
            cached: PathLimits::default_off(),
            cards: 1,
        }),
        shared,
        assumed: Vec::new(),
        host_cache: cache,
        guest: defaults::guest(defaults::RAM_BYTES),
    }
}

/// Limits that are off.
trait Off {
    fn default_off() -> Self;
}

impl Off for PathLimits {
    fn default_off() -> Self {
        Self {
            iops: Limit::Off,
            bytes_per_second: Limit::Off,
            burst: None,
        }
    }
}

fn at(rate: f64) -> Limit {
    Limit::At((rate.round() as u64).max(1))
}

fn iops(rate: Rate) -> Limit {
    if rate.is_limit {
        at(rate.per_second)
    } else {
        Limit::Off
    }
}

/// Of large I/Os: a limit on bytes, unless it is that on I/Os which counts several.
fn bytes(fit: &Fit, rate: Rate) -> Limit {
    if rate.is_limit && fit.unit == Counted::NotShown {
        at(rate.bytes_per_second().max(4096.0))
    } else {
        Limit::Off
    }
}

/// One for both directions: where they differ, what lies between.
fn crowding(read: &Direction, write: &Direction) -> Option<CrowdingSpec> {
    let each = [read, write].map(|direction| direction.service.crowding);
    let ns_per_io = each.iter().flatten().map(|one| one.ns_per_io).sum::<u64>() / 2;
    let most = each.iter().flatten().map(|one| one.most).max()?;
    (ns_per_io > 0).then_some(CrowdingSpec { ns_per_io, most })
}

fn handling(handling: Handling) -> HandlingSpec {
    let write = handling.write.unwrap_or(handling.read);
    HandlingSpec {
        read_ns: handling.read.each_ns,
        read_ns_per_kib: handling.read.ns_per_kib,
        write_ns: write.each_ns,
        write_ns_per_kib: write.ns_per_kib,
    }
}

/// The disk's own limits, and those of one direction.
fn limits(fit: &Fit) -> (PathLimits, Vec<SharedSpec>) {
    // What handles all I/Os holds them by itself.
    if fit.handling.is_some() {
        return (PathLimits::default_off(), Vec::new());
    }
    let credit = burst(fit);
    let all = |small: Rate, large: Rate| PathLimits {
        iops: iops(small),
        bytes_per_second: bytes(fit, large),
        burst: None,
    };
    let Some(write) = &fit.write else {
        return (with(all(fit.read.small, fit.read.bytes), credit), Vec::new());
    };
    let same = |one: Rate, other: Rate| {
        one.is_limit == other.is_limit && (one.per_second / other.per_second).ln().abs() < SAME
    };
    let one_limit = same(fit.read.small, write.small)
        && same(fit.read.large, write.large)
        && fit.shared(false) != Some(false)
        && fit.shared(true) != Some(false);
    if one_limit {
        return (with(all(write.small, write.bytes), credit), Vec::new());
    }
    let gate = |counts, direction: &Direction| SharedSpec {
        owner: String::from("identified"),
        of_vm: false,
        counts,
        limits: all(direction.small, direction.bytes),
    };
    let gates = vec![gate(Counts::Reads, &fit.read), gate(Counts::Writes, write)];
    // What both are held by together, where that is less than the sum.
    let mut own = PathLimits::default_off();
    if let Some((small, large)) = fit.together {
        if fit.shared(false) == Some(true) {
            own.iops = iops(larger(small, fit.read.small, write.small));
        }
        if fit.shared(true) == Some(true) {
            own.bytes_per_second = bytes(fit, larger(large, fit.read.bytes, write.bytes));
        }
    }
    (with(own, credit), gates)
}

/// The largest of what was seen.
fn larger(both: Rate, read: Rate, write: Rate) -> Rate {
    let mut most = both;
    for one in [read, write] {
        if one.bytes_per_second() > most.bytes_per_second() {
            most = one;
        }
    }
    most
}

/// A burst, and the limits that hold once it is over.
fn burst(fit: &Fit) -> Option<(PathLimits, BurstSpec)> {
    let Credit::Spent {
        lasted_ns,
        ios,
        bytes: credit,
        small,
        large,
    } = fit.credit
    else {
        return None;
    };
    let main = fit.main();
    let base = PathLimits {
        iops: if ios > 0.0 { iops(small) } else { iops(main.small) },
        bytes_per_second: if credit > 0.0 {
            bytes(fit, large)
        } else {
            bytes(fit, main.bytes)
        },
        burst: None,
    };
    let burst = BurstSpec {
        iops: if ios > 0.0 { iops(main.small) } else { Limit::Off },
        bytes_per_second: if credit > 0.0 {
            bytes(fit, main.bytes)
        } else {
            Limit::Off
        },
        full_seconds: (lasted_ns / 1_000_000_000).max(1),
        level_percent: 100,
        iops_credit: (ios > 0.0).then_some((ios as u64).max(1)),
        bytes_credit: (credit > 0.0).then_some((credit as u64).max(1)),
    };
    Some((base, burst))
}

fn with(limits: PathLimits, credit: Option<(PathLimits, BurstSpec)>) -> PathLimits {
    match credit {
        None => limits,
        Some((base, burst)) => PathLimits {
            burst: Some(burst),
            ..base
        },
    }
}

/// Without its seek, which stands apart.
fn service(direction: &Direction) -> ServiceSpec {
    let service = &direction.service;
    let shift_us = match service.in_order_ns {
        Some(in_order) => service.median_ns.saturating_sub(in_order) as f64 / 1e3,
        None => 0.0,
    };
    let mut least = 0.001;
    let quantiles = service.quantiles_us.iter().map(|&(percent, us)| {
        least = (us - shift_us).max(least);
        (percent, least)
    });
    ServiceSpec {
        quantiles_us: quantiles.collect(),
        reference_bytes: u64::from(crate::schedule::SMALL_BYTES),
        ns_per_kib: service.ns_per_kib,
        origin: String::from("measured by fathom identify"),
    }
}

fn seek(read: &Direction, write: &Direction) -> Option<SeekSpec> {
    let longer = |direction: &Direction| {
        let service = &direction.service;
        service
            .in_order_ns
            .map_or(0, |in_order| service.median_ns.saturating_sub(in_order))
    };
    let (reads, writes) = (longer(read), longer(write));
    (reads + writes > 0).then_some(SeekSpec {
        read_min_ns: reads,
        read_max_ns: reads,
        write_min_ns: writes,
        write_max_ns: writes,
        write_cost_bytes: 0,
        streams: STREAMS,
    })
}

/// A cache of reads; how much it holds did not show.
fn cache(again_ns: u64, size_bytes: u64) -> HostCacheSpec {
    let us = again_ns as f64 / 1e3;
    let hit = ServiceSpec {
        quantiles_us: vec![(0.0, us), (100.0, us)],
        reference_bytes: u64::from(crate::schedule::SMALL_BYTES),
        ns_per_kib: 0,
        origin: String::from("measured by fathom identify"),
    };
    HostCacheSpec {
        read_hit: hit.clone(),
        write_hit: hit,
        ..defaults::host_cache(fathom_model::spec::CacheMode::ReadOnly, size_bytes / 64)
    }
}

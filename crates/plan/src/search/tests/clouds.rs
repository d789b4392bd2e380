//! The cheapest of AWS and Google Cloud by the words of their documentation, formula by formula, on every machine: nothing of
//! the search is used, nor of the catalogue's formulas.

use crate::layout::GIB;
use crate::need::Need;
use crate::setup::Lasts;
use fathom_model::catalog::{Catalog, Vm};

const MIB: u64 = 1 << 20;

/// One volume as it is bought: what it lets through (reads and writes apart: both), and its price in millionths of a US dollar.
struct Volume {
    iops: f64,
    mib: f64,
    /// Of writes, where they are apart.
    writes: Option<(f64, f64)>,
    /// Burst and what a full bucket holds: I/Os, and MiB.
    burst_iops: Option<(f64, f64)>,
    burst_mib: Option<(f64, f64)>,
    usd: f64,
}

/// The smallest number of `from..=to` that is enough, where each larger one is.
fn first(from: u64, to: u64, enough: impl Fn(u64) -> bool) -> Option<u64> {
    let (mut low, mut high) = (from, to);
    if from > to || !enough(to) {
        return None;
    }
    while low < high {
        let middle = low.midpoint(high);
        if enough(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Some(low)
}

/// What a volume of a type costs and gives at a size, where it has to have so many IOPS and MiB/s by what is chosen of it.
fn volume(family: &str, gib: u64, iops: f64, mib: f64, (count, nitro): (u64, bool)) -> Option<Volume> {
    // "32000 on non-Nitro instances"
    let most = |cap: u64| if nitro { cap } else { cap.min(32_000) };
    let size = gib as f64;
    let tib = size / 1024.0;
    let plain = |iops, mib, usd| Volume {
        iops,
        mib,
        writes: None,
        burst_iops: None,
        burst_mib: None,
        usd,
    };
    // Limits of Persistent Disk are those of all disks of the type on a machine.
    let all = size * count as f64;
    let apart = |read: (f64, f64), write: (f64, f64), usd: f64| Volume {
        writes: Some(write),
        ..plain(read.0, read.1, usd)
    };
    Some(match family {
        "gp3" => {
            let rate = mib.ceil().max(125.0);
            let ios = iops.ceil().max(3_000.0).max((rate * 4.0).ceil());
            let cap = if gib <= 6 {
                3_000.0
            } else {
                (500.0 * size).clamp(3_000.0, 80_000.0)
            };
            if ios > cap || rate > 2_000.0 {
                return None;
            }
            plain(
                ios,
                rate,
                size * 0.08 + (ios - 3_000.0) * 0.005 + (rate - 125.0) * 0.04,
            )
        }
        // "128, burst to 250 with credits", of which 5.4 million are there: one for 256 KiB.
        "gp2" => Volume {
            burst_iops: Some((3_000.0, 5.4e6)),
            burst_mib: (171..334).contains(&gib).then_some((250.0, 5.4e6 / 4.0)),
            ..plain(
                (3.0 * size).clamp(100.0, 16_000.0),
                if gib < 334 { 128.0 } else { 250.0 },
                size * 0.1,
            )
        },
        "io1" => {
            let gives = |ios: u64| {
                let ios = ios as f64;
                if ios <= 32_000.0 {
                    (ios / 4.0).min(500.0)
                } else {
                    (ios / 64.0).min(1_000.0)
                }
            };
            let ios = first(
                (iops.ceil() as u64).max(100),
                most((50 * gib).min(64_000)),
                |ios| gives(ios) >= mib,
            )?;
            plain(ios as f64, gives(ios), size * 0.125 + ios as f64 * 0.065)
        }
        "io2" => {
            let gives = |ios: u64| (0.256 * ios as f64).min(4_000.0);
            let ios = first(
                (iops.ceil() as u64).max(100),
                most((1_000 * gib).min(256_000)),
                |ios| gives(ios) >= mib,
            )?;
            let n = ios as f64;
            let tiers = n.min(32_000.0) * 0.065
                + (n.min(64_000.0) - 32_000.0).max(0.0) * 0.0455
                + (n - 64_000.0).max(0.0) * 0.03185;
            plain(n, gives(ios), size * 0.125 + tiers)
        }
        "st1" => Volume {
            burst_mib: Some(((250.0 * tib).min(500.0), size * 1024.0)),
            ..plain(500.0, (40.0 * tib).min(500.0), size * 0.045)
        },
        "sc1" => Volume {
            burst_mib: Some(((80.0 * tib).min(250.0), size * 1024.0)),
            ..plain(250.0, 12.0 * tib, size * 0.015)
        },
        // "About 100 IOPS on average" is no limit that a load could be held against.
        "standard" => plain(0.0, 0.0, size * 0.05),
        "pd-standard" => apart(
            ((0.75 * all).min(7_500.0), (0.12 * all).min(1_200.0)),
            ((1.5 * all).min(15_000.0), (0.12 * all).min(400.0)),
            size * 0.04,
        ),
        "pd-balanced" => {
            let same = (
                (3_000.0 + 6.0 * all).min(80_000.0),
                (140.0 + 0.28 * all).min(1_200.0),
            );
            apart(same, same, size * 0.1)
        }
        "pd-ssd" => {
            let same = (
                (6_000.0 + 30.0 * all).min(100_000.0),
                (240.0 + 0.48 * all).min(1_200.0),
            );
            apart(same, same, size * 0.17)
        }
        "hyperdisk-balanced" => {
            let least = mib.ceil().max(140.0);
            let ios = iops.ceil().max(3_000.0).max((least * 4.0).ceil());
            let rate = least.max((ios / 256.0).ceil());
            let cap = if gib <= 6 {
                3_000.0
            } else {
                (500.0 * size).clamp(3_000.0, 160_000.0)
            };
            if ios > cap || rate > 2_400.0 {
                return None;
            }
            plain(
                ios,
                rate,
                size * 0.08 + (ios - 3_000.0) * 0.005 + (rate - 140.0) * 0.04,
            )
        }
        "hyperdisk-extreme" => {
            let gives = |ios: u64| (ios as f64 / 4.0).min(5_000.0);
            let least = (iops.ceil() as u64).max(128).max(2 * gib);
            let ios = first(least, (1_200 * gib).min(350_000), |ios| gives(ios) >= mib)?;
            plain(ios as f64, gives(ios), size * 0.125 + ios as f64 * 0.032)
        }
        "hyperdisk-throughput" => {
            let rate = mib
                .ceil()
                .max(20.0)
                .max((5.0 * tib).ceil())
                .max((iops / 4.0).ceil());
            if rate > (90.0 * tib).min(2_400.0) {
                return None;
            }
            plain((4.0 * rate).min(9_600.0), rate, size * 0.005 + rate * 0.25)
        }
        // What is above the free baseline has no price that a source states.
        "hyperdisk-balanced-high-availability" => {
            if iops > 3_000.0 || mib > 140.0 {
                return None;
            }
            plain(3_000.0, 140.0, size * 0.16)
        }
        _ => return None,
    })
}

const TYPES: [(&str, &str, u64, u64); 14] = [
    ("aws", "gp3", 1, 65_536),
    ("aws", "gp2", 1, 16_384),
    ("aws", "io1", 4, 16_384),
    ("aws", "io2", 4, 65_536),
    ("aws", "st1", 125, 16_384),
    ("aws", "sc1", 125, 16_384),
    ("aws", "standard", 1, 1_024),
    ("gcp", "pd-standard", 10, 65_536),
    ("gcp", "pd-balanced", 10, 65_536),
    ("gcp", "pd-ssd", 10, 65_536),
    ("gcp", "hyperdisk-balanced", 4, 65_536),
    ("gcp", "hyperdisk-extreme", 64, 65_536),
    ("gcp", "hyperdisk-throughput", 2_048, 32_768),
    ("gcp", "hyperdisk-balanced-high-availability", 4, 65_536),
];

/// What passes a limit with a bucket for as long as the load lasts.
fn held(base: f64, burst: Option<(f64, f64)>, lasts: &Lasts) -> f64 {
    match (burst, lasts) {
        (Some((ceiling, bucket)), Lasts::Seconds(seconds)) if ceiling > base => {
            base + (bucket / *seconds as f64).min(ceiling - base)
        }
        _ => base,
    }
}

/// The load on all disks: I/Os and MiB a second, of reads and of writes.
struct Parts {
    all: (f64, f64),
    reads: (f64, f64),
    writes: (f64, f64),
}

impl Parts {
    fn of(need: &Need) -> Self {
        let load = &need.load;
        let share = load.read_ppm as f64 / 1e6;
        let (ios, mib) = (load.ios as f64, load.bytes as f64 / MIB as f64);
        // A part of an I/O is one.
        Self {
            all: (ios, mib),
            reads: ((ios * share - HAIR).ceil(), mib * share),
            writes: ((ios * (1.0 - share) - HAIR).ceil(), mib * (1.0 - share)),
        }
    }
}

/// Rounding of the last digit.
const HAIR: f64 = 1e-6;

fn within(used: f64, allows: f64) -> bool {
    used <= allows + allows.abs() * 1e-9 + HAIR
}

/// Disks of a type, so many of a size: what they cost, if they carry the load on a machine with or without Nitro.
fn bought(family: &str, gib: u64, (count, nitro): (u64, bool), need: &Need) -> Option<f64> {
    let parts = Parts::of(need);
    let (ios, mib) = parts.all;
    let n = count as f64;
    // Each counts for a whole MiB.
    let counted = if matches!(family, "st1" | "sc1") { ios } else { mib };
    let one = volume(family, gib, ios / n, mib / n, (count, nitro))?;
    let lasts = &need.load.lasts;
    let carries = match one.writes {
        Some(writes) => {
            let share_mib = family == "pd-standard";
            within(ios, (one.iops.max(writes.0) + HAIR).floor())
                && (!share_mib || within(mib, one.mib.max(writes.1)))
                && within(parts.reads.0, (one.iops + HAIR).floor())
                && within(parts.reads.1, one.mib)
                && within(parts.writes.0, (writes.0 + HAIR).floor())
                && within(parts.writes.1, writes.1)
        }
        None => {
            within(ios, n * held(one.iops, one.burst_iops, lasts))
                && within(counted, n * held(one.mib, one.burst_mib, lasts))
        }
    };
    carries.then_some(one.usd * n)
}

/// Whether the machine lets the load through to so many disks of a type.
fn machine(catalog: &Catalog, vm: &Vm, family: &str, count: u64, need: &Need) -> bool {
    let parts = Parts::of(need);
    let (ios, mib) = parts.all;
    if u64::from(vm.max_data_disks) < count {
        return false;
    }
    let limit =
        |used: f64, allows: Option<f64>| used == 0.0 || allows.is_some_and(|allows| within(used, allows));
    if catalog.cloud() == "gcp" {
        // C4D takes Hyperdisk and no Persistent Disk.
        if vm.name.starts_with("c4d-") && family.starts_with("pd-") {
            return false;
        }
        let kind = catalog.family(family).expect("a family");
        let Some(row) = catalog.vm_limit(vm, kind) else {
            return ios == 0.0;
        };
        let number = |value: Option<u64>| value.map(|value| value as f64);
        let rate = |value: Option<u64>| value.map(|value| value as f64 / MIB as f64);
        return if row.together {
            limit(ios, number(row.read_iops)) && limit(mib, rate(row.read_bytes_per_second))
        } else {
            let larger = |one: Option<f64>, other: Option<f64>| Some(one?.max(other?));
            let mib_of_both = larger(rate(row.read_bytes_per_second), rate(row.write_bytes_per_second));
            limit(ios, larger(number(row.read_iops), number(row.write_iops)))
                && (family != "pd-standard" || limit(mib, mib_of_both))
                && limit(parts.reads.0, number(row.read_iops))
                && limit(parts.writes.0, number(row.write_iops))
                && limit(parts.reads.1, rate(row.read_bytes_per_second))
                && limit(parts.writes.1, rate(row.write_bytes_per_second))
        };
    }
    // With two cards each has half: of three disks two are on one.
    let cards = u64::from(vm.cards);
    let usable = count as f64 / (cards * count.div_ceil(cards)) as f64;
    let of = |base: Option<u64>, burst: Option<u64>, unit: f64| {
        let base = base? as f64 / unit;
        let burst = burst.map(|burst| burst as f64 / unit);
        // Half an hour at the most.
        let burst = burst.map(|burst| (burst, (burst - base) * 1_800.0));
        Some(held(base, burst, &need.load.lasts) * usable)
    };
    limit(ios, of(vm.uncached_iops, vm.burst_uncached_iops, 1.0))
        && limit(
            mib,
            of(
                vm.uncached_bytes_per_second,
                vm.burst_uncached_bytes_per_second,
                MIB as f64,
            ),
        )
}

/// The least that the need costs a month, in US dollars.
pub(super) fn cheapest_usd(catalog: &Catalog, need: &Need) -> Option<f64> {
    let mut best: Option<f64> = None;
    for (cloud, family, least, most) in TYPES {
        if cloud != catalog.cloud() {
            continue;
        }
        let counts = 1..=u64::from(need.choice.stripe_max);
        for (count, nitro) in counts.flat_map(|count| [(count, true), (count, false)]) {
            let from = need.size_bytes.div_ceil(count * GIB).max(least);
            let enough = |gib| bought(family, gib, (count, nitro), need).is_some();
            let Some(gib) = first(from, most, enough) else {
                continue;
            };
            let disks = bought(family, gib, (count, nitro), need).expect("it is enough");
            let memory = need.choice.machine.memory_bytes;
            let fits = catalog.vms().iter().filter(|vm| {
                (vm.hypervisor != "xen") == nitro
                    && vm.vcpus >= need.choice.machine.vcpus
                    && (memory == 0 || vm.memory_bytes >= Some(memory))
            });
            for vm in fits {
                let Some(hour) = vm.price_microusd_hour else {
                    continue;
                };
                let usd = disks + hour as f64 * 730.0 / 1e6;
                if best.is_none_or(|best| usd < best) && machine(catalog, vm, family, count, need) {
                    best = Some(usd);
                }
            }
        }
    }
    best
}

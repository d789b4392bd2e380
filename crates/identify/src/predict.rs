//! What a specification lets through, without carrying anything out.
//!
//! Data in: a [`Spec`], an I/O. Data out: I/Os a second, how long credit lasts, the median of a service. It must not know what was
//! measured.

use crate::probe::Mix;
use fathom_model::spec::{Counts, Limit, PathLimits, ServiceSpec, Spec};

/// What a rate is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// As long as credit lasts.
    First,
    /// Credit is spent.
    Spent,
}

/// What an I/O of a mix costs of a limit.
#[derive(Debug, Clone, Copy)]
struct Cost {
    units: f64,
    bytes: f64,
}

/// A way with limits: what an I/O costs of it, and how many such ways there are side by side.
struct Way<'a> {
    limits: &'a PathLimits,
    cost: Cost,
    /// What of the limits is released, in parts of one: I/Os, bytes.
    released: (f64, f64),
}

/// Each limit that an I/O of `block_bytes` meets.
fn ways(spec: &Spec, mix: Mix, block_bytes: u32) -> Vec<Way<'_>> {
    let Some(disk) = spec.disks.first() else {
        return Vec::new();
    };
    let block = f64::from(block_bytes);
    let disks = spec.disks.len() as f64;
    let units_of = |bytes: f64| (bytes / disk.io_unit_bytes as f64).ceil().max(1.0);
    // Over stripes, pieces go to several disks.
    let pieces = if spec.disks.len() > 1 {
        (block / spec.stripe_chunk_bytes as f64).ceil().max(1.0)
    } else {
        1.0
    };
    let units = pieces * units_of(block / pieces);
    let counted = if disk.whole_units {
        units * disk.io_unit_bytes as f64
    } else {
        block
    };
    let all = spec.slices.factor_permille as f64 / 1e3;
    let own = disk.released.map_or((all, all), |released| {
        (
            all * released.iops_permille as f64 / 1e3,
            all * released.bytes_permille as f64 / 1e3,
        )
    });
    let mut ways = vec![Way {
        limits: &disk.limits,
        cost: Cost {
            units: units / disks,
            bytes: counted / disks,
        },
        released: own,
    }];
    let plain = Cost { units, bytes: block };
    let half = |counts: Counts| match (counts, mix) {
        (Counts::All, _) | (Counts::Reads, Mix::Read) | (Counts::Writes, Mix::Write) => 1.0,
        (_, Mix::Both) => 0.5,
        _ => 0.0,
    };
    for shared in &spec.shared {
        let part = half(shared.counts);
        ways.push(Way {
            limits: &shared.limits,
            cost: Cost {
                units: units * part,
                bytes: counted * part,
            },
            released: (all, all),
        });
    }
    if let Some(vm) = &spec.vm {
        let used = (spec.disks.len() as u32).min(vm.cards);
        let share = f64::from(vm.cards) / f64::from(used.max(1));
        ways.push(Way {
            limits: &vm.uncached,
            cost: Cost {
                units: plain.units * share,
                bytes: plain.bytes * share,
            },
            released: (all, all),
        });
        if spec.host_cache.is_some() {
            ways.push(Way {
                limits: &vm.cached,
                cost: plain,
                released: (all, all),
            });
        }
    }
    ways
}

fn rate_at(limits: &PathLimits, stage: Stage) -> (f64, f64) {
    let one = |base: Limit, ceiling: Option<Limit>| {
        let base = base.rate().map_or(f64::INFINITY, |rate| rate as f64);
        let ceiling = ceiling.and_then(Limit::rate).map_or(base, |rate| rate as f64);
        match stage {
            Stage::First => base.max(ceiling),
            Stage::Spent => base,
        }
    };
    let burst = limits.burst.as_ref().filter(|burst| burst.level_percent > 0);
    (
        one(limits.iops, burst.map(|burst| burst.iops)),
        one(limits.bytes_per_second, burst.map(|burst| burst.bytes_per_second)),
    )
}

/// I/Os of `block_bytes` a second that all limits together let through; infinite: none holds them.
pub fn rate(spec: &Spec, mix: Mix, block_bytes: u32, stage: Stage) -> f64 {
    let mut least = f64::INFINITY;
    for way in ways(spec, mix, block_bytes) {
        let (iops, bytes) = rate_at(way.limits, stage);
        if way.cost.units > 0.0 {
            least = least.min(iops * way.released.0 / way.cost.units);
        }
        if way.cost.bytes > 0.0 {
            least = least.min(bytes * way.released.1 / way.cost.bytes);
        }
    }
    let writes = spec
        .disks
        .first()
        .and_then(|disk| disk.write_bytes_per_second.rate());
    match (writes, mix) {
        (Some(writes), Mix::Write | Mix::Both) => {
            let disks = spec.disks.len() as f64;
            let all = spec.slices.factor_permille as f64 / 1e3;
            least.min(writes as f64 * all * disks / f64::from(block_bytes))
        }
        _ => least,
    }
}

/// How long a full credit lasts at `per_second` such I/Os, in seconds, until the first limit falls; infinite: it does not.
pub fn lasts_seconds(spec: &Spec, mix: Mix, block_bytes: u32, per_second: f64) -> f64 {
    let mut least = f64::INFINITY;
    for way in ways(spec, mix, block_bytes) {
        let Some(burst) = way.limits.burst.as_ref().filter(|burst| burst.level_percent > 0) else {
            continue;
        };
        let credits = [
            (
                way.limits.iops,
                burst.iops,
                burst.iops_credit,
                way.cost.units,
                way.released.0,
            ),
            (
                way.limits.bytes_per_second,
                burst.bytes_per_second,
                burst.bytes_credit,
                way.cost.bytes,
                way.released.1,
            ),
        ];
        for (base, ceiling, stated, cost, released) in credits {
            let (Some(base), Some(ceiling)) = (base.rate(), ceiling.rate()) else {
                continue;
            };
            if ceiling <= base {
                continue;
            }
            let credit = stated.unwrap_or((ceiling - base) * burst.full_seconds) as f64 * released;
            let beyond = per_second * cost - base as f64 * released;
            if beyond > 0.0 {
                least = least.min(credit / beyond * f64::from(burst.level_percent) / 100.0);
            }
        }
    }
    least
}

/// The median time of a small random I/O that nothing holds, in nanoseconds.
pub fn median_ns(spec: &Spec, write: bool) -> f64 {
    let Some(disk) = spec.disks.first() else {
        return 0.0;
    };
    let service = if write { &disk.write } else { &disk.read };
    let seek = disk.seek.map_or(0, |seek| {
        if write {
            u64::midpoint(seek.write_min_ns, seek.write_max_ns)
        } else {
            u64::midpoint(seek.read_min_ns, seek.read_max_ns)
        }
    });
    middle_us(service) * 1e3 + seek as f64
}

/// The 50th percentile of a table of quantiles.
fn middle_us(service: &ServiceSpec) -> f64 {
    let table = &service.quantiles_us;
    let above = table.iter().position(|one| one.0 >= 50.0).unwrap_or(0);
    let (high_p, high) = table.get(above).copied().unwrap_or_default();
    let (low_p, low) = above
        .checked_sub(1)
        .and_then(|below| table.get(below))
        .copied()
        .unwrap_or((high_p, high));
    if high_p <= low_p {
        return high;
    }
    low + (high - low) * (50.0 - low_p) / (high_p - low_p)
}

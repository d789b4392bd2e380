//! What of a layout decides how much it lets through: the limits of its disks and of its machine, and the host's cache.
//!
//! Data in: rows of the catalogue, or a model's specification. Data out: [`Setup`], plain numbers. It must not know prices
//! or needs.

use crate::envelope::Envelope;
use crate::layout::{Layout, OfMachine};
use fathom_model::catalog::{Directions, Family, Figures, Scope, Vm};
use fathom_model::defaults;
use fathom_model::spec::{BurstSpec, CacheMode, Counts, Limit, PathLimits, Spec};
use std::sync::Arc;

/// How long a load is to be carried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lasts {
    /// Without end: no credit counts.
    Always,
    /// So long at a stretch, from full credit.
    Seconds(u64),
    /// As it was seen to come and go, again and again.
    AsSeen(Arc<Course>),
}

/// How a load was seen to come and go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Course {
    pub ios: Envelope,
    pub bytes: Envelope,
    /// Seconds that need not be carried in full, of a million.
    pub spare_ppm: u64,
}

impl Lasts {
    /// How what a limit counts comes and goes, where that was seen.
    pub(crate) fn envelope(&self, counts_bytes: bool) -> Option<&Envelope> {
        match self {
            Self::AsSeen(course) if counts_bytes => Some(&course.bytes),
            Self::AsSeen(course) => Some(&course.ios),
            Self::Always | Self::Seconds(_) => None,
        }
    }
}

/// A burst on credit above a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Credit {
    /// What is let through a second while credit lasts.
    pub ceiling: u64,
    /// What a full bucket holds: what is let through above the limit until it is empty.
    pub bucket: u128,
}

impl Credit {
    /// A bucket that lasts so long at the ceiling.
    fn lasting(base: u64, ceiling: u64, full_seconds: u64) -> Self {
        Self {
            ceiling,
            bucket: u128::from(ceiling.saturating_sub(base)) * u128::from(full_seconds),
        }
    }
}

/// One limit, a second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// What is let through for ever; `None`: no source states it.
    pub base: Option<u64>,
    /// What it bursts to.
    pub credit: Option<Credit>,
}

impl Rate {
    /// A limit that is none.
    pub const OPEN: Self = Self {
        base: Some(u64::MAX),
        credit: None,
    };

    /// A limit without credit.
    pub const fn of(base: Option<u64>) -> Self {
        Self { base, credit: None }
    }

    /// What it lets through a second for as long as `lasts`: a bucket that is full for `full_seconds` at the ceiling gives the
    /// part of it above the base that it lasts for. Of a load that comes and goes, the rate of its busiest second.
    pub fn held(self, lasts: &Lasts, counts_bytes: bool) -> Option<u64> {
        let base = self.base?;
        let Some(credit) = self.credit else {
            return Some(base);
        };
        let above = credit.ceiling.saturating_sub(base);
        let seconds = match lasts {
            Lasts::Always => return Some(base),
            Lasts::Seconds(seconds) => *seconds,
            Lasts::AsSeen(_) => {
                let envelope = lasts.envelope(counts_bytes)?;
                return Some(envelope.passes(base, credit.ceiling.max(base), credit.bucket));
            }
        };
        let part = (credit.bucket / u128::from(seconds.max(1))).min(u128::from(above));
        Some(base + part as u64)
    }

    /// How long it lets `used` a second through, from full credit: `None` for ever, 0 not at all.
    pub fn lasts_seconds(self, used: u64) -> Option<u64> {
        let base = self.base?;
        if used <= base {
            return None;
        }
        match self.credit {
            Some(credit) if used <= credit.ceiling => Some((credit.bucket / u128::from(used - base)) as u64),
            _ => Some(0),
        }
    }

    /// The most that it ever lets through a second.
    pub fn peak(self) -> Option<u64> {
        let base = self.base?;
        Some(self.credit.map_or(base, |credit| credit.ceiling.max(base)))
    }
}

/// Both limits of one way to the disks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Way {
    /// I/O units a second.
    pub iops: Rate,
    pub bytes_per_second: Rate,
}

impl Way {
    const OPEN: Self = Self {
        iops: Rate::OPEN,
        bytes_per_second: Rate::OPEN,
    };
}

/// The host's cache as far as it decides what reaches the disks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostCache {
    pub mode: CacheMode,
    pub capacity_bytes: u64,
}

/// Limits on the I/O of all disks of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(
    clippy::large_enum_variant,
    reason = "a search makes one for each layout that it looks at: a box would be made for each"
)]
pub enum Sides {
    /// There are none.
    Open,
    /// Reads and writes share them.
    Together(Way),
    /// Reads have some, and writes have others; of what they share, both together.
    Apart { reads: Way, writes: Way, both: Way },
}

/// What decides how much a layout lets through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setup {
    /// Of one disk, where each has its own.
    pub disk: Way,
    /// Of all disks together, where they have them so or by direction.
    pub disks: Sides,
    /// Disks, striped.
    pub count: u32,
    /// The stripe's chunk.
    pub chunk_bytes: u64,
    /// A larger I/O counts as several of this size.
    pub io_unit_bytes: u64,
    /// Whether the disks' limits on bytes count whole units.
    pub whole_units: bool,
    pub cache: Option<HostCache>,
    /// Of the machine, for I/O that bypasses the host's cache.
    pub uncached: Way,
    /// Of the machine, for I/O through the host's cache.
    pub cached: Way,
    /// Of the machine, for disks of this kind.
    pub machine: Sides,
}

impl Setup {
    /// That of a layout.
    pub fn of(layout: &Layout<'_>) -> Self {
        let disk = &layout.disk;
        let family = disk.family();
        let figures = disk.figures(layout.count);
        let (together, writes) = ways(&figures);
        let (one, all) = match (family.scope(), family.directions()) {
            (Scope::Disk, Directions::Together) => (together, Sides::Open),
            (_, Directions::Together) => (Way::OPEN, Sides::Together(together)),
            (_, Directions::Apart) => (Way::OPEN, apart(family, together, writes)),
        };
        let machine = layout.machine.filter(|_| layout.limits == OfMachine::ForAll);
        Self {
            disk: one,
            disks: all,
            count: layout.count,
            chunk_bytes: layout.chunk_bytes,
            io_unit_bytes: disk.io_unit_bytes,
            whole_units: family.counting().whole_units,
            cache: layout.host_cache(),
            uncached: machine.map_or(Way::OPEN, |vm| uncached(vm, layout.count)),
            cached: machine.map_or(Way::OPEN, cached),
            machine: match layout.machine {
                None => Sides::Open,
                Some(_) => sides(layout.limits, family),
            },
        }
    }

    /// That of a modelled machine.
    pub fn of_spec(spec: &Spec) -> Option<Self> {
        let disk = spec.disks.first()?;
        let count = spec.disks.len() as u32;
        let shared = |of_vm: bool| {
            let of = |counts: Counts| {
                let mut all = spec.shared.iter();
                all.find(|shared| shared.of_vm == of_vm && shared.counts == counts)
                    .map(|shared| way(&shared.limits))
            };
            match (of(Counts::All), of(Counts::Reads), of(Counts::Writes)) {
                (both, Some(reads), Some(writes)) => Sides::Apart {
                    reads,
                    writes,
                    both: both.unwrap_or(Way::OPEN),
                },
                (Some(way), ..) => Sides::Together(way),
                _ => Sides::Open,
            }
        };
        Some(Self {
            disk: way(&disk.limits),
            disks: shared(false),
            count,
            chunk_bytes: spec.stripe_chunk_bytes,
            io_unit_bytes: disk.io_unit_bytes,
            whole_units: disk.whole_units,
            cache: spec.host_cache.as_ref().map(|cache| HostCache {
                mode: cache.mode,
                capacity_bytes: cache.capacity_bytes,
            }),
            uncached: spec
                .vm
                .as_ref()
                .map_or(Way::OPEN, |vm| by_cards(way(&vm.uncached), vm.cards, count)),
            cached: spec.vm.as_ref().map_or(Way::OPEN, |vm| way(&vm.cached)),
            machine: shared(true),
        })
    }
}

/// Limits of reads and of writes; of what these share, no more together than the larger of both.
fn apart(family: Family, reads: Way, writes: Way) -> Sides {
    let larger = |shares: bool, one: Rate, other: Rate| {
        if shares {
            Rate::of(one.base.zip(other.base).map(|(one, other)| one.max(other)))
        } else {
            Rate::OPEN
        }
    };
    let also = family.also_together();
    Sides::Apart {
        reads,
        writes,
        both: Way {
            iops: larger(also.iops, reads.iops, writes.iops),
            bytes_per_second: larger(also.mbps, reads.bytes_per_second, writes.bytes_per_second),
        },
    }
}

/// What a disk lets through; of writes too, where they have limits of their own.
fn ways(figures: &Figures) -> (Way, Way) {
    let burst = figures.burst.as_ref();
    let rate = |base: Option<u64>, ceiling: Option<u64>, bucket: Option<u64>| Rate {
        base,
        credit: match (base, ceiling, bucket) {
            (Some(base), Some(ceiling), Some(bucket)) if ceiling > base => Some(Credit {
                ceiling,
                bucket: u128::from(bucket),
            }),
            _ => None,
        },
    };
    let together = Way {
        iops: rate(
            figures.iops,
            burst.and_then(|burst| burst.iops),
            burst.and_then(|burst| burst.iops_credit),
        ),
        bytes_per_second: rate(
            figures.bytes_per_second,
            burst.and_then(|burst| burst.bytes_per_second),
            burst.and_then(|burst| burst.bytes_credit),
        ),
    };
    let writes = Way {
        iops: Rate::of(figures.write_iops.or(figures.iops)),
        bytes_per_second: Rate::of(figures.write_bytes_per_second.or(figures.bytes_per_second)),
    };
    (together, writes)
}

/// The machine's limits on disks of a family: as a row says, or not known.
fn sides(limits: OfMachine<'_>, family: Family) -> Sides {
    let row = match limits {
        OfMachine::ForAll => return Sides::Open,
        OfMachine::NotKnown => None,
        OfMachine::Row(row) => Some(row),
    };
    let way = |iops: Option<u64>, bytes: Option<u64>| Way {
        iops: Rate::of(iops),
        bytes_per_second: Rate::of(bytes),
    };
    let reads = way(
        row.and_then(|row| row.read_iops),
        row.and_then(|row| row.read_bytes_per_second),
    );
    let writes = way(
        row.and_then(|row| row.write_iops),
        row.and_then(|row| row.write_bytes_per_second),
    );
    let together = row.map_or(family.directions() == Directions::Together, |row| row.together);
    if together {
        Sides::Together(reads)
    } else {
        apart(family, reads, writes)
    }
}

/// What of a machine's limits so many disks can use: they are attached to its cards in turn, and each card has its part.
fn by_cards(way: Way, cards: u32, count: u32) -> Way {
    let used = u64::from(count.div_ceil(cards.max(1)) * cards.max(1)).max(1);
    let count = u64::from(count);
    let scaled = |amount: u64| match amount {
        u64::MAX => u64::MAX,
        amount => (u128::from(amount) * u128::from(count) / u128::from(used)) as u64,
    };
    let rate = |rate: Rate| Rate {
        base: rate.base.map(scaled),
        credit: rate.credit.map(|credit| Credit {
            ceiling: scaled(credit.ceiling),
            bucket: credit.bucket * u128::from(count) / u128::from(used),
        }),
    };
    if cards <= 1 {
        return way;
    }
    Way {
        iops: rate(way.iops),
        bytes_per_second: rate(way.bytes_per_second),
    }
}

/// The machine's limits for I/O that bypasses the host's cache. Machines burst on credit only (documented).
fn uncached(vm: &Vm, count: u32) -> Way {
    let rate = |base: Option<u64>, burst: Option<u64>| Rate {
        base,
        credit: burst
            .filter(|&ceiling| base.is_some_and(|base| ceiling > base))
            .map(|ceiling| Credit::lasting(base.unwrap_or(0), ceiling, defaults::BURST_SECONDS)),
    };
    let way = Way {
        iops: rate(vm.uncached_iops, vm.burst_uncached_iops),
        bytes_per_second: rate(vm.uncached_bytes_per_second, vm.burst_uncached_bytes_per_second),
    };
    by_cards(way, vm.cards, count)
}

/// The machine's limits for I/O through the host's cache: nothing is documented of bursts above them.
fn cached(vm: &Vm) -> Way {
    Way {
        iops: Rate::of(vm.cached_iops),
        bytes_per_second: Rate::of(vm.cached_bytes_per_second),
    }
}

fn way(limits: &PathLimits) -> Way {
    let rate = |limit: Limit, pick: fn(&BurstSpec) -> Limit, holds: fn(&BurstSpec) -> Option<u64>| {
        let base = match limit {
            Limit::At(rate) => Some(rate),
            Limit::NotKnown => None,
            Limit::Off => return Rate::OPEN,
        };
        let burst = limits.burst.as_ref().filter(|burst| burst.level_percent > 0);
        let credit = burst.and_then(|burst| {
            let ceiling = pick(burst)
                .rate()
                .filter(|&ceiling| base.is_some_and(|base| ceiling > base))?;
            let lasting = Credit::lasting(base.unwrap_or(0), ceiling, burst.full_seconds);
            let bucket = holds(burst).map_or(lasting.bucket, u128::from);
            Some(Credit {
                ceiling,
                bucket: bucket * u128::from(burst.level_percent) / 100,
            })
        });
        Rate { base, credit }
    };
    Way {
        iops: rate(limits.iops, |burst| burst.iops, |burst| burst.iops_credit),
        bytes_per_second: rate(
            limits.bytes_per_second,
            |burst| burst.bytes_per_second,
            |burst| burst.bytes_credit,
        ),
    }
}

impl Layout<'_> {
    fn host_cache(&self) -> Option<HostCache> {
        let mode = self.cache.mode()?;
        let capacity_bytes = self.machine.and_then(|vm| vm.cache_bytes).unwrap_or(0);
        Some(HostCache { mode, capacity_bytes })
    }
}

#[cfg(test)]
mod tests;

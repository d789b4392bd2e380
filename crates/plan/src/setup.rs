//! What of a layout decides how much it lets through: the limits of its disks and of its machine, and the host's cache.
//!
//! Data in: rows of the catalogue, or a model's specification. Data out: [`Setup`], plain numbers. It must not know prices
//! or needs.

use crate::envelope::Envelope;
use crate::layout::Layout;
use fathom_model::catalog::Vm;
use fathom_model::defaults;
use fathom_model::spec::{BurstSpec, CacheMode, Limit, PathLimits, Spec};
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
    /// How long a full bucket lasts at that.
    pub full_seconds: u64,
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
                let bucket = u128::from(above) * u128::from(credit.full_seconds);
                let envelope = lasts.envelope(counts_bytes)?;
                return Some(envelope.passes(base, credit.ceiling.max(base), bucket));
            }
        };
        let part = if seconds <= credit.full_seconds {
            u128::from(above)
        } else {
            u128::from(above) * u128::from(credit.full_seconds) / u128::from(seconds)
        };
        Some(base + part as u64)
    }

    /// How long it lets `used` a second through, from full credit: `None` for ever, 0 not at all.
    pub fn lasts_seconds(self, used: u64) -> Option<u64> {
        let base = self.base?;
        if used <= base {
            return None;
        }
        match self.credit {
            Some(credit) if used <= credit.ceiling => {
                let bucket = u128::from(credit.ceiling - base) * u128::from(credit.full_seconds);
                Some((bucket / u128::from(used - base)) as u64)
            }
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

/// What decides how much a layout lets through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setup {
    /// Of one disk.
    pub disk: Way,
    /// Disks, striped.
    pub count: u32,
    /// The stripe's chunk.
    pub chunk_bytes: u64,
    /// A larger I/O counts as several of this size.
    pub io_unit_bytes: u64,
    pub cache: Option<HostCache>,
    /// Of the machine, for I/O that bypasses the host's cache.
    pub uncached: Way,
    /// Of the machine, for I/O through the host's cache.
    pub cached: Way,
}

impl Setup {
    /// That of a layout.
    pub fn of(layout: &Layout<'_>) -> Self {
        let disk = &layout.disk;
        let credit = |pick: fn(&fathom_model::catalog::Burst) -> u64| {
            let burst = disk.burst.as_ref()?;
            Some(Credit {
                ceiling: pick(burst),
                full_seconds: burst.credit_seconds?,
            })
        };
        Self {
            disk: Way {
                iops: Rate {
                    base: Some(disk.iops),
                    credit: credit(|burst| burst.iops),
                },
                bytes_per_second: Rate {
                    base: Some(disk.bytes_per_second),
                    credit: credit(|burst| burst.bytes_per_second),
                },
            },
            count: layout.count,
            chunk_bytes: layout.chunk_bytes,
            io_unit_bytes: disk.io_unit_bytes,
            cache: layout.host_cache(),
            uncached: layout.machine.map_or(Way::OPEN, uncached),
            cached: layout.machine.map_or(Way::OPEN, cached),
        }
    }

    /// That of a modelled machine.
    pub fn of_spec(spec: &Spec) -> Option<Self> {
        let disk = spec.disks.first()?;
        Some(Self {
            disk: way(&disk.limits),
            count: spec.disks.len() as u32,
            chunk_bytes: spec.stripe_chunk_bytes,
            io_unit_bytes: disk.io_unit_bytes,
            cache: spec.host_cache.as_ref().map(|cache| HostCache {
                mode: cache.mode,
                capacity_bytes: cache.capacity_bytes,
            }),
            uncached: spec.vm.as_ref().map_or(Way::OPEN, |vm| way(&vm.uncached)),
            cached: spec.vm.as_ref().map_or(Way::OPEN, |vm| way(&vm.cached)),
        })
    }
}

/// The machine's limits for I/O that bypasses the host's cache. Machines burst on credit only (documented).
fn uncached(vm: &Vm) -> Way {
    let rate = |base: Option<u64>, burst: Option<u64>| Rate {
        base,
        credit: burst
            .filter(|&ceiling| base.is_some_and(|base| ceiling > base))
            .map(|ceiling| Credit {
                ceiling,
                full_seconds: defaults::BURST_SECONDS,
            }),
    };
    Way {
        iops: rate(vm.uncached_iops, vm.burst_uncached_iops),
        bytes_per_second: rate(vm.uncached_bytes_per_second, vm.burst_uncached_bytes_per_second),
    }
}

/// The machine's limits for I/O through the host's cache: nothing is documented of bursts above them.
fn cached(vm: &Vm) -> Way {
    Way {
        iops: Rate::of(vm.cached_iops),
        bytes_per_second: Rate::of(vm.cached_bytes_per_second),
    }
}

fn way(limits: &PathLimits) -> Way {
    let rate = |limit: Limit, pick: fn(&BurstSpec) -> Limit| {
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
            Some(Credit {
                ceiling,
                full_seconds: burst.full_seconds * u64::from(burst.level_percent) / 100,
            })
        });
        Rate { base, credit }
    };
    Way {
        iops: rate(limits.iops, |burst| burst.iops),
        bytes_per_second: rate(limits.bytes_per_second, |burst| burst.bytes_per_second),
    }
}

impl Layout<'_> {
    fn host_cache(&self) -> Option<HostCache> {
        let mode = self.cache.mode()?;
        let capacity_bytes = self.machine.and_then(|vm| vm.cache_bytes).unwrap_or(0);
        Some(HostCache { mode, capacity_bytes })
    }
}

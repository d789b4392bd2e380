//! One disk: its limits, its medium, its outages, and what its counters say.
//!
//! Data in: I/Os at their times, in order. Data out: when each is complete; counters as the kernel keeps them of a
//! block device. It must not know caches, stripes or the virtual machine.

use crate::company::Company;
use crate::medium::Medium;
use crate::merge::{Cost, Merge};
use crate::outage::Outages;
use crate::path::{LimitState, Path, Spent, Unit};
use crate::spec::{DiskSpec, Limit, PathLimits, SliceSpec};
use fathom_core::backend::Op;
use fathom_core::run::DiskSummary;

/// The numbers of [`Op::index`].
const OPS: usize = 4;

/// A disk.
#[derive(Debug, Clone)]
pub(crate) struct Device {
    limits: Path,
    /// A limit of their own for writes.
    writes: Path,
    medium: Medium,
    company: Company,
    outages: Outages,
    units: Units,
    /// Where an I/O costs other than what it is alone.
    merge: Option<Box<Merge>>,
    name: String,
    /// By [`Op::index`].
    tallies: [Tally; OPS],
    /// Time with anything in flight, up to the end of all that is.
    busy_ns: u64,
    /// Something is in flight until then.
    busy_until_ns: u64,
}

/// What is counted of one operation.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    ios: u64,
    bytes: u64,
    time_ns: u64,
}

/// How I/O is counted against a limit on IOPS.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Units {
    bytes: u64,
}

impl Units {
    /// One unit is up to `bytes`.
    pub(crate) fn new(bytes: u64) -> Self {
        Self { bytes }
    }

    /// The units of an I/O of `len` bytes: at least one.
    #[inline]
    pub(crate) fn of(self, len: u32) -> u64 {
        if u64::from(len) <= self.bytes {
            1
        } else {
            u64::from(len).div_ceil(self.bytes)
        }
    }
}

impl Device {
    /// The disk of `spec`, its draws seeded.
    pub(crate) fn new(spec: &DiskSpec, slices: SliceSpec, seed: u64) -> Self {
        let limits = Path::new(&released(spec), slices);
        Self {
            limits: if spec.burst_bytes_need_io_credit {
                limits.with_bytes_behind_ios()
            } else {
                limits
            },
            writes: Path::new(
                &PathLimits {
                    bytes_per_second: spec.write_bytes_per_second,
                    ..PathLimits::default()
                },
                slices,
            ),
            medium: Medium::new(spec, seed),
            company: Company::new(spec),
            outages: Outages::new(&spec.outages, seed ^ 0x0a),
            units: Units::new(spec.io_unit_bytes),
            merge: Merge::new(spec).map(Box::new),
            name: spec.name.clone(),
            tallies: [Tally::default(); OPS],
            busy_ns: 0,
            busy_until_ns: 0,
        }
    }

    /// What an I/O costs of limits, in the order of I/Os.
    #[allow(
        clippy::inline_always,
        reason = "on the way of each modelled I/O: a call costs 4 ns of 50"
    )]
    #[inline(always)]
    pub(crate) fn cost(&mut self, offset: u64, len: u32) -> Cost {
        match &mut self.merge {
            None => Cost {
                units: self.units.of(len),
                bytes: u64::from(len),
            },
            Some(merge) => merge.cost(offset, len),
        }
    }

    /// When an I/O of such `cost` is complete that reaches the disk's queue at `queued_ns` and its limits at `now_ns` (later,
    /// where the virtual machine held it). A flush costs no credit.
    #[allow(
        clippy::inline_always,
        reason = "on the way of each modelled I/O: a call costs 4 ns of 50"
    )]
    #[inline(always)]
    pub(crate) fn admit(
        &mut self,
        (queued_ns, now_ns): (u64, u64),
        (op, offset, len): (Op, u64, u32),
        cost: Cost,
    ) -> u64 {
        let service = self.medium.serve(op, offset, len);
        let mut start = now_ns;
        if op.index() < 3 {
            start = self.limits.take(start, cost.units, cost.bytes);
            if op == Op::Write {
                start = self.writes.take(start, 0, u64::from(len) + service.extra_bytes);
            }
        }
        let end = self.company.end_ns(start, (op, len), service.time_ns);
        let due = self.outages.shift(queued_ns, end);
        self.count(queued_ns, due, op, len);
        due
    }

    #[inline]
    fn count(&mut self, queued_ns: u64, due_ns: u64, op: Op, len: u32) {
        let tally = &mut self.tallies[op.index()];
        tally.ios += 1;
        tally.bytes += u64::from(len);
        tally.time_ns += due_ns - queued_ns;
        self.busy_ns += due_ns.saturating_sub(queued_ns.max(self.busy_until_ns));
        self.busy_until_ns = self.busy_until_ns.max(due_ns);
    }

    /// The counters so far, over a run of `duration_ns`. I/O counts from the moment at which its end is known.
    pub(crate) fn counters(&self, duration_ns: u64) -> DiskSummary {
        let of = |op: Op| self.tallies[op.index()];
        let (read, write) = (of(Op::Read), of(Op::Write));
        DiskSummary {
            name: self.name.clone(),
            duration_ns,
            read_ios: read.ios,
            read_bytes: read.bytes,
            read_time_ns: read.time_ns,
            write_ios: write.ios,
            write_bytes: write.bytes,
            write_time_ns: write.time_ns,
            discard_ios: of(Op::Trim).ios,
            flush_ios: of(Op::Sync).ios,
            busy_ns: self.busy_ns,
            weighted_busy_ns: self.tallies.iter().map(|tally| tally.time_ns).sum(),
            ..DiskSummary::default()
        }
    }

    /// How its limits stand.
    pub(crate) fn limits(&self, now_ns: u64) -> Vec<LimitState> {
        let mut limits = self.limits.states(now_ns, ("disk IOPS", "disk MB/s"));
        limits.extend(self.writes.states(now_ns, ("disk IOPS", "disk MB/s of writes")));
        limits
    }

    /// The burst credit of the disk's limit of `unit`, if it has run out.
    pub(crate) fn spent(&self, unit: Unit) -> Option<Spent> {
        self.limits.spent(unit)
    }

    /// What is left at `now_ns` of the burst credit of the disk's limit of `unit`, and what it holds when full.
    pub(crate) fn credit(&self, unit: Unit, now_ns: u64) -> Option<(f64, f64)> {
        self.limits.credit(unit, now_ns)
    }

    /// How long I/Os were held by the disk's limits on IOPS and on bytes, in nanoseconds.
    pub(crate) fn held_ns(&self) -> (u64, u64) {
        (
            self.limits.held_ns(Unit::Iops),
            self.limits.held_ns(Unit::Bytes) + self.writes.held_ns(Unit::Bytes),
        )
    }
}

/// The limits of a disk as they are released, before what is released of all.
fn released(spec: &DiskSpec) -> PathLimits {
    let mut limits = spec.limits.clone();
    let Some(released) = spec.released else {
        return limits;
    };
    let part = |limit: Limit, permille: u64| match limit {
        Limit::At(rate) => Limit::At((rate.saturating_mul(permille) / 1000).max(1)),
        other => other,
    };
    limits.iops = part(limits.iops, released.iops_permille);
    limits.bytes_per_second = part(limits.bytes_per_second, released.bytes_permille);
    if let Some(burst) = &mut limits.burst {
        burst.iops = part(burst.iops, released.iops_permille);
        burst.bytes_per_second = part(burst.bytes_per_second, released.bytes_permille);
    }
    limits
}

#[cfg(test)]
mod tests;

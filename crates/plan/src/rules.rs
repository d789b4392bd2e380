//! The rules by which disks and machines go together and hold a load: one table, each row with where it is documented.
//!
//! Data in: a layout or its [`Setup`], a [`Load`]. Data out: whether it can be had, how much of each limit the load takes. All
//! that the search, the explanation and the proof say of a layout comes from here. The rows know no cloud: whose rule it is
//! is a matter of the catalogue's rows.

mod limits;
mod ways;

use crate::layout::Layout;
use crate::need::Load;
use crate::setup::{Rate, Setup};

/// A limit that a load can meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Limit {
    DiskIops,
    DiskThroughput,
    /// Where reads and writes have limits of their own.
    DiskReadIops,
    DiskReadThroughput,
    DiskWriteIops,
    DiskWriteThroughput,
    UncachedIops,
    UncachedThroughput,
    CachedIops,
    CachedThroughput,
    /// Where a machine has limits by family of disks.
    MachineIops,
    MachineThroughput,
    MachineReadIops,
    MachineReadThroughput,
    MachineWriteIops,
    MachineWriteThroughput,
}

impl Limit {
    /// In words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::DiskIops => "disk IOPS",
            Self::DiskThroughput => "disk MB/s",
            Self::DiskReadIops => "disk read IOPS",
            Self::DiskReadThroughput => "disk read MB/s",
            Self::DiskWriteIops => "disk write IOPS",
            Self::DiskWriteThroughput => "disk write MB/s",
            Self::MachineIops => "machine IOPS",
            Self::MachineThroughput => "machine MB/s",
            Self::MachineReadIops => "machine read IOPS",
            Self::MachineReadThroughput => "machine read MB/s",
            Self::MachineWriteIops => "machine write IOPS",
            Self::MachineWriteThroughput => "machine write MB/s",
            Self::UncachedIops => "machine uncached IOPS",
            Self::UncachedThroughput => "machine uncached MB/s",
            Self::CachedIops => "machine cached IOPS",
            Self::CachedThroughput => "machine cached MB/s",
        }
    }

    /// Whether it counts bytes.
    pub const fn counts_bytes(self) -> bool {
        matches!(
            self,
            Self::DiskThroughput
                | Self::DiskReadThroughput
                | Self::DiskWriteThroughput
                | Self::UncachedThroughput
                | Self::CachedThroughput
                | Self::MachineThroughput
                | Self::MachineReadThroughput
                | Self::MachineWriteThroughput
        )
    }

    /// Whether it is the disks' own.
    pub const fn is_of_disks(self) -> bool {
        matches!(
            self,
            Self::DiskIops
                | Self::DiskThroughput
                | Self::DiskReadIops
                | Self::DiskReadThroughput
                | Self::DiskWriteIops
                | Self::DiskWriteThroughput
        )
    }
}

/// What a load takes of a limit, a second, in what the limit counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Use {
    pub limit: Limit,
    pub used: u64,
    /// Of all disks where it is theirs.
    pub rate: Rate,
}

impl Use {
    /// Whether the limit lets it through for as long as the load lasts. What is not known holds for nothing but no load.
    pub fn holds(&self, load: &Load) -> bool {
        self.used == 0
            || self
                .rate
                .held(&load.lasts, self.limit.counts_bytes())
                .is_some_and(|allows| self.used <= allows)
    }

    /// What part of the limit is taken, in millionths; `None`: not known.
    pub fn share_ppm(&self, load: &Load) -> Option<u64> {
        let allows = self.rate.held(&load.lasts, self.limit.counts_bytes())?;
        if allows == u64::MAX {
            return Some(0);
        }
        let share = u128::from(self.used) * 1_000_000 / u128::from(allows.max(1));
        Some(u64::try_from(share).unwrap_or(u64::MAX))
    }
}

/// What a rule is about.
#[derive(Clone, Copy)]
pub enum Part {
    /// Whether a machine takes these disks so.
    Takes(fn(&Layout<'_>) -> bool),
    /// Which part of the load's I/Os reaches the disks, in millionths; the parts of all rows add up.
    Reaches(fn(&Setup, &Load) -> u64),
    /// I/O units of one I/O, in millionths.
    Counts(fn(&Setup, &Load) -> u64),
    /// What of a limit the load takes; `None`: it is not in the way.
    Limits(fn(&Setup, &Load, Reaching) -> Option<Use>),
    /// Said of a layout, and kept elsewhere: by the rows' reader, by the cost, by how a bucket is counted.
    Kept(&'static str),
}

/// What of a load reaches the disks, a second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reaching {
    /// I/O units of the whole load.
    pub units: u64,
    /// I/O units that reach the disks.
    pub disk_units: u64,
    pub disk_bytes: u64,
    /// Those of them that are read, and those that are written: a part of an I/O is one.
    pub read_units: u64,
    pub read_bytes: u64,
    pub write_units: u64,
    pub write_bytes: u64,
}

/// A rule.
#[derive(Clone, Copy)]
pub struct Rule {
    pub name: &'static str,
    /// What it says.
    pub says: &'static str,
    pub part: Part,
}

const fn rule(name: &'static str, says: &'static str, part: Part) -> Rule {
    Rule { name, says, part }
}

/// All rules. Each is documented by the provider unless it says "derived"; sources stand in `docs/plan.md`.
pub const RULES: [Rule; 56] = [
    rule(
        "premium-storage",
        "a family that needs premium storage is taken by machines that have it, and none by series that a source says take none of it",
        Part::Takes(ways::takes_family),
    ),
    rule(
        "attachments",
        "a machine takes no more data disks than it has places for",
        Part::Takes(ways::has_places),
    ),
    rule(
        "iops-by-hypervisor",
        "machines of some hypervisors let a disk have fewer IOPS than it can have elsewhere",
        Part::Takes(ways::lets_have_iops),
    ),
    rule(
        "cache-disk",
        "families of fixed sizes below 4,096 GiB can be cached by the host, freely sized ones cannot",
        Part::Takes(ways::disk_can_be_cached),
    ),
    rule(
        "cache-machine",
        "a host caches on machines that have caching, of a size that a source states",
        Part::Takes(ways::machine_caches),
    ),
    rule(
        "io-unit",
        "an I/O up to the I/O unit counts as one; a larger one as several, each piece on a stripe for itself",
        Part::Counts(ways::units_ppm),
    ),
    rule(
        "uncached-way",
        "without a host's cache all I/O reaches the disks",
        Part::Reaches(ways::uncached_ppm),
    ),
    rule(
        "read-hit",
        "a read that the host's cache has counts against the machine's cached limits alone; one that it has not, against all",
        Part::Reaches(ways::missed_reads_ppm),
    ),
    rule(
        "write-through",
        "with read-only caching a write goes to cache and disk before it is complete",
        Part::Reaches(ways::written_through_ppm),
    ),
    rule(
        "write-back",
        "with read-write caching a write is complete in the cache and counts against disk and uncached limits when it is flushed",
        Part::Reaches(ways::written_back_ppm),
    ),
    rule(
        "disk-iops",
        "a disk lets its own IOPS through, a stripe those of all its disks",
        Part::Limits(limits::disk_iops),
    ),
    rule(
        "disk-mbps",
        "a disk lets its own MB/s through, a stripe those of all its disks",
        Part::Limits(limits::disk_bytes),
    ),
    rule(
        "disk-read-iops",
        "where reads and writes have limits of their own, reads take of theirs",
        Part::Limits(limits::disk_read_iops),
    ),
    rule(
        "disk-read-mbps",
        "the same of MB/s that are read",
        Part::Limits(limits::disk_read_bytes),
    ),
    rule(
        "disk-write-iops",
        "where reads and writes have limits of their own, writes take of theirs",
        Part::Limits(limits::disk_write_iops),
    ),
    rule(
        "disk-write-mbps",
        "the same of MB/s that are written",
        Part::Limits(limits::disk_write_bytes),
    ),
    rule(
        "directions-share",
        "of what reads and writes with limits of their own share, they have no more together than the larger of both",
        Part::Kept("setup::apart, limits::together"),
    ),
    rule(
        "machine-family-iops",
        "a machine with limits by family of disks lets so many IOPS through to all disks of that family",
        Part::Limits(limits::machine_iops),
    ),
    rule(
        "machine-family-mbps",
        "the same of MB/s; what no source states is not known, never without limit",
        Part::Limits(limits::machine_bytes),
    ),
    rule(
        "machine-family-read-iops",
        "where a machine's limits on a family are apart for reads and writes, reads take of theirs",
        Part::Limits(limits::machine_read_iops),
    ),
    rule(
        "machine-family-read-mbps",
        "the same of MB/s that are read",
        Part::Limits(limits::machine_read_bytes),
    ),
    rule(
        "machine-family-write-iops",
        "where a machine's limits on a family are apart for reads and writes, writes take of theirs",
        Part::Limits(limits::machine_write_iops),
    ),
    rule(
        "machine-family-write-mbps",
        "the same of MB/s that are written",
        Part::Limits(limits::machine_write_bytes),
    ),
    rule(
        "cards",
        "disks are attached to a machine's cards in turn, and each card has its part of the machine's limits: one disk alone has one part",
        Part::Kept("setup::by_cards"),
    ),
    rule(
        "family-on-machine",
        "where a cloud has the limits of a family for all disks on a machine, they follow from what the disks hold together",
        Part::Kept("Disk::figures"),
    ),
    rule(
        "figures-by-formula",
        "IOPS and MB/s that follow from the size, or from each other, are not chosen; a disk is made large enough for them",
        Part::Kept("pieces::least"),
    ),
    rule(
        "machine-uncached-iops",
        "the sum over all disks is limited by the machine's IOPS; whichever limit is lower wins",
        Part::Limits(limits::uncached_iops),
    ),
    rule(
        "machine-uncached-mbps",
        "the sum over all disks is limited by the machine's MB/s, independently of IOPS",
        Part::Limits(limits::uncached_bytes),
    ),
    rule(
        "machine-cached-iops",
        "I/O through the host's cache is limited by the machine's cached IOPS; cached and uncached limits are apart",
        Part::Limits(limits::cached_iops),
    ),
    rule(
        "machine-cached-mbps",
        "I/O through the host's cache is limited by the machine's cached MB/s",
        Part::Limits(limits::cached_bytes),
    ),
    rule(
        "credit",
        "a bucket is full at the start, lasts 30 minutes at full burst, and fills at the base rate less use; IOPS and MB/s apart",
        Part::Kept("Rate::held, Rate::lasts_seconds"),
    ),
    rule(
        "credit-of-bytes",
        "disks with heads earn and spend credit in bytes, as many as they hold; a small or random I/O costs a whole unit of it",
        Part::Kept("setup::ways, limits::counted"),
    ),
    rule(
        "credit-of-throughput",
        "where throughput bursts on the credit of I/Os, a load without end is held to the rate without credit",
        Part::Kept("setup::ways, Rate::held"),
    ),
    rule(
        "size-counting",
        "Google counts IOPS by small I/Os and throughput by large ones, and documents no unit: I/Os of up to 256 KiB count as one",
        Part::Kept("Family::notes"),
    ),
    rule(
        "merging",
        "sequential I/Os are merged up to the I/O unit where a cloud does so: loads are taken to be random, so that none is counted on",
        Part::Kept("the model alone: fathom_model::merge"),
    ),
    rule(
        "credit-machine",
        "machines burst on credit too, uncached only; a burst of the disks is capped by the machine's and the other way round",
        Part::Kept("Setup::of"),
    ),
    rule(
        "on-demand-bursts",
        "Premium SSD above 512 GiB bursts on demand without end, for fees that no source states: never counted unless named",
        Part::Kept("Layout::of_spec, cost::of"),
    ),
    rule(
        "iops-by-size",
        "a freely sized disk has so many IOPS a GiB at most, within a floor and a ceiling",
        Part::Kept("pieces::chosen"),
    ),
    rule(
        "mbps-by-iops",
        "a freely sized disk has so many MB/s for each IOPS at most",
        Part::Kept("pieces::chosen"),
    ),
    rule(
        "free-baseline",
        "of provisioned IOPS and MB/s only what is above the free baseline is paid for, on each disk",
        Part::Kept("cost::of"),
    ),
    rule(
        "billed-size",
        "a disk of a fixed size is paid for whole, however little of it is used",
        Part::Kept("cost::of"),
    ),
    rule(
        "transactions",
        "standard families cost per 10,000 transactions besides: no source states the price, so it is named and not counted",
        Part::Kept("cost::of"),
    ),
    rule(
        "price-tiers",
        "provisioned IOPS above a tier cost the price of that tier, each disk by itself",
        Part::Kept("cost::of"),
    ),
    rule(
        "hours",
        "a machine is paid by the hour, 730 of them a month unless told otherwise",
        Part::Kept("cost::of"),
    ),
    rule(
        "base-size-limits",
        "a machine with constrained processors has the limits and the price of its base size",
        Part::Kept("the catalogue's rows"),
    ),
    rule(
        "consistency",
        "what part of provisioned IOPS is promised for what part of a year is told, and not planned with",
        Part::Kept("Family::terms"),
    ),
    rule(
        "latency-promise",
        "the latency that a cloud promises, as an average or by design, is told, and not planned with: the model has percentiles",
        Part::Kept("Family::terms"),
    ),
    rule(
        "shared-places",
        "where other devices of a machine take of its places for disks, it is told: what else is attached is not known",
        Part::Kept("Vm::notes"),
    ),
    rule(
        "paid-options",
        "a machine whose limits hold with an option that costs more is dearer by a fee that no source states: named and not counted",
        Part::Kept("Vm::notes, cost::of"),
    ),
    rule(
        "regions",
        "prices are those of one region: of another one where its prices are known, and machines there without one where they are not",
        Part::Kept("Catalog::of_region"),
    ),
    rule(
        "snapshots",
        "a disk made from a snapshot, or being snapshotted, is slower for a time: told, and not planned with",
        Part::Kept("Family::terms"),
    ),
    rule(
        "modifications",
        "how soon a disk can be changed again is told, and not planned with",
        Part::Kept("Family::terms"),
    ),
    rule(
        "egress",
        "where writes take of the machine's network egress as well, it is told, and not planned with: other traffic is not known",
        Part::Kept("Family::terms"),
    ),
    rule(
        "no-credit",
        "a cloud of which no source states a bucket has none: what its machines and disks have lasts for ever",
        Part::Kept("Setup::of"),
    ),
    rule(
        "temporary-disk",
        "I/O on the temporary disk takes of the cached limits alone: layouts have none of it",
        Part::Kept("Reaching has no such I/O"),
    ),
    rule(
        "depth",
        "IOPS are I/Os in flight by latency: a load that keeps fewer in flight does not reach a limit",
        Part::Kept("Judged::in_flight"),
    ),
];

/// Whether the machine takes these disks so; if not, the first rule against it.
///
/// # Errors
/// That rule.
pub fn takes(layout: &Layout<'_>) -> Result<(), &'static Rule> {
    let against = RULES.iter().find(|rule| match rule.part {
        Part::Takes(takes) => !takes(layout),
        _ => false,
    });
    against.map_or(Ok(()), Err)
}

/// What of the load reaches the disks of `setup`.
pub fn reaching(setup: &Setup, load: &Load) -> Reaching {
    let mut reaches_ppm = 0;
    let mut units_ppm = 0;
    for rule in &RULES {
        match rule.part {
            Part::Reaches(reaches) => reaches_ppm += reaches(setup, load),
            Part::Counts(counts) => units_ppm += counts(setup, load),
            Part::Takes(_) | Part::Limits(_) | Part::Kept(_) => {}
        }
    }
    let units = scaled(load.ios, units_ppm);
    let (disk_units, disk_bytes) = (scaled(units, reaches_ppm), scaled(load.bytes, reaches_ppm));
    // All that is written reaches the disks, sooner or later.
    let writes_ppm = 1_000_000 - load.read_ppm.min(1_000_000);
    Reaching {
        units,
        disk_units,
        disk_bytes,
        read_units: scaled(units, load.read_ppm).min(disk_units),
        read_bytes: scaled(load.bytes, load.read_ppm).min(disk_bytes),
        write_units: scaled(units, writes_ppm).min(disk_units),
        write_bytes: scaled(load.bytes, writes_ppm).min(disk_bytes),
    }
}

/// So many millionths of `amount`, rounded up.
fn scaled(amount: u64, ppm: u64) -> u64 {
    if ppm == 1_000_000 {
        return amount;
    }
    let scaled = (u128::from(amount) * u128::from(ppm)).div_ceil(1_000_000);
    u64::try_from(scaled).unwrap_or(u64::MAX)
}

/// What the load takes of each limit of `setup` that is in its way.
pub fn uses<'a>(setup: &'a Setup, load: &'a Load) -> impl Iterator<Item = Use> + 'a {
    let reaching = reaching(setup, load);
    RULES.iter().filter_map(move |rule| match rule.part {
        Part::Limits(limits) => limits(setup, load, reaching),
        _ => None,
    })
}

#[cfg(test)]
mod tests;

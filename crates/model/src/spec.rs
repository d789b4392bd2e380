//! The specification of a modelled machine: everything that a run on it depends on, resolved.
//!
//! Data in: a target in words ([`crate::target`]) or a model file ([`crate::file`]). Data out: plain data that
//! [`crate::Machine`] is made from and that the run directory stores. Each mechanism is one field: taking it away
//! (`None`, an empty list, [`Limit::Off`]) gives the simpler model exactly. It must not know the catalogue.

use serde::{Deserialize, Serialize};

/// Bytes in a KiB.
pub const KIB: u64 = 1 << 10;

/// A modelled machine: disks, what is between them and the program, and the seed of all chance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// In words, as the target was given: `azure/2xP15,vm=Standard_DS3_v2`.
    pub name: String,
    /// Seed of all random draws: equal seeds give equal runs.
    pub seed: u64,
    /// The disks; more than one are striped (RAID 0). All of equal size.
    pub disks: Vec<DiskSpec>,
    /// The stripe's chunk.
    pub stripe_chunk_bytes: u64,
    /// How limits are released.
    pub slices: SliceSpec,
    /// The limits of the virtual machine; `None`: not part of the model.
    pub vm: Option<VmSpec>,
    /// Limits that the disks have together, or that the virtual machine has for disks of their kind.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shared: Vec<SharedSpec>,
    /// What no source states and the model assumes, or is else to be known before its figures are used: told with them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assumed: Vec<String>,
    /// The host's cache; `None`: switched off.
    pub host_cache: Option<HostCacheSpec>,
    /// The guest: processor and page cache.
    pub guest: GuestSpec,
}

/// A limit on a rate, a second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Limit {
    /// So many a second.
    At(u64),
    /// There is one, but no source says which: it is not applied, and the report says so.
    #[default]
    NotKnown,
    /// Switched off on purpose.
    Off,
}

/// How limits are released: in time slices, or evenly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SliceSpec {
    /// Length of a time slice; 0: evenly, each I/O at a time of its own.
    pub slice_ns: u64,
    /// What is really released, in thousandths of the nominal limit.
    pub factor_permille: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiskSpec {
    /// Its product name: `P15`.
    pub name: String,
    pub size_bytes: u64,
    /// A larger I/O counts as several of this size against the limit on IOPS.
    pub io_unit_bytes: u64,
    pub limits: PathLimits,
    /// A limit on written bytes a second of its own (old standard disks).
    #[serde(default = "Limit::off")]
    pub write_bytes_per_second: Limit,
    /// How long the medium takes to read.
    pub read: ServiceSpec,
    /// How long the medium takes to write.
    pub write: ServiceSpec,
    /// What an I/O costs that does not follow a recent one; `None`: nothing.
    #[serde(default)]
    pub seek: Option<SeekSpec>,
    /// How I/Os in service slow each other down; `None`: not at all.
    #[serde(default)]
    pub crowding: Option<CrowdingSpec>,
    /// What handles all I/Os, one after the other; `None`: they are handled side by side.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handling: Option<HandlingSpec>,
    /// When the device answers nothing.
    #[serde(default)]
    pub outages: Vec<OutageSpec>,
    /// I/Os that follow one another are counted as one up to an I/O unit, of so many streams at a time; 0: none are.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub merged_streams: u32,
    /// Whether limits on bytes count whole I/O units.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub whole_units: bool,
    /// Whether bytes burst only as far as the bucket of I/Os is filled too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub burst_bytes_need_io_credit: bool,
    /// What is released of its limits, beside what is released of all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub released: Option<ReleasedSpec>,
}

/// What is released of a disk's limits, in thousandths, beside what [`SliceSpec`] releases of all limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReleasedSpec {
    pub iops_permille: u64,
    pub bytes_permille: u64,
}

/// Limits in front of all disks, on all I/O or on that of one direction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SharedSpec {
    /// Whose they are: the disks' product, or the virtual machine.
    pub owner: String,
    /// Whether they are the virtual machine's.
    #[serde(default)]
    pub of_vm: bool,
    pub counts: Counts,
    pub limits: PathLimits,
}

/// Which I/Os a limit counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Counts {
    All,
    Reads,
    Writes,
}

impl Counts {
    /// In words, before the name of what is limited: `reads: `.
    pub const fn words(self) -> &'static str {
        match self {
            Self::All => "",
            Self::Reads => "reads: ",
            Self::Writes => "writes: ",
        }
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
const fn is_zero(number: &u32) -> bool {
    *number == 0
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
const fn is_one(number: &u32) -> bool {
    *number == 1
}

const fn one() -> u32 {
    1
}

/// The limits of one way to a disk: a disk's own, or a virtual machine's cached or uncached.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathLimits {
    /// I/O units a second.
    #[serde(default)]
    pub iops: Limit,
    #[serde(default)]
    pub bytes_per_second: Limit,
    /// Bursts above these.
    #[serde(default)]
    pub burst: Option<BurstSpec>,
}

/// A burst on credit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BurstSpec {
    /// I/O units a second while credit lasts.
    pub iops: Limit,
    /// Bytes a second while credit lasts.
    pub bytes_per_second: Limit,
    /// How long a full bucket lasts at full burst. Credit accrues at the base rate less use.
    pub full_seconds: u64,
    /// What the bucket holds at the start, in percent of full.
    pub level_percent: u8,
    /// What a full bucket holds, in I/O units, where that is stated; `full_seconds` says it only about then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iops_credit: Option<u64>,
    /// The same, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_credit: Option<u64>,
}

/// How long a service takes: quantiles at one size, and a slope over size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServiceSpec {
    /// `[percentile, microseconds]`, both ascending, from 0 to 100. Between two of them time is linear in the
    /// percentile up to the 99th, above it the logarithm of time is.
    pub quantiles_us: Vec<(f64, f64)>,
    /// The I/O size that the quantiles are of.
    pub reference_bytes: u64,
    /// What each KiB more (or less) than that adds.
    pub ns_per_kib: u64,
    /// Where the numbers are from, and whether they were fitted.
    #[serde(default)]
    pub origin: String,
}

/// What a head movement costs: uniform between the two, for I/O that does not follow one of the last streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeekSpec {
    /// The shortest seek of a read.
    pub read_min_ns: u64,
    /// The longest seek of a read.
    pub read_max_ns: u64,
    /// The shortest seek of a write.
    pub write_min_ns: u64,
    /// The longest seek of a write.
    pub write_max_ns: u64,
    /// Bytes of the limit on written bytes that a seek costs.
    #[serde(default)]
    pub write_cost_bytes: u64,
    /// Sequential streams that are told apart.
    pub streams: u32,
}

/// What each other I/O in service adds to a service time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CrowdingSpec {
    /// Added by each.
    pub ns_per_io: u64,
    /// No more than so many count.
    pub most: u32,
}

/// How long an I/O occupies what handles all of them, one after the other (a processor, a driver's thread): time for the I/O and
/// time for its bytes add up, where of two limits the longer one holds. The service time begins with it, and contains it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HandlingSpec {
    /// For a read of any size.
    pub read_ns: u64,
    /// For each KiB of it.
    pub read_ns_per_kib: u64,
    /// For a write of any size, a trim or a flush.
    pub write_ns: u64,
    /// For each KiB of it.
    pub write_ns_per_kib: u64,
}

/// A time in which the device completes nothing: what would end in it ends right after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "when", deny_unknown_fields)]
pub enum OutageSpec {
    Once {
        /// From the start of the run.
        at_ns: u64,
        /// Its length.
        duration_ns: u64,
    },
    /// Again and again.
    Every {
        /// From one beginning to the next.
        period_ns: u64,
        /// The first beginning, from the start of the run.
        first_ns: u64,
        /// Its length.
        duration_ns: u64,
    },
    /// At random: gaps are exponential.
    Random {
        /// The mean gap between an end and the next beginning.
        mean_gap_ns: u64,
        /// The shortest.
        duration_min_ns: u64,
        /// The longest.
        duration_max_ns: u64,
    },
}

/// The limits of a virtual machine, shared by all its disks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VmSpec {
    /// Its product name: `Standard_DS3_v2`.
    pub name: String,
    /// Processors.
    #[serde(default)]
    pub vcpus: Option<u32>,
    /// For I/O that bypasses the host's cache.
    #[serde(default)]
    pub uncached: PathLimits,
    /// For I/O through the host's cache.
    #[serde(default)]
    pub cached: PathLimits,
    /// Cards that the disks are attached to in turn, each with its part of the uncached limits.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub cards: u32,
}

/// What the host's cache does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheMode {
    /// Reads are kept; a write goes to cache and disk before it is complete.
    ReadOnly,
    /// Writes are complete in the cache and reach the disk later.
    ReadWrite,
}

/// The host's cache.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostCacheSpec {
    /// What it does.
    pub mode: CacheMode,
    /// How much it holds.
    pub capacity_bytes: u64,
    /// The unit in which it holds and forgets.
    pub block_bytes: u64,
    /// How long a read takes that it has.
    pub read_hit: ServiceSpec,
    /// How long a write takes that ends in it.
    pub write_hit: ServiceSpec,
    /// What of it may wait to be written to the disk.
    pub dirty_limit_bytes: u64,
    /// Once full of what waits, writes stand still until no more than this waits.
    pub dirty_resume_bytes: u64,
    /// How fast it writes to the disk at most; [`Limit::Off`]: as fast as the disk takes it.
    #[serde(default = "Limit::off")]
    pub flush_bytes_per_second: Limit,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GuestSpec {
    /// Processor time that a submission of direct I/O takes its worker; buffered I/O has a cost of its own.
    #[serde(default)]
    pub submit_ns: u64,
    /// The page cache, for `direct=0`.
    pub page_cache: PageCacheSpec,
}

/// The guest's page cache.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageCacheSpec {
    /// What it may hold in all.
    pub capacity_bytes: u64,
    /// With more than this dirty, writeback runs all the time.
    pub background_bytes: u64,
    /// With this dirty, writers wait for writeback.
    pub throttle_bytes: u64,
    /// Dirty pages older than this are written in any case.
    pub expire_ns: u64,
    /// How often writeback looks for old pages.
    pub wake_ns: u64,
    /// The largest request that neighbouring pages are merged into.
    pub merge_bytes: u64,
    /// Requests that writeback keeps in flight.
    pub in_flight: u32,
    /// Processor time of a call served from memory.
    pub call_ns: u64,
    /// Processor time to copy a KiB.
    pub copy_ns_per_kib: u64,
}

impl Spec {
    /// The size of the volume that its disks make.
    pub fn volume_bytes(&self) -> u64 {
        self.disks.iter().map(|disk| disk.size_bytes).sum()
    }

    /// What the volume is called: as its disk, with their number before it where there are several (`2xP15`).
    pub fn volume_name(&self) -> String {
        match &self.disks[..] {
            [] => String::new(),
            [disk] => disk.name.clone(),
            [first, ..] => format!("{}x{}", self.disks.len(), first.name),
        }
    }
}

impl Limit {
    /// [`Limit::Off`], for serde.
    pub const fn off() -> Self {
        Self::Off
    }
    /// The rate a second, where it is known and applied.
    pub const fn rate(self) -> Option<u64> {
        match self {
            Self::At(rate) => Some(rate),
            Self::NotKnown | Self::Off => None,
        }
    }
}

impl Serialize for Limit {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::At(rate) => serializer.serialize_u64(*rate),
            Self::NotKnown => serializer.serialize_str("not known"),
            Self::Off => serializer.serialize_str("off"),
        }
    }
}

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl serde::de::Visitor<'_> for Visitor {
            type Value = Limit;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a whole number a second (at least 1), \"not known\" or \"off\"")
            }
            fn visit_u64<E: serde::de::Error>(self, rate: u64) -> Result<Limit, E> {
                if rate == 0 {
                    return Err(E::invalid_value(serde::de::Unexpected::Unsigned(0), &self));
                }
                Ok(Limit::At(rate))
            }
            fn visit_i64<E: serde::de::Error>(self, rate: i64) -> Result<Limit, E> {
                match u64::try_from(rate) {
                    Ok(rate) => self.visit_u64(rate),
                    Err(_) => Err(E::invalid_value(serde::de::Unexpected::Signed(rate), &self)),
                }
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Limit, E> {
                match text {
                    "not known" => Ok(Limit::NotKnown),
                    "off" => Ok(Limit::Off),
                    _ => Err(E::invalid_value(serde::de::Unexpected::Str(text), &self)),
                }
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

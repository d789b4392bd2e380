//! Why a target in words is none.
//!
//! Data in: what was written, what the catalogue says. Data out: one sentence that says what is wrong and what works.

use crate::catalog::Catalog;
use crate::validate::{DISKS_MAX, Invalid};

/// Why a target is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// No cloud in front.
    #[error(
        "`{found}` is no cloud: write one of {known} and a disk, as in azure/P15 (or a model file: FILE.toml)"
    )]
    Cloud {
        /// What was written.
        found: String,
        known: String,
    },
    /// A rate in both units.
    #[error("mbps= and mibps= are the same limit in two units: leave one of them out")]
    TwoRates,
    /// No services of that year.
    #[error(
        "service={year}: of {family} there is {known}: write one of them, or leave service= out for the newest"
    )]
    NoService {
        year: u16,
        family: &'static str,
        known: String,
    },
    /// A zone-redundant disk that nobody measured.
    #[error(
        "redundancy=zrs: no measurement of a zone-redundant {0} is known: leave redundancy= out, or put the times into a model file"
    )]
    NotZoneRedundant(&'static str),
    /// A zone that was not measured.
    #[error("zone={zone}: {}", .most.map_or_else(|| String::from("it is for redundancy=zrs"), |most| format!("1 to {most} were measured; without zone= it is their mean")))]
    Zone { zone: usize, most: Option<usize> },
    /// A figure that follows from others.
    #[error("{key}= cannot be chosen: of a {disk} it follows from {from}")]
    Follows {
        key: &'static str,
        disk: String,
        from: &'static str,
    },
    /// A size must be given, since limits follow from it.
    #[error("{disk}: how large? Its limits depend on its size: write {cloud}/{disk}:500GiB")]
    SizeMissing { cloud: String, disk: String },
    /// No number of disks.
    #[error("{0} disks: 1 to {DISKS_MAX} can be striped, as in azure/2xP15")]
    Count(String),
    /// A part without a value.
    #[error("`{0}` has no value: write KEY=VALUE, as in vm=Standard_D4s_v5")]
    NoValue(String),
    /// A key that is not there.
    #[error("no key `{key}`{}: the keys are {known}", did_you_mean(.near.as_deref()))]
    UnknownKey {
        /// What was written.
        key: String,
        /// What may be meant.
        near: Option<String>,
        known: String,
    },
    #[error("`{0}=` is there twice: leave one of them out")]
    KeyTwice(&'static str),
    /// A value that is none.
    #[error("{key}={value}: {wanted}")]
    Value {
        key: &'static str,
        /// What was written.
        value: String,
        /// What goes there.
        wanted: &'static str,
    },
    /// No such disk.
    #[error("no disk is called `{name}`{}: `fathom catalog disks{}` lists all", did_you_mean(.near.as_deref()), of_cloud(.cloud))]
    UnknownDisk {
        /// What was written.
        name: String,
        /// What may be meant.
        near: Option<String>,
        /// Whose disks were looked through.
        cloud: String,
    },
    /// A disk whose IOPS have neither a baseline nor a known least.
    #[error(
        "{disk} has the IOPS that are paid for, and no source states how many at least: say them, as iops=5000"
    )]
    IopsMissing { disk: String },
    /// A family of which only the limits of machines are known.
    #[error("what a disk of {family} lets through no source states: it cannot be modelled")]
    NotStated { family: &'static str },
    /// A word that several families begin with.
    #[error("`{word}` may be {titles}: write {keys}")]
    WhichFamily {
        word: String,
        titles: String,
        keys: String,
    },
    /// A family that does not say which of its disks.
    #[error("{family} is a family of disks: name one ({example}), or give a size: size=300g")]
    FamilyWithoutSize {
        family: &'static str,
        /// One of its disks.
        example: String,
    },
    /// A size that no disk of the family has.
    #[error(
        "size={size} is more than the largest {family} holds ({largest}, {largest_size}): stripe several"
    )]
    FamilyTooSmall {
        /// What was asked for.
        size: String,
        family: &'static str,
        /// Its largest disk.
        largest: String,
        largest_size: String,
    },
    /// A size beyond the disk's.
    #[error("size={size} is more than a {disk} holds ({holds}): {}", nearest_that(.next.as_deref(), "holds it"))]
    TooLarge {
        /// What was asked for.
        size: String,
        disk: String,
        /// Its size.
        holds: String,
        /// The smallest of the family that is large enough.
        next: Option<String>,
    },
    /// A size that is no multiple of what sizes are multiples of.
    #[error("size={size} is not a multiple of {step}, as the size of a {disk} must be")]
    Size {
        /// What was asked for.
        size: String,
        disk: String,
        step: String,
    },
    /// A size, a rate or a bandwidth beyond what can be chosen.
    #[error("{key}={value} cannot be had: a {disk} {has}")]
    OutOfCaps {
        key: &'static str,
        /// What was asked for.
        value: String,
        disk: String,
        /// What it can have, and what would raise that.
        has: String,
    },
    /// A limit of a disk whose limits are fixed.
    #[error("{key}= is for {free}: a {disk} has {iops} IOPS and {mbps} MB/s")]
    FixedLimits {
        key: &'static str,
        disk: String,
        /// The products whose limits are chosen.
        free: String,
        iops: u64,
        /// Its MB/s.
        mbps: u64,
    },
    /// Credit without a burst.
    #[error("burst={word}: {disk} does not burst on credit{vm}: leave burst= out{on_demand}")]
    NoCredit {
        /// What was written.
        word: &'static str,
        disk: String,
        /// The virtual machine, if there is one.
        vm: String,
        /// What it does instead.
        on_demand: &'static str,
    },
    /// On-demand bursts where there are none.
    #[error("burst=on-demand: {disk} {instead}; {}", match .smallest { Some(name) => format!("{name} is the smallest that bursts on demand"), None => String::from("no disk of the catalogue does") })]
    NoOnDemand {
        disk: String,
        /// The smallest of the catalogue that does.
        smallest: Option<String>,
        /// What it does instead.
        instead: &'static str,
    },
    /// No such virtual machine.
    #[error("no virtual machine is called `{name}`{}: `fathom catalog vms{}` lists all", list(.near), of_cloud(.cloud))]
    UnknownVm {
        /// What was written.
        name: String,
        /// What may be meant.
        near: Vec<String>,
        /// Whose machines were looked through.
        cloud: String,
    },
    /// A virtual machine of another cloud than its disk.
    #[error("`{name}` is a virtual machine of {cloud}: a disk is attached to one of its own cloud")]
    VmOfOther { name: String, cloud: String },
    /// Premium SSD on a virtual machine that takes none.
    #[error("{vm} {does_not}, and {disk} is {family}: {}", nearest_that(.like.as_deref(), "does"))]
    NoPremiumStorage {
        /// The virtual machine.
        vm: String,
        /// Whether it is known not to, or not known.
        does_not: &'static str,
        disk: String,
        family: &'static str,
        /// The virtual machine most like it that does.
        like: Option<String>,
    },
    /// A family that machines of the series do not take.
    #[error("{vm} takes no {family}: {}", nearest_that(.like.as_deref(), "does"))]
    NotTaken {
        /// The virtual machine.
        vm: String,
        family: &'static str,
        /// The virtual machine most like it that does.
        like: Option<String>,
    },
    /// More disks than the virtual machine takes.
    #[error("{vm} takes {max} data disks, not {count}: {}", nearest_that(.like.as_deref(), "takes as many"))]
    TooManyDisks {
        /// The virtual machine.
        vm: String,
        /// How many it takes.
        max: u32,
        /// How many were asked for.
        count: usize,
        /// The virtual machine most like it that takes as many.
        like: Option<String>,
    },
    /// More IOPS of a disk than a machine of its kind lets one have.
    #[error("{vm} lets a {disk} have {cap} IOPS at most, not {iops}: write iops={cap}, or {}", nearest_that(.like.as_deref(), "lets it have as many"))]
    TooManyIops {
        /// The virtual machine.
        vm: String,
        disk: String,
        cap: u64,
        iops: u64,
        /// The virtual machine most like it that lets a disk have as many.
        like: Option<String>,
    },
    /// A host's cache without a host.
    #[error("cache={0} needs vm=: the host's cache and its limits are those of the virtual machine")]
    CacheWithoutVm(&'static str),
    /// A host's cache on a large disk.
    #[error("cache={mode}: {disk} is {size}, and disks of 4 TiB and more have no host cache: {}", nearest_that(.largest.as_deref(), "is the largest that has"))]
    CacheTooLarge {
        /// The mode.
        mode: &'static str,
        disk: String,
        size: String,
        /// The largest of the family that can be cached.
        largest: Option<String>,
    },
    /// A host's cache on a freely sized disk.
    #[error("cache={mode}: {family} has no host cache: leave cache= out{}", .instead.as_deref().map_or(String::new(), |disk| format!(", or take another disk ({disk})")))]
    CacheFlex {
        /// The largest disk that has one.
        instead: Option<String>,
        /// The mode.
        mode: &'static str,
        family: &'static str,
    },
    /// A host's cache on a virtual machine without one.
    #[error("cache={mode}: {vm} has no host cache: {}", nearest_that(.like.as_deref(), "has one"))]
    CacheVm {
        /// The mode.
        mode: &'static str,
        /// The virtual machine.
        vm: String,
        /// The virtual machine most like it that has one.
        like: Option<String>,
    },
    /// A host's cache of a size that is not known.
    #[error("cache={mode}: no source states the size of {vm}'s host cache: give it, as in cache_size=100g")]
    CacheSizeNotKnown {
        /// The mode.
        mode: &'static str,
        /// The virtual machine.
        vm: String,
    },
    /// The size of a cache that is off.
    #[error("cache_size= without a cache: add cache=ro or cache=rw")]
    CacheSizeAlone,
    /// What the words make cannot be run.
    #[error(transparent)]
    Invalid(#[from] Invalid),
}

impl TargetError {
    pub(super) fn cloud(found: &str) -> Self {
        let known: Vec<String> = Catalog::names().map(|name| format!("{name}/")).collect();
        Self::Cloud {
            found: found.to_owned(),
            known: known.join(", "),
        }
    }
}

fn did_you_mean(near: Option<&str>) -> String {
    near.map_or(String::new(), |near| format!(" (did you mean {near}?)"))
}

/// What makes a command that lists be about this cloud: nothing for the first one, and of a catalogue of one's own it is not known.
fn of_cloud(cloud: &str) -> String {
    if Catalog::names().skip(1).any(|name| name == cloud) {
        format!(" --cloud {cloud}")
    } else {
        String::new()
    }
}

fn list(near: &[String]) -> String {
    match near {
        [] => String::new(),
        names => format!(" (near: {})", names.join(", ")),
    }
}

fn nearest_that(name: Option<&str>, does: &str) -> String {
    name.map_or_else(
        || format!("none of the catalogue {does}"),
        |name| format!("{name} {does}"),
    )
}

//! In which order: directions, offsets, block sizes.

use serde::{Deserialize, Serialize};

/// The directions of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mix {
    /// Only reads.
    Read,
    /// Only writes.
    Write,
    /// Only trims.
    Trim,
    /// Reads and writes: `read_percent` of the I/Os are reads, drawn one by one.
    ReadWrite {
        /// 0 to 100.
        read_percent: u8,
    },
    /// Each block is trimmed, then written.
    TrimWrite,
    /// Whatever a recording has ([`super::Replay`]).
    Recorded { reads: bool, writes: bool, trims: bool },
}

impl Mix {
    /// Whether it has reads, writes, trims.
    pub const fn uses(self) -> [bool; 3] {
        match self {
            Self::Read => [true, false, false],
            Self::Write => [false, true, false],
            Self::Trim => [false, false, true],
            Self::ReadWrite { .. } => [true, true, false],
            Self::TrimWrite => [false, true, true],
            Self::Recorded { reads, writes, trims } => [reads, writes, trims],
        }
    }
}

/// The order of a job's I/Os.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pattern {
    /// Which directions.
    pub mix: Mix,
    /// Random offsets (`randread` and so on) or ascending ones.
    pub random: bool,
    /// With `random`: after each random offset go on in sequence for so many I/Os in all (`rw=randread:8`);
    /// 1: every offset is random.
    pub run_length: u32,
    /// Skip this many bytes from the end of an I/O to the next one in sequence (`rw=write:4k`); negative goes back. With
    /// `random` it counts where a run keeps its direction, and nowhere else.
    pub skip_bytes: i64,
    /// With `random`: the share of I/Os that are random, per direction, 0 to 100; the rest go on in sequence.
    pub random_percent: [u8; 3],
    /// How random offsets are distributed, per direction.
    pub distribution: [Distribution; 3],
    /// Whether each block is visited once before any is visited again.
    pub random_map: RandomMap,
    /// Without `random`: all workers of all jobs that say so take their offsets from one pointer for each part of a file, so
    /// that it is read once by all together (diskspd's `-si`).
    #[serde(default)]
    pub shared_sequence: bool,
    /// Without `random`: each of `iodepth` I/Os in flight goes through the file by itself, so that each offset is visited
    /// `iodepth` times (diskspd's `-p`).
    #[serde(default)]
    pub same_offset: bool,
    /// Without `random`: where in the region the sequence begins, in bytes. At the region's end it goes on as near to its
    /// beginning as the steps from here allow (diskspd's `-T`).
    #[serde(default)]
    pub first_offset_bytes: u64,
    /// With `random_percent` below 100 and no random map: an I/O that goes on in sequence also keeps the direction of the
    /// one before it, so that each run has one direction (diskspd's `-rs`); the share of reads is that of the runs.
    #[serde(default)]
    pub keeps_direction: bool,
    /// With `random`: the I/Os of a run all have its offset (`rw_sequencer=identical`).
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub repeats_offset: bool,
    /// The region is gone through zone by zone (`zonemode=strided`).
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub strides: Option<Strides>,
    /// Zones of the device are heeded, or made up where it has none (`zonemode=zbd`).
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub zones: Option<ZoneRules>,
}

/// Zones of a region, one after the other: in each so many bytes are done, then the next begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Strides {
    /// Bytes done before the next zone begins (`zonesize`); more than `range` goes round within the zone.
    pub amount_bytes: u64,
    /// How large a zone is (`zonerange`).
    pub range_bytes: u64,
    /// Between the end of a zone and the next one (`zoneskip`).
    pub skip_bytes: u64,
}

impl Default for Pattern {
    fn default() -> Self {
        Self {
            mix: Mix::Read,
            random: false,
            run_length: 1,
            skip_bytes: 0,
            random_percent: [100; 3],
            distribution: [const { Distribution::Uniform }; 3],
            random_map: RandomMap::EachOnce,
            shared_sequence: false,
            same_offset: false,
            first_offset_bytes: 0,
            keeps_direction: false,
            repeats_offset: false,
            strides: None,
            zones: None,
        }
    }
}

/// How the zones of a zoned device are used: each is written at its write pointer alone, one write at a time, and read below it.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct ZoneRules {
    /// Size of a zone in bytes, of what has no zones of its own; 0: the device's.
    pub size_bytes: u64,
    /// What of such a zone can be written, in bytes; 0: all of it.
    pub capacity_bytes: u64,
    /// Zones written in part, over all workers of a device; 0: as many as the device allows.
    pub max_open: u32,
    /// Zones that a worker writes to at a time; 0: any number.
    pub max_open_per_worker: u32,
    /// Limits of the device do not count.
    pub ignores_limits: bool,
    /// Reads go beyond write pointers.
    pub reads_beyond: bool,
    /// Zones are emptied when they are written next, while more than this share of the region is written (0 to 1); 0: only full
    /// ones are.
    pub reset_above_share: f64,
    /// How many of the writes empty their zone then (0 to 1).
    pub reset_share: f64,
}

/// Whether random offsets remember where they have been.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RandomMap {
    /// Every block once a pass, in an order that is all chance wherever the blocks have one size (the default).
    EachOnce,
    /// Every block once a pass: each time a block is drawn, and one that had its turn gives it to the next that had none
    /// (`random_map=next_free`). That is fio's order: blocks come in ever longer runs.
    NextFree,
    /// No memory (`norandommap`).
    Independent,
}

/// The distribution of random offsets over the blocks of the region.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Distribution {
    /// All blocks alike.
    Uniform,
    /// The k-th most popular block has weight 1/k^theta; popular blocks are scattered over the region.
    Zipf {
        /// Above 0, not 1.
        theta: f64,
        /// Where the most popular block is, as a share of the region (0 to 1); `None`: scattered by a hash.
        center: Option<f64>,
    },
    /// A Pareto power law over the blocks.
    Pareto {
        /// Between 0 and 1; 0.2 sends 80 % of the I/Os to 20 % of the blocks.
        h: f64,
        /// As for Zipf.
        center: Option<f64>,
    },
    /// A normal curve around the middle of the region.
    Normal {
        /// The standard deviation in percent of the region, 0 to 100.
        deviation_percent: f64,
        /// The middle as a share of the region (0 to 1); `None`: a half.
        center: Option<f64>,
    },
    /// Parts of the region, one after the other from its start, each with a share of the I/Os
    /// (`random_distribution=zoned`, `zoned_abs`; diskspd's `-rd`). Uniform within each. What the zones leave of the
    /// region is not visited; zones that reach beyond its end are cut there.
    Zones(Vec<Zone>),
    /// These blocks of the region, over and over (`random_distribution=sequence`).
    Sequence {
        /// Numbers of blocks, from the region's beginning on.
        blocks: Vec<u64>,
        /// Each time round begins as many blocks further on as the sequence has (`random_sequence_stride`).
        strides: bool,
    },
}

/// One part of a region.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Zone {
    /// Its share of the I/Os in percent; all shares add up to 100.
    pub io_percent: f64,
    /// How large it is.
    pub size: ZoneSize,
}

/// How large a [`Zone`] is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ZoneSize {
    Bytes(u64),
    /// A share of the region, 0 to 100.
    Percent(f64),
    /// All that the zones before have left.
    Rest,
}

/// The block sizes of one direction, in bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockSize {
    /// One size.
    Fixed(u64),
    /// Uniform between the two, both included, in multiples of the smaller (any size, if `unaligned`).
    Range {
        /// Smallest.
        min: u64,
        /// Largest.
        max: u64,
        /// Any number of bytes, not only multiples of `min`.
        unaligned: bool,
    },
    /// A few sizes with a weight each.
    Split(Vec<SplitEntry>),
}

/// One size of a split.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SplitEntry {
    /// The size in bytes.
    pub bytes: u64,
    /// Its share of the I/Os in percent; all shares add up to 100.
    pub percent: u8,
}

impl BlockSize {
    /// The smallest size.
    pub fn min(&self) -> u64 {
        match self {
            Self::Fixed(bytes) => *bytes,
            Self::Range { min, .. } => *min,
            Self::Split(entries) => entries.iter().map(|e| e.bytes).min().unwrap_or(0),
        }
    }
    /// The mean size over many I/Os.
    pub fn mean(&self) -> u64 {
        match self {
            Self::Split(entries) => {
                entries
                    .iter()
                    .map(|e| e.bytes * u64::from(e.percent))
                    .sum::<u64>()
                    / 100
            }
            other => u64::midpoint(other.min(), other.max()),
        }
    }
    /// The largest size.
    pub fn max(&self) -> u64 {
        match self {
            Self::Fixed(bytes) => *bytes,
            Self::Range { max, .. } => *max,
            Self::Split(entries) => entries.iter().map(|e| e.bytes).max().unwrap_or(0),
        }
    }
}

//! What is needed: a load, room, and what narrows the choice.
//!
//! Data in: what a user asks for ([`Ask`]) or what was recorded. Data out: a [`Need`] that is possible in itself, or which part of
//! it is not. It must not know the catalogue.

use crate::cost::Terms;
use crate::layout::Cache;
use crate::setup::Lasts;
use fathom_core::units::Bytes;
use fathom_model::catalog::{Family, Vm};

/// One I/O unit in millionths, as shares of loads are.
pub const MILLION: u64 = 1_000_000;
/// The smallest I/O that a disk takes.
pub(crate) const SECTOR_BYTES: u64 = 512;
/// The largest I/O that is understood.
const BLOCK_BYTES_MAX: u64 = 1 << 30;
/// What no load and no room is more than: far above anything on sale, and far from overflow.
const IOS_MAX: u64 = 1_000_000_000;
const BYTES_MAX: u64 = 1_000_000_000_000_000;
const SIZE_BYTES_MAX: u64 = 1 << 60;
/// What is assumed of an I/O's size where nothing says it: a page of most databases, or of IOPS alone.
pub const BLOCK_BYTES_ASSUMED: u64 = 16 << 10;
/// The same where only MB/s are asked for: the largest that counts as one I/O.
pub const BLOCK_BYTES_ASSUMED_MBPS: u64 = 256 << 10;
/// What one stripe can be made of, as in the model.
pub const STRIPE_MAX: u32 = 64;

/// A load, a second.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Load {
    /// Reads and writes.
    pub ios: u64,
    /// What they carry.
    pub bytes: u64,
    /// Reads, of all I/Os, in millionths.
    pub read_ppm: u64,
    /// What is read and written again and again: how much of a host's cache can help.
    pub working_set_bytes: u64,
    /// How long it is to be carried.
    pub lasts: Lasts,
    /// What an I/O carries where there are none: limits are told for I/Os of this size then.
    pub otherwise_block_bytes: u64,
}

impl Load {
    /// The mean size of an I/O.
    pub const fn block_bytes(&self) -> u64 {
        if self.ios == 0 {
            return SECTOR_BYTES;
        }
        self.bytes.div_ceil(self.ios)
    }
}

/// A bound on latency.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    /// `None`: the mean.
    pub percentile: Option<f64>,
    pub below_ns: u64,
}

/// What a machine must have.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MachineNeed {
    /// Its name, where it is settled.
    pub name: Option<String>,
    /// Processors at least.
    pub vcpus: u32,
    pub memory_bytes: u64,
}

/// What narrows the choice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    pub machine: MachineNeed,
    /// Empty: all of them.
    pub families: Vec<Family>,
    /// Which ways of caching are considered.
    pub caches: Vec<Cache>,
    /// Families that will not do when cached so: too slow, as was found out.
    pub too_slow: Vec<(Family, Cache)>,
    /// Disks striped at most.
    pub stripe_max: u32,
    /// Where prices hold; `None`: anywhere.
    pub region: Option<String>,
    /// Millionths of a US dollar a month.
    pub budget_microusd: Option<u64>,
    pub terms: Terms,
}

impl Default for Choice {
    fn default() -> Self {
        Self {
            machine: MachineNeed::default(),
            families: Vec::new(),
            caches: vec![Cache::None, Cache::ReadOnly],
            too_slow: Vec::new(),
            stripe_max: STRIPE_MAX,
            region: None,
            budget_microusd: None,
            terms: Terms::default(),
        }
    }
}

/// What of a load was asked for; the rest follows from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// IOPS, of I/Os of one size.
    Iops,
    /// Bytes a second, in I/Os of one size.
    Throughput,
    /// Both, so that an I/O is as large as they make it.
    Both,
}

/// All that is needed.
#[derive(Debug, Clone, PartialEq)]
pub struct Need {
    pub load: Load,
    pub asked: Asked,
    pub size_bytes: u64,
    pub latency: Vec<Bound>,
    pub choice: Choice,
}

impl Need {
    /// Nothing at all: for what is told of a layout as it is.
    pub fn none() -> Self {
        Self {
            load: Load {
                ios: 0,
                bytes: 0,
                read_ppm: MILLION / 2,
                working_set_bytes: u64::MAX,
                lasts: Lasts::Always,
                otherwise_block_bytes: BLOCK_BYTES_ASSUMED,
            },
            asked: Asked::Both,
            size_bytes: 0,
            latency: Vec::new(),
            choice: Choice::default(),
        }
    }
}

/// What a user asks for, a second and in all.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ask {
    pub iops: Option<u64>,
    pub bytes_per_second: Option<u64>,
    pub size_bytes: Option<u64>,
    /// Of an I/O.
    pub block_bytes: Option<u64>,
    /// Reads of all I/Os.
    pub read_percent: Option<u64>,
    pub working_set_bytes: Option<u64>,
    /// At a stretch; `None`: always.
    pub lasts_seconds: Option<u64>,
    pub latency: Vec<Bound>,
    /// All of the load and the size times so much, in thousandths.
    pub growth_permille: Option<u64>,
    pub choice: Choice,
}

/// What was assumed or put together, for the answer to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Assumed {
    /// I/Os of this size.
    BlockBytes(u64),
    /// What IOPS and MB/s together make of an I/O.
    MeanBlock(u64),
    /// So many bytes a second, more than was asked for: IOPS times the size of an I/O.
    Bytes(u64),
    /// So many I/Os a second, more than was asked for: MB/s by the size of an I/O.
    Ios(u64),
    /// Half of the I/Os are reads.
    Reads,
    /// A machine of at least what the present one has.
    AsPresent { vcpus: u32, memory_bytes: u64 },
}

impl Need {
    /// Asks for a machine with at least the processors and the memory of `vm`, where nothing is asked of it.
    pub fn at_least(&mut self, vm: &Vm) -> Option<Assumed> {
        let machine = &mut self.choice.machine;
        if *machine != MachineNeed::default() {
            return None;
        }
        machine.vcpus = vm.vcpus;
        machine.memory_bytes = vm.memory_bytes.unwrap_or(0);
        Some(Assumed::AsPresent {
            vcpus: machine.vcpus,
            memory_bytes: machine.memory_bytes,
        })
    }
}

/// Why a need is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Invalid {
    /// Nothing is needed.
    #[error("nothing is asked for: give --iops, --mbps or --gib, as in --iops 5000 --mbps 200 --gib 500")]
    Nothing,
    /// I/Os smaller than a sector.
    #[error(
        "--iops {iops} and --mbps {mbps} contradict each other: that would be {bytes} bytes an I/O, and no I/O is \
         smaller than 512: leave one of them out, or give --bs"
    )]
    TooSmall {
        /// I/Os a second.
        iops: u64,
        /// MB a second.
        mbps: String,
        /// What an I/O would carry.
        bytes: u64,
    },
    /// I/Os larger than any.
    #[error(
        "--iops {iops} and --mbps {mbps} contradict each other: that would be {size} an I/O: leave one of them out, or give \
         --bs"
    )]
    TooLarge {
        /// I/Os a second.
        iops: u64,
        /// MB a second.
        mbps: String,
        /// What an I/O would carry.
        size: String,
    },
    /// A number out of bounds.
    #[error("--{flag} {value}: {wanted}")]
    Flag {
        /// Without dashes.
        flag: &'static str,
        /// What was asked for.
        value: String,
        /// What goes there.
        wanted: &'static str,
    },
}

impl Ask {
    /// The need that this is, and what of it was assumed.
    ///
    /// # Errors
    /// It asks for nothing, or for what contradicts itself.
    pub fn need(&self) -> Result<(Need, Vec<Assumed>), Invalid> {
        if self.iops.or(self.bytes_per_second).or(self.size_bytes).is_none() {
            return Err(Invalid::Nothing);
        }
        self.kind()
    }

    /// The same, where nothing need be needed: what layouts that are named let through of I/Os of this kind.
    ///
    /// # Errors
    /// It asks for what contradicts itself.
    pub fn kind(&self) -> Result<(Need, Vec<Assumed>), Invalid> {
        self.check()?;
        let mut assumed = Vec::new();
        let (ios, bytes) = self.rates(&mut assumed)?;
        if self.read_percent.is_none() && ios > 0 {
            assumed.push(Assumed::Reads);
        }
        let load = Load {
            ios,
            bytes,
            read_ppm: self.read_percent.unwrap_or(50) * MILLION / 100,
            // Of what size nobody says, nothing is taken to be in a cache.
            working_set_bytes: self.size_bytes.unwrap_or(u64::MAX),
            lasts: self.lasts_seconds.map_or(Lasts::Always, Lasts::Seconds),
            otherwise_block_bytes: self.block_bytes.unwrap_or(BLOCK_BYTES_ASSUMED),
        };
        let asked = match (self.iops, self.bytes_per_second, self.block_bytes) {
            (Some(_), Some(_), None) | (None, None, _) => Asked::Both,
            (None, Some(_), _) => Asked::Throughput,
            (Some(_), Some(wanted), Some(_)) if wanted == bytes => Asked::Throughput,
            (Some(_), ..) => Asked::Iops,
        };
        Ok((self.grown(load, asked)?, assumed))
    }

    /// The need that `load` is, which was seen, not asked for.
    ///
    /// # Errors
    /// Something else that is asked for cannot be.
    pub fn need_of(&self, load: Load) -> Result<(Need, Vec<Assumed>), Invalid> {
        self.check()?;
        Ok((self.grown(load, Asked::Both)?, Vec::new()))
    }

    /// With the growth that is asked for.
    fn grown(&self, load: Load, asked: Asked) -> Result<Need, Invalid> {
        let grown = |value: u64| {
            let permille = u128::from(self.growth_permille.unwrap_or(1_000));
            u64::try_from((u128::from(value) * permille).div_ceil(1_000)).unwrap_or(u64::MAX)
        };
        let size_bytes = grown(self.size_bytes.unwrap_or(0));
        let load = Load {
            ios: grown(load.ios),
            bytes: grown(load.bytes),
            working_set_bytes: grown(self.working_set_bytes.unwrap_or(load.working_set_bytes)),
            ..load
        };
        for (flag, value, most) in [
            ("iops", load.ios, IOS_MAX),
            ("mbps", load.bytes, BYTES_MAX),
            ("gib", size_bytes, SIZE_BYTES_MAX),
        ] {
            if value > most {
                return Err(Invalid::Flag {
                    flag,
                    value: (value / if flag == "mbps" { 1_000_000 } else { 1 }).to_string(),
                    wanted: "that is more than any cloud has, growth and the size of I/Os counted in: up to 10^9 IOPS and MB/s, and 1 EiB",
                });
            }
        }
        Ok(Need {
            load,
            asked,
            size_bytes,
            latency: self.latency.clone(),
            choice: self.choice.clone(),
        })
    }

    fn check(&self) -> Result<(), Invalid> {
        let zero = |flag, value: Option<u64>| match value {
            Some(0) => Err(Invalid::Flag {
                flag,
                value: "0".to_owned(),
                wanted: "more than nothing goes here, or leave it out",
            }),
            _ => Ok(()),
        };
        zero("iops", self.iops)?;
        zero("mbps", self.bytes_per_second)?;
        zero("gib", self.size_bytes)?;
        zero("for", self.lasts_seconds)?;
        zero("working-set", self.working_set_bytes)?;
        if let (Some(set), Some(room)) = (self.working_set_bytes, self.size_bytes)
            && set > room
        {
            return Err(Invalid::Flag {
                flag: "working-set",
                value: Bytes(set).to_string(),
                wanted: "no more can be read and written again and again than there is room for (--gib)",
            });
        }
        if let Some(percent) = self.read_percent.filter(|&percent| percent > 100) {
            return Err(Invalid::Flag {
                flag: "read",
                value: percent.to_string(),
                wanted: "0 to 100 percent of reads go here",
            });
        }
        if let Some(bytes) = self.block_bytes
            && (!bytes.is_multiple_of(SECTOR_BYTES) || bytes == 0 || bytes > BLOCK_BYTES_MAX)
        {
            return Err(Invalid::Flag {
                flag: "bs",
                value: Bytes(bytes).to_string(),
                wanted: "a multiple of 512 bytes up to 1 GiB goes here, as in --bs 16k",
            });
        }
        if !(1..=STRIPE_MAX).contains(&self.choice.stripe_max) {
            return Err(Invalid::Flag {
                flag: "raid0-max",
                value: self.choice.stripe_max.to_string(),
                wanted: "1 to 64 disks can be striped",
            });
        }
        Ok(())
    }

    /// I/Os and bytes a second that fit together, before they grow.
    fn rates(&self, assumed: &mut Vec<Assumed>) -> Result<(u64, u64), Invalid> {
        match (self.iops, self.bytes_per_second, self.block_bytes) {
            (None, None, _) => Ok((0, 0)),
            (Some(iops), Some(bytes), None) => {
                let mean = bytes / iops;
                let mbps = (bytes as f64 / 1e6).to_string();
                if mean < SECTOR_BYTES {
                    return Err(Invalid::TooSmall {
                        iops,
                        mbps,
                        bytes: mean,
                    });
                }
                if mean > BLOCK_BYTES_MAX {
                    let size = Bytes(mean).to_string();
                    return Err(Invalid::TooLarge { iops, mbps, size });
                }
                assumed.push(Assumed::MeanBlock(mean));
                Ok((iops, bytes))
            }
            (Some(iops), None, block) => {
                if block.is_none() {
                    assumed.push(Assumed::BlockBytes(BLOCK_BYTES_ASSUMED));
                }
                Ok((iops, iops.saturating_mul(block.unwrap_or(BLOCK_BYTES_ASSUMED))))
            }
            (None, Some(bytes), block) => {
                if block.is_none() {
                    assumed.push(Assumed::BlockBytes(BLOCK_BYTES_ASSUMED_MBPS));
                }
                Ok((bytes.div_ceil(block.unwrap_or(BLOCK_BYTES_ASSUMED_MBPS)), bytes))
            }
            (Some(iops), Some(bytes), Some(block)) => {
                let carried = iops.saturating_mul(block);
                let ios = iops.max(bytes.div_ceil(block));
                if carried > bytes {
                    assumed.push(Assumed::Bytes(carried));
                } else if ios > iops {
                    assumed.push(Assumed::Ios(ios));
                }
                Ok((ios, carried.max(bytes)))
            }
        }
    }
}

#[cfg(test)]
mod tests;

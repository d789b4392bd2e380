//! The words of a target, taken apart.
//!
//! Data in: the text. Data out: its parts, each understood for itself. It must not know the catalogue.

use super::error::TargetError;
use crate::catalog::{MB, decimal_micro, nearest};
use crate::spec::CacheMode;
use crate::validate::{CHUNK_MAX_BYTES, DISKS_MAX, MEMORY_MAX_BYTES, SEED_MAX};

const KEYS: [&str; 14] = [
    "vm",
    "cache",
    "cache_size",
    "size",
    "iops",
    "mbps",
    "mibps",
    "burst",
    "service",
    "redundancy",
    "zone",
    "chunk",
    "ram",
    "seed",
];

/// The least memory that a guest has.
const RAM_MIN_BYTES: u64 = 64 << 20;

/// The credit at the start, or what is paid for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BurstWord {
    Full,
    Empty,
    OnDemand,
}

/// A target's parts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Words {
    /// The cloud that it begins with.
    pub(super) cloud: String,
    pub(super) count: usize,
    pub(super) disk: String,
    pub(super) vm: Option<String>,
    pub(super) cache: Option<CacheMode>,
    pub(super) cache_size_bytes: Option<u64>,
    pub(super) size_bytes: Option<u64>,
    pub(super) iops: Option<u64>,
    pub(super) bytes_per_second: Option<u64>,
    pub(super) burst: Option<BurstWord>,
    /// The year whose services are meant.
    pub(super) service: Option<u16>,
    pub(super) zone_redundant: bool,
    /// The zone of the machine, from 1.
    pub(super) zone: Option<usize>,
    pub(super) chunk_bytes: Option<u64>,
    pub(super) ram_bytes: Option<u64>,
    pub(super) seed: Option<u64>,
}

/// Takes a target apart.
pub(super) fn read(text: &str) -> Result<Words, TargetError> {
    let text = text.trim();
    let Some((cloud, rest)) = text.split_once('/') else {
        return Err(TargetError::cloud(text.split(',').next().unwrap_or_default()));
    };
    let mut parts = rest.split(',').map(str::trim);
    let (count, disk) = counted(parts.next().unwrap_or_default())?;
    let (disk, size) = disk
        .split_once(':')
        .map_or((disk, None), |(disk, size)| (disk, Some(size)));
    let mut words = Words {
        cloud: cloud.trim().to_owned(),
        count,
        disk: disk.trim().to_owned(),
        ..Words::default()
    };
    let mut seen: Vec<&str> = Vec::new();
    if let Some(size) = size {
        seen.push("size");
        words.set("size", size.trim())?;
    }
    for part in parts {
        let Some((key, value)) = part.split_once('=') else {
            return Err(TargetError::NoValue(part.to_owned()));
        };
        let (key, value) = (key.trim(), value.trim());
        let Some(known) = KEYS.into_iter().find(|known| known.eq_ignore_ascii_case(key)) else {
            return Err(TargetError::UnknownKey {
                near: nearest(key, KEYS).map(str::to_owned),
                key: key.to_owned(),
                known: KEYS.join(", "),
            });
        };
        if seen.contains(&known) {
            return Err(TargetError::KeyTwice(known));
        }
        seen.push(known);
        words.set(known, value)?;
    }
    if seen.contains(&"mbps") && seen.contains(&"mibps") {
        return Err(TargetError::TwoRates);
    }
    Ok(words)
}

/// `2xP15` is two of `P15`.
fn counted(text: &str) -> Result<(usize, &str), TargetError> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = text.split_at(digits);
    let Some(disk) = rest.strip_prefix(['x', 'X']).filter(|_| digits > 0) else {
        return Ok((1, text));
    };
    let count = number
        .parse()
        .ok()
        .filter(|count| (1..=DISKS_MAX).contains(count));
    let count = count.ok_or_else(|| TargetError::Count(number.to_owned()))?;
    Ok((count, disk.trim()))
}

impl Words {
    fn set(&mut self, key: &'static str, value: &str) -> Result<(), TargetError> {
        let wrong = |wanted| TargetError::Value {
            key,
            value: value.to_owned(),
            wanted,
        };
        let size =
            || size_bytes(value).ok_or_else(|| wrong("a size with its unit goes here: 512k, 300g, 1.5t"));
        match key {
            "vm" if value.is_empty() => {
                return Err(wrong("the name of a virtual machine goes here: Standard_D4s_v5"));
            }
            "vm" => self.vm = Some(value.to_owned()),
            "cache" => {
                self.cache = match value.to_ascii_lowercase().as_str() {
                    "none" => None,
                    "ro" | "readonly" => Some(CacheMode::ReadOnly),
                    "rw" | "readwrite" => Some(CacheMode::ReadWrite),
                    _ => return Err(wrong("none, ro or rw goes here")),
                }
            }
            "cache_size" => self.cache_size_bytes = Some(size()?),
            "size" => self.size_bytes = Some(size()?),
            "chunk" => {
                let fits = |&chunk: &u64| chunk.is_multiple_of(512) && chunk <= CHUNK_MAX_BYTES;
                let chunk = size_bytes(value).filter(fits);
                self.chunk_bytes =
                    Some(chunk.ok_or_else(|| wrong("a multiple of 512 bytes up to 1g goes here: 64k"))?);
            }
            "ram" => {
                let fits = |ram: &u64| (RAM_MIN_BYTES..=MEMORY_MAX_BYTES).contains(ram);
                let ram = size_bytes(value).filter(fits);
                self.ram_bytes = Some(ram.ok_or_else(|| wrong("a size from 64m to 64t goes here: 28g"))?);
            }
            "iops" => {
                let iops = whole(value).filter(|&iops| iops > 0);
                self.iops = Some(iops.ok_or_else(|| wrong("a whole number of I/Os a second goes here"))?);
            }
            "mbps" | "mibps" => {
                let unit = if key == "mbps" { MB } else { 1 << 20 };
                let rate = decimal_micro(value).map(|micro| u128::from(micro) * u128::from(unit) / 1_000_000);
                let rate = rate
                    .and_then(|rate| u64::try_from(rate).ok())
                    .filter(|&rate| rate > 0);
                self.bytes_per_second =
                    Some(rate.ok_or_else(|| {
                        wrong("a number of MB/s (10^6 bytes; mibps= counts 2^20) goes here")
                    })?);
            }
            "burst" => {
                let words = [
                    ("full", BurstWord::Full),
                    ("empty", BurstWord::Empty),
                    ("on-demand", BurstWord::OnDemand),
                ];
                let found = words
                    .into_iter()
                    .find(|(word, _)| word.eq_ignore_ascii_case(value));
                let (_, burst) = found.ok_or_else(|| wrong("full, empty or on-demand goes here"))?;
                self.burst = Some(burst);
            }
            "service" => {
                let year = value.parse().ok().filter(|year| (2000..=2999).contains(year));
                self.service = Some(year.ok_or_else(|| wrong("a year goes here: 2019"))?);
            }
            "redundancy" => {
                self.zone_redundant = match value.to_ascii_lowercase().as_str() {
                    "lrs" => false,
                    "zrs" => true,
                    _ => return Err(wrong("lrs (within a zone) or zrs (across zones) goes here")),
                }
            }
            "zone" => {
                let zone = value.parse().ok().filter(|&zone| zone > 0);
                self.zone = Some(zone.ok_or_else(|| wrong("the number of a zone goes here: 1"))?);
            }
            _ => {
                let seed = whole(value).filter(|&seed| seed <= SEED_MAX);
                self.seed = Some(seed.ok_or_else(|| wrong("a whole number below 2^63 goes here"))?);
            }
        }
        Ok(())
    }
}

fn whole(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten()
}

/// A size with a unit, in powers of 1024: `300g`, `1.5t`, `512KiB`. A bare number has no unit and is refused.
pub(crate) fn size_bytes(text: &str) -> Option<u64> {
    let lower = text.to_ascii_lowercase();
    let letters = lower.find(|letter: char| letter.is_ascii_alphabetic())?;
    let (number, unit) = lower.split_at(letters);
    let shift = match unit {
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        "t" | "tb" | "tib" => 40,
        _ => return None,
    };
    let bytes = (u128::from(decimal_micro(number.trim())?) << shift) / 1_000_000;
    u64::try_from(bytes).ok().filter(|&bytes| bytes > 0)
}

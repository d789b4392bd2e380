//! Units: newtypes whose constructors name the unit, and their printed form.
//!
//! Data in: integers. Data out: integers that cannot be mixed up, and text that says which unit it means
//! (`MiB/s` is not `MB/s`). It must not know who measured what.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::{Add, AddAssign, Sub};

/// A number of bytes: a size, an offset or an amount, as the name of the field says.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Bytes(pub u64);

impl Bytes {
    /// `n` bytes.
    pub const fn new(n: u64) -> Self {
        Self(n)
    }
    /// `n` KiB (1024 bytes each).
    pub const fn from_kib(n: u64) -> Self {
        Self(n << 10)
    }
    /// The plain number.
    pub const fn get(self) -> u64 {
        self.0
    }
}

/// Prints with a binary unit: exactly (`4 KiB`) where it divides, else with up to two decimals (`1.46 MiB`).
impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(&str, u32); 6] = [
            ("EiB", 60),
            ("PiB", 50),
            ("TiB", 40),
            ("GiB", 30),
            ("MiB", 20),
            ("KiB", 10),
        ];
        for (unit, shift) in UNITS {
            if self.0 >> shift == 0 {
                continue;
            }
            let text = if self.0.trailing_zeros() >= shift {
                format!("{} {unit}", self.0 >> shift)
            } else {
                format!("{} {unit}", three_digits(self.0 as f64 / (1u64 << shift) as f64))
            };
            return f.pad(&text);
        }
        f.pad(&format!("{} B", self.0))
    }
}

impl Add for Bytes {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

/// A duration in nanoseconds.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Nanos(pub u64);

impl Nanos {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// `n` nanoseconds.
    pub const fn from_nanos(n: u64) -> Self {
        Self(n)
    }
    /// `n` microseconds, saturating.
    pub const fn from_micros(n: u64) -> Self {
        Self(n.saturating_mul(1_000))
    }
    /// `n` milliseconds, saturating.
    pub const fn from_millis(n: u64) -> Self {
        Self(n.saturating_mul(1_000_000))
    }
    /// `n` seconds, saturating.
    pub const fn from_secs(n: u64) -> Self {
        Self(n.saturating_mul(1_000_000_000))
    }
    /// The plain number of nanoseconds.
    pub const fn get(self) -> u64 {
        self.0
    }
    /// In seconds, for ratios and display.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }
    /// Whether this is no time at all.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
}

/// Prints with three significant digits and the unit: `640 ns`, `12.3 µs`, `4.56 ms`, `1.20 s`.
impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ns = self.0 as f64;
        let text = match self.0 {
            0..1_000 => format!("{} ns", self.0),
            1_000..999_500 => format!("{} µs", three_digits(ns / 1e3)),
            999_500..999_500_000 => format!("{} ms", three_digits(ns / 1e6)),
            _ => format!("{} s", three_digits(ns / 1e9)),
        };
        f.pad(&text)
    }
}

impl Add for Nanos {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Nanos {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sub for Nanos {
    type Output = Self;
    /// Saturating: a duration is never negative.
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

/// A point on the monotonic clock (`CLOCK_MONOTONIC`), in nanoseconds. With a modelled disk, virtual time
/// from 0.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MonoTime(pub u64);

impl MonoTime {
    /// Later than any time that will be reached.
    pub const NEVER: Self = Self(u64::MAX);
    /// The time from `earlier` to here; zero if `earlier` is later.
    pub const fn since(self, earlier: Self) -> Nanos {
        Nanos(self.0.saturating_sub(earlier.0))
    }
    /// The point `duration` after this one, saturating at [`MonoTime::NEVER`].
    #[must_use]
    pub const fn after(self, duration: Nanos) -> Self {
        Self(self.0.saturating_add(duration.0))
    }
}

/// A point in civil time: nanoseconds since the Unix epoch.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WallTime(pub u64);

/// The number of a block device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct DevId {
    /// Major number; 0 is an anonymous device (tmpfs, overlay, btrfs, NFS).
    pub major: u32,
    /// Minor number.
    pub minor: u32,
}

impl DevId {
    /// As the kernel's events and a record's rows have it (`MKDEV` of `include/linux/kdev_t.h`): `major << 20 | minor`.
    pub const fn number(self) -> u32 {
        self.major << 20 | self.minor
    }
}

impl fmt::Display for DevId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.major, self.minor)
    }
}

/// `n` with three significant digits, never in exponent form: `1.23`, `12.3`, `123`, `1234`.
pub fn three_digits(n: f64) -> String {
    match n.abs() {
        x if x < 9.995 => format!("{n:.2}"),
        x if x < 99.95 => format!("{n:.1}"),
        _ => format!("{n:.0}"),
    }
}

/// A bandwidth in both units that people mean: `121 MiB/s (127 MB/s)`. Input: bytes per second.
pub fn bandwidth(bytes_per_second: f64) -> String {
    format!(
        "{} ({})",
        binary_rate(bytes_per_second),
        decimal_rate(bytes_per_second)
    )
}

/// A bandwidth in powers of 1024: `121 MiB/s`. Input: bytes per second.
pub fn binary_rate(bytes_per_second: f64) -> String {
    scaled(
        bytes_per_second,
        1024.0,
        ["B/s", "KiB/s", "MiB/s", "GiB/s", "TiB/s"],
    )
}

/// A bandwidth in powers of 1000: `127 MB/s`. Input: bytes per second.
pub fn decimal_rate(bytes_per_second: f64) -> String {
    scaled(bytes_per_second, 1000.0, ["B/s", "kB/s", "MB/s", "GB/s", "TB/s"])
}

/// A count or a rate in powers of 1000 with at most a letter: `1122`, `76.5k`, `1.54M`.
pub fn count(n: f64) -> String {
    match n {
        n if n < 9_999.5 && n.fract() == 0.0 => format!("{n:.0}"),
        n if n < 99.95 => three_digits(n),
        n if n < 9_999.5 => format!("{n:.0}"),
        n if n < 999_500.0 => format!("{}k", three_digits(n / 1e3)),
        n if n < 999_500_000.0 => format!("{}M", three_digits(n / 1e6)),
        n => format!("{}G", three_digits(n / 1e9)),
    }
}

fn scaled(n: f64, base: f64, units: [&str; 5]) -> String {
    let mut value = n;
    let mut unit = units[0];
    for next in &units[1..] {
        // Three digits would round up to the next unit.
        if value < base - base / 2000.0 {
            break;
        }
        value /= base;
        unit = next;
    }
    format!("{} {unit}", three_digits(value))
}

#[cfg(test)]
mod tests;

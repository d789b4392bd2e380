//! Units of figures.
//!
//! Data in: a unit's name. Data out: what it is a unit of, and how much one is. KB is 10^3 bytes, KiB 2^10. It must not know figures.

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dimension {
    /// Nanoseconds.
    Time,
    /// Bytes.
    Size,
    /// Bytes a second.
    Bandwidth,
    /// I/Os a second.
    IoRate,
    /// A number of things.
    Count,
    /// A share: 1 is all.
    Share,
    /// A ratio or another plain number.
    Number,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Unit {
    /// As written.
    pub name: &'static str,
    /// What it is a unit of.
    pub dimension: Dimension,
    /// So many of the dimension's base.
    pub factor: f64,
}

const fn unit(name: &'static str, dimension: Dimension, factor: f64) -> Unit {
    Unit {
        name,
        dimension,
        factor,
    }
}

const KIB: f64 = 1024.0;

pub const UNITS: [Unit; 21] = [
    unit("ns", Dimension::Time, 1.0),
    unit("us", Dimension::Time, 1e3),
    unit("ms", Dimension::Time, 1e6),
    unit("s", Dimension::Time, 1e9),
    unit("B", Dimension::Size, 1.0),
    unit("KB", Dimension::Size, 1e3),
    unit("KiB", Dimension::Size, KIB),
    unit("MB", Dimension::Size, 1e6),
    unit("MiB", Dimension::Size, KIB * KIB),
    unit("GB", Dimension::Size, 1e9),
    unit("GiB", Dimension::Size, KIB * KIB * KIB),
    unit("B/s", Dimension::Bandwidth, 1.0),
    unit("KB/s", Dimension::Bandwidth, 1e3),
    unit("KiB/s", Dimension::Bandwidth, KIB),
    unit("MB/s", Dimension::Bandwidth, 1e6),
    unit("MiB/s", Dimension::Bandwidth, KIB * KIB),
    unit("IOPS", Dimension::IoRate, 1.0),
    unit("I/Os", Dimension::Count, 1.0),
    unit("runs", Dimension::Count, 1.0),
    unit("%", Dimension::Share, 0.01),
    unit("x", Dimension::Number, 1.0),
];

impl Unit {
    /// The unit of this name.
    pub fn named(name: &str) -> Option<Self> {
        UNITS.into_iter().find(|unit| unit.name == name)
    }
}

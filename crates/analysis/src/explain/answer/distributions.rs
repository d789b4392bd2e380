//! What averages say, and what I/Os say.

use serde::{Serialize, Serializer, ser::SerializeMap};

/// Latencies above which the share of I/Os is given, in milliseconds.
pub const AVERAGE_ABOVE_MS: [u64; 6] = [6, 10, 15, 20, 25, 50];

/// The percentiles that are given where there are I/Os enough: to nine nines.
pub const SECTION_PERCENTILES: [f64; 14] = [
    5.0,
    25.0,
    50.0,
    75.0,
    90.0,
    95.0,
    99.0,
    99.9,
    99.99,
    99.999,
    99.999_9,
    99.999_99,
    99.999_999,
    99.999_999_9,
];

/// One section's averages against its I/Os.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SectionDistribution {
    /// The section's name; of a record without load, the device's.
    pub name: String,
    /// All of its I/Os.
    pub whole: Distribution,
    /// Each hour with I/Os, where there is more than one.
    pub hours: Vec<HourDistribution>,
    /// What 1-second averages said.
    pub averages: Averages,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HourDistribution {
    /// Hours since the start of the run.
    pub hour: u32,
    /// Its I/Os.
    pub ios: Distribution,
    /// The smallest and the largest 1-second average.
    pub average_ns: (f64, f64),
}

/// A distribution of latencies.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Distribution {
    /// How many I/Os.
    pub n: u64,
    /// Their mean.
    pub mean_ns: f64,
    /// Their standard deviation.
    pub stddev_ns: f64,
    /// The fastest.
    pub min_ns: u64,
    /// The slowest.
    pub max_ns: u64,
    /// Percentile and latency: those that so many I/Os support.
    pub percentiles: Vec<(f64, u64)>,
    /// I/Os above each of [`AVERAGE_ABOVE_MS`].
    pub above: [u64; AVERAGE_ABOVE_MS.len()],
}

impl Serialize for Distribution {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("n", &self.n)?;
        map.serialize_entry("mean_ns", &self.mean_ns)?;
        map.serialize_entry("stddev_ns", &self.stddev_ns)?;
        map.serialize_entry("min_ns", &self.min_ns)?;
        map.serialize_entry("max_ns", &self.max_ns)?;
        for (percentile, value) in &self.percentiles {
            map.serialize_entry(&format!("p{percentile}_ns").replace('.', "_"), value)?;
        }
        for (ms, ios) in AVERAGE_ABOVE_MS.iter().zip(self.above) {
            map.serialize_entry(&format!("above_{ms}_ms"), &ios)?;
        }
        map.end()
    }
}

/// What 1-second averages said.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Averages {
    /// Seconds with I/Os.
    pub seconds: u64,
    /// The smallest average.
    pub min_ns: f64,
    /// Of all averages, that below which 5 % are.
    pub p5_ns: f64,
    /// Of all averages, the middle one.
    pub p50_ns: f64,
    /// Of all averages, that below which 95 % are.
    pub p95_ns: f64,
    /// The largest average.
    pub max_ns: f64,
    /// Seconds whose average hides slow I/Os.
    pub hidden: Vec<HiddenSeconds>,
}

/// Seconds whose average is not above a latency while an I/O of theirs is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct HiddenSeconds {
    /// The latency, in milliseconds.
    pub above_ms: u64,
    /// Seconds with an I/O above it.
    pub with_slow_io: u64,
    /// Of those, seconds whose average is not above it.
    pub hidden: u64,
}

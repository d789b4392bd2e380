//! A histogram as a document has it: its extremes, its sum, and the lowest value and the count of each bucket that counted anything.
//!
//! Data in: a [`Histogram`]. Data out: the same, whoever kept it meanwhile; what none can have had is refused.

use super::Histogram;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Serialize, Deserialize)]
struct Stored {
    min: u64,
    max: u64,
    /// In decimal: no number of JSON is sure to hold it.
    sum: String,
    buckets: Vec<(u64, u64)>,
}

impl Serialize for Histogram {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let stored = Stored {
            min: self.min().unwrap_or_default(),
            max: self.max().unwrap_or_default(),
            sum: self.sum().to_string(),
            buckets: self.occupied().map(|(low, _, count)| (low, count)).collect(),
        };
        stored.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Histogram {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let stored = Stored::deserialize(deserializer)?;
        let sum = stored.sum.parse().map_err(D::Error::custom)?;
        Self::from_parts(stored.min, stored.max, sum, stored.buckets)
            .ok_or_else(|| D::Error::custom("no histogram can have had these extremes, sum and buckets"))
    }
}

//! When a job starts, what is reported of it, and how it was written.

use crate::units::Nanos;
use serde::{Deserialize, Serialize};

/// When a job starts.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Start {
    /// Not before all jobs of earlier sections have ended (`stonewall`).
    pub stonewall: bool,
    /// Not before all workers of the section of this name have ended (`wait_for`).
    pub wait_for: Option<String>,
    /// A delay after that, drawn uniformly between the two for each worker (`startdelay`).
    #[serde(rename = "delay_ns")]
    pub delay: (Nanos, Nanos),
}

/// Which percentiles are reported, of which latency.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Percentiles {
    /// Ascending, each of 0 to 100.
    pub list: Vec<f64>,
    /// Of submission latency.
    pub slat: bool,
    /// Of completion latency.
    pub clat: bool,
    /// Of total latency.
    pub lat: bool,
}

/// The default list: fio's own (HOWTO, `percentile_list`), with three more nines.
pub const DEFAULT_PERCENTILES: [f64; 20] = [
    1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99,
    99.999, 99.9999, 99.99999,
];

impl Default for Percentiles {
    fn default() -> Self {
        Self {
            list: DEFAULT_PERCENTILES.to_vec(),
            slat: false,
            clat: true,
            lat: false,
        }
    }
}

/// The workload as the user wrote it, for the record: sections in order, `global` ones included, with the
/// flags of the command line last, under the name `command line`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Written {
    /// Where it came from: a file name, or `command line`.
    pub source: String,
    pub sections: Vec<WrittenSection>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct WrittenSection {
    pub name: String,
    /// Its options in order: name and value as typed; no value for a bare name.
    pub options: Vec<(String, Option<String>)>,
}

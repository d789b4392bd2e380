//! What a modelled machine tells of a run, beyond the counters of its disks.

use serde::{Deserialize, Serialize};

/// A modelled machine's account.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ModelSummary {
    /// The machine in words: `azure/2xP15,vm=Standard_DS3_v2`.
    pub name: String,
    /// The seed of its random draws.
    pub seed: u64,
    /// The whole specification, as a model file: the run can be repeated with it.
    pub spec_toml: String,
    /// Limits that exist and that no source states: they are not applied.
    pub not_known: Vec<String>,
    /// How long I/Os were held in all by each limit.
    pub held: Vec<Held>,
    /// The burst credits that ran out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub credits: Vec<SpentCredit>,
    /// The most that was dirty in the guest's page cache, or on its way to the disk.
    pub dirty_peak_bytes: u64,
    /// From the end of the last job until all that the caches held was on the disks.
    pub drain_ns: u64,
    /// The most that waited in the host's cache to be written.
    pub host_dirty_peak_bytes: u64,
    /// Reads that the host's cache served.
    pub host_cache_hits: u64,
    /// Reads that it had to fetch.
    pub host_cache_misses: u64,
}

/// What one limit held back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// Which: `disk IOPS`, `disk MB/s`, `VM uncached IOPS`, …
    pub limit: String,
    /// Time that I/Os waited for it, summed over all of them.
    pub held_ns: u64,
}

/// A burst credit that ran out, the first time that it did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SpentCredit {
    /// Whose limit it lifts: `disk IOPS`, `VM uncached MB/s`, …
    pub limit: String,
    /// What the rates count: of a limit on IOPS I/O units, else bytes.
    pub counts: Counted,
    /// From the first I/O until it was spent.
    pub lasted_ns: u64,
    /// What was let through until then, a second.
    pub rate_before: f64,
    /// From the first I/O it held to the last one.
    pub after_ns: u64,
    /// What was let through in that time, a second.
    pub rate_after: f64,
}

/// What a limit counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Counted {
    /// I/Os; a large one counts as several.
    IoUnits,
    Bytes,
}

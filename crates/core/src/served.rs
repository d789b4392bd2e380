//! How disks that are served live stand: what the model decides, what comes of it, how late the server itself is.
//!
//! Plain data, from who serves to who shows it.

use crate::run::Counted;
use serde::Serialize;
use std::borrow::Cow;

/// The version of what is printed.
pub const SCHEMA: &str = "fathom.disk/1";

/// A run whose answers are late by more than this share of the median service time is not valid.
pub const LATE_SHARE_MAX: f64 = 0.1;

/// All disks at one moment.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Status {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// Since the disks are served.
    pub uptime_ns: u64,
    /// Since then.
    pub lateness_ns: Lateness,
    /// What each answer is given earlier, which it takes to arrive.
    pub early_ns: u64,
    /// The limits that all disks share; none where there is one disk.
    pub limits: Vec<LimitStatus>,
    pub disks: Vec<DiskStatus>,
}

/// How late answers were, by the server's own clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Lateness {
    pub n: u64,
    pub p50: u64,
    pub p99: u64,
    pub max: u64,
    /// Whether the 99th percentile is within [`LATE_SHARE_MAX`] of the median service time; `None`: there was no I/O.
    pub valid: Option<bool>,
}

/// How late answers were in a part of the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Interval {
    pub duration_ns: u64,
    pub lateness_ns: Lateness,
}

/// A disk; rates are those of the last second.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DiskStatus {
    pub name: String,
    pub size_bytes: u64,
    pub attached: bool,
    /// Faults that go on, in words.
    pub faults: Vec<String>,
    pub in_flight: u32,
    pub read_iops: f64,
    pub write_iops: f64,
    pub read_bytes_per_second: f64,
    pub written_bytes_per_second: f64,
    pub flushes_per_second: f64,
    /// Mean time of an I/O, flushes among them; `None`: there was none.
    pub lat_ns_mean: Option<f64>,
    /// What of the time of I/Os the limits were to blame for.
    pub throttled_percent: f64,
    /// I/Os that failed since the disk is served.
    pub errors: u64,
    /// What a power cut could take.
    pub unflushed_bytes: u64,
    /// Its own limits, and its machine's where it has that for itself.
    pub limits: Vec<LimitStatus>,
}

/// A limit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LimitStatus {
    /// Which: `disk IOPS`, `VM uncached MB/s`, …; `disk IOPS, in a burst` is what it is while credit lasts. None is there twice.
    pub limit: Cow<'static, str>,
    pub counts: Counted,
    /// Its nominal rate.
    pub rate_per_second: u64,
    /// What it let through in the last second.
    pub used_per_second: f64,
    /// For how long it held I/Os in the last second, summed over all of them.
    pub held_ns: u64,
    /// What it let through since the disks are served.
    pub used_total: u64,
    /// For how long it held I/Os since then, summed over all of them.
    pub held_ns_total: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credit: Option<Credit>,
}

/// A burst credit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Credit {
    /// What is left, in what the limit counts.
    pub left: u64,
    pub full: u64,
    /// When it is spent, at the last second's rate; `None`: not at that rate.
    pub ends_in_s: Option<f64>,
}

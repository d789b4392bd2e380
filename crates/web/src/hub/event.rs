//! What those who look are told: an event an interval, a reading, a disturbance, a point.
//!
//! Latencies are milliseconds, as on the reports' charts.

use super::{About, Credit, Measured, scope};
use fathom_analysis::live::Disturbance;
use fathom_core::backend::Op;
use fathom_core::run::SeriesRow;
use fathom_core::sweep::Coordinates;
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct AboutEvent<'a> {
    title: &'a str,
    target: &'a str,
    version: &'a str,
    jobs: &'a [String],
    modelled: bool,
    served: bool,
    devices: &'a [String],
    sweep_steps: Option<u64>,
    limits: Vec<LimitEvent<'a>>,
}

#[derive(Serialize)]
struct LimitEvent<'a> {
    name: &'a str,
    scope: &'static str,
    iops: Option<f64>,
    bytes: Option<f64>,
}

pub(super) fn about(about: &About) -> AboutEvent<'_> {
    let limits = about.limits.iter().map(|limit| LimitEvent {
        name: &limit.name,
        scope: scope(limit.scope),
        iops: limit.iops,
        bytes: limit.bytes_per_second,
    });
    AboutEvent {
        title: &about.title,
        target: &about.target,
        version: &about.version,
        jobs: &about.jobs,
        modelled: about.measured == Measured::Modelled,
        served: about.measured == Measured::Served,
        devices: &about.devices,
        sweep_steps: about.sweep_steps,
        limits: limits.collect(),
    }
}

/// A bucket and its count.
#[derive(Debug, Serialize)]
pub(super) struct HeatCell(pub u32, pub u64);

/// An interval of the load.
#[derive(Debug, Serialize)]
pub(super) struct IntervalEvent {
    pub second: u32,
    /// Its end, in seconds from the start.
    t: f64,
    ramp: bool,
    pub loads: Vec<LoadEvent>,
    credit: Vec<(String, f64)>,
}

/// A direction of a job in an interval.
#[derive(Debug, Serialize)]
pub(super) struct LoadEvent {
    job: String,
    op: &'static str,
    iops: f64,
    bytes: f64,
    errors: u64,
    backlog: u64,
    p50: Option<f64>,
    p99: Option<f64>,
    p999: Option<f64>,
    max: Option<f64>,
    heat: Vec<HeatCell>,
}

impl IntervalEvent {
    pub(super) fn new(row: &SeriesRow, load: LoadEvent) -> Self {
        Self {
            second: row.second,
            t: f64::from(row.second) + row.duration_ns as f64 / 1e9,
            ramp: row.ramp,
            loads: vec![load],
            credit: Vec::new(),
        }
    }

    pub(super) fn set_credit(&mut self, credit: &[Credit]) {
        let share = |one: &Credit| (one.limit.to_string(), one.left / one.full.max(1.0));
        self.credit = credit.iter().map(share).collect();
    }
}

fn milliseconds(ns: u64) -> f64 {
    ns as f64 / 1e6
}

impl LoadEvent {
    pub(super) fn of(row: &SeriesRow, job: &str, heat: Vec<HeatCell>) -> Self {
        let a_second = |amount: u64| amount as f64 * 1e9 / row.duration_ns.max(1) as f64;
        let any = row.lat.n > 0;
        let at = |percentile| row.lat.percentile(percentile).map(milliseconds).filter(|_| any);
        Self {
            job: job.to_owned(),
            op: row.op.name(),
            iops: a_second(row.ios),
            bytes: a_second(row.bytes),
            errors: row.errors,
            backlog: row.backlog,
            p50: at(50.0),
            p99: at(99.0),
            p999: at(99.9),
            max: any.then(|| milliseconds(row.lat.max)),
            heat,
        }
    }
}

#[derive(Debug, Serialize)]
pub(super) struct DisturbanceEvent {
    second: u32,
    job: String,
    op: &'static str,
    cause: &'static str,
    longest: f64,
    usual: f64,
}

pub(super) fn disturbance(second: u32, job: &str, op: Op, found: &Disturbance) -> DisturbanceEvent {
    DisturbanceEvent {
        second,
        job: job.to_owned(),
        op: op.name(),
        cause: found.cause.in_words(),
        longest: milliseconds(found.lat_ns_max),
        usual: milliseconds(found.lat_ns_usual),
    }
}

/// A point of a sweep that was measured.
#[derive(Debug, Serialize)]
pub(crate) struct PointEvent {
    /// Which target, where a sweep has several.
    pub name: String,
    pub random: bool,
    pub read_percent: u8,
    pub block_size_bytes: u64,
    pub depth: u64,
    pub iops: f64,
    pub bytes: f64,
    pub p99: Option<f64>,
}

impl PointEvent {
    pub(crate) fn new(at: &Coordinates, iops: f64, bytes: f64, p99_ns: Option<u64>) -> Self {
        Self {
            name: at.name(),
            random: at.random,
            read_percent: at.read_percent,
            block_size_bytes: at.block_size_bytes,
            depth: at.total_depth(),
            iops,
            bytes,
            p99: p99_ns.map(milliseconds),
        }
    }
}

/// The end.
#[derive(Debug, Default, Serialize)]
pub(super) struct Ended {}

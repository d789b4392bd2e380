//! What one run contributes to what many did together: small, whole, and the same wherever it is computed.
//!
//! Data in: the record of a run. Data out: [`Part`], which becomes text and back without loss. It must not know the others.

use super::Member;
use crate::latencies;
use fathom_core::backend::Op;
use fathom_core::histogram::Histogram;
use fathom_core::run::{HistogramRow, Latency, SeriesRow, Summary};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One run as it was recorded.
#[derive(Debug, Clone, Copy)]
pub struct Recorded<'a> {
    pub name: &'a str,
    pub node: Option<&'a str>,
    pub summary: &'a Summary,
    pub series: &'a [SeriesRow],
    pub histograms: &'a [HistogramRow],
}

/// What it contributes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Part {
    pub member: Member,
    /// Reads, writes and trims.
    pub ops: Vec<OpPart>,
    /// I/Os a second by the second since its start, of whole counted seconds.
    pub rates: BTreeMap<u32, f64>,
    /// What limited it, in a few words each; empty where that was not looked at.
    pub limited: Vec<String>,
}

/// One direction of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpPart {
    pub op: Op,
    pub ios: u64,
    pub bytes: u64,
    pub iops: f64,
    pub bytes_per_second: f64,
    pub lat_ns: Histogram,
}

/// More I/Os and bytes than a run can have, and few enough for the sums of thousands.
const IOS_MAX: u64 = 1 << 48;
const BYTES_MAX: u64 = 1 << 52;

impl Part {
    /// Whether a run can have contributed it: what was read from outside is not believed.
    pub fn is_possible(&self) -> bool {
        let fits = |one: &OpPart| {
            one.ios < IOS_MAX
                && one.bytes < BYTES_MAX
                && one.lat_ns.n() < IOS_MAX
                && [one.iops, one.bytes_per_second]
                    .iter()
                    .all(|rate| rate.is_finite() && *rate >= 0.0)
        };
        self.ops.iter().all(fits) && self.rates.values().all(|rate| rate.is_finite() && *rate >= 0.0)
    }

    /// Of a run.
    pub fn of(recorded: &Recorded<'_>) -> Self {
        let lat = recorded
            .histograms
            .iter()
            .filter(|row| row.metric == Latency::Lat);
        let all = latencies::histogram(lat.clone());
        let (iops, bytes_per_second) = rates(recorded.summary);
        let of_op = |op: Op| {
            let jobs = recorded.summary.jobs.iter().map(|job| job.op(op));
            let none = OpPart {
                op,
                ios: 0,
                bytes: 0,
                iops: 0.0,
                bytes_per_second: 0.0,
                lat_ns: latencies::histogram(lat.clone().filter(|row| row.op == op)),
            };
            jobs.fold(none, |sum, job| OpPart {
                ios: sum.ios + job.ios,
                bytes: sum.bytes + job.bytes,
                iops: sum.iops + job.iops,
                bytes_per_second: sum.bytes_per_second + job.bytes_per_second,
                ..sum
            })
        };
        let ops = [Op::Read, Op::Write, Op::Trim].map(of_op);
        Self {
            member: Member {
                name: recorded.name.to_owned(),
                node: recorded.node.map(str::to_owned),
                iops,
                bytes_per_second,
                lat_ns_p50: all.percentile(50.0),
                lat_ns_p99: all.percentile(99.0),
            },
            ops: ops.into_iter().filter(|part| part.ios > 0).collect(),
            rates: by_second(recorded.series),
            limited: Vec::new(),
        }
    }
}

/// I/Os and bytes a second of all sections.
fn rates(summary: &Summary) -> (f64, f64) {
    let ops = summary
        .jobs
        .iter()
        .flat_map(|job| [&job.read, &job.write, &job.trim]);
    ops.fold((0.0, 0.0), |(iops, bytes), op| {
        (iops + op.iops, bytes + op.bytes_per_second)
    })
}

/// I/Os a second by the second, of seconds that were whole and counted.
fn by_second(series: &[SeriesRow]) -> BTreeMap<u32, f64> {
    /// How long the second was, by section and direction.
    type Lengths = BTreeMap<(u32, usize), u64>;
    let mut seconds: BTreeMap<u32, (u64, Lengths)> = BTreeMap::new();
    for row in series.iter().filter(|row| !row.ramp && row.op != Op::Sync) {
        let (ios, lengths) = seconds.entry(row.second).or_default();
        *ios += row.ios;
        *lengths.entry((row.job, row.op.index())).or_default() += row.duration_ns;
    }
    let whole = seconds.into_iter().filter_map(|(second, (ios, lengths))| {
        let length = lengths.into_values().max()?;
        (length >= 900_000_000).then(|| (second, ios as f64 * 1e9 / length as f64))
    });
    whole.collect()
}

//! What a comparison needs of one run: the figures of each load and direction, its seconds and its latencies.
//!
//! Data in: a [`Run`], the rows of its series and of its histograms. Data out: [`Measured`]; of the repeats of two sides the figures
//! that both have. It must not know where runs are kept.

use super::figure::{Figure, Observed, Quantity, Tail, Value, Within};
use super::order::Order;
use super::{percentile, series};
use crate::latencies::histogram;
use crate::warnings::is_supported;
use fathom_core::backend::Op;
use fathom_core::histogram::Histogram;
use fathom_core::run::{HistogramRow, JobSummary, Latency, LatencySummary, OpSummary, Run, SeriesRow};
use fathom_core::sweep::{DirectionFigures, PointFigures};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A second of the series that is shorter is the job's last one, cut off.
const WHOLE_SECOND_NS: u64 = 999_000_000;

/// One repeat.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Where it is from.
    pub name: String,
    /// When it was begun, in nanoseconds since the Unix epoch; `None` where that says nothing, as of a modelled machine.
    pub started_unix_ns: Option<u64>,
    /// What ran in it, in order.
    pub loads: Vec<LoadMeasured>,
}

/// One job section, or all sections of a group that is reported together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadMeasured {
    pub name: String,
    /// Directions that did anything.
    pub directions: Vec<DirectionMeasured>,
}

/// One direction of a load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DirectionMeasured {
    pub op: Op,
    /// Its figures; a percentile that too few I/Os decide is not among them.
    pub figures: Vec<(Quantity, Value)>,
    /// Its latencies: response times where it has a schedule.
    pub histogram: Histogram,
    /// Its whole counted seconds, in order.
    pub seconds: Vec<SecondMeasured>,
}

/// One second of a direction.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SecondMeasured {
    /// Since the start.
    pub second: u32,
    /// I/Os in it, a second.
    pub iops: f64,
    pub bytes_per_second: f64,
    /// The mean latency of its I/Os, in nanoseconds; 0 where there were none.
    pub latency_ns_mean: f64,
    /// Their 99th percentile (of several jobs the worst one's), in nanoseconds.
    pub latency_ns_p99: u64,
}

impl Measured {
    /// From the record of a run.
    pub fn of_run(name: String, run: &Run, series: &[SeriesRow], histograms: &[HistogramRow]) -> Self {
        let loads = loads(run);
        Self {
            name,
            started_unix_ns: (!run.summary.target.modelled).then_some(run.started_unix_ns.0),
            loads: loads
                .into_iter()
                .map(|load| load.measured(series, histograms))
                .collect(),
        }
    }
}

impl Measured {
    /// From one measurement of a sweep's point, which keeps neither seconds nor buckets of each direction.
    pub fn of_point(name: String, started_unix_ns: Option<u64>, figures: &PointFigures) -> Self {
        let direction = |op: Op, of: &DirectionFigures| {
            let lat = &of.lat_ns;
            let percentile = |tail: Tail| {
                let ns = lat.percentile(tail.percentile())?;
                let known = is_supported(lat.n, tail.percentile());
                known.then_some((Quantity::Latency(tail), ns as f64))
            };
            let rates = [
                (Quantity::Iops, of.iops),
                (Quantity::BytesPerSecond, of.bytes_per_second),
            ];
            let mean = (lat.n > 0).then_some((Quantity::LatencyMean, lat.mean));
            let all = rates.into_iter().chain(mean);
            let all = all.chain(Tail::ALL.into_iter().filter_map(percentile));
            (of.ios > 0).then(|| DirectionMeasured {
                op,
                figures: all
                    .map(|(quantity, value)| (quantity, Value::plain(value)))
                    .collect(),
                histogram: Histogram::new(),
                seconds: Vec::new(),
            })
        };
        let directions = [
            direction(Op::Read, &figures.read),
            direction(Op::Write, &figures.write),
        ];
        Self {
            name: name.clone(),
            started_unix_ns,
            loads: vec![LoadMeasured {
                name,
                directions: directions.into_iter().flatten().collect(),
            }],
        }
    }
}

/// A load of a run with the numbers of its jobs.
struct LoadOfRun<'a> {
    summary: &'a JobSummary,
    jobs: Vec<u32>,
}

fn loads(run: &Run) -> Vec<LoadOfRun<'_>> {
    let mut loads: Vec<LoadOfRun<'_>> = Vec::new();
    for (index, summary) in run.summary.jobs.iter().enumerate() {
        let grouped = run.workload.jobs.get(index).filter(|job| job.group_reporting);
        let group = grouped.and_then(|job| run.summary.groups.iter().find(|group| group.group == job.group));
        let of_group = |group: u32| {
            let all = (0_u32..).zip(&run.workload.jobs);
            all.filter(|(_, job)| job.group == group)
                .map(|(index, _)| index)
                .collect()
        };
        let load = match group {
            None => LoadOfRun {
                summary,
                jobs: vec![index as u32],
            },
            Some(summary) => LoadOfRun {
                summary,
                jobs: of_group(summary.group),
            },
        };
        if !loads
            .iter()
            .any(|known| std::ptr::eq(known.summary, load.summary))
        {
            loads.push(load);
        }
    }
    loads
}

impl LoadOfRun<'_> {
    fn measured(&self, series: &[SeriesRow], histograms: &[HistogramRow]) -> LoadMeasured {
        let directions = Op::DATA.into_iter().filter_map(|op| {
            let summary = self.summary.op(op);
            (summary.ios > 0).then(|| self.direction(op, summary, series, histograms))
        });
        LoadMeasured {
            name: self.summary.name.clone(),
            directions: directions.collect(),
        }
    }

    fn direction(
        &self,
        op: Op,
        summary: &OpSummary,
        series: &[SeriesRow],
        histograms: &[HistogramRow],
    ) -> DirectionMeasured {
        let metric = if is_scheduled(summary) {
            Latency::Response
        } else {
            Latency::Lat
        };
        let mine = |row: &&HistogramRow| {
            row.metric == metric && row.op.index() == op.index() && self.jobs.contains(&row.job)
        };
        let rows: Vec<&SeriesRow> = series
            .iter()
            .filter(|row| !row.ramp && row.op.index() == op.index() && self.jobs.contains(&row.job))
            .collect();
        direction_of(op, summary, &rows, histogram(histograms.iter().filter(mine)))
    }
}

/// Whether what a stalled disk kept from being sent counts: the load has a schedule.
fn is_scheduled(summary: &OpSummary) -> bool {
    summary.response_ns.n > 0
}

/// A direction from its summary, its counted rows and its latencies.
pub(super) fn direction_of(
    op: Op,
    summary: &OpSummary,
    rows: &[&SeriesRow],
    histogram: Histogram,
) -> DirectionMeasured {
    let scheduled = is_scheduled(summary);
    let latency = if scheduled {
        &summary.response_ns
    } else {
        &summary.lat_ns
    };
    let of_row = |row: &SeriesRow| -> LatencySummary {
        if scheduled {
            row.response.clone()
        } else {
            row.lat.clone()
        }
    };
    let latencies: Vec<(u32, LatencySummary)> = rows.iter().map(|row| (row.second, of_row(row))).collect();
    let seconds = seconds(rows, scheduled);
    let figures = figures(summary, latency, &histogram, &seconds, &latencies);
    DirectionMeasured {
        op,
        figures,
        histogram,
        seconds,
    }
}

/// All jobs of a load together, second by second; those that are cut off are left out.
fn seconds(rows: &[&SeriesRow], scheduled: bool) -> Vec<SecondMeasured> {
    #[derive(Default)]
    struct Sum {
        ios: u64,
        bytes: u64,
        latencies: u64,
        latency_ns: f64,
        p99: u64,
        /// How long each job's rows of it are.
        lengths: BTreeMap<u32, u64>,
    }
    let mut sums: BTreeMap<u32, Sum> = BTreeMap::new();
    for row in rows {
        let sum = sums.entry(row.second).or_default();
        let latency = if scheduled { &row.response } else { &row.lat };
        sum.ios += row.ios;
        sum.bytes += row.bytes;
        sum.latencies += latency.n;
        sum.latency_ns += latency.mean * latency.n as f64;
        sum.p99 = sum.p99.max(latency.percentile(99.0).unwrap_or(latency.max));
        *sum.lengths.entry(row.job).or_default() += row.duration_ns;
    }
    let whole = sums.into_iter().filter_map(|(second, sum)| {
        let length_ns = sum.lengths.values().copied().max().unwrap_or(0);
        (length_ns >= WHOLE_SECOND_NS).then(|| SecondMeasured {
            second,
            iops: sum.ios as f64 * 1e9 / length_ns as f64,
            bytes_per_second: sum.bytes as f64 * 1e9 / length_ns as f64,
            latency_ns_mean: sum.latency_ns / sum.latencies.max(1) as f64,
            latency_ns_p99: sum.p99,
        })
    });
    whole.collect()
}

/// The figures of a direction, each with what its own seconds say of it.
fn figures(
    summary: &OpSummary,
    latency: &LatencySummary,
    histogram: &Histogram,
    seconds: &[SecondMeasured],
    latencies: &[(u32, LatencySummary)],
) -> Vec<(Quantity, Value)> {
    let by_second = |of: fn(&SecondMeasured) -> f64| -> Option<Within> {
        let values: Vec<f64> = seconds.iter().map(of).collect();
        let known = series::known(&values)?;
        Some(Within {
            low: known.mean - known.half,
            high: Some(known.mean + known.half),
            is_long_enough: known.is_long_enough,
        })
    };
    let mut figures = vec![
        (
            Quantity::Iops,
            Value {
                value: summary.iops,
                within: by_second(|second| second.iops),
            },
        ),
        (
            Quantity::BytesPerSecond,
            Value {
                value: summary.bytes_per_second,
                within: by_second(|second| second.bytes_per_second),
            },
        ),
    ];
    if latency.n == 0 {
        return figures;
    }
    figures.push((
        Quantity::LatencyMean,
        Value {
            value: latency.mean,
            within: by_second(|second| second.latency_ns_mean),
        },
    ));
    let rows: Vec<(u32, &LatencySummary)> = latencies.iter().map(|(at, latency)| (*at, latency)).collect();
    for tail in Tail::ALL {
        let percentile = tail.percentile();
        if !is_supported(latency.n, percentile) {
            continue;
        }
        let from_buckets = || (histogram.n() > 0).then(|| histogram.percentile(percentile));
        let Some(ns) = latency.percentile(percentile).or_else(from_buckets) else {
            continue;
        };
        let bounds = percentile::bounds(percentile, histogram, &rows);
        let within = bounds.map(|bounds| Within {
            low: bounds.low_ns as f64,
            high: bounds.high_ns.map(|ns| ns as f64),
            is_long_enough: true,
        });
        let value = ns as f64;
        figures.push((Quantity::Latency(tail), Value { value, within }));
    }
    figures
}

/// The figures that all repeats of both sides have of the loads at the same place, in their order.
pub fn observe(sides: [&[Measured]; 2]) -> Vec<Observed> {
    let starts =
        sides.map(|side| -> Vec<Option<u64>> { side.iter().map(|one| one.started_unix_ns).collect() });
    let modelled = starts.iter().flatten().all(Option::is_none);
    let order = if modelled {
        Order::Apart
    } else {
        Order::of(&starts[0], &starts[1])
    };
    let Some(first) = sides[0].first() else {
        return Vec::new();
    };
    let mut observed = Vec::new();
    let many = first.loads.len() > 1;
    for (place, load) in first.loads.iter().enumerate() {
        for direction in &load.directions {
            for quantity in Quantity::ALL {
                let value = |one: &Measured| {
                    let load = one.loads.get(place)?;
                    let mut directions = load.directions.iter();
                    let same = directions.find(|other| other.op.index() == direction.op.index())?;
                    let found = same.figures.iter().find(|(other, _)| *other == quantity)?;
                    Some(found.1)
                };
                let all = sides.map(|side| side.iter().map(value).collect::<Option<Vec<Value>>>());
                if let [Some(a), Some(b)] = all {
                    observed.push(Observed {
                        figure: Figure {
                            load: if many { load.name.clone() } else { String::new() },
                            op: Some(direction.op),
                            quantity,
                        },
                        sides: [a, b],
                        order: order.clone(),
                    });
                }
            }
        }
    }
    observed
}

#[cfg(test)]
mod tests;

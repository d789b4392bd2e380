//! The same load on many machines at one moment: what they do together, who falls behind, whose limit it is.
//!
//! Data in: a run after the other ([`Reduction::add`]). Data out: [`Fleet`]. Of a run its rates by the second and its buckets of
//! latencies are kept, so that a thousand of them take as much memory as their seconds do.

use crate::compare::groups::{deviation, mean, squares};
use crate::latencies;
use fathom_core::backend::Op;
use fathom_core::histogram::Histogram;
use fathom_core::run::{HistogramRow, Latency, LatencySummary, SeriesRow, Summary};
use serde::Serialize;
use std::collections::BTreeMap;

/// Percentiles that are told.
const PERCENTILES: [f64; 4] = [50.0, 95.0, 99.0, 99.9];
/// Fewer seconds that all have do not tell whose limit it is.
const SECONDS_MIN: usize = 10;
/// From this coefficient of variation of a member's rate on it moves; below, it is steady.
const MOVES: f64 = 0.03;
/// Members that are independent of each other have a sum whose variance is that of all of them together; a limit that they share
/// keeps the sum still while they move against each other. From this ratio down it is taken for one.
const SHARED: f64 = 0.25;
/// Below this share of what one has alone, members hold each other back.
const HELD_BACK: f64 = 0.9;
/// Below this share of the rate in the middle, or beyond so many times the p99 in the middle, a member falls behind.
const SLOW: f64 = 0.8;
const LATE: f64 = 2.0;

/// What all members did.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fleet {
    pub members: Vec<Member>,
    /// Reads and writes, where there were any.
    pub total: Vec<Total>,
    pub limit: Limit,
    /// Members that fall behind, by place in [`Self::members`].
    pub stragglers: Vec<usize>,
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Member {
    pub name: String,
    pub node: Option<String>,
    /// Reads, writes and trims a second.
    pub iops: f64,
    pub bytes_per_second: f64,
    /// All I/Os, whatever their direction.
    pub lat_ns_p50: u64,
    pub lat_ns_p99: u64,
}

/// All members together, in one direction.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Total {
    /// As [`Op::name`] has it.
    pub op: &'static str,
    pub ios: u64,
    pub bytes: u64,
    /// The sum of the members' rates, each over its own time.
    pub iops: f64,
    pub bytes_per_second: f64,
    /// Of all I/Os of all members: bucket by bucket the sum.
    pub lat_ns: LatencySummary,
}

/// Whose limit it is that holds them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "limit")]
pub enum Limit {
    /// One that all share: together they get this.
    Shared { iops: f64, shown_by: Shown },
    /// Each its own, or none: what one has alone, each has beside the others.
    Own { iops_alone: f64 },
    /// Each as it likes: they move, and not against each other.
    Independent,
    /// Each is steady, which a limit of each and one that is divided evenly both look like: only one alone would tell.
    Steady,
    /// Too few seconds that all have.
    TooShort { seconds: usize },
}

/// What shows a limit that is shared.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "by")]
pub enum Shown {
    /// One alone had more than each has among all.
    Alone { iops_alone: f64 },
    /// The sum varies so much less than the members do.
    Movement { ratio: f64 },
}

/// One of the fleet as it was recorded.
#[derive(Debug, Clone, Copy)]
pub struct Recorded<'a> {
    pub name: &'a str,
    pub node: Option<&'a str>,
    pub summary: &'a Summary,
    pub series: &'a [SeriesRow],
    pub histograms: &'a [HistogramRow],
}

/// Members put together one by one.
#[derive(Debug, Default)]
pub struct Reduction {
    members: Vec<Member>,
    /// I/Os a second of each member by the second.
    rates: Vec<BTreeMap<u32, f64>>,
    totals: BTreeMap<usize, (Total, Histogram)>,
    iops_alone: Option<f64>,
}

impl Reduction {
    /// What one of them does alone.
    pub fn alone(&mut self, recorded: &Recorded<'_>) {
        self.iops_alone = Some(rates(recorded.summary).0);
    }

    /// One more member.
    pub fn add(&mut self, recorded: &Recorded<'_>) {
        let lat = recorded
            .histograms
            .iter()
            .filter(|row| row.metric == Latency::Lat);
        let all = latencies::histogram(lat.clone());
        let (iops, bytes_per_second) = rates(recorded.summary);
        self.members.push(Member {
            name: recorded.name.to_owned(),
            node: recorded.node.map(str::to_owned),
            iops,
            bytes_per_second,
            lat_ns_p50: all.percentile(50.0),
            lat_ns_p99: all.percentile(99.0),
        });
        self.rates.push(by_second(recorded.series));
        for op in [Op::Read, Op::Write, Op::Trim] {
            let of_op = lat.clone().filter(|row| row.op == op);
            let jobs = recorded.summary.jobs.iter().map(|job| job.op(op));
            let (total, histogram) = self.totals.entry(op.index()).or_insert_with(|| {
                let none = Total {
                    op: op.name(),
                    ios: 0,
                    bytes: 0,
                    iops: 0.0,
                    bytes_per_second: 0.0,
                    lat_ns: LatencySummary::default(),
                };
                (none, Histogram::new())
            });
            for job in jobs {
                total.ios += job.ios;
                total.bytes += job.bytes;
                total.iops += job.iops;
                total.bytes_per_second += job.bytes_per_second;
            }
            histogram.merge(&latencies::histogram(of_op));
        }
    }

    /// What they did together.
    pub fn finish(self) -> Fleet {
        let limit = self.limit();
        let stragglers = stragglers(&self.members);
        let totals = self.totals.into_values().filter(|(total, _)| total.ios > 0);
        let total = totals.map(|(total, histogram)| Total {
            lat_ns: histogram.summary(&PERCENTILES),
            ..total
        });
        Fleet {
            total: total.collect(),
            members: self.members,
            limit,
            stragglers,
        }
    }

    fn limit(&self) -> Limit {
        let together: f64 = self.members.iter().map(|member| member.iops).sum();
        let each = together / self.members.len().max(1) as f64;
        if let Some(iops_alone) = self.iops_alone {
            return if each < HELD_BACK * iops_alone {
                Limit::Shared {
                    iops: together,
                    shown_by: Shown::Alone { iops_alone },
                }
            } else {
                Limit::Own { iops_alone }
            };
        }
        let common = self.common();
        let seconds = common.first().map_or(0, Vec::len);
        if seconds < SECONDS_MIN || common.len() < 2 {
            return Limit::TooShort { seconds };
        }
        let sum: Vec<f64> = (0..seconds)
            .map(|second| common.iter().map(|rates| rates[second]).sum())
            .collect();
        let moves = common
            .iter()
            .filter_map(|rates| Some(deviation(rates)? / mean(rates)));
        let moves = moves.sum::<f64>() / common.len() as f64;
        // Of as many seconds each: sums of squares are to each other as variances are.
        let ratio = squares(&sum) / common.iter().map(|rates| squares(rates)).sum::<f64>();
        if moves < MOVES {
            Limit::Steady
        } else if ratio <= SHARED {
            Limit::Shared {
                iops: mean(&sum),
                shown_by: Shown::Movement { ratio },
            }
        } else {
            Limit::Independent
        }
    }

    /// The rates of each in the seconds that all have.
    fn common(&self) -> Vec<Vec<f64>> {
        let Some(first) = self.rates.first() else {
            return Vec::new();
        };
        let seconds = first
            .keys()
            .filter(|second| self.rates.iter().all(|rates| rates.contains_key(second)));
        let seconds: Vec<u32> = seconds.copied().collect();
        let of = |rates: &BTreeMap<u32, f64>| seconds.iter().map(|second| rates[second]).collect();
        self.rates.iter().map(of).collect()
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

fn stragglers(members: &[Member]) -> Vec<usize> {
    let middle = |of: fn(&Member) -> f64| {
        let mut values: Vec<f64> = members.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied().unwrap_or_default()
    };
    let (iops, p99) = (middle(|one| one.iops), middle(|one| one.lat_ns_p99 as f64));
    let behind = |one: &Member| one.iops < SLOW * iops || one.lat_ns_p99 as f64 > LATE * p99;
    let numbered = members.iter().enumerate();
    numbered
        .filter(|(_, one)| behind(one))
        .map(|(number, _)| number)
        .collect()
}

#[cfg(test)]
mod tests;

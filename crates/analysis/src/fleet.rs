//! The same load on many machines at one moment: what they do together, who falls behind, whose limit it is.
//!
//! Data in: a run after the other ([`Reduction::add`]), or what each contributes ([`Part`]), computed where it ran. Data out:
//! [`Fleet`]. Of a run its rates by the second and its buckets of latencies are kept, so that a thousand of them take as much
//! memory as their seconds do.

mod part;

pub use part::{OpPart, Part, Recorded};

use crate::compare::groups::{deviation, mean, squares};
use fathom_core::backend::Op;
use fathom_core::histogram::Histogram;
use fathom_core::run::LatencySummary;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

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
    /// What limited each by itself, where that was looked at; what limited most of them first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub limited: Vec<Limited>,
}

/// Members with one limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Limited {
    /// In a few words.
    pub by: String,
    /// By place in [`Fleet::members`].
    pub members: Vec<usize>,
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
    /// They did not run at one moment.
    Apart,
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

/// Members put together one by one.
#[derive(Debug, Default)]
pub struct Reduction {
    members: Vec<Member>,
    /// I/Os a second of each member by the second.
    rates: Vec<BTreeMap<u32, f64>>,
    totals: BTreeMap<usize, (Total, Histogram)>,
    limited: BTreeMap<String, Vec<usize>>,
    iops_alone: Option<f64>,
    apart: bool,
}

impl Reduction {
    /// What one of them does alone, in I/Os a second.
    pub fn alone(&mut self, iops: f64) {
        self.iops_alone = Some(iops);
    }

    /// One more member as it was recorded.
    pub fn add(&mut self, recorded: &Recorded<'_>) {
        self.take(Part::of(recorded));
    }

    /// One more member by what it contributes.
    pub fn take(&mut self, part: Part) {
        let place = self.members.len();
        self.members.push(part.member);
        self.rates.push(part.rates);
        for by in part.limited {
            self.limited.entry(by).or_default().push(place);
        }
        for one in part.ops {
            let (total, histogram) = self.totals.entry(one.op.index()).or_insert_with(|| none(one.op));
            total.ios += one.ios;
            total.bytes += one.bytes;
            total.iops += one.iops;
            total.bytes_per_second += one.bytes_per_second;
            histogram.merge(&one.lat_ns);
        }
    }

    /// The members of `other` as well, which did the same at another moment: whose limit it was cannot be told of them together.
    pub fn merge(&mut self, other: Self) {
        self.apart = true;
        let before = self.members.len();
        self.members.extend(other.members);
        self.rates.extend(other.rates);
        for (by, places) in other.limited {
            let places = places.into_iter().map(|place| before + place);
            self.limited.entry(by).or_default().extend(places);
        }
        for (op, (more, histogram)) in other.totals {
            match self.totals.entry(op) {
                Entry::Vacant(entry) => {
                    entry.insert((more, histogram));
                }
                Entry::Occupied(mut entry) => {
                    let (total, all) = entry.get_mut();
                    total.ios += more.ios;
                    total.bytes += more.bytes;
                    total.iops += more.iops;
                    total.bytes_per_second += more.bytes_per_second;
                    all.merge(&histogram);
                }
            }
        }
    }

    /// How many they are.
    pub fn members(&self) -> usize {
        self.members.len()
    }

    /// What they did together.
    pub fn finish(self) -> Fleet {
        let limit = self.limit();
        let stragglers = stragglers(&self.members);
        let mut limited: Vec<Limited> = self
            .limited
            .into_iter()
            .map(|(by, members)| Limited { by, members })
            .collect();
        limited.sort_by_key(|one| std::cmp::Reverse(one.members.len()));
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
            limited,
        }
    }

    fn limit(&self) -> Limit {
        if self.apart || self.members.len() < 2 {
            return Limit::Apart;
        }
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

/// Nothing yet, in a direction.
fn none(op: Op) -> (Total, Histogram) {
    let total = Total {
        op: op.name(),
        ios: 0,
        bytes: 0,
        iops: 0.0,
        bytes_per_second: 0.0,
        lat_ns: LatencySummary::default(),
    };
    (total, Histogram::new())
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

//! What is possible for a point that was not measured.
//!
//! Data in: the plan, measured points. Data out: [`Bounds`] on its IOPS, each with where it is from, and what follows once
//! they are close. It must not choose what to measure.

use super::law::{self, Laws, Source};
use super::rules::{Order, Rules};
use super::{CLOSE, CLOSE_BY_LAW, CLOSE_INTERPOLATED};
use crate::sweep::conclude::limits::{Saturated, in_scope, limits, value};
use crate::sweep::findings::{Limit, Quantity, Scope, Verdict};
use crate::sweep::seen::{AGREE, Seen};
use fathom_core::sweep::{Coordinates, Inferred, SweepPlan};
use fathom_core::units::{Bytes, binary_rate, count};
use std::collections::BTreeMap;

/// A limit bounds others when so many measured points agree on it.
const LIMIT_POINTS_MIN: usize = 3;
/// Equal orders are equal within this.
const EQUAL_SLACK: f64 = 0.02;
/// From this share of a limit on a point is held by it, some of the time at least.
const HELD: f64 = 0.95;

/// Lower and upper bound of a point's IOPS.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Bounds {
    low: f64,
    high: f64,
    low_from: From,
    high_from: From,
}

/// Where a bound is from.
#[derive(Debug, Clone, PartialEq)]
enum From {
    Nothing,
    Point(u32),
    /// Mixes on both sides.
    Mixes(u32, u32),
    /// A limit, by its place among them.
    Limit(usize),
}

impl Bounds {
    fn none() -> Self {
        Self {
            low: 0.0,
            high: f64::INFINITY,
            low_from: From::Nothing,
            high_from: From::Nothing,
        }
    }
    fn raise(&mut self, low: f64, from: From) {
        if low > self.low {
            (self.low, self.low_from) = (low, from);
        }
    }
    fn lower(&mut self, high: f64, from: From) {
        if high < self.high {
            (self.high, self.high_from) = (high, from);
        }
    }
    /// Upper over lower.
    fn ratio(&self) -> f64 {
        self.high / self.low
    }
    /// The middle of what is possible.
    pub(super) fn estimate(&self) -> f64 {
        match (self.low, self.high) {
            (low, high) if low > 0.0 && high.is_finite() => (low * high).sqrt(),
            (low, _) if low > 0.0 => low,
            (_, high) if high.is_finite() => high,
            _ => 0.0,
        }
    }
}

/// All that is known of a sweep.
#[derive(Debug, Clone)]
pub(super) struct Known<'a> {
    plan: &'a SweepPlan,
    sources: Vec<Source>,
    limits: Vec<Limit>,
    rules: BTreeMap<(bool, u32), Rules>,
    orders: BTreeMap<u32, Order>,
    laws: BTreeMap<(bool, u32), Laws>,
}

impl<'a> Known<'a> {
    /// What the measured points say.
    pub(super) fn new(plan: &'a SweepPlan, seen: &[Seen<'_>]) -> Self {
        let mut rules = BTreeMap::new();
        let mut orders = BTreeMap::new();
        for at in seen.iter().map(|point| point.at) {
            rules.entry((at.random, at.threads)).or_insert_with(|| {
                let same = |point: &&Seen<'_>| (point.at.random, point.at.threads) == (at.random, at.threads);
                Rules::of(&seen.iter().filter(same).collect::<Vec<_>>())
            });
            orders.entry(at.threads).or_insert_with(|| {
                let random = seen.iter().filter(|p| p.at.random && p.at.threads == at.threads);
                let with_sequential = |random: &'_ Seen<'_>| {
                    let at = Coordinates {
                        random: false,
                        ..random.at
                    };
                    seen.iter().position(|point| point.at == at)
                };
                let pairs = random.filter_map(|random| Some((random, &seen[with_sequential(random)?])));
                Order::of(&pairs.collect::<Vec<_>>())
            });
        }
        let source = |point: &Seen<'_>| Source {
            number: point.number,
            at: point.at,
            iops: point.iops,
        };
        let sources: Vec<Source> = seen.iter().map(source).collect();
        let laws = rules.keys().map(|&(random, threads)| {
            let same = |source: &&Source| (source.at.random, source.at.threads) == (random, threads);
            let own: Vec<Source> = sources.iter().filter(same).copied().collect();
            ((random, threads), Laws::of(&own))
        });
        Self {
            plan,
            laws: laws.collect(),
            sources,
            limits: usable_limits(seen),
            rules,
            orders,
        }
    }

    /// The same, had a point been measured with this outcome.
    pub(super) fn with(&self, point: u32, iops: f64) -> Self {
        let mut then = self.clone();
        then.sources.push(Source {
            number: point,
            at: self.at(point),
            iops,
        });
        then
    }

    fn at(&self, point: u32) -> Coordinates {
        self.plan.points[point as usize]
    }

    pub(super) fn bounds(&self, point: u32) -> Bounds {
        let at = self.at(point);
        let mut bounds = self.without_mixes(at);
        if self
            .rules
            .get(&(at.random, at.threads))
            .is_some_and(|rules| rules.mix_between)
        {
            self.add_mixes(at, &mut bounds);
        }
        bounds
    }

    /// From measured points of the same mix, and limits.
    fn without_mixes(&self, at: Coordinates) -> Bounds {
        let mut bounds = Bounds::none();
        for source in &self.sources {
            self.add_source(at, source, &mut bounds);
        }
        for (place, limit) in self.limits.iter().enumerate() {
            if let Some(most) = most_by(limit, at) {
                bounds.lower(most, From::Limit(place));
            }
        }
        // A measured point slightly above a limit.
        if bounds.low > bounds.high && bounds.low <= bounds.high * (1.0 + 2.0 * AGREE) {
            bounds.high = bounds.low;
        }
        bounds
    }

    fn add_source(&self, at: Coordinates, source: &Source, bounds: &mut Bounds) {
        let from = source.at;
        if (from.read_percent, from.threads) != (at.read_percent, at.threads) {
            return;
        }
        let Some(rules) = self.rules.get(&(from.random, from.threads)) else {
            return;
        };
        let order = self.orders.get(&at.threads).copied().unwrap_or(Order::Unrelated);
        let (raises, lowers, slack) = match order {
            _ if from.random == at.random => (true, true, 0.0),
            Order::Equal => (true, true, EQUAL_SLACK),
            Order::RandomNoFaster => (from.random, at.random, 0.0),
            Order::Unrelated => return,
        };
        let deeper = at.total_depth() as f64 / from.total_depth() as f64;
        let larger = at.block_size_bytes as f64 / from.block_size_bytes as f64;
        if raises && let Some(factor) = least_factor(*rules, deeper, larger) {
            bounds.raise(source.iops * factor * (1.0 - slack), From::Point(source.number));
        }
        if lowers && let Some(factor) = most_factor(*rules, deeper, larger) {
            bounds.lower(source.iops * factor * (1.0 + slack), From::Point(source.number));
        }
    }

    /// A mix lies between any two on both sides of it.
    fn add_mixes(&self, at: Coordinates, bounds: &mut Bounds) {
        let mixes = &self.plan.axes.read_percent;
        let beside: Vec<(u8, Bounds)> = mixes
            .iter()
            .filter(|mix| **mix != at.read_percent)
            .map(|&read_percent| {
                (
                    read_percent,
                    self.without_mixes(Coordinates { read_percent, ..at }),
                )
            })
            .collect();
        for (below, one) in beside.iter().filter(|(mix, _)| *mix < at.read_percent) {
            for (above, other) in beside.iter().filter(|(mix, _)| *mix > at.read_percent) {
                debug_assert!(below < above, "mixes on both sides");
                if let (Some(first), Some(second)) = (one.low_from.point(), other.low_from.point()) {
                    bounds.raise(one.low.min(other.low), From::Mixes(first, second));
                }
                if let (Some(first), Some(second)) = (one.high_from.point(), other.high_from.point()) {
                    bounds.lower(one.high.max(other.high), From::Mixes(first, second));
                }
            }
        }
    }

    /// Whether the bounds of a point are close enough.
    pub(super) fn settles(&self, point: u32, bounds: &Bounds) -> bool {
        let ratio = bounds.ratio();
        ratio >= 1.0 - 2.0 * AGREE
            && (ratio <= CLOSE || ratio <= CLOSE_BY_LAW && self.by_law(point, ratio).is_some())
    }

    /// IOPS from neighbours on both sides, where bounds so far apart may be interpolated between.
    fn by_law(&self, point: u32, ratio: f64) -> Option<f64> {
        let at = self.at(point);
        let (found, kept) = law::interpolated(&self.sources, at)?;
        let laws = self
            .laws
            .get(&(at.random, at.threads))
            .copied()
            .unwrap_or_default();
        let free = || {
            let beside = law::neighbours(&self.sources, at, kept);
            beside.is_some_and(|(one, other)| !self.is_held(&one) && !self.is_held(&other))
        };
        let proved = laws.holds(kept) && self.is_shallowest(at) && free();
        (ratio <= CLOSE_INTERPOLATED || proved).then_some(found)
    }

    /// Whether no point has less depth: a limit that holds a point there holds deeper ones all the more, and so is known.
    /// Deeper points may be held by a limit that nothing has shown yet.
    fn is_shallowest(&self, at: Coordinates) -> bool {
        self.plan.axes.iodepth.iter().all(|depth| *depth >= at.iodepth)
    }

    /// Whether a limit holds a known point, so that its latency is not that of service alone.
    fn is_held(&self, source: &Source) -> bool {
        let mut limits = self.limits.iter().filter_map(|limit| most_by(limit, source.at));
        limits.any(|most| source.iops >= HELD * most)
    }

    /// What to expect of a point: only ever used to choose what to measure.
    pub(super) fn guess(&self, point: u32, bounds: &Bounds) -> f64 {
        let at = self.at(point);
        let guess = law::expected(&self.sources, at).unwrap_or_else(|| bounds.estimate());
        // Bounds that contradict each other bound nothing.
        if bounds.low <= bounds.high {
            guess.clamp(bounds.low, bounds.high)
        } else {
            guess
        }
    }

    /// What follows for a settled point.
    pub(super) fn infer(&self, point: u32, bounds: &Bounds) -> Inferred {
        let at = self.at(point);
        let (low, high) = (bounds.low.min(bounds.high), bounds.high.max(bounds.low));
        let iops = if matches!(bounds.high_from, From::Limit(_)) && bounds.ratio() <= 1.0 + 2.0 * AGREE {
            // As fast as the limit, as far as anyone can tell.
            high
        } else if bounds.ratio() <= 1.0 + AGREE {
            bounds.estimate()
        } else {
            self.by_law(point, bounds.ratio())
                .unwrap_or_else(|| bounds.estimate())
                .clamp(low, high)
        };
        let mut from: Vec<u32> = [&bounds.low_from, &bounds.high_from]
            .into_iter()
            .flat_map(|from| self.points_of(from))
            .collect();
        from.sort_unstable();
        from.dedup();
        Inferred {
            iops,
            bytes_per_second: iops * at.block_size_bytes as f64,
            lat_ns_mean: at.total_depth() as f64 * 1e9 / iops,
            because: format!(
                "at least {} IOPS, {}; at most {}, {}; latency by Little's law",
                count(low),
                self.in_words(at, &bounds.low_from, true),
                count(high),
                self.in_words(at, &bounds.high_from, false),
            ),
            from,
        }
    }

    fn points_of(&self, from: &From) -> Vec<u32> {
        match *from {
            From::Nothing => Vec::new(),
            From::Point(point) => vec![point],
            From::Mixes(first, second) => vec![first, second],
            From::Limit(place) => self.limits[place]
                .points
                .iter()
                .copied()
                .take(LIMIT_POINTS_MIN)
                .collect(),
        }
    }

    fn in_words(&self, at: Coordinates, from: &From, low: bool) -> String {
        let name = |point: u32| self.at(point).name();
        match from {
            From::Nothing => String::from("from nothing"),
            From::Mixes(one, other) => format!("between the mixes {} and {}", name(*one), name(*other)),
            From::Limit(place) => limit_in_words(&self.limits[*place], at),
            From::Point(point) => {
                let source = self.at(*point);
                let mut why = Vec::new();
                if source.total_depth() != at.total_depth() {
                    why.push(if (source.total_depth() < at.total_depth()) == low {
                        "more depth does not lower IOPS"
                    } else {
                        "more depth does not lower latency"
                    });
                }
                if source.block_size_bytes != at.block_size_bytes {
                    why.push(if (source.block_size_bytes > at.block_size_bytes) == low {
                        "larger blocks do not raise IOPS"
                    } else {
                        "larger blocks do not lower bytes a second"
                    });
                }
                if source.random != at.random {
                    why.push("by the order of access");
                }
                format!("from {} ({})", name(*point), why.join(", "))
            }
        }
    }
}

impl From {
    /// One point that it rests on; those of a limit are all of other lines.
    fn point(&self) -> Option<u32> {
        match *self {
            Self::Point(point) | Self::Mixes(point, _) => Some(point),
            Self::Nothing | Self::Limit(_) => None,
        }
    }
}

/// How many times a point's IOPS another one has at least, that is so much deeper and larger; `None`: no rule says.
fn least_factor(rules: Rules, deeper: f64, larger: f64) -> Option<f64> {
    let [keeps_iops, keeps_latency] = depth_rules(rules, deeper);
    let [size_keeps_iops, keeps_bytes] = size_rules(rules, larger);
    Some(factor(deeper, keeps_iops, keeps_latency)? * factor(larger, keeps_bytes, size_keeps_iops)?)
}

/// The same at most.
fn most_factor(rules: Rules, deeper: f64, larger: f64) -> Option<f64> {
    let [keeps_iops, keeps_latency] = depth_rules(rules, deeper);
    let [size_keeps_iops, keeps_bytes] = size_rules(rules, larger);
    Some(factor(deeper, keeps_latency, keeps_iops)? * factor(larger, size_keeps_iops, keeps_bytes)?)
}

/// Whether a rule holds, and how many times the IOPS it says.
type Factor = (bool, f64);

fn depth_rules(rules: Rules, deeper: f64) -> [Factor; 2] {
    [(rules.depth_keeps_iops, 1.0), (rules.depth_keeps_latency, deeper)]
}

fn size_rules(rules: Rules, larger: f64) -> [Factor; 2] {
    [
        (rules.size_keeps_iops, 1.0),
        (rules.size_keeps_bytes, 1.0 / larger),
    ]
}

/// 1 where a coordinate is the same; else what the rule for above or below says.
fn factor(times: f64, above: Factor, below: Factor) -> Option<f64> {
    let (holds, factor) = match times {
        times if times > 1.0 => above,
        times if times < 1.0 => below,
        _ => (true, 1.0),
    };
    holds.then_some(factor)
}

/// Limits that enough points agree on and none exceeds.
fn usable_limits(seen: &[Seen<'_>]) -> Vec<Limit> {
    let found = limits(seen, &Saturated::of(seen)).into_iter();
    let holds = |limit: &Limit| {
        let Verdict::Reached { rate, .. } = limit.verdict else {
            return false;
        };
        let mut of_scope = seen.iter().filter(|point| in_scope(limit.scope, point.at));
        limit.points.len() >= LIMIT_POINTS_MIN
            && of_scope.all(|point| value(limit.quantity, point) <= rate * (1.0 + 2.0 * AGREE))
    };
    found.filter(holds).collect()
}

/// The most IOPS that a limit leaves a point.
fn most_by(limit: &Limit, at: Coordinates) -> Option<f64> {
    match limit.verdict {
        Verdict::Reached { rate, .. } if in_scope(limit.scope, at) => Some(match limit.quantity {
            Quantity::Iops => rate,
            Quantity::BytesPerSecond => rate / at.block_size_bytes as f64,
        }),
        _ => None,
    }
}

fn limit_in_words(limit: &Limit, at: Coordinates) -> String {
    let whose = match limit.scope {
        Scope::All => "",
        Scope::Reads => " of reads",
        Scope::Writes => " of writes",
    };
    match (limit.quantity, limit.verdict) {
        (Quantity::Iops, _) => format!("the limit on IOPS{whose}"),
        (Quantity::BytesPerSecond, Verdict::Reached { rate, .. }) => format!(
            "the limit{whose} of {} in blocks of {}",
            binary_rate(rate),
            Bytes(at.block_size_bytes)
        ),
        (Quantity::BytesPerSecond, Verdict::NotReached { .. }) => String::from("no limit"),
    }
}

#[cfg(test)]
mod tests;

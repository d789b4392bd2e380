//! What the measurements say of a disk.
//!
//! Data in: a [`Schedule`] whose measurements are made. Data out: a [`Fit`]: limits, how they are released, what counts
//! against them, service, credit, cache. It must not know any product.

mod company;
mod release;

use crate::probe::{FELL, Mix, Outcome, Purpose, SECOND_NS, fall, quantile};
use crate::schedule::{LARGE_BYTES, MIDDLE_BYTES, SMALL_BYTES, Schedule};
pub use company::{Crowding, Handling, Occupied};
pub use release::{Release, release};

/// Percentiles of a service that a model keeps.
const PERCENTILES: [f64; 13] = [
    0.0, 1.0, 5.0, 10.0, 25.0, 40.0, 50.0, 60.0, 75.0, 90.0, 95.0, 99.0, 100.0,
];
/// Within this, two rates are one limit.
const SAME: f64 = 0.03;
/// An I/O in order, or one again, that takes less than this share is served otherwise.
const OTHERWISE: f64 = 0.6;

/// What a disk is, as far as it showed.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    pub read: Direction,
    /// `None`: nothing was written.
    pub write: Option<Direction>,
    /// Reads and writes at once: small I/Os, large ones.
    pub together: Option<(Rate, Rate)>,
    pub release: Release,
    pub unit: Counted,
    /// All I/Os are handled one after the other: what looks like limits on I/Os and on bytes is how long that takes.
    pub handling: Option<Handling>,
    /// The area of which reads are served faster the second time; how long such a read takes, in nanoseconds.
    pub again_ns: Option<u64>,
    pub credit: Credit,
    /// The size of the disk, where it says something of the product.
    pub size_bytes: Option<u64>,
    /// Time that measuring took.
    pub spent_ns: u64,
    /// Measurements that were made.
    pub measurements: usize,
}

/// A rate of I/Os.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    pub per_second: f64,
    /// Whether a limit held it; else it is only known that the disk does as much.
    pub is_limit: bool,
    /// I/Os in flight at which it was measured.
    pub depth: u32,
    pub block_bytes: u32,
}

impl Rate {
    pub fn bytes_per_second(&self) -> f64 {
        self.per_second * f64::from(self.block_bytes)
    }
}

/// One direction.
#[derive(Debug, Clone, PartialEq)]
pub struct Direction {
    pub small: Rate,
    pub large: Rate,
    /// Where a limit on bytes shows: large ones, or larger ones where a limit on I/Os holds those.
    pub bytes: Rate,
    pub service: Service,
}

/// How long I/Os take that no limit holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Service {
    /// Percentile and microseconds, of small I/Os at random places.
    pub quantiles_us: Vec<(f64, f64)>,
    pub median_ns: u64,
    /// What each KiB more takes.
    pub ns_per_kib: u64,
    /// The median in order, where that is another.
    pub in_order_ns: Option<u64>,
    /// How others in flight slow one down; `None`: that did not show.
    pub crowding: Option<Crowding>,
}

/// What counts against a limit on I/Os.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    /// So many bytes are one I/O.
    Unit(u64),
    /// A limit on bytes holds before larger I/Os could count as several.
    NotShown,
    /// An I/O costs the same whatever its size, up to the largest measured.
    Any,
}

/// Whether rates are on credit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Credit {
    /// It was not asked for: what was measured held for so long.
    NotMeasured { held_ns: u64 },
    /// The rates held for so long at full load.
    None { held_ns: u64 },
    /// They fell.
    Spent {
        /// How long the load went on at first.
        lasted_ns: u64,
        /// I/Os beyond the lower limit that were done until then.
        ios: f64,
        bytes: f64,
        small: Rate,
        large: Rate,
    },
}

impl Fit {
    /// What the measurements of `schedule` say; `None`: those that it takes are not all made. `size_bytes`: where the disk has
    /// a size of its own (a file has none).
    pub fn new(schedule: &Schedule, size_bytes: Option<u64>) -> Option<Self> {
        let read = direction(schedule, Mix::Read)?;
        let write = direction(schedule, Mix::Write);
        let both = |purpose| {
            schedule
                .last(purpose, Mix::Both)
                .map(|outcome| rate(schedule, outcome))
        };
        let mix = if write.is_some() { Mix::Write } else { Mix::Read };
        let small = schedule.last(Purpose::Small, mix)?;
        let fit = Self {
            handling: None,
            release: release(schedule.last(Purpose::Small, Mix::Read)?, read.small.is_limit).or(release(
                small,
                write.as_ref().is_some_and(|write| write.small.is_limit),
            )),
            unit: unit(schedule, mix),
            together: both(Purpose::Small).zip(both(Purpose::Large)),
            again_ns: again(schedule, &read),
            credit: credit(schedule, mix, small),
            size_bytes,
            spent_ns: schedule.spent_ns(),
            measurements: schedule.outcomes().len(),
            read,
            write,
        };
        Some(Self {
            handling: company::handling(schedule, &fit),
            ..fit
        })
    }

    /// The direction that was measured last.
    pub fn main(&self) -> &Direction {
        self.write.as_ref().unwrap_or(&self.read)
    }

    /// Whether reads and writes count against the same limits: small ones, large ones; `None`: not measured, or no limits.
    pub fn shared(&self, large: bool) -> Option<bool> {
        let (small_both, large_both) = self.together?;
        let of = |direction: &Direction| if large { direction.large } else { direction.small };
        let (read, write) = (of(&self.read), of(self.write.as_ref()?));
        let both = if large { large_both } else { small_both };
        if !(read.is_limit && write.is_limit && both.is_limit) {
            return None;
        }
        // Of one limit each I/O takes its share; of two, the slower direction holds the other up, which is as often its turn.
        let (read, write) = (read.per_second, write.per_second);
        let of_one = 2.0 / (1.0 / read + 1.0 / write);
        let of_two = 2.0 * read.min(write);
        Some(both.per_second < (of_one * of_two).sqrt())
    }
}

fn rate(schedule: &Schedule, outcome: &Outcome) -> Rate {
    Rate {
        per_second: outcome.rate(),
        is_limit: schedule.is_held(outcome),
        depth: outcome.probe.depth,
        block_bytes: outcome.probe.block_bytes,
    }
}

fn direction(schedule: &Schedule, mix: Mix) -> Option<Direction> {
    let small = rate(schedule, schedule.last(Purpose::Small, mix)?);
    let large = rate(schedule, schedule.last(Purpose::Large, mix)?);
    let beyond = schedule.last(Purpose::Beyond, mix);
    let bytes = beyond.map_or(large, |outcome| rate(schedule, outcome));
    let alone = schedule.last(Purpose::Service, mix)?;
    let sorted = alone.latencies_ns();
    let median_ns = quantile(&sorted, 50.0);
    let mut quantiles_us: Vec<(f64, f64)> = Vec::new();
    for percent in PERCENTILES {
        let us = quantile(&sorted, percent) as f64 / 1e3;
        let least = quantiles_us.last().map_or(0.001, |last| last.1);
        quantiles_us.push((percent, us.max(least)));
    }
    let larger_ns = schedule.last(Purpose::Slope, mix)?.latency_ns(50.0);
    let kib = u64::from(MIDDLE_BYTES - SMALL_BYTES) >> 10;
    let in_order_ns = schedule.last(Purpose::InOrder, mix)?.latency_ns(50.0);
    let differs = (in_order_ns as f64) < median_ns as f64 * OTHERWISE;
    Some(Direction {
        small,
        large,
        bytes,
        service: Service {
            quantiles_us,
            median_ns,
            ns_per_kib: larger_ns.saturating_sub(median_ns) / kib,
            in_order_ns: differs.then_some(in_order_ns),
            crowding: company::crowding(schedule, alone),
        },
    })
}

fn unit(schedule: &Schedule, mix: Mix) -> Counted {
    for mix in [mix, Mix::Read] {
        let rates = schedule
            .last(Purpose::Small, mix)
            .zip(schedule.last(Purpose::Large, mix));
        let (Some((small, large)), Some(between)) = (rates, schedule.last(Purpose::Unit, mix)) else {
            continue;
        };
        let (small, large, seen) = (small.rate(), large.rate(), between.rate());
        let block = f64::from(between.probe.block_bytes);
        let times = (small / large).log2().round().exp2();
        let by_bytes = large * f64::from(LARGE_BYTES) / block;
        let near = |rate: f64| (seen / rate).ln().abs() < SAME;
        let holds = |unit: &f64, outcome: &Outcome| {
            let by_unit = small / (f64::from(outcome.probe.block_bytes) / unit).ceil();
            (outcome.rate() / by_unit).ln().abs() < SAME
        };
        if times > 1.0 {
            let unit = f64::from(LARGE_BYTES) / times;
            if holds(&unit, between) && !near(by_bytes) {
                return Counted::Unit(unit as u64);
            }
            continue;
        }
        if near(small) {
            return Counted::Any;
        }
        let beyond = schedule.last(Purpose::Beyond, mix);
        let mut units = (18..=20).map(|power| f64::from(1u32 << power));
        let unit = units.find(|unit| holds(unit, between) && beyond.is_none_or(|beyond| holds(unit, beyond)));
        if let Some(unit) = unit {
            return Counted::Unit(unit as u64);
        }
    }
    Counted::NotShown
}

/// The median of reads that were served again faster than at first.
fn again(schedule: &Schedule, read: &Direction) -> Option<u64> {
    let outcome = schedule.last(Purpose::Again, Mix::Read)?;
    let later = &outcome.ios[outcome.ios.len() * 3 / 4..];
    let mut late: Vec<u64> = later.iter().map(|io| io.completed_ns - io.submitted_ns).collect();
    late.sort_unstable();
    let again_ns = quantile(&late, 50.0);
    // Near places need no long way of heads either.
    let at_best = read.service.in_order_ns.unwrap_or(read.service.median_ns);
    (!late.is_empty() && (again_ns as f64) < at_best as f64 * OTHERWISE).then_some(again_ns)
}

fn credit(schedule: &Schedule, mix: Mix, small: &Outcome) -> Credit {
    let Some(first) = schedule
        .outcomes()
        .iter()
        .find(|outcome| outcome.probe.purpose == Purpose::Drain)
    else {
        let held = schedule
            .outcomes()
            .iter()
            .filter(|outcome| outcome.probe.depth > 1);
        return Credit::NotMeasured {
            held_ns: held.map(|outcome| outcome.elapsed_ns).sum(),
        };
    };
    let spent = schedule
        .last(Purpose::SpentSmall, mix)
        .zip(schedule.last(Purpose::SpentLarge, mix));
    let (Some(at), Some((small_after, large_after))) = (fall(&first.seconds), spent) else {
        return Credit::None {
            held_ns: first.elapsed_ns,
        };
    };
    let large_before = schedule.last(Purpose::Large, mix).map_or(0.0, Outcome::rate);
    let (small_after, large_after) = (rate(schedule, small_after), rate(schedule, large_after));
    let fell = small_after.per_second < small.rate() * FELL;
    let bytes_fell = large_after.per_second < large_before * FELL;
    let (ios, bytes) = beyond(schedule, small_after.per_second, large_after.bytes_per_second());
    Credit::Spent {
        lasted_ns: at as u64 * SECOND_NS,
        ios: if fell { ios } else { 0.0 },
        bytes: if bytes_fell { bytes } else { 0.0 },
        small: small_after,
        large: large_after,
    }
}

/// I/Os and bytes beyond what lower limits would have let through, from the start of measuring to the last fall.
fn beyond(schedule: &Schedule, iops: f64, bytes_per_second: f64) -> (f64, f64) {
    let outcomes = schedule.outcomes();
    let last = outcomes
        .iter()
        .rposition(|outcome| outcome.probe.purpose == Purpose::Drain && fall(&outcome.seconds).is_some());
    let (mut ios, mut bytes) = (0.0f64, 0.0f64);
    for (place, outcome) in outcomes.iter().enumerate().take(last.map_or(0, |last| last + 1)) {
        let (count, seconds) = match fall(&outcome.seconds) {
            Some(at) if Some(place) == last || outcome.probe.purpose == Purpose::Drain => {
                (outcome.seconds[..at].iter().sum::<u64>(), at as f64)
            }
            _ => (outcome.count, outcome.elapsed_ns as f64 / 1e9),
        };
        let units = f64::from(outcome.probe.block_bytes.div_ceil(256 << 10));
        ios = (ios + count as f64 * units - iops * seconds).max(0.0);
        bytes = (bytes + count as f64 * f64::from(outcome.probe.block_bytes) - bytes_per_second * seconds)
            .max(0.0);
    }
    (ios, bytes)
}

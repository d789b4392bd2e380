//! The limits on one way: I/O units and bytes a second, each with its burst.
//!
//! Data in: [`PathLimits`], then I/Os in the order of their times. Data out: when each is let through. It must not
//! know whose limits they are.

use crate::even::Even;
use crate::slices::{Limiter, MILLI};
use crate::spec::{BurstSpec, Limit, PathLimits, SliceSpec};
use fathom_core::run::{Counted, SpentCredit};

/// A rate over less time says more of the slices than of the limit.
const TOLD_FROM_NS: u64 = 1_000_000_000;

/// For limiters that nothing asks.
const ANY: SliceSpec = SliceSpec {
    slice_ns: 1,
    factor_permille: 1,
};

/// A burst, and what it reaches.
type Ceiling<'a> = (&'a BurstSpec, u64);

/// What a limit counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    /// I/O units.
    Iops,
    Bytes,
}

impl Unit {
    fn counted(self) -> Counted {
        match self {
            Self::Iops => Counted::IoUnits,
            Self::Bytes => Counted::Bytes,
        }
    }
}

/// How a limit stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitState {
    /// Which: `disk IOPS`, `VM uncached MB/s`, …
    pub name: &'static str,
    /// What it counts.
    pub counts: Counted,
    /// Its nominal rate: what it lets through when there is no credit.
    pub rate_per_second: u64,
    /// What a full bucket really holds, in what it counts; `None`: no burst on credit.
    pub credit_full: Option<u64>,
    /// What the bucket holds now.
    pub credit_left: Option<u64>,
    /// What it has let through so far, in what it counts.
    pub taken: u64,
    /// How long all that it held waited, in nanoseconds.
    pub held_ns: u64,
}

/// The limits of one way. First come, first served: an I/O is let through once none of them holds it, and counts
/// against all of them at that moment, so that none is exceeded while another one holds.
///
/// All limits stand in the same slice after each I/O, that of its release. So as long as time stays in that slice, one
/// number for each unit, the room of the limit that has least, says whether any of them holds: they are only asked, and
/// told what was taken since, when there is no room or the slice is over. Limits that are released evenly are asked each time.
#[derive(Debug, Clone, Default)]
pub(crate) struct Path {
    limits: Vec<OneLimit>,
    /// When the last one was let through.
    last_ns: u64,
    /// The end of the slice that all limits are in.
    end_ns: u64,
    /// What may still be taken of each [`Unit`] before a limit holds, as of now and as the limits know it.
    room: Room,
    known: Room,
    /// Which limit held the last one that was held, of `limits`.
    binding: usize,
    /// How long those waited behind it that came since the limits were asked.
    behind_ns: u64,
    /// When the first one asked.
    first_ns: Option<u64>,
    /// All that was let through until the limits were last told.
    taken: Taken,
    /// In place of their limiters, where they are released evenly.
    even: Option<Box<Evens>>,
}

/// Limits that are released evenly.
#[derive(Debug, Clone)]
struct Evens {
    limits: Vec<Even>,
    /// Which of them has the credit of I/Os, and which that of bytes, where there is none of bytes without some of I/Os.
    behind_ios: Option<(usize, usize)>,
}

/// What was let through.
#[derive(Debug, Clone, Copy, Default)]
struct Taken {
    units: u64,
    bytes: u64,
}

/// A burst credit that was spent: when, and the rates before and after.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Spent {
    pub lasted_ns: u64,
    pub rate_before: f64,
    pub after_ns: u64,
    pub rate_after: f64,
}

/// Room within a slice, in thousandths.
#[derive(Debug, Clone, Copy, Default)]
struct Room {
    units: i64,
    bytes: i64,
}

#[derive(Debug, Clone)]
struct OneLimit {
    unit: Unit,
    /// Nominal, a second.
    rate: u64,
    /// What a full bucket holds, where there is one.
    credit: Option<u64>,
    limiter: Limiter,
    /// How long all that it held waited.
    held_ns: u64,
    /// Whether it may be exceeded on credit.
    has_credit: bool,
    /// When it first held an I/O, its credit spent, and what had been let through until then.
    spent: Option<(u64, Taken)>,
}

impl OneLimit {
    fn new(unit: Unit, rate: u64, limiter: Limiter) -> Self {
        Self {
            unit,
            rate,
            credit: None,
            limiter,
            held_ns: 0,
            has_credit: false,
            spent: None,
        }
    }

    /// The limits of `unit`: a rate, or a ceiling and below it a rate with credit.
    fn all_of(unit: Unit, rate: u64, burst: Option<Ceiling<'_>>, slices: SliceSpec) -> Vec<(Self, Even)> {
        // Limits that are released evenly have no slices; nothing asks these limiters then.
        let in_slices = if slices.slice_ns == 0 { ANY } else { slices };
        let plain = |rate| {
            (
                Self::new(unit, rate, Limiter::new(rate, in_slices)),
                Even::new(rate, slices),
            )
        };
        let Some((burst, ceiling)) = burst else {
            return vec![plain(rate)];
        };
        let level = burst.level_percent;
        let stated = match unit {
            Unit::Iops => burst.iops_credit,
            Unit::Bytes => burst.bytes_credit,
        };
        let credit = stated.unwrap_or_else(|| (ceiling - rate).saturating_mul(burst.full_seconds));
        let base = Self {
            has_credit: level > 0,
            credit: Some((u128::from(credit) * u128::from(slices.factor_permille) / 1000) as u64),
            ..Self::new(unit, rate, Limiter::with_credit(rate, credit, level, in_slices))
        };
        vec![
            plain(ceiling),
            (base, Even::with_credit(rate, credit, level, slices)),
        ]
    }

    /// That of both which it counts.
    fn of<T>(&self, units: T, bytes: T) -> T {
        match self.unit {
            Unit::Iops => units,
            Unit::Bytes => bytes,
        }
    }
}

impl Path {
    /// The limits of `spec`; those that are not known or off do not hold anything.
    pub(crate) fn new(spec: &PathLimits, slices: SliceSpec) -> Self {
        let mut limits = Vec::new();
        for (unit, base) in [(Unit::Iops, spec.iops), (Unit::Bytes, spec.bytes_per_second)] {
            let Limit::At(rate) = base else { continue };
            let burst = spec.burst.as_ref().and_then(|burst| {
                let ceiling = match unit {
                    Unit::Iops => burst.iops,
                    Unit::Bytes => burst.bytes_per_second,
                };
                ceiling
                    .rate()
                    .filter(|&ceiling| ceiling > rate)
                    .map(|ceiling| (burst, ceiling))
            });
            limits.extend(OneLimit::all_of(unit, rate, burst, slices));
        }
        let (limits, even): (Vec<OneLimit>, Vec<Even>) = limits.into_iter().unzip();
        let mut path = Self {
            limits,
            even: (slices.slice_ns == 0).then(|| {
                Box::new(Evens {
                    limits: even,
                    behind_ios: None,
                })
            }),
            ..Self::default()
        };
        path.look();
        // The first one asks, whatever room there is: its time is kept.
        path.end_ns = 0;
        path
    }

    /// The same, where bytes burst only while there is credit of I/Os. It has to be released evenly.
    pub(crate) fn with_bytes_behind_ios(mut self) -> Self {
        let with_credit = |unit: Unit| {
            let mut limits = self.limits.iter();
            limits.position(|limit| limit.unit == unit && limit.credit.is_some())
        };
        let behind_ios = with_credit(Unit::Iops).zip(with_credit(Unit::Bytes));
        if let Some(even) = &mut self.even {
            even.behind_ios = behind_ios;
        }
        self
    }

    /// When an I/O of so many units and bytes that asks at `now_ns` is let through.
    #[inline]
    pub(crate) fn take(&mut self, now_ns: u64, units: u64, bytes: u64) -> u64 {
        if self.limits.is_empty() {
            return now_ns;
        }
        // Who waits behind another one waits for what that one waits for.
        let time = now_ns.max(self.last_ns);
        let room = Room {
            units: self.room.units - units as i64 * MILLI,
            bytes: self.room.bytes - bytes as i64 * MILLI,
        };
        self.behind_ns += time - now_ns;
        if time < self.end_ns && room.units >= 0 && room.bytes >= 0 {
            self.room = room;
            self.last_ns = time;
            return time;
        }
        self.ask(time, units, bytes)
    }

    /// Asks each limit when it lets an I/O through that nothing else holds at `asked`.
    fn ask(&mut self, asked: u64, units: u64, bytes: u64) -> u64 {
        if self.even.is_some() {
            return self.ask_evenly(asked, units, bytes);
        }
        self.tell();
        self.first_ns.get_or_insert(asked);
        let taken = self.taken;
        let mut time = asked;
        for (at, limit) in self.limits.iter_mut().enumerate() {
            let release = limit.limiter.take(time, limit.of(units, bytes));
            if release > time {
                if limit.has_credit {
                    limit.spent.get_or_insert((time, taken));
                }
                limit.held_ns += release - time;
                self.binding = at;
                time = release;
            }
        }
        if time > asked && self.limits.len() > 1 {
            for limit in &mut self.limits {
                limit.limiter.spend_at(time, limit.of(units, bytes));
            }
        }
        self.last_ns = time;
        self.taken.units += units;
        self.taken.bytes += bytes;
        self.look();
        time
    }

    /// The same, of limits that are released evenly: let through when the last of them does, and taken from all then.
    #[inline(never)]
    fn ask_evenly(&mut self, asked: u64, units: u64, bytes: u64) -> u64 {
        self.first_ns.get_or_insert(asked);
        self.limits[self.binding].held_ns += std::mem::take(&mut self.behind_ns);
        let taken = self.taken;
        let mut time = asked;
        let Some(Evens {
            limits: evens,
            behind_ios,
        }) = self.even.as_deref_mut()
        else {
            return time;
        };
        if let Some((of_ios, of_bytes)) = *behind_ios {
            // Limits of I/Os come first.
            let (before, after) = evens.split_at_mut(of_bytes);
            after[0].no_fuller_than(&before[of_ios], time);
        }
        for (at, (limit, even)) in self.limits.iter_mut().zip(&*evens).enumerate() {
            // What costs nothing does not wait for what came before it.
            if limit.of(units, bytes) == 0 {
                continue;
            }
            let release = even.earliest_ns(time);
            if release > time {
                if limit.has_credit {
                    limit.spent.get_or_insert((time, taken));
                }
                limit.held_ns += release - time;
                self.binding = at;
                time = release;
            }
        }
        for (limit, even) in self.limits.iter().zip(evens) {
            even.take(time, limit.of(units, bytes));
        }
        self.last_ns = time;
        self.taken.units += units;
        self.taken.bytes += bytes;
        time
    }

    /// Tells the limits what was taken and who waited since they were asked.
    fn tell(&mut self) {
        let units = self.known.units - self.room.units;
        let bytes = self.known.bytes - self.room.bytes;
        for limit in &mut self.limits {
            limit.limiter.took(limit.of(units, bytes));
        }
        self.taken.units += (units / MILLI) as u64;
        self.taken.bytes += (bytes / MILLI) as u64;
        self.known = self.room;
        self.limits[self.binding].held_ns += std::mem::take(&mut self.behind_ns);
    }

    /// Looks how much room there is.
    fn look(&mut self) {
        if self.even.is_some() {
            return;
        }
        let least = |unit: Unit| {
            let of_unit = self.limits.iter().filter(|limit| limit.unit == unit);
            of_unit
                .map(|limit| limit.limiter.left())
                .min()
                .unwrap_or(i64::MAX)
        };
        self.room = Room {
            units: least(Unit::Iops),
            bytes: least(Unit::Bytes),
        };
        self.known = self.room;
        self.end_ns = self
            .limits
            .first()
            .map_or(u64::MAX, |limit| limit.limiter.end_ns());
    }

    /// How long I/Os were held in all by the limits of `unit`, in nanoseconds.
    pub(crate) fn held_ns(&self, unit: Unit) -> u64 {
        let of_unit = self.limits.iter().filter(|limit| limit.unit == unit);
        let behind = self.limits.get(self.binding).filter(|limit| limit.unit == unit);
        of_unit.map(|limit| limit.held_ns).sum::<u64>() + behind.map_or(0, |_| self.behind_ns)
    }
}

impl Spent {
    /// Those of several limits that share the I/Os: rates add up, the first that was spent says when.
    pub(crate) fn of_all(each: &[Self]) -> Option<Self> {
        each.iter().copied().reduce(|all, one| Self {
            lasted_ns: all.lasted_ns.min(one.lasted_ns),
            rate_before: all.rate_before + one.rate_before,
            after_ns: all.after_ns.max(one.after_ns),
            rate_after: all.rate_after + one.rate_after,
        })
    }

    /// For the record.
    pub(crate) fn told(self, limit: &str, unit: Unit) -> SpentCredit {
        SpentCredit {
            limit: limit.to_owned(),
            counts: unit.counted(),
            lasted_ns: self.lasted_ns,
            rate_before: self.rate_before,
            after_ns: self.after_ns,
            rate_after: self.rate_after,
        }
    }
}

impl Path {
    /// How each limit stands at `now_ns`, which is not before anything that was let through was asked for.
    pub(crate) fn states(&self, now_ns: u64, names: (&'static str, &'static str)) -> Vec<LimitState> {
        let since_told = (
            self.known.units.saturating_sub(self.room.units),
            self.known.bytes.saturating_sub(self.room.bytes),
        );
        let state = |(at, limit): (usize, &OneLimit)| {
            let pending = limit.of(since_told.0, since_told.1).max(0);
            let credit_left = limit.credit.map(|full| {
                let left = match self.even.as_deref().and_then(|evens| evens.limits.get(at)) {
                    Some(even) => even.credit_left(now_ns),
                    None => limit.limiter.credit_left(now_ns, pending),
                };
                left.min(full)
            });
            LimitState {
                name: limit.of(names.0, names.1),
                counts: limit.unit.counted(),
                rate_per_second: limit.rate,
                credit_full: limit.credit,
                credit_left,
                taken: limit.of(self.taken.units, self.taken.bytes) + (pending / MILLI) as u64,
                held_ns: limit.held_ns + if at == self.binding { self.behind_ns } else { 0 },
            }
        };
        self.limits.iter().enumerate().map(state).collect()
    }

    /// What is left at `now_ns` of the burst credit of the limit of `unit`, and what it holds when full; `None`: it has none.
    pub(crate) fn credit(&self, unit: Unit, now_ns: u64) -> Option<(f64, f64)> {
        let mut states = self.states(now_ns, ("", "")).into_iter();
        let state = states.find(|state| state.counts == unit.counted() && state.credit_full.is_some())?;
        Some((state.credit_left? as f64, state.credit_full? as f64))
    }

    /// The burst credit of the limit of `unit`, if it has run out.
    pub(crate) fn spent(&self, unit: Unit) -> Option<Spent> {
        let mut of_unit = self.limits.iter().filter(|limit| limit.unit == unit);
        let (limit, (at_ns, before)) = of_unit.find_map(|limit| Some((limit, limit.spent?)))?;
        let since_told = limit.of(
            self.known.units - self.room.units,
            self.known.bytes - self.room.bytes,
        );
        let all = limit.of(self.taken.units, self.taken.bytes) + (since_told / MILLI) as u64;
        let before = limit.of(before.units, before.bytes);
        let rate = |amount: u64, ns: u64| amount as f64 * 1e9 / ns.max(1) as f64;
        let lasted_ns = at_ns - self.first_ns?;
        let after_ns = self.last_ns.saturating_sub(at_ns);
        (lasted_ns >= TOLD_FROM_NS && after_ns >= TOLD_FROM_NS).then(|| Spent {
            lasted_ns,
            rate_before: rate(before, lasted_ns),
            after_ns,
            rate_after: rate(all - before, after_ns),
        })
    }
}

#[cfg(test)]
mod tests;

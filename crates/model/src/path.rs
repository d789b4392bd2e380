//! The limits on one way: I/O units and bytes a second, each with its burst.
//!
//! Data in: [`PathLimits`], then I/Os in the order of their times. Data out: when each is let through. It must not
//! know whose limits they are.

use crate::slices::{Limiter, MILLI};
use crate::spec::{Limit, PathLimits, SliceSpec};

/// What a limit counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    /// I/O units.
    Iops,
    /// Bytes.
    Bytes,
}

/// The limits of one way. First come, first served: an I/O is let through once none of them holds it, and counts
/// against all of them at that moment, so that none is exceeded while another one holds.
///
/// All limits stand in the same slice after each I/O, that of its release. So as long as time stays in that slice, one
/// number for each unit, the room of the limit that has least, says whether any of them holds: they are only asked, and
/// told what was taken since, when there is no room or the slice is over.
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
    limiter: Limiter,
    /// How long all that it held waited.
    held_ns: u64,
}

impl OneLimit {
    fn new(unit: Unit, limiter: Limiter) -> Self {
        Self {
            unit,
            limiter,
            held_ns: 0,
        }
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
            match burst {
                None => limits.push(OneLimit::new(unit, Limiter::new(rate, slices))),
                Some((burst, ceiling)) => {
                    limits.push(OneLimit::new(unit, Limiter::new(ceiling, slices)));
                    let (seconds, level) = (burst.full_seconds, burst.level_percent);
                    let base = Limiter::with_credit(rate, ceiling, seconds, level, slices);
                    limits.push(OneLimit::new(unit, base));
                }
            }
        }
        let mut path = Self {
            limits,
            ..Self::default()
        };
        path.look();
        path
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
        self.tell();
        let mut time = asked;
        for (at, limit) in self.limits.iter_mut().enumerate() {
            let release = limit.limiter.take(time, limit.of(units, bytes));
            if release > time {
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
        self.look();
        time
    }

    /// Tells the limits what was taken and who waited since they were asked.
    fn tell(&mut self) {
        let units = self.known.units - self.room.units;
        let bytes = self.known.bytes - self.room.bytes;
        for limit in &mut self.limits {
            limit.limiter.took(limit.of(units, bytes));
        }
        self.known = self.room;
        self.limits[self.binding].held_ns += std::mem::take(&mut self.behind_ns);
    }

    /// Looks how much room there is.
    fn look(&mut self) {
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

#[cfg(test)]
mod tests;

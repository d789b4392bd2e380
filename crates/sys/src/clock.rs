//! Time: the processor's counter (on `x86_64` the TSC), read in a few nanoseconds and held to `CLOCK_MONOTONIC`.
//!
//! Data out: [`MonoTime`] on the scale of `CLOCK_MONOTONIC`, so that it compares with block traces and
//! counters. It must not know what is timed.
//!
//! Reading the counter does not wait for all that was begun before: a stamp may be taken some ten instructions early
//! or late, which is less than the reading itself costs and far below what any storage call takes.

mod counter;

use counter::ticks;
use fathom_core::clock::Clock;
use fathom_core::run::CLOCK_MONOTONIC;
use fathom_core::units::{MonoTime, Nanos};
use rustix::time::{ClockId, clock_gettime};
use std::sync::OnceLock;

/// Where the time comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClockSource {
    /// The processor's counter, scaled: the TSC on `x86_64`, the generic timer's on `aarch64`.
    Counter,
    /// `clock_gettime(CLOCK_MONOTONIC)`.
    Monotonic,
    /// The same in whole microseconds.
    Microseconds,
}

impl ClockSource {
    /// For the record: `tsc`, `arch_sys_counter` (as the kernel calls them) or `clock_monotonic`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Counter => counter::NAME,
            Self::Monotonic | Self::Microseconds => CLOCK_MONOTONIC,
        }
    }
}

/// `ns_per_tick` is a fixed-point number with this many fractional bits: a resolution of 4e-15 and a range
/// that fits any counter above 16 kHz.
const FRACTION_BITS: u32 = 48;
/// The shortest distance over which a rate is computed. Each end is known to some 20 ns, so 2 ms gives
/// about 20 ppm, and the first correction a second later finds an error of some 20 µs at most.
const BASELINE_MIN_NS: u64 = 2_000_000;
/// After this long the rate is taken over the recent past, so that it follows the reference's own slewing.
const BASELINE_MAX_NS: u64 = 64_000_000_000;
/// An error found is spread over at least this long.
const SLEW_MIN_NS: u64 = 1_000_000_000;
/// When the clock is behind by more than this, the machine was suspended or moved: it steps forward.
const STEP_NS: u64 = 1_000_000;
/// The reference's rate changes by less than one part in this many from one reading to the next (NTP slews by
/// 500 ppm at most); more is a jump.
const RATE_CHANGE_SHARE: u64 = 1_000;
/// How often each pair is read to find an undisturbed reading.
const PAIR_TRIES: u32 = 8;

/// The process's first reading: every later clock gets its rate from the whole time since, at no cost.
static ORIGIN: OnceLock<Pair> = OnceLock::new();

/// Both clocks read at one moment.
#[derive(Debug, Clone, Copy)]
struct Pair {
    ticks: u64,
    mono_ns: u64,
}

impl Pair {
    /// Brackets `CLOCK_MONOTONIC` by two readings of the counter and keeps the tightest of several brackets.
    fn read() -> Self {
        let mut best = Self { ticks: 0, mono_ns: 0 };
        let mut best_width = u64::MAX;
        for _ in 0..PAIR_TRIES {
            let before = ticks();
            let mono_ns = monotonic_ns();
            let width = ticks().saturating_sub(before);
            if width < best_width {
                best_width = width;
                best = Self {
                    ticks: before + width / 2,
                    mono_ns,
                };
            }
        }
        best
    }

    /// The mean rate from `self` to `later`, in nanoseconds a tick (fixed point).
    fn rate_to(self, later: Self) -> u64 {
        let ns = u128::from(later.mono_ns.saturating_sub(self.mono_ns));
        let ticks = u128::from(later.ticks.saturating_sub(self.ticks).max(1));
        u64::try_from((ns << FRACTION_BITS) / ticks).unwrap_or(u64::MAX)
    }
}

/// The machine's monotonic clock. Each thread has its own clone and disciplines it; clones agree within the
/// error of their last discipline (a few µs).
#[derive(Debug, Clone)]
pub struct HostClock {
    source: ClockSource,
    anchor_ticks: u64,
    anchor_ns: u64,
    /// `rate`, and what it takes to make good the last error.
    ns_per_tick: u64,
    /// Of the reference, in ns a tick (fixed point).
    rate: u64,
    /// The rate over the last interval in which it was implausible.
    suspect: Option<u64>,
    /// Start of the baseline over which the rate is computed.
    base: Pair,
    /// Becomes `base` when the baseline has grown too long.
    next_base: Pair,
    /// The last reading.
    last: Pair,
}

impl Default for HostClock {
    fn default() -> Self {
        Self::new()
    }
}

impl HostClock {
    /// A clock on the counter where that is invariant and the kernel has not found it wanting, else on
    /// `CLOCK_MONOTONIC`. The first call in a process takes 2 ms (it spins: it needs two readings that far
    /// apart), later ones some microseconds.
    pub fn new() -> Self {
        let source = if counter::is_usable() {
            ClockSource::Counter
        } else {
            ClockSource::Monotonic
        };
        Self::with_source(source)
    }

    /// A clock on `source`; [`ClockSource::Counter`] is the caller's assertion that the counter is invariant. On an
    /// architecture whose counter is not known here it is `CLOCK_MONOTONIC` all the same.
    pub fn with_source(source: ClockSource) -> Self {
        let source = match source {
            ClockSource::Counter if !counter::EXISTS => ClockSource::Monotonic,
            source => source,
        };
        let base = match source {
            ClockSource::Counter => *ORIGIN.get_or_init(Pair::read),
            ClockSource::Monotonic | ClockSource::Microseconds => Pair { ticks: 0, mono_ns: 0 },
        };
        let mut last = base;
        if source == ClockSource::Counter {
            while monotonic_ns() < base.mono_ns + BASELINE_MIN_NS {
                std::hint::spin_loop();
            }
            last = Pair::read();
        }
        let rate = first_rate(base, last, counter::stated_rate());
        Self {
            source,
            anchor_ticks: last.ticks,
            anchor_ns: last.mono_ns,
            ns_per_tick: rate,
            rate,
            suspect: None,
            base,
            next_base: last,
            last,
        }
    }

    /// Where the time comes from.
    pub fn source(&self) -> ClockSource {
        self.source
    }

    /// How far this clock is from `CLOCK_MONOTONIC` now.
    pub fn check(&self) -> Nanos {
        match self.source {
            ClockSource::Counter => {
                let pair = Pair::read();
                Nanos(self.at(pair.ticks).abs_diff(pair.mono_ns))
            }
            ClockSource::Monotonic | ClockSource::Microseconds => Nanos::ZERO,
        }
    }

    /// The time in ns that this clock shows when the counter shows `ticks`.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "the measured loop's stamp: a call would cost as much as the work"
    )]
    fn at(&self, ticks: u64) -> u64 {
        // Saturating: a counter of another core may lag by some ticks.
        let since = u128::from(ticks.saturating_sub(self.anchor_ticks));
        self.anchor_ns + ((since * u128::from(self.ns_per_tick)) >> FRACTION_BITS) as u64
    }

    /// Sets the anchor to `pair` and the rate so that an error found now is gone after `SLEW_MIN_NS`, or
    /// after as long as it took since the last correction if that is longer (so that a late caller does not
    /// make the clock overshoot).
    fn correct(&mut self, pair: Pair) {
        let own_ns = self.at(pair.ticks);
        self.measure_rate(pair);
        let period_ns = pair.mono_ns.saturating_sub(self.last.mono_ns).max(SLEW_MIN_NS);
        let behind_ns = pair.mono_ns.saturating_sub(own_ns);
        let ahead_ns = own_ns.saturating_sub(pair.mono_ns);
        let (anchor_ns, advance_ns) = if behind_ns > STEP_NS {
            (pair.mono_ns, period_ns)
        } else {
            // Never slower than half speed, and so never back.
            (own_ns, period_ns + behind_ns - ahead_ns.min(period_ns / 2))
        };
        let slewed = u128::from(self.rate) * u128::from(advance_ns) / u128::from(period_ns);
        self.ns_per_tick = u64::try_from(slewed).unwrap_or(self.rate);
        self.anchor_ticks = pair.ticks;
        self.anchor_ns = anchor_ns;
        self.last = pair;
    }

    /// Takes the rate over the baseline that ends at `pair`, unless one of the clocks has jumped.
    fn measure_rate(&mut self, pair: Pair) {
        let recent = self.last.rate_to(pair);
        let agrees = |other: u64, share: u64| recent.abs_diff(other) <= other / share;
        if agrees(self.rate, RATE_CHANGE_SHARE) {
            if pair.mono_ns.saturating_sub(self.base.mono_ns) > BASELINE_MAX_NS {
                self.base = self.next_base;
                self.next_base = pair;
            }
            self.rate = self.base.rate_to(pair);
            return;
        }
        // A jump spoils one interval only. A rate that was measured wrongly at the start is seen twice.
        if self
            .suspect
            .is_some_and(|suspect| agrees(suspect, RATE_CHANGE_SHARE))
            && agrees(self.rate, 10)
        {
            self.rate = recent;
        }
        self.suspect = Some(recent);
        self.base = pair;
        self.next_base = pair;
    }
}

impl Clock for HostClock {
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "the measured loop's stamp: a call would cost as much as the work"
    )]
    fn now(&self) -> MonoTime {
        match self.source {
            ClockSource::Counter => MonoTime(self.at(ticks())),
            ClockSource::Monotonic => MonoTime(monotonic_ns()),
            ClockSource::Microseconds => MonoTime(monotonic_ns() / 1000 * 1000),
        }
    }

    fn discipline(&mut self) {
        if self.source != ClockSource::Counter {
            return;
        }
        let pair = Pair::read();
        // Too close to the last reading, the rate would be noise.
        if pair.mono_ns.saturating_sub(self.last.mono_ns) >= BASELINE_MIN_NS {
            self.correct(pair);
        }
    }
}

/// `CLOCK_MONOTONIC` in nanoseconds (by the vDSO, without a system call).
#[inline]
pub fn monotonic_ns() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// What the processor states, while the baseline is too short to know better and does not contradict it; else what was seen.
fn first_rate(base: Pair, last: Pair, stated: Option<u64>) -> u64 {
    let seen = base.rate_to(last);
    let short = last.mono_ns.saturating_sub(base.mono_ns) < SLEW_MIN_NS;
    let agrees = |stated: &u64| seen.abs_diff(*stated) <= stated / RATE_CHANGE_SHARE;
    stated.filter(agrees).filter(|_| short).unwrap_or(seen)
}

#[cfg(test)]
mod tests;

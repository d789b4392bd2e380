//! Which I/Os are slow enough that it matters who ran meanwhile.
//!
//! Data in: response times (from when an I/O was intended), as they come. Data out: windows of time, few a second. A window
//! costs a look into a ring of the last seconds' scheduler switches, so that the whole need not be kept. What is a spike is
//! judged later, from the whole run; here it only has to be likely enough. It must not know what is done with the windows.

use fathom_core::histogram::Histogram;
use fathom_core::units::MonoTime;

/// The least response time that is ever called slow.
const SLOW_NS_MIN: u64 = 200_000;
/// Slow is so many times the least median of any second so far: where all is slow for long, that stays slow.
const TIMES_MEDIAN: u64 = 4;
/// The median of fewer I/Os says nothing.
const MEDIAN_OF_MIN: u64 = 10;
/// Windows are given at most so often: the worst of each of these times.
const PART_NS: u64 = 100_000_000;
const SECOND_NS: u64 = 1_000_000_000;
/// A window reaches back before the I/O as long as the I/O took, but no less and no more than this: what ran in the
/// window and not before is only known if the time before it is known.
const BEFORE_NS_MIN: u64 = 5_000_000;
const BEFORE_NS_MAX: u64 = 1_000_000_000;
/// Of a longer wait the end is looked at: what made a queue that long was slow itself, and has a window of its own.
const REACH_NS_MAX: u64 = 5_000_000_000;

/// A span of time, both ends in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Window {
    pub from: MonoTime,
    pub to: MonoTime,
}

/// Finds slow I/Os while a run goes on.
#[derive(Debug)]
pub(super) struct SlowFinder {
    /// Latencies of the second under way.
    seen: Histogram,
    second_end_ns: u64,
    threshold_ns: u64,
    /// The least median of a second.
    usual_ns: Option<u64>,
    part_end_ns: u64,
    /// The worst of the part and of the second under way: begun, complete.
    part: Worst,
    second: Worst,
    windows: Vec<Window>,
}

/// The longest of some I/Os.
#[derive(Debug, Clone, Copy, Default)]
struct Worst {
    begun_ns: u64,
    completed_ns: u64,
}

impl Worst {
    fn lat_ns(self) -> u64 {
        self.completed_ns.saturating_sub(self.begun_ns)
    }

    fn take_in(&mut self, other: Self) {
        if other.lat_ns() > self.lat_ns() {
            *self = other;
        }
    }

    fn window(self) -> Window {
        let before = self.lat_ns().clamp(BEFORE_NS_MIN, BEFORE_NS_MAX);
        let begun_ns = self.begun_ns.max(self.completed_ns.saturating_sub(REACH_NS_MAX));
        Window {
            from: MonoTime(begun_ns.saturating_sub(before)),
            to: MonoTime(self.completed_ns),
        }
    }
}

impl SlowFinder {
    pub(super) fn new() -> Self {
        Self {
            seen: Histogram::new(),
            second_end_ns: 0,
            threshold_ns: SLOW_NS_MIN,
            usual_ns: None,
            part_end_ns: 0,
            part: Worst::default(),
            second: Worst::default(),
            windows: Vec::new(),
        }
    }

    /// An I/O or a request was complete.
    #[inline]
    pub(super) fn take_in(&mut self, begun_ns: u64, completed_ns: u64) {
        if completed_ns >= self.part_end_ns {
            self.end_part(completed_ns);
        }
        let this = Worst {
            begun_ns,
            completed_ns,
        };
        self.seen.record(this.lat_ns());
        self.part.take_in(this);
    }

    /// What is slow of the part is a window; and the worst of each second, slow or not: where all are slow, it is
    /// no spike but still has its reason.
    fn end_part(&mut self, now_ns: u64) {
        self.second.take_in(self.part);
        if self.part.lat_ns() >= self.threshold_ns {
            self.windows.push(self.part.window());
            // It needs no second window.
            self.second = Worst::default();
        }
        self.part = Worst::default();
        self.part_end_ns = now_ns + PART_NS;
        if now_ns >= self.second_end_ns {
            if self.second.lat_ns() > 0 {
                self.windows.push(self.second.window());
            }
            self.second = Worst::default();
            if self.seen.n() >= MEDIAN_OF_MIN {
                let median_ns = self.seen.percentile(50.0);
                let usual_ns = self.usual_ns.map_or(median_ns, |usual| usual.min(median_ns));
                self.usual_ns = Some(usual_ns);
                self.threshold_ns = (usual_ns * TIMES_MEDIAN).max(SLOW_NS_MIN);
            }
            self.seen.clear();
            self.second_end_ns = now_ns + SECOND_NS;
        }
    }

    /// The windows found since the last call.
    pub(super) fn windows(&mut self) -> std::vec::Drain<'_, Window> {
        self.windows.drain(..)
    }

    /// Ends the part under way: nothing comes after it.
    pub(super) fn end(&mut self) {
        self.end_part(self.second_end_ns.max(self.part_end_ns));
    }
}

#[cfg(test)]
mod tests;

//! The depth that keeps a latency: tried window by window, doubled while it holds, halved between where it does not.
//!
//! Data in: completions and the time. Data out: how many slots may be used. It must not know what is in them.

use fathom_core::units::{MonoTime, Nanos};
use fathom_core::workload::LatencyTarget;

/// What a window has shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::worker) enum Verdict {
    /// It goes on, perhaps at another depth.
    GoesOn,
    /// The depth is found: what counts begins, and takes one more window.
    Found,
}

/// The search of one worker.
#[derive(Debug)]
pub struct Target {
    wanted: LatencyTarget,
    /// The deepest that may be tried.
    most: u32,
    depth: u32,
    /// The deepest that kept the latency; 0: none yet.
    good: u32,
    /// The shallowest that did not; above `most`: none yet.
    bad: u32,
    window_end: u64,
    /// I/Os of the window, and those of them that kept the latency.
    ios: u64,
    kept: u64,
    found: bool,
    /// Slots beyond the depth.
    held: Vec<u32>,
}

impl Target {
    /// Of a worker with so many slots.
    pub fn new(wanted: LatencyTarget, slots: u32) -> Self {
        Self {
            wanted,
            most: slots,
            depth: 1,
            good: 0,
            bad: slots + 1,
            window_end: 0,
            ios: 0,
            kept: 0,
            found: false,
            held: Vec::with_capacity(slots as usize),
        }
    }

    /// The depth tried now.
    pub(in crate::worker) fn depth(&self) -> u32 {
        self.depth
    }
    /// What is counted before the depth is found does not count.
    pub(in crate::worker) fn counts_only_found(&self) -> bool {
        !self.wanted.keeps_running
    }
    /// How long a depth is tried.
    pub(in crate::worker) fn window(&self) -> Nanos {
        self.wanted.window
    }

    /// Begins at `now`, with all slots free.
    pub(in crate::worker) fn start(&mut self, now: MonoTime, free: &mut Vec<u32>) {
        self.window_end = now.after(self.wanted.window).0;
        self.fit(free);
    }

    /// A slot is free again.
    pub(in crate::worker) fn give_back(&mut self, slot: u32, in_flight: u32, free: &mut Vec<u32>) {
        if in_flight + free.len() as u32 >= self.depth {
            self.held.push(slot);
        } else {
            free.push(slot);
        }
    }

    /// As many slots are free as the depth allows with nothing in flight, and no more.
    fn fit(&mut self, free: &mut Vec<u32>) {
        while free.len() as u32 > self.depth {
            self.held.extend(free.pop());
        }
    }

    /// An I/O took `lat_ns`. `last_chance`: there is no time for another window than the last one.
    pub(in crate::worker) fn completed(&mut self, now: MonoTime, lat_ns: u64, last_chance: bool) -> Verdict {
        self.ios += 1;
        let kept = lat_ns <= self.wanted.latency.0;
        self.kept += u64::from(kept);
        // Where all have to keep it, the first that does not decides.
        let decided = !kept && self.wanted.percentile >= 100.0;
        if self.found && !self.wanted.keeps_running {
            return Verdict::GoesOn;
        }
        if last_chance && !self.wanted.keeps_running {
            self.depth = self.good.max(1);
            self.found = true;
            return Verdict::Found;
        }
        if now.0 < self.window_end && !decided {
            return Verdict::GoesOn;
        }
        let share = self.kept as f64 / self.ios as f64 * 100.0;
        self.judge(share >= self.wanted.percentile);
        self.window_end = now.after(self.wanted.window).0;
        (self.ios, self.kept) = (0, 0);
        if self.found {
            Verdict::Found
        } else {
            Verdict::GoesOn
        }
    }

    fn judge(&mut self, good: bool) {
        if good {
            self.good = self.depth;
        } else {
            self.bad = self.depth;
        }
        let next = if self.bad > self.most {
            (self.depth * 2).min(self.most)
        } else {
            u32::midpoint(self.good, self.bad)
        };
        let next = next.max(1);
        self.found = next == self.depth || next == self.good;
        if self.found && self.wanted.keeps_running {
            // The load may change: what is good now is tried again, and what was bad is forgotten.
            self.found = false;
            self.bad = self.most + 1;
        }
        self.depth = next;
    }

    /// A slot that is beyond the depth.
    pub(in crate::worker) fn hold(&mut self, slot: u32) {
        self.held.push(slot);
    }

    /// After a change of depth: slots that were held are free, as many as there is room for.
    pub(in crate::worker) fn release(&mut self, in_flight: u32, free: &mut Vec<u32>) {
        while in_flight + (free.len() as u32) < self.depth {
            match self.held.pop() {
                Some(slot) => free.push(slot),
                None => return,
            }
        }
    }
}

#[cfg(test)]
mod tests;

//! Outages: times in which a device completes nothing.
//!
//! Data in: [`OutageSpec`]s, then completion times, each with the time of its submission (which only moves on). Data
//! out: the completion times, those within an outage moved to its end. All that is in flight is hit alike: that is
//! what tells an outage from a slow I/O. It must not know what completes.

use crate::spec::OutageSpec;
use fathom_core::rng::Rng;
use std::collections::VecDeque;

/// The next outage of one spec.
#[derive(Debug, Clone)]
struct Source {
    spec: OutageSpec,
    /// From, to; `None`: no more.
    next: Option<(u64, u64)>,
    rng: Rng,
}

/// All outages of a device.
#[derive(Debug, Clone)]
pub(crate) struct Outages {
    sources: Vec<Source>,
    /// Those that may still matter, in order, apart from each other.
    windows: VecDeque<(u64, u64)>,
    /// Nothing before this is touched: the start of the first window, once it is known.
    clear_to: u64,
}

impl Outages {
    /// The outages of `specs`; random ones are drawn from `seed`.
    pub(crate) fn new(specs: &[OutageSpec], seed: u64) -> Self {
        let sources = specs.iter().enumerate().map(|(number, &spec)| {
            let mut source = Source {
                spec,
                next: None,
                rng: Rng::stream(seed, number as u64),
            };
            source.next = source.first();
            source
        });
        let mut outages = Self {
            sources: sources.collect(),
            windows: VecDeque::new(),
            clear_to: 0,
        };
        outages.learn(0);
        outages
    }

    /// When an I/O sent at `now_ns` that would complete at `due_ns` does.
    #[inline]
    pub(crate) fn shift(&mut self, now_ns: u64, due_ns: u64) -> u64 {
        if due_ns < self.clear_to {
            return due_ns;
        }
        self.shift_late(now_ns, due_ns)
    }

    #[cold]
    fn shift_late(&mut self, now_ns: u64, due_ns: u64) -> u64 {
        while self.windows.front().is_some_and(|&(_, end)| end <= now_ns) {
            self.windows.pop_front();
        }
        self.learn(due_ns);
        let hit = self.windows.iter().find(|&&(_, end)| due_ns < end);
        match hit {
            Some(&(start, end)) if start <= due_ns => end,
            _ => due_ns,
        }
    }

    /// Learns of all windows up to the first one that begins after `time_ns`.
    fn learn(&mut self, time_ns: u64) {
        while self.windows.back().is_none_or(|&(start, _)| start <= time_ns) {
            let coming = self.sources.iter_mut().filter(|source| source.next.is_some());
            let Some(source) = coming.min_by_key(|source| source.next) else {
                break;
            };
            let Some((start, end)) = source.next else { break };
            source.next = source.following(end, start);
            match self.windows.back_mut() {
                Some((_, last)) if start <= *last => *last = end.max(*last),
                _ => self.windows.push_back((start, end)),
            }
        }
        self.clear_to = self.windows.front().map_or(u64::MAX, |&(start, _)| start);
    }
}

impl Source {
    fn first(&mut self) -> Option<(u64, u64)> {
        match self.spec {
            OutageSpec::Once { at_ns, duration_ns } => window(at_ns, duration_ns),
            OutageSpec::Every {
                first_ns,
                duration_ns,
                ..
            } => window(first_ns, duration_ns),
            OutageSpec::Random { .. } => self.following(0, 0),
        }
    }

    /// The one after that from `start` to `end`.
    fn following(&mut self, end: u64, start: u64) -> Option<(u64, u64)> {
        match self.spec {
            OutageSpec::Once { .. } => None,
            OutageSpec::Every {
                period_ns,
                duration_ns,
                ..
            } => window(start.checked_add(period_ns)?, duration_ns),
            OutageSpec::Random {
                mean_gap_ns,
                duration_min_ns,
                duration_max_ns,
            } => {
                let gap = -libm::log(self.rng.unit_open_low()) * mean_gap_ns as f64;
                let spread = duration_max_ns.saturating_sub(duration_min_ns).saturating_add(1);
                let duration = duration_min_ns + self.rng.below(spread);
                window(end.checked_add(gap as u64 + 1)?, duration)
            }
        }
    }
}

fn window(start: u64, duration: u64) -> Option<(u64, u64)> {
    Some((start, start.checked_add(duration)?))
}

#[cfg(test)]
mod tests;

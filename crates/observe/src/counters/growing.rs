//! A counter that never goes back.
//!
//! Duty: add up what was counted between readings. Data in: readings. Data out: the total so far. It must not know
//! what is counted.

/// The kernel prints this field with 32 bits.
const ROUND: u64 = 1 << 32;

/// The readings of one counter.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Growing {
    last: Option<u64>,
    total: u64,
}

impl Growing {
    /// The total after a reading of a counter of 64 bits. The first reading is the total as it is.
    pub(super) fn read(&mut self, now: u64) -> u64 {
        self.step(now, false)
    }

    /// The same of a field that begins again at 2³².
    pub(super) fn read_32_bits(&mut self, now: u64) -> u64 {
        self.step(now, true)
    }

    fn step(&mut self, now: u64, wraps: bool) -> u64 {
        let last = self.last.unwrap_or(0);
        let grown = if now >= last {
            now - last
        } else if wraps && (ROUND - ROUND / 4..ROUND).contains(&last) && now < ROUND / 4 {
            now + ROUND - last
        } else if now < last / 2 {
            // It started again: a device was taken away and came back, a CPU was switched off and on.
            now
        } else {
            // A sum over CPUs that were not read at one moment; iowait may do so at any time (proc(5)).
            return self.total;
        };
        self.last = Some(now);
        self.total = self.total.saturating_add(grown);
        self.total
    }
}

#[cfg(test)]
mod tests;

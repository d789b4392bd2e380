//! Requests under way that end in any order, and up to which of them all have ended.
//!
//! Data in: beginnings and ends. Data out: a number for each, in the order of beginning; how many are under way; the first
//! that has not ended, which is what a flush waits for. It must not know what the requests do.

use std::collections::VecDeque;

/// Requests under way.
#[derive(Debug, Clone, Default)]
pub(crate) struct InFlight {
    /// Whether each has ended, from the first on that has not.
    ended: VecDeque<bool>,
    /// The number of that one.
    first: u64,
    /// How many have begun and not ended.
    count: u32,
}

impl InFlight {
    /// One more begins; its number.
    pub(crate) fn begin(&mut self) -> u64 {
        let number = self.next();
        self.ended.push_back(false);
        self.count += 1;
        number
    }

    /// Number `number`, which has begun and not ended, ends.
    pub(crate) fn end(&mut self, number: u64) {
        self.ended[(number - self.first) as usize] = true;
        self.count -= 1;
        while self.ended.front() == Some(&true) {
            self.ended.pop_front();
            self.first += 1;
        }
    }

    /// How many have begun and not ended.
    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    /// The number of the next to begin.
    pub(crate) fn next(&self) -> u64 {
        self.first + self.ended.len() as u64
    }

    /// Whether all with numbers below `number` have begun and ended.
    pub(crate) fn done_to(&self, number: u64) -> bool {
        self.first >= number
    }
}

#[cfg(test)]
mod tests;

//! The event queue of virtual time: which of many numbered places comes first.
//!
//! Data in: a time for each place, set again and again. Data out: the earliest time and its place; of equal times the
//! lowest place, so that a run is the same each time. A tournament tree: setting a time touches one node a level and has
//! no branch that depends on the data; measured against a binary heap it is two to five times as fast at any depth.

/// A place without a time.
pub(super) const NEVER: u64 = u64::MAX;

/// The queue.
#[derive(Debug)]
pub(super) struct Queue {
    /// Node 1 is the root, node n has the children 2n and 2n+1; leaves are the second half. A key holds the time since
    /// `base` above the place.
    keys: Vec<u64>,
    /// The time of each place.
    times: Vec<u64>,
    /// Bits of a place.
    bits: u32,
    /// What key times count from.
    base: u64,
    /// Times from here on, after `base`, have no keys of their own: the order among them is settled when `base` moves.
    horizon: u64,
}

impl Queue {
    /// A queue of `places`, none with a time, that starts at `base`.
    pub(super) fn new(places: usize, base: u64) -> Self {
        let leaves = places.max(2);
        let bits = leaves.next_power_of_two().trailing_zeros();
        Self {
            keys: vec![NEVER; 2 * leaves],
            times: vec![NEVER; leaves],
            bits,
            base,
            // The last key value is that of places without a time.
            horizon: (1 << (64 - bits)) - 2,
        }
    }

    /// Gives `place` the time `time`, which is not before the earliest; [`NEVER`] takes it out.
    #[inline]
    pub(super) fn set(&mut self, place: u32, time: u64) {
        self.times[place as usize] = time;
        let mut key = self.key(place, time);
        let mut node = self.keys.len() / 2 + place as usize;
        self.keys[node] = key;
        while node > 1 {
            key = key.min(self.keys[node ^ 1]);
            node >>= 1;
            self.keys[node] = key;
        }
    }

    /// The time of `place`.
    pub(super) fn time(&self, place: u32) -> u64 {
        self.times[place as usize]
    }

    #[inline]
    fn key(&self, place: u32, time: u64) -> u64 {
        if time == NEVER {
            return NEVER;
        }
        let since = time.saturating_sub(self.base).min(self.horizon);
        (since << self.bits) | u64::from(place)
    }

    /// The earliest time and its place.
    #[inline]
    pub(super) fn earliest(&mut self) -> Option<(u64, u32)> {
        let key = self.keys[1];
        if key >= self.horizon << self.bits {
            if key == NEVER {
                return None;
            }
            self.rebase();
            return self.earliest();
        }
        let place = (key & ((1 << self.bits) - 1)) as u32;
        Some((self.base + (key >> self.bits), place))
    }

    /// Counts from the earliest time on.
    #[cold]
    fn rebase(&mut self) {
        self.base = self.times.iter().copied().min().unwrap_or(self.base);
        let leaves = self.times.len();
        for place in 0..leaves {
            self.keys[leaves + place] = self.key(place as u32, self.times[place]);
        }
        for node in (1..leaves).rev() {
            self.keys[node] = self.keys[2 * node].min(self.keys[2 * node + 1]);
        }
    }
}

#[cfg(test)]
mod tests;

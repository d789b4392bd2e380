//! An event queue of virtual time, or of one worker's plans: which of many numbered places comes first.
//!
//! Data in: a time for each place, set again and again. Data out: the earliest time and its place; of equal times the
//! lowest place, so that a run is the same each time. A tournament tree: setting a time touches one node a level and has
//! no branch that depends on the data; measured against a binary heap it is two to five times as fast at any depth.

use std::collections::BTreeMap;

/// A place without a time.
pub(crate) const NEVER: u64 = u64::MAX;

#[derive(Debug)]
pub(crate) struct Queue {
    /// Node 1 is the root, node n has the children 2n and 2n+1; leaves are the second half. A key holds the time since
    /// `base` above the place.
    keys: Vec<u64>,
    /// Bits of a place.
    bits: u32,
    /// What key times count from.
    base: u64,
    /// Times from here on, after `base`, have no keys of their own: the order among them is settled when `base` moves.
    horizon: u64,
    /// The places with such times.
    far: BTreeMap<u32, u64>,
}

impl Queue {
    /// A queue of `places`, none with a time, that starts at `base`.
    pub(crate) fn new(places: usize, base: u64) -> Self {
        // A power of two: the way up is as long from every place, so that the processor knows its length.
        let leaves = places.max(2).next_power_of_two();
        let bits = leaves.trailing_zeros();
        Self {
            keys: vec![NEVER; 2 * leaves],
            bits,
            base,
            // The last key value is that of places without a time.
            horizon: (1 << (64 - bits)) - 2,
            far: BTreeMap::new(),
        }
    }

    /// Gives `place` the time `time`, which is not before the earliest; [`NEVER`] takes it out.
    #[inline]
    pub(crate) fn set(&mut self, place: u32, time: u64) {
        let mut key = self.key(place, time);
        let mut node = self.keys.len() / 2 + place as usize;
        self.keys[node] = key;
        while node > 1 {
            key = key.min(self.keys[node ^ 1]);
            node >>= 1;
            self.keys[node] = key;
        }
    }

    #[inline]
    fn key(&mut self, place: u32, time: u64) -> u64 {
        let since = time.saturating_sub(self.base);
        if since >= self.horizon || !self.far.is_empty() {
            return self.key_of_far(place, time);
        }
        (since << self.bits) | u64::from(place)
    }

    #[cold]
    fn key_of_far(&mut self, place: u32, time: u64) -> u64 {
        self.far.remove(&place);
        if time == NEVER {
            return NEVER;
        }
        let since = time.saturating_sub(self.base);
        if since >= self.horizon {
            self.far.insert(place, time);
        }
        (since.min(self.horizon) << self.bits) | u64::from(place)
    }

    /// The time of `place`.
    pub(crate) fn time(&self, place: u32) -> u64 {
        let key = self.keys[self.keys.len() / 2 + place as usize];
        match self.far.get(&place) {
            Some(&time) => time,
            None if key == NEVER => NEVER,
            None => self.base + (key >> self.bits),
        }
    }

    /// The earliest time and its place.
    #[inline]
    pub(crate) fn earliest(&mut self) -> Option<(u64, u32)> {
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
        let leaves = self.keys.len() / 2;
        let times: Vec<u64> = (0..leaves as u32).map(|place| self.time(place)).collect();
        self.base = times.iter().copied().min().unwrap_or(self.base);
        self.far.clear();
        for (place, &time) in times.iter().enumerate() {
            self.keys[leaves + place] = self.key(place as u32, time);
        }
        for node in (1..leaves).rev() {
            self.keys[node] = self.keys[2 * node].min(self.keys[2 * node + 1]);
        }
    }
}

#[cfg(test)]
mod tests;

//! Who made most of something lately.
//!
//! Duty: add up what each task did to a thing (pages of an inode made dirty, blocks of a device freed) and name the one that
//! did most. Data in: task, thing, how much. Data out: a task. It must not know what is counted. Memory is bounded: of a
//! thing the eight that did most, of things those that were touched last.

use std::collections::HashMap;
use std::hash::Hash;

/// Tasks of a thing that are told apart.
const TASKS: usize = 8;
/// Things that are known at a time.
const THINGS: usize = 16_384;

/// What some tasks did to one thing.
#[derive(Debug, Clone, Default)]
struct Tally {
    tasks: Vec<(u32, u64)>,
    touched_ns: u64,
}

/// What tasks did to things.
#[derive(Debug)]
pub(super) struct Principals<K> {
    things: HashMap<K, Tally>,
}

impl<K> Default for Principals<K> {
    fn default() -> Self {
        Self {
            things: HashMap::new(),
        }
    }
}

impl<K: Eq + Hash + Copy> Principals<K> {
    /// `tid` did so much to `thing`.
    pub(super) fn did(&mut self, at_ns: u64, thing: K, tid: u32, amount: u64) {
        if self.things.len() >= THINGS && !self.things.contains_key(&thing) {
            self.forget_half();
        }
        let tally = self.things.entry(thing).or_default();
        tally.touched_ns = at_ns;
        if let Some(known) = tally.tasks.iter_mut().find(|known| known.0 == tid) {
            known.1 = known.1.saturating_add(amount);
        } else if tally.tasks.len() < TASKS {
            tally.tasks.push((tid, amount));
        } else if let Some(least) = tally.tasks.iter_mut().min_by_key(|known| known.1) {
            // It takes over what it replaces: else nine in turn would each stay at nothing.
            *least = (tid, least.1.saturating_add(amount));
        }
    }

    /// Who did most to it, as far as is known.
    pub(super) fn of(&self, thing: K) -> Option<u32> {
        let tasks = &self.things.get(&thing)?.tasks;
        tasks.iter().max_by_key(|known| known.1).map(|known| known.0)
    }

    /// What was done to it counts half from here on, and the principal stays until another does more.
    pub(super) fn age(&mut self, thing: K) {
        if let Some(tally) = self.things.get_mut(&thing) {
            tally.tasks.iter_mut().for_each(|known| known.1 /= 2);
            let most = tally.tasks.iter().map(|known| known.1).max().unwrap_or(0);
            let mut one = most == 0;
            tally
                .tasks
                .retain(|known| known.1 > 0 || std::mem::replace(&mut one, false));
        }
    }

    /// The same of all.
    pub(super) fn age_all(&mut self) {
        let things: Vec<K> = self.things.keys().copied().collect();
        for thing in things {
            self.age(thing);
        }
    }

    fn forget_half(&mut self) {
        let mut times: Vec<u64> = self.things.values().map(|tally| tally.touched_ns).collect();
        let middle = times.len() / 2;
        let (_, &mut median_ns, _) = times.select_nth_unstable(middle);
        self.things.retain(|_, tally| tally.touched_ns > median_ns);
    }
}

#[cfg(test)]
mod tests;

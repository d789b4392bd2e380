//! Whose time is: sums in nanoseconds.
//!
//! Data in: spans of time with their owners. Data out: sums that add up to the spans exactly. It must not know how an owner
//! is found.

use crate::explain::answer::{OwnerClass, Process};

/// Who had a span of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::explain::spike) struct Owner {
    pub class: OwnerClass,
    pub process: Option<Process>,
}

impl Owner {
    pub(in crate::explain::spike) const NOT_SEEN: Self = Self::of(OwnerClass::NotSeen);

    pub(in crate::explain::spike) const fn of(class: OwnerClass) -> Self {
        Self { class, process: None }
    }

    pub(in crate::explain::spike) const fn by(class: OwnerClass, process: Process) -> Self {
        Self {
            class,
            process: Some(process),
        }
    }
}

/// Sums by owner, in the order of owners: most have two or three, and there is one for each I/O that is looked at.
#[derive(Debug, Clone, Default)]
pub(in crate::explain::spike) struct Ledger(Vec<(Owner, u64)>);

impl Ledger {
    pub(in crate::explain::spike) fn add(&mut self, owner: Owner, ns: u64) {
        if ns == 0 {
            return;
        }
        match self.0.binary_search_by_key(&owner, |(known, _)| *known) {
            Ok(place) => self.0[place].1 += ns,
            Err(place) => self.0.insert(place, (owner, ns)),
        }
    }

    /// Divides `ns` among owners by their weights; what rounding leaves is the last one's.
    pub(super) fn divide(&mut self, ns: u64, shares: &[(Owner, f64)]) {
        let all: f64 = shares.iter().map(|(_, weight)| weight).sum();
        let mut left = ns;
        for (index, (owner, weight)) in shares.iter().enumerate() {
            let part = if index + 1 == shares.len() {
                left
            } else {
                ((ns as f64 * weight / all.max(f64::MIN_POSITIVE)) as u64).min(left)
            };
            left -= part;
            self.add(*owner, part);
        }
        self.add(Owner::NOT_SEEN, left);
    }

    /// Takes another one in so many times.
    pub(in crate::explain::spike) fn join(&mut self, other: &Self, times: f64) {
        for (owner, ns) in &other.0 {
            self.add(*owner, (*ns as f64 * times).round() as u64);
        }
    }

    /// Takes another one in, scaled so that it adds `ns` in all.
    pub(super) fn join_scaled(&mut self, other: &Self, ns: u64) {
        let shares: Vec<(Owner, f64)> = other.0.iter().map(|(owner, ns)| (*owner, *ns as f64)).collect();
        self.divide(ns, &shares);
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (Owner, u64)> {
        self.0.iter().copied()
    }

    /// Takes one class out.
    pub(super) fn take(&mut self, class: OwnerClass) -> u64 {
        let ns = self.of_class(class);
        self.0.retain(|(owner, _)| owner.class != class);
        ns
    }

    pub(in crate::explain::spike) fn total_ns(&self) -> u64 {
        self.0.iter().map(|(_, ns)| ns).sum()
    }

    /// Those of one class, all processes together.
    pub(in crate::explain::spike) fn of_class(&self, class: OwnerClass) -> u64 {
        let of_it = self.0.iter().filter(|(owner, _)| owner.class == class);
        of_it.map(|(_, ns)| ns).sum()
    }

    /// All, the largest first. Tasks of one name and one `group` are put together, under the number of the one that had most.
    pub(in crate::explain::spike) fn sorted<G: PartialEq>(
        &self,
        group: impl Fn(u32) -> G,
    ) -> Vec<(Owner, u64)> {
        let mut all = self.0.clone();
        let order = |a: &(Owner, u64), b: &(Owner, u64)| b.1.cmp(&a.1).then(a.0.cmp(&b.0));
        all.sort_by(order);
        let mut names: Vec<(Owner, u64)> = Vec::new();
        let name = |owner: &Owner| owner.process.map(|process| (process.comm, group(process.pid)));
        for (owner, ns) in all {
            let known = names
                .iter_mut()
                .find(|(known, _)| known.class == owner.class && name(known) == name(&owner));
            match known {
                Some((_, sum)) => *sum += ns,
                None => names.push((owner, ns)),
            }
        }
        names.sort_by(order);
        names
    }
}

#[cfg(test)]
mod tests;

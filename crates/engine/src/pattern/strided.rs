//! A region gone through zone by zone: so many bytes in each, in sequence or at random, then the next.
//!
//! Data in: the length of each I/O. Data out: where it begins. After the last zone the first comes again; the amount of I/O
//! ends a pass.

use super::permutation::Permutation;
use fathom_core::rng::Rng;
use fathom_core::workload::Strides;

/// Where an I/O may be within a zone.
#[derive(Debug, Clone)]
enum Within {
    Sequence {
        /// Bytes from the zone's start.
        next: u64,
    },
    /// Each block once a visit.
    Once(Permutation),
    /// Any block.
    Any,
}

/// The zones of one region.
#[derive(Debug, Clone)]
pub struct Strided {
    strides: Strides,
    /// The region's length.
    region: u64,
    /// Blocks begin at multiples of this from the zone's start.
    align: u64,
    /// The least that has to fit.
    smallest: u64,
    within: Within,
    /// Where the zone begins, in bytes from the start of the region.
    zone: u64,
    /// Done in it, in bytes.
    done: u64,
}

impl Strided {
    /// Zones of `region` bytes for blocks of `align` at least. `random`: at random in each, and each block once.
    pub(super) fn new(strides: Strides, region: u64, align: u64, random: (bool, bool), seed: u64) -> Self {
        let within = match random {
            (false, _) => Within::Sequence { next: 0 },
            (true, true) => Within::Once(Permutation::new(0, seed)),
            (true, false) => Within::Any,
        };
        let mut strided = Self {
            strides,
            region,
            align,
            smallest: align,
            within,
            zone: 0,
            done: 0,
        };
        strided.enter(seed);
        strided
    }

    /// How large the zone is: the last may be cut.
    fn range(&self) -> u64 {
        self.strides.range_bytes.min(self.region - self.zone)
    }

    fn enter(&mut self, seed: u64) {
        self.done = 0;
        let blocks = self.range() / self.align;
        match &mut self.within {
            Within::Sequence { next } => *next = 0,
            Within::Once(permutation) => *permutation = Permutation::new(blocks, seed),
            Within::Any => {}
        }
    }

    /// Begins with the first zone.
    pub(super) fn restart(&mut self, seed: u64) {
        self.zone = 0;
        self.enter(seed);
    }

    /// Where the next I/O of `len` bytes begins, in bytes from the start of the region, and how long it may be; `None`: not
    /// even one block fits.
    pub(super) fn take(&mut self, len: u32, rng: &mut Rng) -> Option<(u64, u32)> {
        if self.done >= self.strides.amount_bytes {
            let step = self.strides.range_bytes.saturating_add(self.strides.skip_bytes);
            self.zone = self.zone.saturating_add(step);
            if self.zone.saturating_add(self.smallest) > self.region {
                self.zone = 0;
            }
            self.enter(rng.next_u64());
        }
        let range = self.range();
        if range < self.smallest {
            return None;
        }
        let align = self.align;
        let at = match &mut self.within {
            Within::Sequence { next } => {
                if *next + self.smallest > range {
                    *next = 0;
                }
                let at = *next;
                *next += u64::from(len).min(range - at);
                at
            }
            Within::Once(permutation) => {
                if permutation.is_done() {
                    permutation.restart(rng.next_u64());
                }
                permutation.next()? * align
            }
            Within::Any => rng.below(range / align) * align,
        };
        let len = u64::from(len).min(range - at) as u32;
        self.done += u64::from(len);
        Some((self.zone + at, len))
    }
}

#[cfg(test)]
mod tests;

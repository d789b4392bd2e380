//! Priorities that I/Os have by themselves: which of them have one, and how long those of each took.
//!
//! Data in: draws, completions. Data out: a priority for each I/O, and latencies by priority. It must not know how the system
//! is told.

use crate::interval::Stamps;
use fathom_core::backend::{Op, Request};
use fathom_core::histogram::Histogram;
use fathom_core::rng::Rng;
use fathom_core::run::PriorityAccount;
use fathom_core::workload::{CommandPriorities, IoPriority, Job};

/// The priorities of one worker's I/Os. Allocates nothing once it is made.
#[derive(Debug)]
pub struct Priorities {
    wanted: CommandPriorities,
    /// What I/Os have that get none by themselves; 0: that of a thread without one.
    usual: u8,
    rng: Rng,
    /// Of the I/Os in flight, by their slots.
    by_slot: Box<[u8]>,
    /// Reads and writes by priority: all that there can be.
    counts: Vec<Count>,
}

#[derive(Debug)]
struct Count {
    op: Op,
    priority: u8,
    clat: Histogram,
    lat: Histogram,
}

impl Priorities {
    /// Those of a worker of `job` with so many slots; `None`: no I/O has one of its own.
    pub(crate) fn new(job: &Job, slots: u32, seed: u64) -> Option<Self> {
        let wanted = job.command_priorities.clone();
        if !wanted.any() {
            return None;
        }
        let usual = job.io_priority.map_or(0, IoPriority::packed);
        let mut counts: Vec<Count> = Vec::new();
        for op in [Op::Read, Op::Write] {
            let at = op.index();
            let sized = wanted.by_size[at].iter();
            let sized = sized.map(|share| share.priority.unwrap_or(wanted.priority[at]));
            let all = std::iter::once(usual).chain(
                std::iter::once(wanted.priority[at])
                    .chain(sized)
                    .map(IoPriority::packed),
            );
            for priority in all {
                if !counts
                    .iter()
                    .any(|count| count.op == op && count.priority == priority)
                {
                    counts.push(Count {
                        op,
                        priority,
                        clat: Histogram::reserved(),
                        lat: Histogram::reserved(),
                    });
                }
            }
        }
        counts.sort_by_key(|count| (count.op.index(), count.priority));
        Some(Self {
            wanted,
            usual,
            rng: Rng::new(seed),
            by_slot: vec![0; slots as usize].into_boxed_slice(),
            counts,
        })
    }

    /// Gives an I/O its priority.
    pub(super) fn sent(&mut self, request: &Request) {
        let drawn = match request.op {
            Op::Read | Op::Write => self.draw(request.op.index(), request.len.into()),
            Op::Trim | Op::Sync | Op::DataSync => None,
        };
        if let Some(place) = self.by_slot.get_mut(request.slot as usize) {
            *place = drawn.map_or(self.usual, IoPriority::packed);
        }
    }

    fn draw(&mut self, op: usize, bytes: u64) -> Option<IoPriority> {
        let usual = self.wanted.priority[op];
        let shares = &self.wanted.by_size[op];
        if shares.is_empty() {
            return self.rng.percent(self.wanted.percent[op]).then_some(usual);
        }
        let drawn = self.rng.below(100);
        let mut until = 0;
        shares
            .iter()
            .filter(|share| share.bytes == bytes)
            .find(|share| {
                until += u64::from(share.percent);
                drawn < until
            })
            .map(|share| share.priority.unwrap_or(usual))
    }

    /// That of the I/O in `slot`; 0: none.
    pub(super) fn of_slot(&self, slot: u32) -> u8 {
        self.by_slot.get(slot as usize).copied().unwrap_or(0)
    }

    /// What the system is told of the I/O in `slot`: 0 where it has that of its thread.
    pub(super) fn number_of_slot(&self, slot: u32) -> u16 {
        match self.of_slot(slot) {
            priority if priority == self.usual => 0,
            priority => IoPriority::unpacked(priority).number(),
        }
    }

    /// Counts an I/O that succeeded.
    pub(super) fn completed(&mut self, op: Op, slot: u32, stamps: &Stamps) {
        let priority = self.of_slot(slot);
        let mut counts = self.counts.iter_mut();
        if let Some(count) = counts.find(|count| count.op == op && count.priority == priority) {
            count
                .clat
                .record(stamps.completed.saturating_sub(stamps.submitted));
            count.lat.record(stamps.completed.saturating_sub(stamps.created));
        }
    }

    /// What was counted, without what there was none of.
    pub(super) fn into_accounts(self) -> Vec<PriorityAccount> {
        let counts = self.counts.into_iter().filter(|count| count.lat.n() > 0);
        counts
            .map(|count| PriorityAccount {
                op: count.op,
                priority: IoPriority::unpacked(count.priority),
                clat: count.clat,
                lat: count.lat,
            })
            .collect()
    }
}

#[cfg(test)]
mod tests;

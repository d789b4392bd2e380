//! What held a worker's next I/O up: the I/O of its own that ended next, and what put that one behind.
//!
//! Data in: I/Os of a worker in the order of their ends, each with whose its time was; when some of its I/Os were due and not
//! sent. Data out: whose such a time was. It must not know how an owner is found.
//!
//! Behind I/Os that take what they always take, and while its worker computes, one waits for whatever made the worker late: what was lost since it is behind,
//! by its owners, as far as that goes. Only where more was asked for than before is the rest its own queue.

use super::ledger::{Ledger, Owner};
use crate::explain::answer::OwnerClass;
use crate::explain::spike::served::Busy;

type Worker = (u32, u32);

#[derive(Debug, Default)]
pub(super) struct Queue {
    lines: Vec<Line>,
    /// More was asked for than before: the load made its queue itself.
    pub surge: bool,
}

#[derive(Debug)]
struct Line {
    worker: Worker,
    /// Times in which an I/O was due and not sent.
    late: Busy,
    /// Ascending and apart.
    held: Vec<Held>,
    /// What was lost since the worker is late.
    lost: Ledger,
    late_since_ns: Option<u64>,
}

#[derive(Debug)]
struct Held {
    from_ns: u64,
    to_ns: u64,
    ledger: Ledger,
    lost: Ledger,
}

impl Queue {
    /// A worker that had I/Os due and not sent at these times.
    pub(super) fn line(&mut self, worker: Worker, late: Busy) {
        self.lines.push(Line {
            worker,
            late,
            held: Vec::new(),
            lost: Ledger::default(),
            late_since_ns: None,
        });
    }

    /// Adds what an I/O of a worker had from when it could be why the next one waits.
    pub(super) fn push(&mut self, worker: Worker, from_ns: u64, to_ns: u64, ledger: Ledger) {
        let Some(line) = self.lines.iter_mut().find(|line| line.worker == worker) else {
            return;
        };
        let late_since_ns = line.late.begin_of(to_ns);
        if late_since_ns != line.late_since_ns || late_since_ns.is_none() {
            line.late_since_ns = late_since_ns;
            line.lost = Ledger::default();
        }
        for (owner, ns) in ledger.iter().filter(|_| late_since_ns.is_some()) {
            let own = matches!(
                owner.class,
                OwnerClass::Usual | OwnerClass::OwnQueue | OwnerClass::OwnCpu
            );
            if !own {
                line.lost.add(owner, ns);
            }
        }
        let from_ns = line.held.last().map_or(from_ns, |last| from_ns.max(last.to_ns));
        if from_ns < to_ns {
            line.held.push(Held {
                from_ns,
                to_ns,
                ledger,
                lost: line.lost.clone(),
            });
        }
    }

    fn held(&self, worker: Option<Worker>) -> &[Held] {
        let line = worker.and_then(|worker| self.lines.iter().find(|line| line.worker == worker));
        line.map_or(&[], |line| line.held.as_slice())
    }

    /// Whose a time was in which the worker had an I/O due and did not send it.
    pub(super) fn add(&self, worker: Option<Worker>, (from, to): (u64, u64), found: &mut Ledger) {
        let line = self.held(worker);
        let first = line.partition_point(|held| held.to_ns <= from);
        let mut at = from;
        let mut behind = Ledger::default();
        let mut last = None;
        for held in line[first..].iter().take_while(|held| held.from_ns < to) {
            let (begin, end) = (held.from_ns.max(at), held.to_ns.min(to));
            if at < begin {
                behind.add(Owner::NOT_SEEN, begin - at);
            }
            if begin < end {
                behind.join_scaled(&held.ledger, end - begin);
                at = end;
                last = Some(held);
            }
        }
        if at < to {
            let owner = if self.surge {
                Owner::of(OwnerClass::OwnQueue)
            } else {
                Owner::NOT_SEEN
            };
            behind.add(owner, to - at);
        }
        let mut own = Ledger::default();
        own.add(
            Owner::of(OwnerClass::OwnQueue),
            behind.take(OwnerClass::Usual) + behind.take(OwnerClass::OwnQueue),
        );
        own.add(Owner::of(OwnerClass::OwnCpu), behind.take(OwnerClass::OwnCpu));
        found.join(&behind, 1.0);
        self.own(last, &own, found);
    }

    /// What an I/O had behind a longer queue of its own, or while its worker computed, a worker that is late has from what put
    /// it behind.
    pub(super) fn inherit(&self, worker: Option<Worker>, at_ns: u64, ledger: &mut Ledger) {
        let line = self.held(worker);
        let before = line.partition_point(|held| held.to_ns <= at_ns).checked_sub(1);
        if let Some(before) = before {
            let mut own = Ledger::default();
            for class in [OwnerClass::OwnQueue, OwnerClass::OwnCpu] {
                own.add(Owner::of(class), ledger.take(class));
            }
            self.own(line.get(before), &own, ledger);
        }
    }

    /// No more is from what was lost than was lost.
    fn own(&self, held: Option<&Held>, own: &Ledger, found: &mut Ledger) {
        let lost = held.filter(|_| !self.surge).map(|held| &held.lost);
        let inherited_ns = lost.map_or(0, Ledger::total_ns).min(own.total_ns());
        if let Some(lost) = lost {
            found.join_scaled(lost, inherited_ns);
        }
        found.join_scaled(own, own.total_ns() - inherited_ns);
    }
}

#[cfg(test)]
mod tests;

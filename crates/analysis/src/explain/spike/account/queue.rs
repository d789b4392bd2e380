//! What held up an I/O that was due and not sent: those of its worker before it.
//!
//! Data in: the paths of a worker's I/Os. Data out: whose a time was. It must not know how a path is found.

use super::super::scene::SlowIo;
use super::ledger::{Ledger, Owner};
use crate::explain::answer::OwnerClass;

/// What held each worker's next I/O up: the I/O of its own that ended next.
#[derive(Debug, Default)]
pub(super) struct Queue {
    /// Of each worker: spans, ascending and apart, each with whose it was, in parts of it.
    lines: Vec<((u32, u32), Vec<Held>)>,
    /// Nobody is known to have held anything up: the load asked for more than its depth lets through.
    pub surge: bool,
}

#[derive(Debug)]
struct Held {
    from_ns: u64,
    to_ns: u64,
    ledger: Ledger,
}

impl Queue {
    /// Adds what an I/O of a worker had from when it could be why the next one waits.
    pub(super) fn push(&mut self, worker: (u32, u32), from_ns: u64, to_ns: u64, ledger: Ledger) {
        let known = self.lines.iter().position(|(known, _)| *known == worker);
        let index = known.unwrap_or_else(|| {
            self.lines.push((worker, Vec::new()));
            self.lines.len() - 1
        });
        let line = &mut self.lines[index].1;
        let from_ns = line.last().map_or(from_ns, |last: &Held| from_ns.max(last.to_ns));
        if from_ns < to_ns {
            line.push(Held {
                from_ns,
                to_ns,
                ledger,
            });
        }
    }

    /// Whose a time was in which the worker had an I/O due and did not send it.
    pub(super) fn add(&self, io: &SlowIo, (from, to): (u64, u64), found: &mut Ledger) {
        let line = io
            .worker
            .and_then(|worker| self.lines.iter().find(|(known, _)| *known == worker));
        let line = line.map_or(&[][..], |(_, line)| line.as_slice());
        let first = line.partition_point(|held| held.to_ns <= from);
        let mut at = from;
        for held in line[first..].iter().take_while(|held| held.from_ns < to) {
            let (begin, end) = (held.from_ns.max(at), held.to_ns.min(to));
            if at < begin {
                found.add(Owner::NOT_SEEN, begin - at);
            }
            if begin < end {
                found.join_scaled(&own_queue(&held.ledger), end - begin);
                at = end;
            }
        }
        if at < to {
            let owner = if self.surge {
                Owner::of(OwnerClass::OwnQueue)
            } else {
                Owner::NOT_SEEN
            };
            found.add(owner, to - at);
        }
    }
}

/// What is usual for an I/O that is waited for is a queue of the load's own for the one that waits.
fn own_queue(ledger: &Ledger) -> Ledger {
    let mut turned = Ledger::default();
    for (owner, ns) in ledger.sorted() {
        let owner = match owner.class {
            OwnerClass::Usual => Owner::of(OwnerClass::OwnQueue),
            _ => owner,
        };
        turned.add(owner, ns);
    }
    turned
}

//! The first pass over stays on CPUs, where there is no load whose I/Os could be looked at: threads that were kept from
//! running.
//!
//! Data in: batches of stays, in the order of their ends. Data out: times in which a thread could have run and was not let. It
//! must not know which threads matter: that shows in the requests.

use super::Facts;
use super::timeline::SECOND_NS;
use fathom_core::record::{BlockedOn, Comm, SchedSlice, TaskState};
use std::collections::HashMap;

/// A thread that is kept from running for less is delayed as threads always are: some time slices of its neighbours.
pub(super) const HELD_MIN_NS: u64 = 20_000_000;
/// No run is longer: a month.
const RUN_MAX_NS: u64 = 31 * 24 * 3600 * SECOND_NS;
/// Threads that are told apart, and times that are kept.
const THREADS_MAX: usize = 1 << 16;
const HELD_MAX: usize = 1 << 16;

/// A time in which a thread was not let run: it had no CPU, its quota was used up, it was frozen or stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Held {
    pub tid: u32,
    pub comm: Comm,
    pub from_ns: u64,
    pub to_ns: u64,
}

/// Takes rows in.
#[derive(Debug)]
pub struct SchedScan {
    started_ns: u64,
    /// How each thread left its CPU last.
    left: HashMap<u32, Left>,
    held: Vec<Held>,
}

#[derive(Debug, Clone, Copy)]
struct Left {
    at_ns: u64,
    /// Whether it could have gone on, had it been let.
    kept_off: bool,
}

/// What was found of the threads.
#[derive(Debug)]
pub struct SchedScanned {
    /// In the order of their ends.
    pub(super) held: Vec<Held>,
}

impl SchedScan {
    /// Ready for the rows of this run.
    pub fn new(facts: &Facts<'_>) -> Self {
        Self {
            started_ns: facts.started_ns(),
            left: HashMap::new(),
            held: Vec::new(),
        }
    }

    /// Takes rows in.
    pub fn feed(&mut self, rows: &[SchedSlice]) {
        for row in rows {
            self.count(row);
        }
    }

    fn count(&mut self, row: &SchedSlice) {
        // Rows with times that no run has are passed over.
        let last_ns = self.started_ns.saturating_add(RUN_MAX_NS);
        if row.start_ns > row.end_ns || row.end_ns > last_ns {
            return;
        }
        let left = self.left.get(&row.tid);
        let kept_off_ns = left.filter(|left| left.kept_off).map(|left| left.at_ns);
        // It waits for a CPU from its waking on, or since it was kept off.
        let from_ns = kept_off_ns.or(row.ready_ns).unwrap_or(row.start_ns);
        let from_ns = from_ns.max(self.started_ns);
        if row.start_ns.saturating_sub(from_ns) >= HELD_MIN_NS && self.held.len() < HELD_MAX {
            self.held.push(Held {
                tid: row.tid,
                comm: row.comm,
                from_ns,
                to_ns: row.start_ns,
            });
        }
        if self.left.len() < THREADS_MAX || self.left.contains_key(&row.tid) {
            let kept_off = matches!(row.state, TaskState::Preempted | TaskState::Stopped)
                || matches!(
                    row.blocked_on,
                    BlockedOn::Quota | BlockedOn::Frozen | BlockedOn::Stopped
                );
            let at_ns = row.end_ns;
            self.left.insert(row.tid, Left { at_ns, kept_off });
        }
    }

    /// What was found.
    pub fn finish(mut self) -> SchedScanned {
        self.held.sort_unstable_by_key(|held| (held.to_ns, held.tid));
        SchedScanned { held: self.held }
    }
}

#[cfg(test)]
mod tests;

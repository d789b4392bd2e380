//! A command and all that it started.
//!
//! Duty: tell whether a task is one of them, those that have ended included, and what they spent their time on. Data in: who
//! makes the command, [`SchedEvent`]s in the order of time, stays on CPUs. Data out: yes or no, [`CommandWaits`]. It must not
//! know why it is asked. Memory is bounded: beyond [`TASKS_MAX`] those that ended first are forgotten, and that is told.

use super::decode::{SchedEvent, SchedKind};
use super::tids::TidMap;
use super::waits::Waits;
use fathom_core::record::{SchedSlice, TaskState};
use fathom_core::run::{CommandCourse, CommandWaits};
use std::collections::VecDeque;

/// Tasks that are known at a time, those that have ended among them: 10 MB.
const TASKS_MAX: usize = 262_144;
/// A request that a task queued is its own although it came so long after its last switch: events of several CPUs are in
/// the order of their time to within this.
const SLACK_NS: u64 = 1_000_000;

/// So long after its end the pages that a task made dirty are written: the kernel begins after half a minute
/// (`dirty_expire_centisecs`).
const WRITTEN_NS: u64 = 120_000_000_000;

/// When a task was there.
#[derive(Debug, Clone, Copy)]
struct Life {
    from_ns: u64,
    /// `u64::MAX` while it goes on.
    to_ns: u64,
}

impl Life {
    fn holds(&self, at_ns: u64) -> bool {
        self.from_ns.saturating_sub(SLACK_NS) <= at_ns && at_ns <= self.to_ns.saturating_add(SLACK_NS)
    }
}

/// Follows a command's tasks.
#[derive(Debug)]
pub struct Tree {
    maker: u32,
    from_ns: u64,
    tasks: TidMap<Life>,
    /// In the order of their ends.
    ended: VecDeque<u32>,
    joined: u64,
    forgotten: u64,
    gaps: u64,
    waits: Waits,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeSeen {
    /// Tasks that it consisted of.
    pub tasks: u64,
    /// Those that were there when the watch ended.
    pub living: u64,
    /// What they spent their time on.
    pub waits: CommandWaits,
    pub course: CommandCourse,
    /// What is not known, a sentence each.
    pub remarks: Vec<String>,
}

impl Tree {
    /// All that task `maker` starts from `from_ns` on, and what those start.
    pub fn new(maker: u32, from_ns: u64) -> Self {
        Self {
            maker,
            from_ns,
            tasks: TidMap::default(),
            ended: VecDeque::new(),
            joined: 0,
            forgotten: 0,
            gaps: 0,
            waits: Waits::default(),
        }
    }

    /// The next event; a task that joined by it.
    #[inline]
    pub fn apply(&mut self, event: &SchedEvent) -> Option<u32> {
        match event.kind {
            SchedKind::Fork { parent, child } => self.forked(event.time_ns, parent, child),
            SchedKind::Switch {
                from,
                state: TaskState::Other,
                ..
            } => {
                self.died(event.time_ns, from);
                None
            }
            SchedKind::Gap => {
                self.gaps += 1;
                None
            }
            _ => None,
        }
    }

    fn forked(&mut self, at_ns: u64, parent: u32, child: u32) -> Option<u32> {
        let made_it = parent == self.maker && at_ns >= self.from_ns;
        if !made_it && !self.is_living(parent) {
            // Its number was one of the tree's, and is another's from here on.
            self.died(at_ns, child);
            let life = self.tasks.get(&child);
            if life.is_some_and(|life| life.to_ns.saturating_add(WRITTEN_NS) < at_ns) {
                self.tasks.remove(&child);
            }
            return None;
        }
        if self.tasks.len() >= TASKS_MAX {
            self.forget();
        }
        self.joined += 1;
        let life = Life {
            from_ns: at_ns,
            to_ns: u64::MAX,
        };
        self.tasks.insert(child, life);
        Some(child)
    }

    fn died(&mut self, at_ns: u64, tid: u32) {
        if let Some(life) = self.tasks.get_mut(&tid)
            && life.to_ns == u64::MAX
        {
            life.to_ns = at_ns;
            self.ended.push_back(tid);
            // Its last stay may not be among those that are given.
            self.waits.gone(at_ns, tid);
        }
    }

    /// Makes room for one.
    fn forget(&mut self) {
        while let Some(tid) = self.ended.pop_front() {
            // A number may have come again since.
            if self.tasks.get(&tid).is_some_and(|life| life.to_ns != u64::MAX) {
                self.tasks.remove(&tid);
                self.forgotten += 1;
                return;
            }
        }
    }

    fn is_living(&self, tid: u32) -> bool {
        self.tasks.get(&tid).is_some_and(|life| life.to_ns == u64::MAX)
    }

    /// Whether a task of that number was one of them at that moment.
    #[inline]
    pub fn holds(&self, tid: u32, at_ns: u64) -> bool {
        self.tasks.get(&tid).is_some_and(|life| life.holds(at_ns))
    }

    /// Whether a task of that number was one of them before that moment: what it left behind is carried out later.
    #[inline]
    pub fn held(&self, tid: u32, at_ns: u64) -> bool {
        let life = self.tasks.get(&tid);
        life.is_some_and(|life| life.from_ns.saturating_sub(SLACK_NS) <= at_ns)
    }

    /// Takes in what is known of all tasks' stays; those of others are left alone.
    pub fn stays(&mut self, stays: &[SchedSlice]) {
        for stay in stays {
            if let Some(life) = self.tasks.get(&stay.tid)
                && life.holds(stay.end_ns)
            {
                self.waits.stay(stay, life.to_ns <= stay.end_ns);
            }
        }
    }

    /// The command took from `from_ns` to `to_ns`: only that time is counted.
    pub fn ran(&mut self, from_ns: u64, to_ns: u64) {
        self.waits.within(from_ns, to_ns);
    }

    /// All stays that began before `to_ns` were given.
    pub fn settle(&mut self, to_ns: u64) {
        self.waits.settle(to_ns);
    }

    /// What was seen, after `lost` events that the kernel could not keep.
    pub fn finish(mut self, lost: u64) -> TreeSeen {
        self.waits.settle(u64::MAX);
        let mut remarks = Vec::new();
        if lost > 0 || self.gaps > 0 {
            remarks.push(format!(
                "{lost} events of the scheduler were lost: I/O of processes that were started meanwhile may be counted as others'"
            ));
        }
        if self.forgotten > 0 {
            remarks.push(format!(
                "{} of its tasks were forgotten before the end, more than {TASKS_MAX} at a time are not known: what the kernel \
                 wrote for those later is counted as others'",
                self.forgotten
            ));
        }
        TreeSeen {
            tasks: self.joined,
            living: self.tasks.values().filter(|life| life.to_ns == u64::MAX).count() as u64,
            waits: self.waits.sums(),
            course: self.waits.course(),
            remarks,
        }
    }
}

#[cfg(test)]
mod tests;

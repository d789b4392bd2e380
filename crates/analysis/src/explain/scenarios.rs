//! Evidence of known causes: a small machine is simulated, something is done to it, and what its recorder would have seen is
//! kept.
//!
//! Data in: a seed. Data out: a run with the rows of its streams, and what was done when. The machine has CPUs that tasks
//! compete for, a block layer with tags and a scheduler, a device with several channels, a journal, other processes, and a
//! cgroup's throttle. It must not know the rules that it is used to judge.

mod block;
mod counters;
mod cpu;
mod device;
mod load;
mod machine;
mod make;
mod others;
mod score;

pub use make::{Plan, Set, empty_run, plans, steady};
pub use score::{Outcome, Tally, confusion_markdown, score};

use super::answer::Cause;
use super::evidence::{Evidence, Window};
use super::{BlockScan, CounterScan, Explanation, Facts, IoScan, Scanned, explain};
use fathom_core::record::{BlockRequest, CounterRow, IoRecord, ProcessRow, SchedSlice};
use fathom_core::run::Run;
use std::convert::Infallible;

/// Something that was done to the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Injected {
    /// When.
    pub window: Window,
    /// What a spike in that time is then caused by.
    pub cause: Cause,
    /// The process that did it, by name.
    pub process: Option<String>,
}

/// One simulated run.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// What was simulated, in words, with its seed.
    pub label: String,
    /// Its document.
    pub run: Run,
    /// What was done to it; empty: nothing.
    pub injected: Vec<Injected>,
    /// The load's I/Os, in the order of a recorder: worker by worker, a second at a time.
    pub ios: Vec<IoRecord>,
    /// The device's requests.
    pub requests: Vec<BlockRequest>,
    /// The system's counters.
    pub counters: Vec<CounterRow>,
    /// What processes used.
    pub processes: Vec<ProcessRow>,
    /// Stays on CPUs around slow I/Os.
    pub slices: Vec<SchedSlice>,
}

impl Scenario {
    /// Explains it as the program would. A stream without rows counts as one that was not recorded.
    pub fn explain(&self) -> Explanation {
        self.explain_with(&Facts::new(&self.run))
    }

    /// The same with other facts.
    pub fn explain_with(&self, facts: &Facts<'_>) -> Explanation {
        let mut io = IoScan::new(facts);
        let mut block = BlockScan::new(facts);
        let mut counters = CounterScan::new(facts);
        self.ios.chunks(1000).for_each(|rows| io.feed(rows));
        self.requests.chunks(1000).for_each(|rows| block.feed(rows));
        self.counters.chunks(1000).for_each(|rows| counters.feed(rows));
        let scanned = Scanned {
            io: (!self.ios.is_empty()).then(|| io.finish()),
            block: (!self.requests.is_empty()).then(|| block.finish()),
            counters: (!self.counters.is_empty()).then(|| counters.finish()),
        };
        let mut evidence = self;
        match explain(facts, &scanned, &mut evidence) {
            Ok(explanation) => explanation,
            Err(error) => match error {},
        }
    }
}

fn within<R: Copy>(rows: &[R], windows: &[Window], end: impl Fn(&R) -> u64) -> Vec<R> {
    let holds = |row: &&R| windows.iter().any(|window| window.holds(end(row)));
    rows.iter().filter(holds).copied().collect()
}

impl Evidence for &Scenario {
    type Error = Infallible;

    fn io(&mut self, windows: &[Window], each: &mut dyn FnMut(&[IoRecord])) -> Result<(), Infallible> {
        each(&within(&self.ios, windows, |row| row.completed_ns));
        Ok(())
    }
    fn block(&mut self, windows: &[Window], each: &mut dyn FnMut(&[BlockRequest])) -> Result<(), Infallible> {
        each(&within(&self.requests, windows, |row| row.completed_ns));
        Ok(())
    }
    fn sched(&mut self, windows: &[Window], each: &mut dyn FnMut(&[SchedSlice])) -> Result<(), Infallible> {
        each(&within(&self.slices, windows, |row| row.end_ns));
        Ok(())
    }
    fn processes(
        &mut self,
        windows: &[Window],
        each: &mut dyn FnMut(&[ProcessRow]),
    ) -> Result<(), Infallible> {
        each(&within(&self.processes, windows, |row| row.at_ns));
        Ok(())
    }
}

#[cfg(test)]
mod tests;

//! Simulated machines ([`fathom_testkit::scenarios`]) explained, and how verdicts do against what was done to them.

mod accounting;
mod innocents;
mod score;

use super::answer::{Cause, LimitKind};
use super::evidence::{Evidence, Window};
use super::{BlockScan, CounterScan, Explanation, Facts, IoScan, Scanned, explain};
use fathom_core::record::{BlockRequest, CpuShare, IoRecord, KernelSpan, ProcessRow, SchedSlice};
use fathom_testkit::scenarios::{self, Limit, Scenario, Set};
use std::convert::Infallible;

/// Explains a scenario as the program would. A stream without rows counts as one that was not recorded.
pub(super) fn explained(scenario: &Scenario) -> Explanation {
    explained_with(scenario, &Facts::new(&scenario.run))
}

/// The same with other facts.
pub(super) fn explained_with(scenario: &Scenario, facts: &Facts<'_>) -> Explanation {
    let mut io = IoScan::new(facts);
    let mut block = BlockScan::new(facts);
    let mut counters = CounterScan::new(facts);
    scenario.ios.chunks(1000).for_each(|rows| io.feed(rows));
    scenario.requests.chunks(1000).for_each(|rows| block.feed(rows));
    scenario
        .counters
        .chunks(1000)
        .for_each(|rows| counters.feed(rows));
    let scanned = Scanned {
        io: (!scenario.ios.is_empty()).then(|| io.finish()),
        block: (!scenario.requests.is_empty()).then(|| block.finish()),
        sched: None,
        counters: (!scenario.counters.is_empty()).then(|| counters.finish()),
    };
    let mut evidence = scenario;
    let Ok(explanation) = explain(facts, &scanned, &mut evidence);
    explanation
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
    fn cpus(&mut self, windows: &[Window], each: &mut dyn FnMut(&[CpuShare])) -> Result<(), Infallible> {
        each(&within(&self.cpus, windows, |row| row.end_ns));
        Ok(())
    }
    fn kernel(&mut self, windows: &[Window], each: &mut dyn FnMut(&[KernelSpan])) -> Result<(), Infallible> {
        each(&within(&self.kernel, windows, |row| row.end_ns));
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

/// What a verdict must say of what was done.
fn cause(done: scenarios::Cause) -> Cause {
    match done {
        scenarios::Cause::Device => Cause::Device,
        scenarios::Cause::KernelQueue => Cause::KernelQueue,
        scenarios::Cause::CgroupThrottle => Cause::CgroupThrottle,
        scenarios::Cause::FlushOrJournal => Cause::FlushOrJournal,
        scenarios::Cause::CpuStarvation => Cause::CpuStarvation,
        scenarios::Cause::CompetingIo => Cause::CompetingIo,
        scenarios::Cause::LoadItself => Cause::LoadItself,
        scenarios::Cause::LoadStopped => Cause::LoadStopped,
    }
}

/// Machines that are at a limit all the time, and what must be said of each.
pub(super) fn steady(set: Set) -> impl Iterator<Item = (LimitKind, Scenario)> {
    let kind = |limit| match limit {
        Limit::Iops => LimitKind::Iops,
        Limit::Latency => LimitKind::Latency,
        Limit::AboveBlockLayer => LimitKind::AboveBlockLayer,
        Limit::OwnPace => LimitKind::OwnPace,
        Limit::PageCache => LimitKind::PageCache,
    };
    scenarios::steady(set)
        .into_iter()
        .map(move |(limit, scenario)| (kind(limit), scenario))
}

mod tests;

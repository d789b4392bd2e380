//! A worker in virtual time: a disk that answers as a closure says.

use crate::collect::JobCollector;
use crate::interval::{Exchange, Interval};
use crate::worker::{Ends, Step, Worker, WorkerEnd, WorkerPlan};
use fathom_core::backend::{Op, Outcome, Request};
use fathom_core::run::SeriesRow;
use fathom_core::units::{MonoTime, Nanos};
use fathom_core::workload::Verify;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

/// When the run of a test begins: no round number, so that nothing fits by accident.
pub(crate) const EPOCH: MonoTime = MonoTime(123_456_789_012);

/// What the disk says to one I/O.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Answer {
    /// From creation to submission.
    pub slat: Nanos,
    /// From submission to completion.
    pub clat: Nanos,
    /// How it ends.
    pub outcome: Outcome,
}

/// One I/O as the disk saw it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen {
    pub request: Request,
    pub created: u64,
    pub completed: u64,
    pub outcome: Outcome,
    pub slat: u64,
}

type Due = Reverse<(u64, usize, u32)>;

/// A run of one worker.
pub(crate) struct Sim<F> {
    pub worker: Worker,
    pub now: MonoTime,
    pub seen: Vec<Seen>,
    pub intervals: Vec<Interval>,
    pub ends: Ends,
    exchange: Arc<Exchange>,
    disk: F,
    due: BinaryHeap<Due>,
    /// Whether the contents of a read are good.
    pub good: fn(&Request) -> bool,
    /// The most in flight at any time.
    pub deepest: u32,
}

impl<F: FnMut(&Request, MonoTime) -> Answer> Sim<F> {
    /// A worker that starts at [`EPOCH`].
    pub(crate) fn new(plan: WorkerPlan, disk: F) -> Self {
        let exchange = Arc::new(Exchange::new());
        let ends = Ends::default();
        let mut worker = Worker::new(plan, Arc::clone(&exchange), ends.clone());
        worker.start(EPOCH, EPOCH);
        Self {
            worker,
            now: EPOCH,
            seen: Vec::new(),
            intervals: Vec::new(),
            ends,
            exchange,
            disk,
            due: BinaryHeap::new(),
            good: |_| true,
            deepest: 0,
        }
    }

    /// Trims as `verify` says.
    pub(crate) fn trimming(mut self, verify: &Verify, seed: u64) -> Self {
        self.worker.trim_behind(Some(verify), seed);
        self
    }

    /// Runs to the end.
    pub(crate) fn run(mut self) -> Run {
        while self.step() {}
        self.collect();
        assert_eq!(self.worker.in_flight(), 0);
        let end = self.worker.finish(self.now);
        while let Some(interval) = self.exchange.take() {
            self.intervals.push((*interval).clone());
            self.exchange.give_back(interval);
        }
        self.intervals.push((*end.last).clone());
        Run {
            seen: self.seen,
            intervals: self.intervals,
            end,
            now: self.now,
            deepest: self.deepest,
        }
    }

    /// One decision of the worker. `false`: it is done.
    pub(crate) fn step(&mut self) -> bool {
        match self.worker.next(self.now) {
            Step::Issue(slot) => self.send(slot),
            Step::Wait(until) => {
                let event = self.worker.next_event();
                self.advance(until.min(event).0);
            }
            Step::Full => {
                assert!(!self.due.is_empty(), "full, and nothing is in flight");
                self.advance(u64::MAX);
            }
            Step::NewFiles => {}
            Step::Zone(_) => unreachable!("no worker of these tests goes by zones"),
            Step::Finished if self.due.is_empty() => return self.worker.begin_read_back(self.now),
            Step::Finished => self.advance(u64::MAX),
        }
        self.collect();
        true
    }

    fn send(&mut self, slot: u32) {
        let request = self.worker.request(slot);
        assert_eq!(request.slot, slot);
        let Answer { slat, clat, outcome } = (self.disk)(&request, self.now);
        let created = self.now.0;
        self.worker.submitted(slot, MonoTime(created + slat.0));
        let completed = created + slat.0 + clat.0;
        self.due.push(Reverse((completed, self.seen.len(), slot)));
        self.seen.push(Seen {
            request,
            created,
            completed,
            outcome,
            slat: slat.0,
        });
        self.deepest = self.deepest.max(self.worker.in_flight());
    }

    /// To the next completion, or to `until` where that is earlier.
    fn advance(&mut self, until: u64) {
        match self.due.peek() {
            Some(Reverse((completed, ..))) if *completed <= until => {
                let Some(Reverse((completed, index, slot))) = self.due.pop() else {
                    return;
                };
                self.now = self.now.max(MonoTime(completed));
                let Seen { request, outcome, .. } = self.seen[index];
                if self.worker.complete(slot, outcome, self.now) {
                    assert_eq!(request.op, Op::Read);
                    self.worker.verified(slot, (self.good)(&request));
                }
            }
            _ => {
                assert!(until < u64::MAX, "waits forever");
                self.now = self.now.max(MonoTime(until));
            }
        }
        self.worker.roll_if_due(self.now);
    }

    fn collect(&mut self) {
        while let Some(interval) = self.exchange.take() {
            self.intervals.push((*interval).clone());
            self.exchange.give_back(interval);
        }
    }
}

/// What a run leaves.
pub(crate) struct Run {
    pub seen: Vec<Seen>,
    /// In order, the unfinished last one included.
    pub intervals: Vec<Interval>,
    pub end: WorkerEnd,
    pub now: MonoTime,
    pub deepest: u32,
}

impl Run {
    /// Everything that was counted.
    pub(crate) fn sum(&self) -> Interval {
        let mut sum = Interval::new();
        for interval in &self.intervals {
            sum.verified += interval.verified;
            for (sum, part) in sum.ops.iter_mut().zip(&interval.ops) {
                sum.merge(part);
            }
        }
        sum
    }

    /// The I/Os in the order in which they were sent.
    pub(crate) fn requests(&self) -> impl Iterator<Item = Request> + '_ {
        self.seen.iter().map(|seen| seen.request)
    }

    /// The rows that a collector makes of it.
    pub(crate) fn rows(&self, collector: &mut JobCollector) -> Vec<SeriesRow> {
        let exchange = Arc::new(Exchange::new());
        collector.start(EPOCH, EPOCH, vec![Arc::clone(&exchange)]);
        let mut rows = Vec::new();
        let (last, whole) = self.intervals.split_last().expect("there is always a last one");
        for interval in whole {
            let mut full = Box::new(interval.clone());
            assert!(exchange.swap(&mut full));
            collector.poll(&mut rows);
        }
        collector.ended(0, last, &mut rows);
        rows
    }
}

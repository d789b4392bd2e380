//! One job section under way: its workers, what they say, what they have done.

use super::early::Steadiness;
use super::phases::JobState;
use super::scheduler::TICK;
use super::{Hooks, Options, RunError};
use crate::collect::JobCollector;
use crate::interval::Interval;
use crate::plan::JobPlan;
use crate::thread::{self, Gate, Message, Report};
use fathom_core::run::SeriesRow;
use fathom_core::units::{MonoTime, Nanos};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// One job section under way.
pub(super) struct RunningJob {
    pub(super) plan: JobPlan,
    pub(super) collector: JobCollector,
    pub(super) state: JobState,
    pub(super) reports: Vec<Option<Box<Report>>>,
    /// How many are still to come.
    pub(super) left: usize,
    pub(super) start: MonoTime,
    pub(super) receiver: Receiver<(u32, Message)>,
    pub(super) sender: Sender<(u32, Message)>,
    pub(super) handles: Vec<std::thread::JoinHandle<()>>,
    /// Why it could not start, where others had been measured before; or that one of its workers panicked.
    pub(super) failure: Option<RunError>,
    /// Set when enough is known of this job: by whoever waits for the whole run, by another job's end, or when its results
    /// are steady.
    pub(super) enough: Arc<AtomicBool>,
    /// Whether the ends of its workers were looked at.
    pub(super) looked_at: usize,
    /// Its results so far, where it ends once they are steady.
    pub(super) steady: Option<Steadiness>,
}

/// Hands rows over, behind all latencies of their intervals where those are kept.
pub(super) fn hand_over(jobs: &mut [RunningJob], rows: &[SeriesRow], hooks: &mut dyn Hooks) {
    if rows.is_empty() {
        return;
    }
    let mut latencies = Vec::new();
    for job in jobs {
        job.collector.take_latencies(&mut latencies);
    }
    if !latencies.is_empty() {
        hooks.latencies(&latencies);
    }
    hooks.rows(rows);
}

impl RunningJob {
    /// Job section number `index`, not started, with the rows that `options` ask for.
    pub(super) fn new(index: u32, plan: &JobPlan, options: &Options) -> Self {
        let (sender, receiver) = channel();
        let [read, write, trim] = plan.job.pattern.mix.uses();
        let used = [read, write, trim, false];
        let percentiles = &plan.job.percentiles.list;
        let metrics = thread::metrics_of(&plan.job);
        let interval = options.row_interval();
        let mut collector = JobCollector::new(index, used, metrics, percentiles).with_interval(interval);
        if plan.job.count_workers {
            let reporting = &plan.job.reporting;
            let windows = [reporting.bw_window_ms, reporting.iops_window_ms].map(u64::from);
            let [bw, iops] = windows.map(Nanos::from_millis);
            collector = collector.with_tallies(plan.workers.len(), (bw, iops));
        }
        if options.latencies {
            collector.keep_latencies();
        }
        Self {
            collector,
            plan: plan.clone(),
            state: JobState::Waiting,
            reports: plan.workers.iter().map(|_| None).collect(),
            left: plan.workers.len(),
            start: MonoTime(0),
            receiver,
            sender,
            handles: Vec::new(),
            failure: None,
            enough: Arc::default(),
            looked_at: 0,
            steady: plan.job.stops.steady.map(Steadiness::new),
        }
    }

    /// Waits until each worker is ready, or has been stopped before it was: once `stop` is set, those who wait at `gate`
    /// are sent home.
    ///
    /// # Errors
    /// One of them failed.
    pub(super) fn await_ready(&mut self, gate: &Gate, stop: &AtomicBool) -> Result<(), RunError> {
        let mut awaited = vec![true; self.plan.workers.len()];
        let mut left = awaited.len();
        // Looked at before the channel: all that an ended worker had to say is then in it.
        let mut all_ended = false;
        while left > 0 {
            match self.receiver.recv_timeout(TICK) {
                Ok((number, Message::Ready | Message::Stopped | Message::Done(_))) => {
                    left -= usize::from(std::mem::take(&mut awaited[number as usize]));
                }
                Ok((_, Message::Failed(failure))) => {
                    return Err(RunError::Start {
                        job: self.plan.job.name.clone(),
                        failure,
                    });
                }
                Ok((number, Message::Panicked(message))) => return Err(self.panic(number, message)),
                Err(_) if all_ended => {
                    let gone = std::io::Error::other("a worker ended before it was ready");
                    return Err(RunError::Thread(gone));
                }
                Err(_) => all_ended = self.all_ended(),
            }
            if stop.load(Ordering::Relaxed) {
                gate.abandon();
            }
        }
        Ok(())
    }

    fn panic(&self, worker: u32, message: String) -> RunError {
        RunError::Panic {
            job: self.plan.job.name.clone(),
            worker,
            message,
        }
    }

    pub(super) fn take_messages(&mut self, patience: Duration, rows: &mut Vec<SeriesRow>) {
        let mut patience = patience;
        // Looked at before the channel: all that an ended worker had to say is then in it.
        let all_ended = self.all_ended();
        loop {
            match self.receiver.recv_timeout(patience) {
                Ok((number, Message::Done(mut report))) => {
                    let last = std::mem::take(&mut report.end.last);
                    self.collector.leave(number as usize, &last);
                    self.reports[number as usize] = Some(report);
                    self.left -= 1;
                    patience = Duration::ZERO;
                }
                Ok((number, Message::Panicked(message))) => {
                    // What it had counted since its last interval is lost; the others go on.
                    self.collector.leave(number as usize, &Interval::new());
                    let failure = self.panic(number, message);
                    self.failure.get_or_insert(failure);
                }
                Ok((_, Message::Ready | Message::Stopped | Message::Failed(_))) => {}
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
            }
        }
        self.collector.poll(rows);
        if all_ended || self.left == 0 {
            self.join();
            for at in 0..self.reports.len() {
                if self.reports[at].is_none() {
                    // Stopped before its first I/O: nobody has to wait for its intervals.
                    self.collector.leave(at, &Interval::new());
                }
            }
            self.collector.poll(rows);
            self.state = JobState::Done;
        }
    }

    fn all_ended(&self) -> bool {
        self.handles.iter().all(std::thread::JoinHandle::is_finished)
    }

    pub(super) fn join(&mut self) {
        for handle in self.handles.drain(..) {
            // A worker tells its panics; one outside of what it tells goes on here.
            if let Err(panic) = handle.join() {
                std::panic::resume_unwind(panic);
            }
        }
    }
}

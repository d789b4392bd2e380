//! The order of a run: which job starts when, all its workers at once, and what is told meanwhile.
//!
//! Data in: the plan. Data out: jobs that have ended, with what they counted.

use super::commands;
use super::early;
use super::job::{self, RunningJob};
use super::phases::{self, JobState};
use super::surroundings::Surroundings;
use super::{Hooks, Options, Progress, RunError, accounts};
use crate::balance::Balances;
use crate::content;
use crate::interval::Exchange;
use crate::locks::LockedFiles;
use crate::plan::{Kind, Plan};
use crate::sequences::Sequences;
use crate::thread::{self, Gate, Task};
use crate::worker::Ends;
use crate::zones::ZonedFiles;
use fathom_core::clock::Clock;
use fathom_core::units::{MonoTime, Nanos};
use fathom_sys::clock::HostClock;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How often intervals are collected and progress is told.
pub(super) const TICK: Duration = Duration::from_millis(100);
/// When the histograms so far are told for the first time, and how often after that.
const FIRST_CHECKPOINT: Nanos = Nanos::from_secs(2);
const NEXT_CHECKPOINT: Nanos = Nanos::from_secs(10);
/// The stack of a worker's thread: its data is on the heap.
const STACK_BYTES: usize = 256 << 10;

/// All jobs of a run.
pub(super) struct Scheduler<'a> {
    options: &'a Options,
    pub(super) jobs: Vec<RunningJob>,
    workers: usize,
    pub(super) epoch: MonoTime,
    started: bool,
    next_index: u64,
    /// The pointers of sequences that workers share.
    sequences: Sequences,
    /// The balances between workers.
    balances: Balances,
    /// The locks on files.
    locks: LockedFiles,
    /// The zones of devices.
    zones: ZonedFiles,
    /// What jobs asked of the system.
    pub(super) surroundings: Surroundings,
    /// The clock of the options, kept right.
    clock: HostClock,
    disciplined: MonoTime,
    /// When the histograms are to be told next.
    checkpoint: MonoTime,
}

impl<'a> Scheduler<'a> {
    pub(super) fn new(plan: &Plan, options: &'a Options, zones: ZonedFiles) -> Self {
        let jobs = (0..)
            .zip(&plan.jobs)
            .map(|(index, plan)| RunningJob::new(index, plan, options));
        Self {
            options,
            jobs: jobs.collect(),
            workers: plan.worker_count(),
            epoch: MonoTime(0),
            started: false,
            next_index: 0,
            sequences: Sequences::default(),
            balances: Balances::default(),
            locks: LockedFiles::default(),
            zones,
            surroundings: Surroundings::default(),
            clock: options.clock.clone(),
            disciplined: MonoTime(0),
            checkpoint: MonoTime::NEVER,
        }
    }

    /// Runs all phases to their end.
    pub(super) fn run(&mut self, hooks: &mut dyn Hooks) -> Result<(), RunError> {
        loop {
            self.start_what_may(hooks)?;
            if phases::all_done(&self.jobs) {
                return Ok(());
            }
            self.tick(hooks);
        }
    }

    /// Starts the jobs whose turn has come, all together.
    fn start_what_may(&mut self, hooks: &mut dyn Hooks) -> Result<(), RunError> {
        let starts = phases::turns(&mut self.jobs, self.options);
        if starts.is_empty() {
            return Ok(());
        }
        self.clock.discipline();
        let gates: Vec<Arc<Gate>> = starts.iter().map(|_| Arc::default()).collect();
        let spawned: Vec<_> = starts
            .iter()
            .zip(&gates)
            .map(|(&at, gate)| self.spawn(at, gate))
            .collect();
        let readied = starts
            .iter()
            .zip(&gates)
            .zip(spawned)
            .map(|((&at, gate), exchanges)| {
                let exchanges = exchanges?;
                let ready = self.jobs[at].await_ready(gate, &self.options.stop);
                ready.map(|()| exchanges)
            });
        let mut readied: Vec<Result<_, RunError>> = readied.collect();
        if !self.started
            && let Some(failed) = readied.iter().position(Result::is_err)
        {
            // Nothing was measured yet: all who wait go home.
            for (&at, gate) in starts.iter().zip(&gates) {
                gate.abandon();
                self.jobs[at].join();
            }
            return readied.swap_remove(failed).map(drop);
        }
        let now = self.clock.now();
        if !self.started {
            self.started = true;
            self.epoch = now;
            self.checkpoint = now.after(FIRST_CHECKPOINT);
            hooks.started(now);
        }
        for ((&at, gate), exchanges) in starts.iter().zip(&gates).zip(readied) {
            let job = &mut self.jobs[at];
            match exchanges {
                Ok(exchanges) => {
                    job.state = JobState::Running;
                    job.start = now;
                    job.collector.start(self.epoch, now, exchanges);
                    gate.open(self.epoch, now);
                }
                Err(failure) => {
                    // What was measured before is kept.
                    gate.abandon();
                    job.join();
                    job.state = JobState::Done;
                    job.failure = Some(failure);
                }
            }
        }
        Ok(())
    }

    fn spawn(&mut self, at: usize, gate: &Arc<Gate>) -> Result<Vec<Arc<Exchange>>, RunError> {
        let job = &mut self.jobs[at];
        commands::before(&job.plan.job, self.options)?;
        let entered = self.surroundings.enter(&job.plan);
        entered.map_err(|failure| RunError::Start {
            job: job.plan.job.name.clone(),
            failure,
        })?;
        let enough = Arc::clone(&job.enough);
        let shared = Arc::new(job.plan.job.clone());
        let source = content::source(&shared).map_err(|failure| RunError::Start {
            job: shared.name.clone(),
            failure,
        })?;
        let (shape, interval) = (thread::shape_of(&shared), self.options.row_interval());
        // All before the first thread: between stacks each would be a mapping of its own.
        let exchange = || Arc::new(Exchange::reserved(&shape, interval, self.workers));
        let exchanges: Vec<_> = job.plan.workers.iter().map(|_| exchange()).collect();
        for ((number, files), exchange) in job.plan.workers.iter().enumerate().zip(&exchanges) {
            let task = Task {
                job: Arc::clone(&shared),
                number: number as u32,
                index: self.next_index,
                files: files.clone(),
                sequences: self.sequences.of(&job.plan, files),
                source: source.clone(),
                exchange: Arc::clone(exchange),
                ends: Ends {
                    stop: Arc::clone(&self.options.stop),
                    enough: Arc::clone(&enough),
                },
                interval,
                gate: Arc::clone(gate),
                clock: self.clock.clone(),
                hook: self.options.hook,
                section: at as u32,
                recording: self.options.recording.clone(),
                playback: self.options.playback.clone(),
                permits: Arc::clone(&self.options.permits),
                share: Mutex::new(shared.flow.map(|flow| self.balances.share(flow))),
                locks: Mutex::new(self.locks.of(
                    shared.files.locks,
                    files.files.iter().map(|file| file.path.as_path()),
                )),
                zones: Mutex::new(
                    self.zones
                        .of(&job.plan, at, number as u32, files)
                        .map(thread::Zoned::new),
                ),
            };
            self.next_index += 1;
            let sender = job.sender.clone();
            let builder = std::thread::Builder::new()
                .name(format!("{}.{number}", shared.name))
                .stack_size(STACK_BYTES);
            let handle = builder
                .spawn(move || thread::run(&task, &sender))
                .map_err(RunError::Thread)?;
            job.handles.push(handle);
        }
        Ok(exchanges)
    }

    /// Waits a little for workers to end, collects, tells.
    fn tick(&mut self, hooks: &mut dyn Hooks) {
        let now = self.clock.now();
        if now.since(self.disciplined) >= Nanos::from_secs(1) {
            self.clock.discipline();
            self.disciplined = now;
        }
        let mut rows = Vec::new();
        let mut waited = false;
        for job in self.jobs.iter_mut().filter(|job| job.state == JobState::Running) {
            // The first running job's channel is where the tick is spent.
            let tick = TICK.min(Duration::from_nanos(self.options.row_interval().0));
            let patience = if waited { Duration::ZERO } else { tick };
            waited = true;
            job.take_messages(patience, &mut rows);
            if job.state == JobState::Done
                && let Err(failure) = commands::after(&job.plan.job, self.options)
            {
                job.failure.get_or_insert(failure);
            }
        }
        job::hand_over(&mut self.jobs, &rows, hooks);
        early::look(&mut self.jobs, &rows, self.options);
        if now >= self.checkpoint {
            self.checkpoint = now.after(NEXT_CHECKPOINT);
            let mut histograms = Vec::new();
            for job in &self.jobs {
                job.collector.histograms(&mut histograms);
            }
            hooks.histograms(histograms);
        }
        hooks.progress(&self.progress());
        if self.jobs.iter().any(|job| job.plan.job.count_workers) {
            hooks.accounts(&|| accounts::accounts(&self.jobs, now));
        }
        early::pass_on(&self.jobs, self.options);
    }

    fn progress(&self) -> Progress {
        let now = self.clock.now();
        phases::progress(&self.jobs, self.epoch, now)
    }

    /// Removes the files that were to be removed, as far as this run made them; what could not be removed, and why.
    pub(super) fn unlink(&self) -> Vec<String> {
        let mut left = Vec::new();
        for job in self.jobs.iter().filter(|job| job.plan.job.files.unlink) {
            for file in job.plan.workers.iter().flat_map(|worker| &worker.files) {
                if file.kind != Kind::Regular {
                    continue;
                }
                let permits = &self.options.permits;
                // What nobody asked leave to write to was not made here.
                let Ok(permit) = permits.of(&file.path) else {
                    continue;
                };
                if let Err(error) = permit.remove_created() {
                    left.push(error.to_string());
                }
            }
        }
        left
    }
}

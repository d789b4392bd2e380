//! A whole run in virtual time: the same phases, workers and collection, on a modelled disk.
//!
//! Data in: a plan made with [`Plan::modelled`], a [`VirtualDisk`]. Data out: [`Results`], and rows through [`Hooks`], as
//! of a real run. All workers share one event queue; nothing waits, nothing depends on the machine: the same plan on
//! the same disk gives the same results to the bit. It must not know how the disk arrives at its answers.

mod queue;
mod stage;

use super::early;
use super::job::{self, RunningJob};
use super::phases::{self, JobState};
use super::{Hooks, Options, Progress, Results, results};
use crate::balance::Balances;
use crate::plan::Plan;
use crate::sequences::Sequences;
use crate::thread::{self, Report};
use crate::worker::Guards;
use crate::zones::ZonedFiles;
use fathom_core::clock::Clock;
use fathom_core::run::{CpuUsage, SeriesRow};
use fathom_core::units::{MonoTime, Nanos};
use fathom_core::virtual_disk::VirtualDisk;
use queue::Queues;
use stage::Stage;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

/// When virtual time begins.
const EPOCH: MonoTime = MonoTime(0);
/// Files begin at multiples of this on the volume.
const FILE_ALIGN_BYTES: u64 = 1 << 20;
/// Rows handed over at a time: each handing over costs a system call or more.
const ROWS: usize = 1024;
/// Events between two looks at the real clock.
const EVENTS_A_LOOK: u32 = 1 << 16;
const SECOND: u64 = 1_000_000_000;
/// How often progress is told, in real time.
const TELL: Nanos = Nanos::from_millis(100);

/// Where each of a plan's files begins on the volume, and the end of the last.
pub fn file_bases(plan: &Plan) -> (BTreeMap<PathBuf, u64>, u64) {
    let mut end = 0u64;
    let mut bases = BTreeMap::new();
    for file in &plan.files {
        bases.insert(file.path.clone(), end);
        let size = file.size_needed.div_ceil(FILE_ALIGN_BYTES) * FILE_ALIGN_BYTES;
        end = end.saturating_add(size);
    }
    (bases, end)
}

/// Carries `plan` out on `disk`.
///
/// # Panics
/// When `plan` does not fit `disk`, which [`Plan::modelled`] has made sure of.
pub fn run(plan: &Plan, disk: &mut dyn VirtualDisk, options: &Options, hooks: &mut dyn Hooks) -> Results {
    let (bases, _) = file_bases(plan);
    let jobs = plan.jobs.iter().enumerate();
    let mut run = VirtualRun {
        jobs: jobs
            .map(|(index, plan)| RunningJob::new(index as u32, plan, options))
            .collect(),
        stages: Vec::new(),
        ended: 0,
        queues: Queues::new(1, 1, EPOCH.0),
        owners: Vec::new(),
        disk,
        bases,
        now: EPOCH,
        attached: 0,
        sequences: Sequences::default(),
        balances: Balances::default(),
        zones: ZonedFiles::new(plan).expect("the plan was checked"),
        tickets: 0,
        rows: Vec::new(),
        ends_early: plan.jobs.iter().any(|job| {
            let stops = &job.job.stops;
            stops.exit_all || stops.exit_all_on_error || stops.steady.is_some()
        }),
        looked_at: 0,
        second: 0,
        options,
        started: options.clock.now(),
        last_told: options.clock.now(),
        events: 0,
        had_enough: false,
    };
    hooks.started(EPOCH);
    hooks.second(run.disk, EPOCH);
    run.run(hooks);
    run.hand_over(hooks);
    hooks.second(run.disk, run.now);
    let status = phases::status(&run.jobs, options);
    results::results(&run.jobs, EPOCH, status)
}

/// All of a run.
struct VirtualRun<'a> {
    jobs: Vec<RunningJob>,
    /// The workers under way, and for a while those that have ended.
    stages: Vec<Stage>,
    /// How many of them have ended.
    ended: usize,
    queues: Queues,
    /// Which stage each slot's place is of.
    owners: Vec<u32>,
    disk: &'a mut dyn VirtualDisk,
    bases: BTreeMap<PathBuf, u64>,
    now: MonoTime,
    /// Workers that have begun: the next one's number within the run, and at the disk.
    attached: u32,
    /// The pointers of sequences that workers share.
    sequences: Sequences,
    /// The balances between workers.
    balances: Balances,
    /// The zones that files are taken to have.
    zones: ZonedFiles,
    /// Tickets given out.
    tickets: u32,
    rows: Vec<SeriesRow>,
    /// Whether some job ends since another has, or since its results are steady.
    ends_early: bool,
    /// So many of the rows were looked at for that.
    looked_at: usize,
    /// The whole seconds that were told of.
    second: u64,
    options: &'a Options,
    started: MonoTime,
    last_told: MonoTime,
    events: u32,
    /// The workers know that enough is known.
    had_enough: bool,
}

impl VirtualRun<'_> {
    fn run(&mut self, hooks: &mut dyn Hooks) {
        loop {
            self.start_what_may();
            self.lay_out_queues();
            if phases::all_done(&self.jobs) {
                return;
            }
            self.until_a_job_ends(hooks);
        }
    }

    /// Starts the jobs whose turn has come.
    fn start_what_may(&mut self) {
        for at in phases::turns(&mut self.jobs, self.options) {
            self.start(at);
        }
    }

    fn start(&mut self, at: usize) {
        let job = &mut self.jobs[at];
        job.state = JobState::Running;
        job.start = self.now;
        let mut exchanges = Vec::new();
        let derived = stage::derived(&job.plan.job, self.disk.submission());
        for number in 0..job.plan.workers.len() {
            let files = &job.plan.workers[number];
            let index = u64::from(self.attached);
            let mut plan = thread::worker_plan(&job.plan.job, files, index);
            plan.interval = self.options.row_interval();
            plan.generator.share(&self.sequences.of(&job.plan, files));
            let start = self.now.after(thread::start_delay(&job.plan.job, index));
            let mut stage = Stage::new(
                (at, number),
                &job.plan.job,
                plan,
                derived,
                (self.attached, self.tickets),
                start,
                self.options.ends(),
            );
            let share = job.plan.job.flow.map(|flow| self.balances.share(flow));
            let guards = thread::guards_of(&job.plan.job, share);
            let zones = self.zones.of(&job.plan, at, number as u32, files);
            let zones = zones.and_then(|files| thread::zones_of(&job.plan.job, files, index));
            stage.guard_with(Guards::with_zones(guards, zones));
            self.tickets += stage.slots();
            if let Some(recording) = &self.options.recording {
                stage.record_with(recording.recorder(at as u32, number as u32));
            }
            let feed = self.options.playback.as_ref();
            if let Some(feed) = feed.and_then(|playback| playback.feed(at as u32, number as u32)) {
                stage.play(feed);
            }
            let base = |path: &PathBuf| self.bases.get(path).copied().unwrap_or(0);
            self.disk.attach(stage::submitter(
                &job.plan.job,
                files.files.iter().map(|file| base(&file.path)).collect(),
            ));
            exchanges.push(stage.exchange());
            self.stages.push(stage);
            self.attached += 1;
        }
        job.collector.start(EPOCH, self.now, exchanges);
    }

    /// Gives each worker under way its places in queues that are as small as can be, once some have come, or a good part
    /// has gone: to do it for each that goes would take as many steps as there are workers, each time.
    fn lay_out_queues(&mut self) {
        let new = self.stages.last().is_some_and(|stage| !stage.is_placed());
        if !new && self.ended * 2 < self.stages.len() {
            return;
        }
        self.stages.retain(|stage| !stage.has_ended());
        self.ended = 0;
        let slots: usize = self.stages.iter().map(|stage| stage.slots() as usize).sum();
        let mut queues = Queues::new(slots, self.stages.len(), self.now.0);
        self.owners.clear();
        for (owner, stage) in self.stages.iter_mut().enumerate() {
            let first = self.owners.len() as u32;
            self.owners.extend((0..stage.slots()).map(|_| owner as u32));
            stage.move_to((first, owner as u32), &self.queues, &mut queues);
        }
        self.queues = queues;
    }

    /// Lets time pass until all workers of a job have ended.
    fn until_a_job_ends(&mut self, hooks: &mut dyn Hooks) {
        let passive = self.disk.is_passive();
        loop {
            let (time, place) = self.queues.slots.earliest().unwrap_or((queue::NEVER, 0));
            let (wake, sleeper) = self.queues.first_wake();
            let own = if passive {
                MonoTime::NEVER
            } else {
                self.disk.next_event()
            };
            if own.0 <= time.min(wake) {
                assert!(
                    own != MonoTime::NEVER,
                    "nothing is due and workers wait: the disk lost an I/O"
                );
                self.let_disk(own);
                continue;
            }
            let (at, ended) = if time <= wake {
                self.now = MonoTime(time);
                let at = self.owners[place as usize] as usize;
                let stage = &mut self.stages[at];
                (at, stage.complete(place, self.now, &mut self.queues, self.disk))
            } else {
                self.now = MonoTime(wake);
                let at = sleeper as usize;
                (at, self.stages[at].wake(self.now, &mut self.queues, self.disk))
            };
            if self.stages[at].take_rolled() {
                self.collect(at);
                self.tell_second(hooks);
                if self.options.rows_at_once || self.rows.len() >= ROWS {
                    self.hand_over(hooks);
                }
                self.notice_enough();
                self.end_early();
            }
            if let Some(end) = ended {
                let last = self.retire(at, end);
                self.end_early();
                if last {
                    return;
                }
                self.lay_out_queues();
            }
            self.events += 1;
            if self.events >= EVENTS_A_LOOK {
                self.events = 0;
                self.tell(hooks);
            }
        }
    }

    /// The disk does what it has to do; what waited for it is then due.
    fn let_disk(&mut self, now: MonoTime) {
        self.now = now;
        let (stages, queues) = (&mut self.stages, &mut self.queues);
        self.disk.advance(now, &mut |ticket, completed| {
            // Stages are in the order of their tickets; one that has ended has none at the disk.
            let after = stages.partition_point(|stage| stage.first_ticket() <= ticket);
            stages[after - 1].settled(ticket, completed, queues);
        });
    }

    /// Tells of a second that has passed; of the last one where several have. The disk is as it is now: a little later, by
    /// no more than until something happened.
    fn tell_second(&mut self, hooks: &mut dyn Hooks) {
        let second = self.now.0 / SECOND;
        if second > self.second {
            self.second = second;
            hooks.second(self.disk, MonoTime(second * SECOND));
        }
    }

    /// Looked at when an interval was handed over, and so at moments of virtual time that are the same each time.
    fn notice_enough(&mut self) {
        if !self.had_enough && self.options.enough.load(Ordering::Relaxed) {
            self.had_enough = true;
            for stage in &mut self.stages {
                stage.notice_enough(self.now, &mut self.queues);
            }
        }
    }

    /// Ends what ends with what has ended, and what is steady.
    fn end_early(&mut self) {
        if !self.ends_early {
            return;
        }
        early::look(&mut self.jobs, &self.rows[self.looked_at..], self.options);
        self.looked_at = self.rows.len();
        for stage in &mut self.stages {
            // Whoever has heard of it does not hear it again.
            if self.jobs[stage.of.0].enough.load(Ordering::Relaxed) && !stage.had_enough {
                stage.had_enough = true;
                stage.notice_enough(self.now, &mut self.queues);
            }
        }
    }

    fn collect(&mut self, at: usize) {
        let (job, number) = self.stages[at].of;
        self.jobs[job].collector.poll_one(number, &mut self.rows);
    }

    /// A worker has ended: its account goes to its job. Whether it was the last one of that.
    fn retire(&mut self, at: usize, end: MonoTime) -> bool {
        let stage = &mut self.stages[at];
        let (job, number) = stage.of;
        let mut end = stage.finish(end, &mut self.queues);
        self.ended += 1;
        let last = std::mem::take(&mut end.last);
        let job = &mut self.jobs[job];
        job.collector.ended(number, &last, &mut self.rows);
        job.reports[number] = Some(Box::new(Report {
            end,
            tid: 0,
            cpu: CpuUsage::default(),
            backend_error: None,
            remarks: Vec::new(),
        }));
        job.left -= 1;
        if job.left == 0 {
            job.state = JobState::Done;
            if let Some(derived) = stage::derived(&job.plan.job, self.disk.submission()) {
                job.collector.derive(derived);
            }
        }
        job.left == 0
    }

    fn hand_over(&mut self, hooks: &mut dyn Hooks) {
        if self.ends_early {
            early::look(&mut self.jobs, &self.rows[self.looked_at..], self.options);
            self.looked_at = 0;
        }
        job::hand_over(&mut self.jobs, &self.rows, hooks);
        self.rows.clear();
    }

    /// Progress, at most every tenth of a real second; the time left is real time.
    fn tell(&mut self, hooks: &mut dyn Hooks) {
        let real = self.options.clock.now();
        if real.since(self.last_told) < TELL {
            return;
        }
        self.last_told = real;
        let spent = real.since(self.started);
        let mut progress: Progress = phases::progress(&self.jobs, EPOCH, self.now);
        for group in &mut progress.groups {
            let left = |share: f64| Nanos((spent.0 as f64 * (1.0 / share.max(1e-9) - 1.0)) as u64);
            group.eta = group.fraction.map(left);
        }
        hooks.progress(&progress);
    }
}

#[cfg(test)]
mod tests;

//! One spike with the rows around it.
//!
//! Data in: a spike that was found, the rows of its lot. Data out: its slow I/Os, each with the parts of its time where
//! requests of the device tell them, and what was in flight. It must not judge.

use super::super::answer::{Depths, Process, Split};
use super::super::block_scan::is_kernel;
use super::super::evidence::Window;
use super::super::facts::is_worker_of;
use super::super::sched_scan::Held;
use super::super::section::Section;
use super::super::timeline::SECOND_NS;
use super::super::victims::Kind;
use super::super::{Facts, Scanned};
use super::gaps::Gaps;
use super::matching::Matcher;
use super::rows::{Rows, SPANS_AFTER_NS};
use super::{Found, Part, held, sample, served};
use fathom_core::record::{
    BlockOp, BlockRequest, Comm, CpuShare, IoRecord, KernelSpan, ProcessRow, SchedSlice,
};
use std::ops::RangeInclusive;

/// What holds for all spikes of a run.
pub(super) struct Context<'a, 'b> {
    pub facts: &'b Facts<'a>,
    pub scanned: &'b Scanned,
    pub sections: &'b [Section<'b>],
    /// The devices of all sections.
    devices: Vec<u32>,
    /// When rows were lost.
    pub gaps: Gaps,
}

impl<'a, 'b> Context<'a, 'b> {
    pub(super) fn new(facts: &'b Facts<'a>, scanned: &'b Scanned, sections: &'b [Section<'b>]) -> Self {
        let devices = sections.iter().flat_map(|section| &section.devices);
        Self {
            facts,
            scanned,
            sections,
            devices: devices.map(|device| device.device).collect(),
            gaps: Gaps::of(facts, scanned),
        }
    }

    pub(super) fn has_load(&self) -> bool {
        self.sections.iter().any(|section| section.load.is_some())
    }

    pub(super) fn has_block(&self) -> bool {
        self.scanned.block.is_some()
    }

    /// Whether the requests of a device are looked at.
    pub(super) fn is_below(&self, device: u32) -> bool {
        self.devices.contains(&device)
    }

    pub(super) fn section(&self, part: &Part) -> Option<&Section<'b>> {
        self.sections.iter().find(|section| section.index == part.section)
    }
}

/// Where one slow I/O spent its time, in nanoseconds: unsent, above the block layer, waiting for a tag, in the scheduler, at
/// the device, until it was seen.
pub(super) type Parts = [u64; 6];

/// One slow I/O, or without a load, one slow request.
#[derive(Debug, Clone, Copy)]
pub(super) struct SlowIo {
    pub due_ns: u64,
    pub created_ns: u64,
    pub completed_ns: u64,
    pub offset_bytes: u64,
    pub len_bytes: u32,
    pub op: BlockOp,
    /// Its worker: job section and number.
    pub worker: Option<(u32, u32)>,
    pub parts: Parts,
    /// When the device's part began and ended, where that is known.
    pub at_device: Option<(u64, u64)>,
    /// Its device, where a request is known.
    pub device: Option<u32>,
    /// Several requests may be the one.
    pub ambiguous: bool,
    /// Which of the disturbance's parts it is of.
    pub part: usize,
    /// How many it stands for.
    pub weight: f64,
    /// Without a load: the task that sent it.
    pub tid: Option<u32>,
    /// A bound worker of the kernel sent it, as a cgroup's throttle does when it lets an I/O go.
    pub let_go: bool,
}

impl SlowIo {
    /// A request that is looked at for itself.
    pub(super) fn of_request(request: &BlockRequest, part: usize) -> Self {
        let begun_ns = request.begun_ns();
        let mut io = Self {
            due_ns: begun_ns,
            created_ns: begun_ns,
            completed_ns: request.completed_ns,
            offset_bytes: request.sector.saturating_mul(512),
            len_bytes: request.len_bytes,
            op: request.op,
            worker: None,
            parts: [0; 6],
            at_device: None,
            device: None,
            ambiguous: false,
            part,
            weight: 1.0,
            tid: Some(request.pid),
            let_go: false,
        };
        io.assign(request);
        io
    }

    /// A time in which a thread was not let run.
    fn held(held: &Held, part: usize) -> Self {
        Self {
            due_ns: held.from_ns,
            created_ns: held.to_ns,
            completed_ns: held.to_ns,
            offset_bytes: 0,
            len_bytes: 0,
            op: BlockOp::Other,
            worker: None,
            parts: [held.to_ns - held.from_ns, 0, 0, 0, 0, 0],
            at_device: None,
            device: None,
            ambiguous: false,
            part,
            weight: 1.0,
            tid: Some(held.tid),
            let_go: false,
        }
    }

    pub(super) fn total_ns(&self) -> u64 {
        self.completed_ns.saturating_sub(self.due_ns)
    }
    /// What the latency is without the time before it was made.
    pub(super) fn latency_ns(&self) -> u64 {
        self.completed_ns.saturating_sub(self.created_ns)
    }
}

/// One spike with its rows.
pub(super) struct Scene<'s> {
    pub context: &'s Context<'s, 's>,
    pub found: &'s Found,
    pub before: Window,
    pub spike: Window,
    pub after: Window,
    pub ios: &'s [IoRecord],
    pub requests: &'s [BlockRequest],
    pub slices: &'s [SchedSlice],
    pub cpus: &'s [CpuShare],
    pub kernel: Vec<KernelSpan>,
    pub processes: &'s [ProcessRow],
    pub slow: Vec<SlowIo>,
    /// How many slow I/Os there are; more than are in `slow` where not all are looked at.
    pub slow_ios: u64,
    /// Without a load: the task whose requests were slow.
    pub victim: Option<Comm>,
    /// Whose dirty pages the kernel most likely wrote back, where the requests do not say it.
    pub writer: Option<Process>,
}

/// The rows that end in a window.
fn ending<R>(rows: &[R], window: Window, end: impl Fn(&R) -> u64) -> &[R] {
    let from = rows.partition_point(|row| end(row) < window.start_ns);
    let to = rows.partition_point(|row| end(row) <= window.end_ns);
    &rows[from..to.max(from)]
}

/// Those of spans (in the order of their begins) that meet a window.
fn meeting(spans: &[KernelSpan], window: Window) -> Vec<KernelSpan> {
    let begun = spans.partition_point(|span| span.start_ns <= window.end_ns);
    let there = spans[..begun].iter();
    there
        .filter(|span| span.end_ns >= window.start_ns)
        .copied()
        .collect()
}

impl<'s> Scene<'s> {
    pub(super) fn new(context: &'s Context<'s, 's>, found: &'s Found, rows: &'s Rows) -> Self {
        let Window { start_ns, end_ns } = found.window;
        let spike = Window {
            start_ns: found.event.start_ns,
            end_ns: found.event.end_ns.min(end_ns),
        };
        // What began in the window may end after it.
        let longer = Window {
            start_ns,
            end_ns: end_ns.saturating_add(SPANS_AFTER_NS),
        };
        let mut scene = Self {
            context,
            found,
            before: Window {
                start_ns,
                end_ns: spike.start_ns,
            },
            spike,
            after: Window {
                start_ns: spike.end_ns,
                end_ns,
            },
            ios: ending(&rows.ios, found.window, |row| row.completed_ns),
            requests: ending(&rows.requests, found.window, |row| row.completed_ns),
            slices: ending(&rows.slices, longer, |row| row.end_ns),
            cpus: ending(&rows.cpus, longer, |row| row.end_ns),
            kernel: meeting(&rows.kernel, found.window),
            processes: &rows.processes,
            slow: Vec::new(),
            slow_ios: 0,
            victim: None,
            writer: None,
        };
        if context.has_load() {
            scene.slow_ios();
        } else {
            scene.slow_requests();
        }
        scene.writer = served::writer(&scene);
        scene
    }

    /// The seconds that it touches, since the start of the run.
    pub(super) fn seconds(&self) -> RangeInclusive<u64> {
        let started_ns = self.context.facts.started_ns();
        let second = |at_ns: u64| at_ns.saturating_sub(started_ns) / SECOND_NS;
        second(self.spike.start_ns)..=second(self.spike.end_ns)
    }

    fn slow_ios(&mut self) {
        let slow = self.ios.iter().filter_map(|io| Some((io, self.part_of(io)?)));
        let slow: Vec<(&IoRecord, usize)> = slow.collect();
        self.slow_ios = slow.len() as u64;
        let response_ns = |io: &IoRecord| io.completed_ns.saturating_sub(io.intended_ns.min(io.created_ns));
        let times: Vec<u64> = slow.iter().map(|(io, _)| response_ns(io)).collect();
        let mut matcher = Matcher::new(self.context.facts, self.ios, self.requests);
        let chosen = sample::chosen(&times).into_iter();
        self.slow = chosen
            .map(|(place, weight)| SlowIo {
                part: slow[place].1,
                weight,
                ..matcher.split(slow[place].0)
            })
            .collect();
    }

    /// I/Os with the parts of their times.
    pub(super) fn matched(&self, ios: &[&IoRecord]) -> Vec<SlowIo> {
        let mut matcher = Matcher::new(self.context.facts, self.ios, self.requests);
        let split = ios.iter().map(|io| {
            let kind = Kind::of_io(io.op, io.len_bytes);
            let parts = self.found.parts.iter();
            let own = parts
                .enumerate()
                .find(|(_, part)| part.section == io.job as usize && part.kind == kind);
            SlowIo {
                part: own.map_or(0, |(index, _)| index),
                ..matcher.split(io)
            }
        });
        split.collect()
    }

    /// The part of the disturbance whose slow I/O this is.
    fn part_of(&self, io: &IoRecord) -> Option<usize> {
        let kind = Kind::of_io(io.op, io.len_bytes);
        let due_ns = io.intended_ns.min(io.created_ns);
        if due_ns > self.spike.end_ns || io.completed_ns < self.spike.start_ns {
            return None;
        }
        let mut parts = self.found.parts.iter();
        parts.position(|part| {
            part.section == io.job as usize
                && part.kind == kind
                && (part.shift || io.completed_ns.saturating_sub(due_ns) >= part.threshold_ns)
        })
    }

    fn slow_requests(&mut self) {
        let part_of = |request: &BlockRequest| {
            let kind = Kind::of_request(request.op, request.len_bytes);
            let latency_ns = request.completed_ns.saturating_sub(request.begun_ns());
            let mut parts = self.found.parts.iter();
            let slow = parts.position(|part| {
                part.kind == kind
                    && part.task == Some(request.comm)
                    && (part.shift || latency_ns >= part.threshold_ns)
            })?;
            self.spike.holds(request.completed_ns).then_some(slow)
        };
        let slow: Vec<(&BlockRequest, usize)> = self
            .requests
            .iter()
            .filter_map(|request| Some((request, part_of(request)?)))
            .collect();
        let held = self.held();
        let latency_ns = |request: &BlockRequest| request.completed_ns.saturating_sub(request.begun_ns());
        let lost = slow
            .iter()
            .map(|(request, _)| (request.comm, latency_ns(request)));
        let lost_held = held.iter().map(|(comm, io)| (*comm, io.total_ns()));
        self.victim = most(lost.chain(lost_held));
        let of_victim = |slow: &&(&BlockRequest, usize)| Some(slow.0.comm) == self.victim;
        let slow: Vec<(&BlockRequest, usize)> = slow.iter().filter(of_victim).copied().collect();
        let times: Vec<u64> = slow.iter().map(|(request, _)| latency_ns(request)).collect();
        self.slow = sample::chosen(&times)
            .into_iter()
            .map(|(place, weight)| SlowIo {
                weight,
                ..SlowIo::of_request(slow[place].0, slow[place].1)
            })
            .collect();
        let held = held.into_iter().filter(|(comm, _)| Some(*comm) == self.victim);
        let held: Vec<SlowIo> = held.map(|(_, io)| io).collect();
        self.slow_ios = (slow.len() + held.len()) as u64;
        self.slow.extend(held);
    }

    /// The times in which the threads of its parts were not let run, each as an I/O that was due and not made.
    fn held(&self) -> Vec<(Comm, SlowIo)> {
        let parts = self.found.parts.iter().enumerate();
        let of_threads = parts.filter(|(_, part)| part.kind == Kind::HELD);
        let tasks = of_threads.filter_map(|(index, part)| Some((index, part.task?)));
        let ios = tasks.flat_map(|(index, task)| {
            let spans = held::spans(self.context.scanned, task);
            let met =
                spans.filter(|span| self.spike.start_ns <= span.from_ns && span.to_ns <= self.spike.end_ns);
            met.map(move |span| (task, SlowIo::held(span, index)))
        });
        ios.collect()
    }

    /// Whether a task is the one that suffers: the load, or without one, the task whose requests were slow.
    pub(super) fn is_own(&self, pid: u32, comm: &Comm) -> bool {
        match self.victim {
            Some(victim) => victim == *comm,
            None => {
                self.context.facts.owns(pid, comm)
                    || (self.context.facts.modelled() && !is_kernel(comm))
                    || self.is_own_task(pid)
            }
        }
    }

    /// The section of the load that a task works for, where that is known.
    pub(super) fn section_of(&self, tid: u32, comm: &Comm) -> Option<usize> {
        let counters = self.context.scanned.counters.as_ref();
        let mut tasks = counters.into_iter().flat_map(|counters| &counters.tasks);
        let by_tid = tasks.find(|(_, _, own)| *own == tid);
        let by_name = || {
            let mut jobs = self.context.facts.jobs().iter();
            jobs.position(|job| is_worker_of(&job.name, comm))
        };
        by_tid.map(|(job, _, _)| *job as usize).or_else(by_name)
    }

    /// The cgroup of a task, where that is known and not the root of all.
    pub(super) fn cgroup(&self, pid: u32) -> Option<&'s str> {
        let counters = self.context.scanned.counters.as_ref()?;
        let path = counters.cgroups.get(&pid)?.path.as_str();
        (path != "/").then_some(path)
    }

    fn is_own_task(&self, tid: u32) -> bool {
        let counters = self.context.scanned.counters.as_ref();
        counters.is_some_and(|counters| counters.tasks.iter().any(|(_, _, own)| *own == tid))
    }

    /// The threads of a worker, where they are known.
    pub(super) fn tasks_of(&self, worker: (u32, u32)) -> impl Iterator<Item = u32> + '_ {
        let counters = self.context.scanned.counters.as_ref();
        let tasks = counters.into_iter().flat_map(|counters| counters.tasks.iter());
        tasks
            .filter(move |(job, number, _)| (*job, *number) == worker)
            .map(|(_, _, tid)| *tid)
    }

    /// Means of the parts of all slow I/Os; `None` where no request was seen.
    pub(super) fn split(&self) -> Option<Split> {
        if !self.context.has_block() || self.slow.is_empty() || self.requests.is_empty() {
            return None;
        }
        let n: f64 = self.slow.iter().map(|io| io.weight).sum();
        let mean = |part: usize| {
            let each = self.slow.iter().map(|io| io.parts[part] as f64 * io.weight);
            each.sum::<f64>() / n
        };
        let share = |which: fn(&SlowIo) -> bool| {
            let there = self.slow.iter().filter(|io| which(io));
            there.map(|io| io.weight).sum::<f64>() / n
        };
        Some(Split {
            unsent_ns: mean(0),
            above_ns: mean(1),
            tag_ns: mean(2),
            scheduler_ns: mean(3),
            device_ns: mean(4),
            reap_ns: mean(5),
            ambiguous: share(|io| io.ambiguous),
            unmatched: share(|io| io.at_device.is_none()),
        })
    }

    /// How many were in flight.
    pub(super) fn depths(&self) -> Depths {
        let of = |window: Window| -> f64 {
            let ios = self
                .ios
                .iter()
                .map(|io| window.overlap_ns(io.created_ns, io.completed_ns));
            let own = self
                .requests
                .iter()
                .filter(|request| self.is_own(request.pid, &request.comm));
            let requests = own.map(|request| window.overlap_ns(request.begun_ns(), request.completed_ns));
            let in_flight_ns: u64 = if self.context.has_load() {
                ios.sum()
            } else {
                requests.sum()
            };
            in_flight_ns as f64 / window.duration_ns().max(1) as f64
        };
        let device = self.context.has_block().then(|| {
            let each = self.requests.iter().map(|request| {
                let issued_ns = request.issued_ns.unwrap_or(request.begun_ns());
                self.spike.overlap_ns(issued_ns, request.completed_ns)
            });
            each.sum::<u64>() as f64 / self.spike.duration_ns().max(1) as f64
        });
        Depths {
            before: of(self.before),
            during: of(self.spike),
            after: of(self.after),
            device_during: device,
        }
    }
}

/// The one that has most in all.
fn most(each: impl Iterator<Item = (Comm, u64)>) -> Option<Comm> {
    let mut all: Vec<(Comm, u64)> = each.collect();
    all.sort_unstable();
    let sum = |same: &[(Comm, u64)]| same.iter().map(|(_, ns)| ns).sum::<u64>();
    all.chunk_by(|a, b| a.0 == b.0)
        .max_by_key(|same| sum(same))
        .map(|same| same[0].0)
}

//! The account of one disturbance: whose the time was that its slow I/Os took.
//!
//! Data in: a disturbance with its rows. Data out: sums by owner, which add up to the response times of the slow I/Os that
//! were looked at. Each I/O's time is cut into intervals ([`path`]), each with the owner that the evidence names. It must not
//! choose a cause.

mod cpus;
mod device;
mod ledger;
mod path;
mod queue;
mod still;
mod thread;

use super::Part;
use super::scene::{Scene, SlowIo};
use super::served::Busy;
use crate::explain::answer::{OwnerClass, Process};
use crate::explain::block_scan::{is_bound_worker, is_kernel};
use crate::explain::counter_scan::Grown;
use crate::explain::victims::Kind;
use cpus::Cpus;
use device::{Counterfactual, Party};
use fathom_core::record::{BlockFlags, BlockOp, BlockRequest, IoRecord, SpanKind};
use fathom_core::run::Warning;
pub(super) use ledger::{Ledger, Owner};
use path::{Flush, Host, Paths, Throttled};
use queue::Queue;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use still::Still;
use thread::{Doing, Threads, begin_unknown};

/// How much longer than usual requests must take at the device for it to be what is slow.
const DEVICE_SLOWER: f64 = 3.0;
/// The part of I/Os' times that was unsent from which on it is asked what held their workers up.
const UNSENT: f64 = 0.05;
/// I/Os of workers whose paths are found to say what held the next ones up.
const QUEUE_MAX: usize = 100_000;

/// What an I/O of a victim takes in its quiet time: means of the parts, in nanoseconds, and how many of its own are ahead.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Usually {
    pub parts: [f64; 6],
    pub ahead: f64,
    /// The mean size.
    pub bytes: f64,
    /// Of so many I/Os.
    pub ios: u64,
}

impl Usually {
    /// In the block layer and at the device.
    pub(super) fn below_ns(&self) -> f64 {
        self.parts[2] + self.parts[3] + self.parts[4]
    }

    /// From when it is made.
    fn latency_ns(&self) -> f64 {
        self.parts[1..].iter().sum()
    }
}

/// What was found.
#[derive(Debug)]
pub(super) struct Account {
    /// Sums over all slow I/Os; where not all were looked at, those that were stand for the others.
    pub ledger: Ledger,
    /// Whether the load's threads were recorded.
    pub threads_seen: bool,
    /// I/Os whose parts did not add up to their response times: they claim nothing.
    pub unaccounted: u64,
}

/// Accounts for a disturbance; `usually` is that of each of its parts.
pub(super) fn of(scene: &Scene<'_>, usually: &[Usually]) -> Account {
    let mut paths = paths(scene, usually);
    let sum = |ns: fn(&SlowIo) -> u64| -> f64 {
        let each = scene.slow.iter().map(|io| ns(io) as f64 * io.weight);
        each.sum()
    };
    if sum(|io| io.parts[0]) >= sum(SlowIo::total_ns) * UNSENT {
        paths.queue = queue(scene, &paths);
    }
    let mut ledger = Ledger::default();
    let mut unaccounted = 0;
    for io in &scene.slow {
        let mut cut = paths.cut(io);
        debug_assert_eq!(
            cut.total_ns(),
            io.total_ns(),
            "each nanosecond of {io:?} has one owner"
        );
        if cut.total_ns() != io.total_ns() {
            unaccounted += 1;
            cut = Ledger::default();
            cut.add(Owner::NOT_SEEN, io.total_ns());
        }
        ledger.join(&cut, io.weight);
    }
    Account {
        ledger,
        unaccounted,
        threads_seen: !paths.threads.is_empty(),
    }
}

fn paths<'s>(scene: &'s Scene<'s>, usually: &[Usually]) -> Paths<'s> {
    let facts = scene.context.facts;
    let signs = Signs::of(scene);
    let threads = Threads::new(
        scene.slices,
        |slice| scene.is_own(slice.tid, &slice.comm),
        |tid, from_ns, to_ns| signs.first(tid, from_ns, to_ns),
    );
    let cpus = Cpus::new(scene.slices, scene.cpus);
    let counterfactuals = scene.found.parts.iter().zip(usually);
    let counterfactuals = counterfactuals.map(|(part, usually)| counterfactual(scene, part, usually));
    let buffered = writes_buffered(scene);
    let host = Host {
        buffered,
        modelled: facts.modelled(),
        device_slow: device_slow(scene, usually),
        untraced: scene.requests.is_empty(),
    };
    let mut paths = Paths {
        counterfactuals: counterfactuals.collect(),
        usually: usually.to_vec(),
        host,
        stops: stops(scene),
        flushes: flushes(scene),
        own_pages: own_pages(scene),
        still: Still::of(&scene.kernel, &scene.cpus.iter().map(|share| share.cpu).collect()),
        queue: Queue::default(),
        quota: Vec::new(),
        throttled: throttled(scene),
        scene,
        threads,
        cpus,
    };
    paths.quota = quota(scene, &paths);
    paths
}

/// When threads were seen at work: each stamp of an I/O is taken by the thread that makes it.
#[derive(Debug, Default)]
struct Signs(HashMap<u32, Vec<u64>>);

impl Signs {
    /// None where each stay says itself when it began: then nobody asks.
    fn of(scene: &Scene<'_>) -> Self {
        let mut signs: HashMap<u32, Vec<u64>> = HashMap::new();
        if !scene.slices.iter().any(begin_unknown) {
            return Self(signs);
        }
        let mut threads: HashMap<(u32, u32), Option<u32>> = HashMap::new();
        for io in scene.ios {
            let worker = (io.job, io.worker);
            let thread = threads.entry(worker).or_insert_with(|| {
                let mut tasks = scene.tasks_of(worker);
                // Of several it is not known which.
                tasks.next().filter(|_| tasks.next().is_none())
            });
            if let Some(tid) = *thread {
                let stamps = signs.entry(tid).or_default();
                stamps.extend([io.created_ns, io.completed_ns]);
            }
        }
        for request in scene.requests.iter().filter(|request| request.pid != 0) {
            let of_thread = signs.entry(request.pid).or_default();
            of_thread.extend(request.queued_ns);
        }
        for stamps in signs.values_mut() {
            stamps.sort_unstable();
        }
        Self(signs)
    }

    fn first(&self, tid: u32, from_ns: u64, to_ns: u64) -> Option<u64> {
        let stamps = self.0.get(&tid)?;
        let first = stamps.get(stamps.partition_point(|&at| at < from_ns))?;
        (*first < to_ns).then_some(*first)
    }
}

/// Whether the load writes through the page cache.
fn writes_buffered(scene: &Scene<'_>) -> bool {
    let parts = scene.found.parts.iter();
    let jobs = parts.filter_map(|part| scene.context.section(part)?.load);
    jobs.map(|load| load.job)
        .any(|job| job.writes() && job.uses_page_cache())
}

/// When the load was stopped, as it noticed itself.
fn stops(scene: &Scene<'_>) -> Vec<(u64, u64)> {
    let facts = scene.context.facts;
    let started_ns = facts.started_ns();
    let warnings = facts.run.summary.warnings.iter();
    let stops = warnings.filter_map(|warning| match warning {
        Warning::LoadStopped { stops, .. } => Some(stops),
        _ => None,
    });
    let span = |at_ns: u64, length_ns: u64| {
        let from_ns = started_ns.saturating_add(at_ns);
        (from_ns, from_ns.saturating_add(length_ns))
    };
    let mut stops: Vec<(u64, u64)> = stops
        .flatten()
        .map(|stop| span(stop.at_ns, stop.length_ns))
        .collect();
    stops.sort_unstable();
    stops
}

/// What the quota explains of the time in which the load stood ready: beside an idle CPU, and while somebody had it.
/// Nothing but a quota keeps a task from an idle CPU; what is left of the quota's time lay where others had it. Each time between
/// two readings stands for itself.
fn quota(scene: &Scene<'_>, paths: &Paths<'_>) -> Vec<path::Quota> {
    let Some(counters) = &scene.context.scanned.counters else {
        return Vec::new();
    };
    let window = scene.found.window;
    let first = counters
        .throttled
        .partition_point(|read| read.to_ns <= window.start_ns);
    let there = counters.throttled[first..].iter();
    there
        .take_while(|read| read.from_ns < window.end_ns)
        .map(|read| explained_by(paths, read))
        .collect()
}

fn explained_by(paths: &Paths<'_>, held_back: &Grown) -> path::Quota {
    let (from_ns, to_ns) = (held_back.from_ns, held_back.to_ns);
    let mut waits: Vec<(u64, u64)> = Vec::new();
    let mut held_ns = 0.0;
    for tid in paths.threads.tids() {
        for span in paths.threads.within(tid, from_ns, to_ns) {
            if let Doing::Ready { cpu } = span.doing {
                waits.push((span.from_ns, span.to_ns));
                let holders = paths.cpus.holders(cpu, tid, span.from_ns, span.to_ns);
                let held = holders.iter().filter(|(holder, _)| holder.is_some());
                held_ns += held.map(|(_, ns)| ns).sum::<f64>();
            }
        }
    }
    let ready_ns = Busy::of(waits).total_ns() as f64;
    let held_ns = held_ns.min(ready_ns);
    let nobody_ns = ready_ns - held_ns;
    let held_back_ns = held_back.by * 1e9;
    path::Quota {
        from_ns,
        to_ns,
        beside_idle: (held_back_ns / nobody_ns.max(1.0)).min(1.0),
        while_held: ((held_back_ns - nobody_ns) / held_ns.max(1.0)).clamp(0.0, 1.0),
    }
}

/// When each thread of the load was made to wait because too much was dirty, and whose pages that were.
fn throttled(scene: &Scene<'_>) -> Throttled {
    let mut throttled = Throttled::new();
    let of_it = scene.kernel.iter();
    let of_it = of_it.filter(|span| span.kind == SpanKind::DirtyThrottle);
    for span in of_it.filter(|span| scene.is_own(span.tid, &span.comm)) {
        // It makes pages dirty itself, or it would not be held: where nobody is known, it is its own doing.
        let owner = if span.by_tid == 0 || scene.is_own(span.by_tid, &span.by_comm) {
            Owner::of(OwnerClass::DirtyPages)
        } else {
            let process = Process {
                pid: span.by_tid,
                comm: span.by_comm,
            };
            Owner::by(OwnerClass::CompetingIo, process)
        };
        let of_thread = throttled.entry(span.tid).or_default();
        of_thread.push((span.start_ns, span.end_ns, owner));
    }
    throttled
}

/// When the kernel was writing back pages that the load had made dirty; all that it wrote back, where the record does not say of
/// any request on whose behalf it was.
fn own_pages(scene: &Scene<'_>) -> Busy {
    let owners_known = scene.requests.iter().any(|request| request.owner_pid != 0);
    let written = scene.requests.iter().filter(|request| {
        let owned = match request.owner_pid {
            0 => !owners_known && request.comm.as_bytes().starts_with(b"kworker/"),
            pid => scene.is_own(pid, &request.owner_comm),
        };
        // What the journal writes into its log is not pages.
        let pages = request.op == BlockOp::Write && !request.flags.has(BlockFlags::META);
        owned && is_kernel(&request.comm) && pages
    });
    Busy::of(written.map(|request| (request.begun_ns(), request.completed_ns)))
}

/// Whether requests took far longer at the device than they usually do.
fn device_slow(scene: &Scene<'_>, usually: &[Usually]) -> bool {
    let usual_ns = usually.iter().map(|usually| usually.parts[4]).fold(0.0, f64::max);
    let there = scene
        .requests
        .iter()
        .filter(|request| scene.spike.holds(request.completed_ns) && !is_flush(request));
    let mut times: Vec<u64> = there.filter_map(BlockRequest::device_ns).collect();
    times.sort_unstable();
    // One in ten: a stall holds up those that are at the device, and those that wait for them are many more.
    let slow = times.get(times.len() * 9 / 10).copied().unwrap_or(0);
    slow as f64 >= usual_ns * DEVICE_SLOWER && usual_ns > 0.0
}

/// Flushes of the device's cache, and writes that carry one.
pub(super) fn is_flush(request: &BlockRequest) -> bool {
    let flags = request.flags;
    request.op == BlockOp::Flush || flags.has(BlockFlags::PREFLUSH) || flags.has(BlockFlags::FUA)
}

/// Flushes: the device completes nothing else of its own from when on until their ends. One that waits its turn among others
/// stops nobody.
fn flushes(scene: &Scene<'_>) -> Vec<Flush> {
    let mut others: HashMap<u32, Vec<u64>> = HashMap::new();
    for request in scene.requests.iter().filter(|request| !is_flush(request)) {
        others
            .entry(request.device)
            .or_default()
            .push(request.completed_ns);
    }
    let flushes = scene.requests.iter().filter(|request| is_flush(request));
    flushes
        .map(|flush| {
            let from_ns = flush.issued_ns.unwrap_or(flush.begun_ns());
            let others = others.get(&flush.device).map_or(&[][..], Vec::as_slice);
            let before = others.partition_point(|end| *end < flush.completed_ns);
            let last_ns = before.checked_sub(1).map_or(0, |last| others[last]);
            Flush {
                device: flush.device,
                from_ns,
                alone_ns: from_ns.max(last_ns),
                to_ns: flush.completed_ns,
            }
        })
        .collect()
}

fn counterfactual(scene: &Scene<'_>, part: &Part, usually: &Usually) -> Counterfactual {
    let of_victim = |request: &BlockRequest| {
        let of_section = scene.section_of(request.pid, &request.comm);
        of_section.is_none_or(|section| section == part.section)
            && Kind::of_request(request.op, request.len_bytes) == part.kind
    };
    let usual_ns = usually.below_ns();
    // As far off as an I/O is that is a disturbance by itself.
    let slow_ns = part.threshold_ns as f64;
    let own = |request: &&BlockRequest| scene.is_own(request.pid, &request.comm) && of_victim(request);
    // Another disk's requests are in nobody's way.
    let devices = scene.requests.iter().filter(own);
    let devices: BTreeSet<u32> = devices.map(|request| request.device).collect();
    let of_devices = |request: &&BlockRequest| devices.is_empty() || devices.contains(&request.device);
    let requests: Vec<BlockRequest> = scene.requests.iter().filter(of_devices).copied().collect();
    let before = requests.iter().filter(own).filter(|request| {
        request.begun_ns() < scene.spike.start_ns
            && (request.completed_ns - request.begun_ns()) as f64 >= slow_ns
    });
    let slow_before = Busy::of(before.map(|request| (request.begun_ns(), request.completed_ns)));
    let question = device::Question {
        slow_before,
        requests: &requests,
        from_ns: scene.spike.start_ns,
        to_ns: scene.spike.end_ns,
        known_from_ns: scene.before.start_ns,
        usual_ns,
        usual_ahead: usually.ahead,
        usual_bytes: (usually.ahead + 1.0) * usually.bytes,
    };
    let buffered = writes_buffered(scene);
    let party = |request: &BlockRequest| {
        if is_flush(request) && request.len_bytes == 0 {
            return Party::Nobody;
        }
        if scene.is_own(request.pid, &request.comm) {
            return if of_victim(request) {
                Party::Victim
            } else {
                Party::Suspect(Owner::of(OwnerClass::OwnQueue))
            };
        }
        if request.owner_pid != 0 {
            if scene.is_own(request.owner_pid, &request.owner_comm) {
                let log = request.flags.has(BlockFlags::META);
                return Party::Suspect(Owner::of(if log {
                    OwnerClass::Journal
                } else {
                    OwnerClass::DirtyPages
                }));
            }
            let process = Process {
                pid: request.owner_pid,
                comm: request.owner_comm,
            };
            return Party::Suspect(Owner::by(OwnerClass::CompetingIo, process));
        }
        if !is_kernel(&request.comm) {
            let process = Process {
                pid: request.pid,
                comm: request.comm,
            };
            return Party::Suspect(Owner::by(OwnerClass::CompetingIo, process));
        }
        let name = request.comm.as_bytes();
        if name.starts_with(b"jbd2/") || name.starts_with(b"xfsaild") {
            return Party::Suspect(Owner::of(OwnerClass::Journal));
        }
        match (buffered, scene.writer) {
            (true, _) => Party::Suspect(Owner::of(OwnerClass::DirtyPages)),
            (false, Some(writer)) => Party::Suspect(Owner::by(OwnerClass::CompetingIo, writer)),
            // What a throttle lets go is the load's own.
            (false, None) if is_bound_worker(&request.comm) => Party::Victim,
            (false, None) => Party::Suspect(Owner::of(OwnerClass::CompetingIo)),
        }
    };
    Counterfactual::new(&question, party)
}

/// What held each worker's next I/O up: of those in flight the one that ended next, and whose its time was.
fn queue(scene: &Scene<'_>, paths: &Paths<'_>) -> Queue {
    let mut queue = Queue::default();
    queue.surge = surge(scene);
    let workers: BTreeSet<(u32, u32)> = scene.slow.iter().filter_map(|io| io.worker).collect();
    let of_workers = |io: &&IoRecord| workers.contains(&(io.job, io.worker));
    let mut ios: Vec<&IoRecord> = scene.ios.iter().filter(of_workers).collect();
    ios.truncate(QUEUE_MAX);
    let mut late: BTreeMap<(u32, u32), Vec<(u64, u64)>> =
        workers.into_iter().map(|worker| (worker, Vec::new())).collect();
    for io in ios.iter().filter(|io| io.intended_ns < io.created_ns) {
        let of_worker = late.entry((io.job, io.worker)).or_default();
        of_worker.push((io.intended_ns, io.created_ns));
    }
    for (worker, times) in late {
        queue.line(worker, Busy::of(times));
    }
    for (io, path) in ios.iter().zip(scene.matched(&ios)) {
        // Only what is beyond its own wait for being sent.
        let sent = SlowIo {
            due_ns: path.created_ns,
            parts: [
                0,
                path.parts[1],
                path.parts[2],
                path.parts[3],
                path.parts[4],
                path.parts[5],
            ],
            ..path
        };
        queue.push(
            (io.job, io.worker),
            sent.created_ns,
            sent.completed_ns,
            paths.cut(&sent),
        );
    }
    queue
}

/// Whether far more I/Os were due than before.
fn surge(scene: &Scene<'_>) -> bool {
    let due = |io: &IoRecord| io.intended_ns.min(io.created_ns);
    let before = scene.ios.iter().filter(|io| scene.before.holds(due(io))).count() as f64;
    let before_s = scene.before.duration_ns().max(1) as f64 / 1e9;
    // A surge is at the begin; what is left of it may be the queue that it left.
    [1.0, 0.5, 0.25].into_iter().any(|part| {
        let until_ns = scene.spike.start_ns + (scene.spike.duration_ns() as f64 * part) as u64;
        let span_s = until_ns.saturating_sub(scene.spike.start_ns).max(1) as f64 / 1e9;
        let within = |io: &&IoRecord| scene.spike.holds(due(io)) && due(io) <= until_ns;
        let n = scene.ios.iter().filter(within).count() as f64;
        let expected = before / before_s * span_s;
        // Four standard deviations of a Poisson process, and half as much again.
        before > 0.0 && n > expected * 1.5 && n > expected + 4.0 * expected.sqrt() + 4.0
    })
}

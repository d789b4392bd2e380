//! What the device served during a spike and before, for whom; which processes came new.
//!
//! Data in: the requests and processes around a spike. Data out: sums for each task. It must not judge.

use super::super::answer::{Process, ProcessUse, Served};
use super::super::evidence::Window;
use super::super::words::ratio;
use super::scene::{Scene, SlowIo};
use fathom_core::record::{BlockOp, BlockRequest};
use std::collections::HashMap;

/// CPU time and bytes from which on a process is worth a line.
const CPU_MIN_NS: u64 = 10_000_000;
const BYTES_MIN: u64 = 1 << 20;
/// How much more than before, in proportion to time, a process must use to have come new.
const NEW_FACTOR: f64 = 3.0;
/// Processes that are listed.
const LISTED_MAX: usize = 10;
/// Of what the kernel wrote back, a process must have made so much dirty to be who did.
const WROTE_MIN: f64 = 0.3;

/// What one task had from the device.
#[derive(Debug, Clone)]
pub(super) struct User {
    pub process: Process,
    pub own: bool,
    pub during: Share,
    pub before: Share,
    /// The share of the slow I/Os' time in which it had a request in flight; of the load itself 0.
    pub present: f64,
    /// Of its requests that ended in the spike: flushes.
    pub flushes: u64,
}

/// What was served in one window.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Share {
    /// Requests and bytes completed.
    pub requests: f64,
    pub bytes: f64,
    pub bytes_a_second: f64,
    /// Requests in flight on average.
    pub in_flight: f64,
}

impl Share {
    /// A second of it.
    pub(super) fn rate(&self, window: Window) -> (f64, f64) {
        let seconds = window.duration_ns().max(1) as f64 / 1e9;
        (self.requests / seconds, self.bytes / seconds)
    }

    fn add(&mut self, request: &BlockRequest, window: Window) {
        let from = request.begun_ns();
        let ns = window.overlap_ns(from, request.completed_ns);
        self.in_flight += ns as f64 / window.duration_ns().max(1) as f64;
        if window.holds(request.completed_ns) && request.op != BlockOp::Flush {
            self.requests += 1.0;
            self.bytes += f64::from(request.len_bytes);
        }
    }

    fn finish(&mut self, window: Window) {
        self.bytes_a_second = self.rate(window).1;
    }
}

impl User {
    fn new(scene: &Scene<'_>, request: &BlockRequest) -> Self {
        Self {
            process: Process {
                pid: request.pid,
                comm: request.comm,
            },
            own: scene.is_own(request.pid, &request.comm),
            during: Share::default(),
            before: Share::default(),
            present: 0.0,
            flushes: 0,
        }
    }
}

/// All that had requests in flight in the spike or before, by name, the most bytes first.
pub(super) fn users(scene: &Scene<'_>, slow: &[SlowIo]) -> Vec<User> {
    let mut users: Vec<User> = Vec::new();
    let mut spans: Vec<Vec<(u64, u64)>> = Vec::new();
    let mut last = 0;
    for request in scene.requests {
        // Mostly one task sends many in turn.
        if users
            .get(last)
            .is_none_or(|user| user.process.comm != request.comm)
        {
            let known = users.iter().position(|user| user.process.comm == request.comm);
            last = known.unwrap_or_else(|| {
                users.push(User::new(scene, request));
                spans.push(Vec::new());
                users.len() - 1
            });
        }
        let user = &mut users[last];
        user.during.add(request, scene.spike);
        user.before.add(request, scene.before);
        let begun_ns = request.begun_ns();
        if scene.spike.overlap_ns(begun_ns, request.completed_ns) > 0 {
            user.process.pid = request.pid;
            user.flushes += u64::from(request.op == BlockOp::Flush);
            spans[last].push((begun_ns, request.completed_ns));
        }
    }
    for (user, spans) in users.iter_mut().zip(spans) {
        // Of its own requests it does not matter.
        if !user.own {
            user.present = Busy::of(spans).share(slow.iter().map(|io| (io.created_ns, io.completed_ns)));
        }
        user.during.finish(scene.spike);
        user.before.finish(scene.before);
    }
    users.sort_by(|a, b| {
        let order = b.during.bytes.total_cmp(&a.during.bytes);
        order.then(a.process.comm.cmp(&b.process.comm))
    });
    users
}

/// Times in which something was so, ascending and apart.
#[derive(Debug, Clone, Default)]
pub(super) struct Busy(Vec<Window>);

impl Busy {
    pub(super) fn of(spans: impl IntoIterator<Item = (u64, u64)>) -> Self {
        let window = |(start_ns, end_ns)| Window { start_ns, end_ns };
        Self(Window::apart(spans.into_iter().map(window)))
    }

    /// How much of a time that was.
    pub(super) fn within_ns(&self, from: u64, to: u64) -> u64 {
        let first = self.0.partition_point(|span| span.end_ns <= from);
        let there = self.0[first..].iter().take_while(|span| span.start_ns < to);
        there.map(|span| span.overlap_ns(from, to)).sum()
    }

    /// Those within a time, cut to it.
    pub(super) fn spans(&self, from: u64, to: u64) -> impl Iterator<Item = (u64, u64)> {
        let first = self.0.partition_point(|span| span.end_ns <= from);
        let there = self.0[first..].iter().take_while(move |span| span.start_ns < to);
        there.map(move |span| (span.start_ns.max(from), span.end_ns.min(to)))
    }

    /// The times of both.
    pub(super) fn common(&self, other: &Self) -> Self {
        let both = |span: &Window| other.spans(span.start_ns, span.end_ns);
        Self::of(self.0.iter().flat_map(both))
    }

    /// The times of either.
    pub(super) fn joined(&self, other: &Self) -> Self {
        Self(Window::apart(self.0.iter().chain(&other.0).copied()))
    }

    /// When the time began that a moment lies in.
    pub(super) fn begin_of(&self, at_ns: u64) -> Option<u64> {
        let before = self.0.partition_point(|span| span.start_ns <= at_ns);
        let last = self.0.get(before.checked_sub(1)?)?;
        (at_ns <= last.end_ns).then_some(last.start_ns)
    }

    /// All of it together.
    pub(super) fn total_ns(&self) -> u64 {
        self.0.iter().map(Window::duration_ns).sum()
    }

    /// The share of these times, all added up, in which it was so.
    pub(super) fn share(&self, times: impl Iterator<Item = (u64, u64)>) -> f64 {
        let (mut so, mut all) = (0.0, 0.0);
        for (from, to) in times {
            so += self.within_ns(from, to) as f64;
            all += to.saturating_sub(from) as f64;
        }
        ratio(so, all)
    }
}

/// Those that had anything in flight in the spike, as an answer.
pub(super) fn listed(users: &[User]) -> Vec<Served> {
    let there = users.iter().filter(|user| user.during.in_flight > 0.0);
    there
        .take(LISTED_MAX)
        .map(|user| Served {
            process: user.process,
            own: user.own,
            requests: user.during.requests as u64,
            flushes: user.flushes,
            bytes: user.during.bytes as u64,
            in_flight: user.during.in_flight,
            in_flight_before: user.before.in_flight,
        })
        .collect()
}

/// Who made most of the pages dirty that the kernel wrote back meanwhile, as far as what processes wrote tells.
pub(super) fn writer(scene: &Scene<'_>) -> Option<Process> {
    let of_worker = |request: &&BlockRequest| {
        request.owner_pid == 0
            && request.op == BlockOp::Write
            && request.comm.as_bytes().starts_with(b"kworker/u")
            && scene.spike.holds(request.completed_ns)
    };
    let written: u64 = scene
        .requests
        .iter()
        .filter(of_worker)
        .map(|request| u64::from(request.len_bytes))
        .sum();
    if written < BYTES_MIN {
        return None;
    }
    let mut new = newcomers(scene).into_iter();
    let writer = new.find(|used| used.written_bytes as f64 >= WROTE_MIN * written as f64)?;
    Some(writer.process)
}

#[derive(Default, Clone, Copy)]
struct Use {
    cpu_ns: f64,
    read_bytes: f64,
    written_bytes: f64,
}

/// Processes that used far more in the seconds of the spike than in those before.
pub(super) fn newcomers(scene: &Scene<'_>) -> Vec<ProcessUse> {
    // A row stands for the time before it: those that overlap the spike, and those that ended before it.
    let mut uses: HashMap<Process, (Use, Use)> = HashMap::new();
    let earliest_ns = scene.spike.start_ns.saturating_sub(20_000_000_000);
    let (mut seconds_in, mut seconds_before) = (0.0_f64, 0.0_f64);
    let mut last_at_ns = 0;
    for row in scene.processes {
        let from_ns = row.at_ns.saturating_sub(row.duration_ns);
        let overlaps = scene.spike.start_ns < row.at_ns && from_ns < scene.spike.end_ns;
        if row.at_ns < earliest_ns || (!overlaps && row.at_ns > scene.spike.start_ns) {
            continue;
        }
        if row.at_ns != last_at_ns {
            last_at_ns = row.at_ns;
            *(if overlaps {
                &mut seconds_in
            } else {
                &mut seconds_before
            }) += row.duration_ns as f64 / 1e9;
        }
        if scene.is_own(row.pid, &row.comm) {
            continue;
        }
        let process = Process {
            pid: row.pid,
            comm: row.comm,
        };
        let (inside, before) = uses.entry(process).or_default();
        let used = if overlaps { inside } else { before };
        used.cpu_ns += row.cpu_ns as f64;
        used.read_bytes += row.read_bytes as f64;
        used.written_bytes += row.written_bytes as f64;
    }
    let per_second = |amount: f64, seconds: f64| amount / seconds.max(0.1);
    let new = uses.into_iter().filter_map(|(process, (inside, before))| {
        let is_new = |least: u64, amount: fn(&Use) -> f64| {
            let now = amount(&inside);
            now >= least as f64
                && per_second(now, seconds_in) >= NEW_FACTOR * per_second(amount(&before), seconds_before)
        };
        let new = is_new(CPU_MIN_NS, |used| used.cpu_ns)
            || is_new(BYTES_MIN, |used| used.read_bytes)
            || is_new(BYTES_MIN, |used| used.written_bytes);
        new.then_some(ProcessUse {
            process,
            cpu_ns: inside.cpu_ns as u64,
            read_bytes: inside.read_bytes as u64,
            written_bytes: inside.written_bytes as u64,
        })
    });
    let mut new: Vec<ProcessUse> = new.collect();
    let weight = |used: &ProcessUse| used.cpu_ns / 10 + used.read_bytes + used.written_bytes;
    new.sort_by_key(|used| (std::cmp::Reverse(weight(used)), used.process));
    new.truncate(LISTED_MAX);
    new
}

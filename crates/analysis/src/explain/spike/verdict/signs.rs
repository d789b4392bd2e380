//! The numbers that a verdict rests on.
//!
//! Data in: a spike with its rows. Data out: shares, rates, overlaps. It must not judge.

use super::super::super::evidence::Window;
use super::super::super::words::ratio;
use super::super::scene::{Parts, Scene, SlowIo};
use super::super::{cpu, served};
use super::{CpuWait, User};
use fathom_core::record::{BlockFlags, BlockOp, BlockRequest};

/// Numbers of one spike.
#[derive(Debug, Clone)]
pub(in super::super) struct Signs {
    /// Whether requests of the device were recorded around it.
    pub traced: bool,
    /// The slow I/Os that show the cause: those that were slow once made, not only made late.
    pub core: Vec<SlowIo>,
    /// The share of their time that each part took: unsent, above, tag, scheduler, device, until seen.
    pub shares: [f64; 6],
    /// Their mean time.
    pub mean_ns: f64,
    /// Means of the requests of the same owner before: waiting in the kernel's queue, at the device.
    pub usual_device_ns: f64,
    pub cpu: CpuWait,
    /// Whether the one that had the load's CPU is a thread of the load itself.
    pub own_holds_cpu: bool,
    /// The time in which the cgroup's CPU quota was used up, as a share of that in which the host had slow I/Os.
    pub cpu_throttled: f64,
    pub users: Vec<User>,
    /// Requests and bytes a second that the device served: all, during and before; the load's, during and before.
    pub all_during: (f64, f64),
    pub all_before: (f64, f64),
    pub own_during: (f64, f64),
    pub own_before: (f64, f64),
    /// The share of the slow I/Os' time at the device during which a flush was under way that began before them.
    pub behind_flush: f64,
    /// The share of the slow I/Os' time above the block layer during which a journal was being written.
    pub behind_journal: f64,
    /// The longest time in which the device completed nothing though it had something.
    pub silence_ns: u64,
    pub load: LoadSigns,
}

/// What the load did differently.
#[derive(Debug, Clone, Copy, Default)]
pub(in super::super) struct LoadSigns {
    /// I/Os due a second, during and before.
    pub due_during: f64,
    pub due_before: f64,
    /// Whether that many more cannot be chance.
    pub surge: bool,
    /// Mean bytes of the slow I/Os, and of all before.
    pub slow_bytes: f64,
    pub usual_bytes: f64,
    /// Another section of it sent far more than before, and most of what came to be in flight is its.
    pub newcomer: Option<u32>,
}

/// One section's part in what the load did.
#[derive(Debug, Clone, Copy, Default)]
struct JobPart {
    job: u32,
    /// I/Os due a second, and in flight, during and before.
    due: (f64, f64),
    in_flight: (f64, f64),
}

impl Signs {
    pub(in super::super) fn of(scene: &Scene<'_>) -> Self {
        let core = core(&scene.slow);
        let mut sums = [0.0; 6];
        for io in &core {
            for (sum, part) in sums.iter_mut().zip(io.parts as Parts) {
                *sum += part as f64;
            }
        }
        let total_ns = sums.iter().sum::<f64>().max(1.0);
        let cpu = cpu::wait(scene, &core);
        let own_holds_cpu = cpu
            .holders
            .first()
            .is_some_and(|(process, _)| scene.is_own(process.pid, &process.comm));
        let users = served::users(scene, &core);
        let rates = |own: bool, window: Window, during: bool| {
            let counted = users.iter().filter(|user| user.own || !own);
            counted.fold((0.0, 0.0), |(requests, bytes), user| {
                let share = if during { user.during } else { user.before };
                let rate = share.rate(window);
                (requests + rate.0, bytes + rate.1)
            })
        };
        Self {
            traced: scene.context.has_block() && !scene.requests.is_empty(),
            shares: sums.map(|sum| sum / total_ns),
            mean_ns: total_ns / core.len().max(1) as f64,
            usual_device_ns: usual_device_ns(scene),
            own_holds_cpu,
            cpu,
            cpu_throttled: cpu_throttled(scene, &core),
            all_during: rates(false, scene.spike, true),
            all_before: rates(false, scene.before, false),
            own_during: rates(true, scene.spike, true),
            own_before: rates(true, scene.before, false),
            behind_flush: behind_flush(scene, &core),
            behind_journal: behind_journal(scene, &core),
            silence_ns: silence_ns(scene),
            load: load_signs(scene, &core),
            users,
            core,
        }
    }

    /// The share of the time in which the host had the slow I/Os.
    pub(super) fn host(&self) -> f64 {
        self.shares[0] + self.shares[1] + self.shares[5]
    }

    /// The share in which the block layer and the device had them.
    pub(super) fn below(&self) -> f64 {
        self.shares[2] + self.shares[3] + self.shares[4]
    }

    /// The share in the kernel's own queue.
    pub(super) fn queued(&self) -> f64 {
        self.shares[2] + self.shares[3]
    }

    pub(super) fn device_share(&self) -> f64 {
        self.shares[4]
    }

    /// What the device did in all during the spike as part of what it did before: the larger one of requests and bytes.
    pub(super) fn throughput(&self) -> f64 {
        ratio(self.all_during.0, self.all_before.0).max(ratio(self.all_during.1, self.all_before.1))
    }
}

/// Those of which most was not only the wait for being made; all, where there are none.
fn core(slow: &[SlowIo]) -> Vec<SlowIo> {
    let made_in_time = |io: &&SlowIo| io.latency_ns() * 2 >= io.total_ns();
    let core: Vec<SlowIo> = slow.iter().filter(made_in_time).copied().collect();
    if core.is_empty() { slow.to_vec() } else { core }
}

fn usual_device_ns(scene: &Scene<'_>) -> f64 {
    let before = scene.requests.iter().filter(|request| {
        request.op != BlockOp::Flush
            && request.completed_ns < scene.spike.start_ns
            && scene.is_own(request.pid, &request.comm)
    });
    let (mut sum, mut n) = (0.0, 0.0);
    for ns in before.filter_map(BlockRequest::device_ns) {
        sum += ns as f64;
        n += 1.0;
    }
    ratio(sum, n)
}

/// How long the quota held the cgroup back in the spike's seconds, as a share of the time in which the host had slow I/Os.
fn cpu_throttled(scene: &Scene<'_>, core: &[SlowIo]) -> f64 {
    let Some(counters) = &scene.context.scanned.counters else {
        return 0.0;
    };
    let seconds = counters.system.range(scene.seconds());
    let throttled: f64 = seconds.map(|(_, second)| f64::from(second.cpu_throttled)).sum();
    let hosted = core.iter().flat_map(|io| {
        let done = io.completed_ns - io.parts[5];
        [(io.due_ns, io.created_ns + io.parts[1]), (done, io.completed_ns)]
    });
    let hosted_ns = served::Busy::of(hosted).total_ns();
    ratio(throttled, hosted_ns as f64 / 1e9)
}

/// Flushes of the device's cache, and writes that carry one.
fn is_flush(request: &BlockRequest) -> bool {
    let flags = request.flags;
    request.op == BlockOp::Flush || flags.has(BlockFlags::PREFLUSH) || flags.has(BlockFlags::FUA)
}

/// When flushes began and ended, and from when on the device completed nothing else before their ends: a flush that waits
/// its turn among others stops nobody.
fn flushes(scene: &Scene<'_>) -> Vec<(u64, u64, u64)> {
    let others: Vec<u64> = scene
        .requests
        .iter()
        .filter(|request| !is_flush(request))
        .map(|request| request.completed_ns)
        .collect();
    let flushes = scene.requests.iter().filter(|request| is_flush(request));
    flushes
        .map(|flush| {
            let issued_ns = flush.issued_ns.unwrap_or(flush.begun_ns());
            let before = others.partition_point(|end| *end < flush.completed_ns);
            let last_ns = before.checked_sub(1).map_or(0, |last| others[last]);
            (issued_ns, issued_ns.max(last_ns), flush.completed_ns)
        })
        .collect()
}

fn behind_flush(scene: &Scene<'_>, core: &[SlowIo]) -> f64 {
    let flushes = flushes(scene);
    let (mut behind, mut all) = (0.0, 0.0);
    for io in core {
        let Some((issued, done)) = io.at_device else {
            continue;
        };
        all += (done - issued) as f64;
        // One that began after the I/O did not make it wait.
        let slack_ns = (done - issued) / 10;
        let longest = flushes
            .iter()
            .filter(|(from, _, _)| *from <= issued + slack_ns)
            .map(|(_, alone, to)| done.min(*to).saturating_sub(issued.max(*alone)));
        behind += longest.max().unwrap_or(0) as f64;
    }
    ratio(behind, all)
}

fn behind_journal(scene: &Scene<'_>, core: &[SlowIo]) -> f64 {
    let is_journal = |request: &&BlockRequest| {
        let name = request.comm.as_bytes();
        name.starts_with(b"jbd2/") || name.starts_with(b"xfsaild") || is_flush(request)
    };
    let journal = scene.requests.iter().filter(is_journal);
    let spans = journal.map(|request| (request.begun_ns(), request.completed_ns));
    served::Busy::of(spans).share(core.iter().map(|io| (io.created_ns, io.created_ns + io.parts[1])))
}

/// The longest time without a completion while something was at the device.
fn silence_ns(scene: &Scene<'_>) -> u64 {
    let mut ends: Vec<(u64, u64)> = scene
        .requests
        .iter()
        .map(|request| {
            (
                request.completed_ns,
                request.issued_ns.unwrap_or(request.begun_ns()),
            )
        })
        .filter(|(end, _)| scene.spike.start_ns <= *end)
        .collect();
    ends.sort_unstable();
    let mut last = scene.spike.start_ns;
    let mut longest = 0;
    for (end, issued) in ends {
        longest = longest.max(end - issued.max(last).min(end));
        last = end;
    }
    longest
}

fn load_signs(scene: &Scene<'_>, core: &[SlowIo]) -> LoadSigns {
    let mut signs = LoadSigns::default();
    let (mut due_before, mut bytes_before) = (0.0, 0.0);
    let mut due: Vec<u64> = Vec::new();
    for io in scene.ios {
        let due_ns = io.intended_ns.min(io.created_ns);
        let during = scene.spike.holds(due_ns);
        let before = scene.before.holds(due_ns) && !during;
        if during {
            due.push(due_ns);
        }
        if before {
            due_before += 1.0;
            bytes_before += f64::from(io.len_bytes);
        }
    }
    let before_s = scene.before.duration_ns().max(1) as f64 / 1e9;
    signs.due_before = due_before / before_s;
    // A surge is at the spike's begin; what is left of it may be the queue that it left.
    for part in [1.0, 0.5, 0.25] {
        let until_ns = scene.spike.start_ns + (scene.spike.duration_ns() as f64 * part) as u64;
        let span_s = until_ns.saturating_sub(scene.spike.start_ns).max(1) as f64 / 1e9;
        let n = due.iter().filter(|due_ns| **due_ns <= until_ns).count() as f64;
        signs.due_during = signs.due_during.max(n / span_s);
        let expected = signs.due_before * span_s;
        // Four standard deviations of a Poisson process, and half as much again.
        signs.surge |= due_before > 0.0 && n > expected * 1.5 && n > expected + 4.0 * expected.sqrt() + 4.0;
    }
    signs.usual_bytes = ratio(bytes_before, due_before);
    let slow_bytes: f64 = core.iter().map(|io| f64::from(io.len_bytes)).sum();
    signs.slow_bytes = slow_bytes / core.len().max(1) as f64;
    signs.newcomer = newcomer(&job_parts(scene));
    signs
}

fn job_parts(scene: &Scene<'_>) -> Vec<JobPart> {
    let mut parts: Vec<JobPart> = Vec::new();
    let seconds = |window: Window| window.duration_ns().max(1) as f64;
    let (during, before) = (seconds(scene.spike), seconds(scene.before));
    for io in scene.ios {
        let due_ns = io.intended_ns.min(io.created_ns);
        let place = parts.iter().position(|part| part.job == io.job);
        let place = place.unwrap_or_else(|| {
            parts.push(JobPart {
                job: io.job,
                ..JobPart::default()
            });
            parts.len() - 1
        });
        let part = &mut parts[place];
        if scene.spike.holds(due_ns) {
            part.due.0 += 1e9 / during;
        } else if scene.before.holds(due_ns) {
            part.due.1 += 1e9 / before;
        }
        part.in_flight.0 += scene.spike.overlap_ns(io.created_ns, io.completed_ns) as f64 / during;
        part.in_flight.1 += scene.before.overlap_ns(io.created_ns, io.completed_ns) as f64 / before;
    }
    parts
}

/// The section that made most of the growth. Where nothing was there before, nothing has grown.
fn newcomer(parts: &[JobPart]) -> Option<u32> {
    let grown = |part: &JobPart| part.in_flight.0 - part.in_flight.1;
    let all: f64 = parts.iter().map(grown).sum();
    let before: f64 = parts.iter().map(|part| part.due.1).sum();
    let new = parts.iter().max_by(|a, b| grown(a).total_cmp(&grown(b)))?;
    let far_more = new.due.0 >= 3.0 * new.due.1 && new.in_flight.0 >= 3.0 * new.in_flight.1;
    let others_before = before - new.due.1 > new.due.1;
    (far_more && grown(new) >= all * 0.5 && others_before).then_some(new.job)
}

//! Watches the machine while a run goes on: requests of the devices, counters, who ran, what the kernel did.
//!
//! Data in: the tracers and the sampler, windows of time in which an I/O was slow. Data out: batches of rows, through a
//! bounded queue: it never waits for the disk that keeps them, so that a stall of that disk is still seen. What does not
//! fit into the queue is dropped and counted. It must not know how rows are kept.

use super::batch::{Batch, Dropped};
use super::ended::Missing;
use super::followed::{CommandSeen, Control, Followed};
use super::slow::{SlowFinder, Window};
use fathom_core::clock::Clock;
use fathom_core::record::{BlockRequest, CounterRow, CpuShare, SchedSlice, StreamKind};
use fathom_core::units::{MonoTime, Nanos};
use fathom_observe::counters::CounterSampler;
use fathom_observe::trace::{BlockTracer, KernelTracer, SchedTracer, Tree};
use fathom_sys::clock::HostClock;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender};
use std::time::Duration;

/// How often the block trace is read: at a million events a second its buffers hold several times as much.
const TICK: Duration = Duration::from_millis(50);
/// How often, in ticks, the disks' queues are read, and the stays on CPUs handed on.
const QUEUES_TICKS: u64 = 2;
const HAND_ON_TICKS: u64 = 4;
/// How many readings of the disks' queues go on in one batch: to wake the one who keeps them costs more than to read them.
const READINGS_PER_BATCH: u32 = 5;
const SECOND: Nanos = Nanos::from_secs(1);

/// Where the rows go, and where windows come from.
#[derive(Debug)]
pub(super) struct Ends {
    pub batches: SyncSender<Batch>,
    pub dropped: Arc<Dropped>,
    /// Windows of slow I/Os of the load.
    pub windows: Receiver<Window>,
    /// What is said of a command.
    pub controls: Receiver<Control>,
    pub stop: Arc<AtomicBool>,
    pub clock: HostClock,
}

impl Ends {
    fn send(&self, batch: Batch) {
        let (kind, rows) = batch.size();
        if rows > 0 && self.batches.try_send(batch).is_err() {
            self.dropped.add(kind, rows);
        }
    }
}

/// What is watched; each where it was asked for and the system allows it.
pub(super) struct Watched {
    pub block: Option<BlockTracer>,
    pub sched: Option<SchedTracer>,
    pub kernel: Option<KernelTracer>,
    pub counters: Option<CounterSampler>,
    /// Slow requests are looked for here, because there is no load of whose I/Os it could be said.
    pub without_load: bool,
    /// The command that is followed.
    pub followed: Option<Followed>,
    /// The numbers of the devices whose requests are watched, and their names.
    pub numbers: Vec<(u32, String)>,
}

impl Watched {
    /// How long to sleep between two looks, and how many of those it is from one look at the disks' queues to the next. The
    /// kernel's buffers fill; counters alone need no more than ten looks a second.
    fn pace(&self) -> (Duration, u64) {
        if self.block.is_some() || self.sched.is_some() || self.kernel.is_some() {
            (TICK, QUEUES_TICKS)
        } else {
            (TICK * QUEUES_TICKS as u32, 1)
        }
    }

    /// Whether there is neither a request nor a counter to be seen.
    pub(super) fn sees_nothing(&self) -> bool {
        self.block.is_none() && self.counters.is_none()
    }

    /// Whether somebody asks which I/Os are slow.
    pub(super) fn looks_back(&self) -> bool {
        self.sched.is_some()
    }
}

/// What is known when it ends.
#[derive(Debug, Default)]
pub(super) struct Account {
    /// Events that the kernel could not keep, by its own count, or that came too late to be in order.
    pub lost: BTreeMap<StreamKind, u64>,
    /// What was found not to be available on the way.
    pub remarks: Missing,
    /// What was seen of a command.
    pub command: Option<CommandSeen>,
}

impl Account {
    fn lost(&mut self, kind: StreamKind, events: u64, ends: &Ends) {
        self.lost.insert(kind, events);
        // The last counters say it as well.
        ends.dropped.set_events(kind, events);
    }

    fn failed(&mut self, kind: StreamKind, result: std::io::Result<()>) {
        if let Err(error) = result {
            let remark = format!("the kernel's buffer could not be read: {error}");
            self.remarks.say(kind, [remark]);
        }
    }
}

/// The body of the watching thread.
pub(super) fn watch(mut watched: Watched, ends: &Ends) -> Account {
    let mut account = Account::default();
    let mut slow = SlowFinder::new();
    let mut waiting: Vec<Window> = Vec::new();
    let mut next_second = ends.clock.now();
    let mut tick = 0u64;
    let (pause, queues_ticks) = watched.pace();
    let mut held = Held::default();
    loop {
        let stopping = ends.stop.load(Ordering::Relaxed);
        let now = ends.clock.now();
        follow(&mut watched, ends);
        let requests = poll_block(&mut watched, &mut slow, &mut account);
        let second = now >= next_second;
        if second {
            next_second = next_second.after(SECOND).max(now);
            tell_losses(&watched, ends);
        }
        if let Some(sampler) = &mut watched.counters {
            // The last reading is at the end, so that totals are of the whole run.
            if second || stopping {
                held.sample(sampler, now, ends);
            } else if tick.is_multiple_of(queues_ticks) {
                held.sample_disks(sampler, now, ends);
            }
        }
        if stopping {
            slow.end();
        }
        if let Some(sched) = &mut watched.sched {
            let polled = if stopping { sched.stop() } else { sched.poll() };
            account.failed(StreamKind::Sched, polled);
            waiting.extend(ends.windows.try_iter());
            waiting.extend(slow.windows());
            if tick.is_multiple_of(HAND_ON_TICKS) && !stopping {
                hand_on(sched, &mut waiting, &mut watched.counters, ends);
            }
        }
        count_requests(&mut watched, &requests);
        ends.send(Batch::Block(requests));
        if tick.is_multiple_of(HAND_ON_TICKS) {
            hand_on_spans(&mut watched, ends);
        }
        if stopping {
            end(watched, &waiting, &mut account, ends);
            return account;
        }
        tick += 1;
        std::thread::sleep(pause);
    }
}

/// What the kernel did up to now, and on whose behalf these requests were made. It is read after them: what they need is then
/// known.
fn poll_kernel(kernel: &mut Option<KernelTracer>, rows: &mut [BlockRequest], account: &mut Account) {
    if let Some(kernel) = kernel {
        account.failed(StreamKind::Kernel, kernel.poll());
        kernel.own(rows);
    }
}

/// The requests that ended.
fn poll_block(watched: &mut Watched, slow: &mut SlowFinder, account: &mut Account) -> Vec<BlockRequest> {
    let looks_back = watched.looks_back();
    let mut rows = Vec::new();
    let Some(tracer) = &mut watched.block else {
        poll_kernel(&mut watched.kernel, &mut [], account);
        return rows;
    };
    let polled = tracer.poll(&mut rows);
    account.failed(StreamKind::Block, polled);
    poll_kernel(&mut watched.kernel, &mut rows, account);
    name(&mut watched.counters, rows.iter().map(|row| row.pid));
    name(&mut watched.counters, rows.iter().map(|row| row.owner_pid));
    if watched.without_load && looks_back {
        for row in &rows {
            slow.take_in(row.begun_ns(), row.completed_ns);
        }
        if let Some(sched) = &mut watched.sched {
            sched.submitters(rows.iter().map(|row| row.pid));
        }
    }
    if watched.without_load
        && let Some(sampler) = &mut watched.counters
    {
        let mut last = 0;
        for row in &rows {
            // Most requests come in rows of one task's.
            if row.pid != 0 && std::mem::replace(&mut last, row.pid) != row.pid {
                sampler.follow(row.pid, row.completed_ns);
            }
        }
    }
    rows
}

/// What was said of a command since.
fn follow(watched: &mut Watched, ends: &Ends) {
    for control in ends.controls.try_iter() {
        match control {
            Control::Follow {
                maker,
                from_ns,
                disks,
                followed,
            } => {
                watched.followed = Some(Followed::new(from_ns, &watched.numbers, &disks));
                if let Some(sched) = &mut watched.sched {
                    let mut tree = Tree::new(maker, from_ns);
                    tree.ran(from_ns, 0);
                    sched.follow(tree);
                }
                // Who asked is waiting.
                let _gone = followed.send(());
            }
            Control::Ran { from_ns, to_ns } => {
                if let Some(followed) = &mut watched.followed {
                    followed.ended(to_ns);
                }
                if let Some(tree) = watched.sched.as_mut().and_then(SchedTracer::tree_mut) {
                    tree.ran(from_ns, to_ns);
                }
            }
        }
    }
}

/// Whose these were. The scheduler's events were read after them: who was started before them is known.
fn count_requests(watched: &mut Watched, rows: &[BlockRequest]) {
    if let Some(followed) = &mut watched.followed {
        let tree = watched.sched.as_ref().and_then(SchedTracer::tree);
        followed.rows(rows, tree);
    }
}

/// Counters that were read and not sent yet: of half a second at most.
#[derive(Default)]
struct Held {
    rows: Vec<CounterRow>,
    readings: u32,
}

impl Held {
    fn sample(&mut self, sampler: &mut CounterSampler, now: MonoTime, ends: &Ends) {
        let mut processes = Vec::new();
        sampler.sample(now.0, &mut self.rows, &mut processes);
        ends.send(Batch::Processes(processes));
        self.send(ends);
    }

    fn sample_disks(&mut self, sampler: &mut CounterSampler, now: MonoTime, ends: &Ends) {
        sampler.sample_disks(now.0, &mut self.rows);
        self.readings += 1;
        if self.readings >= READINGS_PER_BATCH {
            self.send(ends);
        }
    }

    fn send(&mut self, ends: &Ends) {
        self.readings = 0;
        ends.send(Batch::Counters(std::mem::take(&mut self.rows)));
    }
}

/// What the kernel has lost so far, for the counters.
fn tell_losses(watched: &Watched, ends: &Ends) {
    let lost = [
        (StreamKind::Block, watched.block.as_ref().map(BlockTracer::lost)),
        (StreamKind::Sched, watched.sched.as_ref().map(SchedTracer::lost)),
        (
            StreamKind::Kernel,
            watched.kernel.as_ref().map(KernelTracer::lost),
        ),
    ];
    for (kind, lost) in lost {
        // A count that cannot be read now is told at the end.
        if let Some(Ok(events)) = lost {
            ends.dropped.set_events(kind, events);
        }
    }
}

/// What is known by now of the load's threads and of who had each CPU, and of all others in each of the windows of which all
/// is known.
fn hand_on(
    sched: &mut SchedTracer,
    windows: &mut Vec<Window>,
    counters: &mut Option<CounterSampler>,
    ends: &Ends,
) {
    let known = sched.complete_to_ns();
    let (mut rows, mut shares) = (Vec::new(), Vec::new());
    sched.take(&mut rows, &mut shares);
    windows.retain(|window| {
        let wait = window.to.0 >= known;
        if !wait {
            sched.consult(window.from.0, window.to.0, &mut rows);
        }
        wait
    });
    name(counters, shares.iter().map(|share| share.tid));
    send_sched(rows, shares, ends);
}

/// The cgroups of those that may be named are told while they are there.
fn name(counters: &mut Option<CounterSampler>, tids: impl Iterator<Item = u32>) {
    let Some(sampler) = counters else { return };
    let mut last = 0;
    for tid in tids {
        // Most come several at a time.
        if std::mem::replace(&mut last, tid) != tid && tid != CpuShare::OTHERS {
            sampler.name(tid);
        }
    }
}

/// What the kernel did for a while, and when it did nothing.
fn hand_on_spans(watched: &mut Watched, ends: &Ends) {
    let mut spans = Vec::new();
    if let Some(sched) = &mut watched.sched {
        sched.take_standstills(&mut spans);
    }
    if let Some(kernel) = &mut watched.kernel {
        kernel.take(&mut spans);
    }
    spans.sort_by_key(|span| span.end_ns);
    name(&mut watched.counters, spans.iter().map(|span| span.by_tid));
    ends.send(Batch::Kernel(spans));
}

fn send_sched(mut rows: Vec<SchedSlice>, shares: Vec<CpuShare>, ends: &Ends) {
    rows.sort_by_key(|slice| slice.end_ns);
    ends.send(Batch::Sched(rows));
    ends.send(Batch::Cpus(shares));
}

/// Ends the tracers.
fn end(mut watched: Watched, windows: &[Window], account: &mut Account, ends: &Ends) {
    let mut rows = Vec::new();
    if let Some(tracer) = watched.block.take() {
        let audit = tracer.finish(&mut rows);
        account.lost(StreamKind::Block, audit.lost + audit.late, ends);
        account.remarks.say(StreamKind::Block, audit.remarks);
    }
    hand_on_spans(&mut watched, ends);
    if let Some(mut kernel) = watched.kernel.take() {
        account.failed(StreamKind::Kernel, kernel.stop());
        kernel.own(&mut rows);
        let mut spans = Vec::new();
        let audit = kernel.finish(&mut spans);
        ends.send(Batch::Kernel(spans));
        account.lost(StreamKind::Kernel, audit.lost + audit.late, ends);
        account.remarks.say(StreamKind::Kernel, audit.remarks);
    }
    count_requests(&mut watched, &rows);
    ends.send(Batch::Block(rows));
    let mut tree = None;
    if let Some(mut sched) = watched.sched {
        let (mut rows, mut shares) = (Vec::new(), Vec::new());
        for window in windows {
            sched.consult(window.from.0, window.to.0, &mut rows);
        }
        let audit = sched.finish(&mut rows, &mut shares);
        send_sched(rows, shares, ends);
        account.lost(StreamKind::Sched, audit.lost + audit.late, ends);
        account.remarks.say(StreamKind::Sched, audit.remarks);
        tree = audit.tree;
    }
    let lost = account.lost.get(&StreamKind::Block).copied().unwrap_or(0);
    account.command = watched.followed.map(|followed| followed.finish(tree, lost));
    if let Some(sampler) = watched.counters {
        account
            .remarks
            .say(StreamKind::Counters, sampler.remarks().to_vec());
    }
}

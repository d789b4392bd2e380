//! Watches the machine while a run goes on: requests of the devices, counters, who ran.
//!
//! Data in: the tracers and the sampler, windows of time in which an I/O was slow. Data out: batches of rows, through a
//! bounded queue: it never waits for the disk that keeps them, so that a stall of that disk is still seen. What does not
//! fit into the queue is dropped and counted. It must not know how rows are kept.

use super::Missing;
use super::batch::{Batch, Dropped};
use super::slow::{SlowFinder, Window};
use fathom_core::clock::Clock;
use fathom_core::record::{CounterRow, StreamKind};
use fathom_core::units::{MonoTime, Nanos};
use fathom_observe::counters::CounterSampler;
use fathom_observe::trace::{BlockTracer, SchedTracer};
use fathom_sys::clock::HostClock;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender};
use std::time::Duration;

/// How often the block trace is read: at a million events a second its buffers hold several times as much.
const TICK: Duration = Duration::from_millis(50);
/// How often, in ticks, the disks' queues are read, the switches fetched, and all counters read.
const QUEUES_TICKS: u64 = 2;
const SWITCHES_TICKS: u64 = 4;
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
    pub counters: Option<CounterSampler>,
    /// Slow requests are looked for here, because there is no load of whose I/Os it could be said.
    pub without_load: bool,
}

impl Watched {
    /// How long to sleep between two looks, and how many of those it is from one look at the disks' queues to the next. The
    /// kernel's buffers fill; counters alone need no more than ten looks a second.
    fn pace(&self) -> (Duration, u64) {
        if self.block.is_some() || self.sched.is_some() {
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
}

impl Account {
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
        poll_block(&mut watched, &mut slow, &mut account, ends);
        if let Some(sampler) = &mut watched.counters {
            // The last reading is at the end, so that totals are of the whole run.
            if now >= next_second || stopping {
                next_second = next_second.after(SECOND).max(now);
                held.sample(sampler, now, ends);
            } else if tick.is_multiple_of(queues_ticks) {
                held.sample_disks(sampler, now, ends);
            }
        }
        if stopping {
            slow.end();
        }
        if let Some(sched) = &mut watched.sched
            && (tick.is_multiple_of(SWITCHES_TICKS) || stopping)
        {
            waiting.extend(ends.windows.try_iter());
            waiting.extend(slow.windows());
            let looked = look_back(sched, &mut waiting, stopping, ends);
            account.failed(StreamKind::Sched, looked);
        }
        if stopping {
            end(watched, &mut account, ends);
            return account;
        }
        tick += 1;
        std::thread::sleep(pause);
    }
}

fn poll_block(watched: &mut Watched, slow: &mut SlowFinder, account: &mut Account, ends: &Ends) {
    let looks_back = watched.looks_back();
    let Some(tracer) = &mut watched.block else { return };
    let mut rows = Vec::new();
    let polled = tracer.poll(&mut rows);
    account.failed(StreamKind::Block, polled);
    if watched.without_load && looks_back {
        for row in &rows {
            slow.take_in(row.begun_ns(), row.completed_ns);
        }
    }
    ends.send(Batch::Block(rows));
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

/// Who ran in each of the windows of which all is known by now; with `last`, in all of them.
fn look_back(
    sched: &mut SchedTracer,
    windows: &mut Vec<Window>,
    last: bool,
    ends: &Ends,
) -> std::io::Result<()> {
    sched.poll()?;
    let known = sched.complete_to_ns();
    let mut rows = Vec::new();
    windows.retain(|window| {
        let wait = window.to.0 >= known && !last;
        if !wait {
            sched.consult(window.from.0, window.to.0, &mut rows);
        }
        wait
    });
    ends.send(Batch::Sched(rows));
    Ok(())
}

/// Ends the tracers.
fn end(watched: Watched, account: &mut Account, ends: &Ends) {
    if let Some(tracer) = watched.block {
        let mut rows = Vec::new();
        let audit = tracer.finish(&mut rows);
        ends.send(Batch::Block(rows));
        account.lost.insert(StreamKind::Block, audit.lost + audit.late);
        account.remarks.say(StreamKind::Block, audit.remarks);
    }
    if let Some(sched) = watched.sched {
        let audit = sched.finish();
        account.lost.insert(StreamKind::Sched, audit.lost + audit.late);
        account.remarks.say(StreamKind::Sched, audit.remarks);
    }
    if let Some(sampler) = watched.counters {
        account
            .remarks
            .say(StreamKind::Counters, sampler.remarks().to_vec());
    }
}

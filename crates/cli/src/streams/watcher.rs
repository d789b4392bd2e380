//! Watches the machine while a run goes on: requests of the devices, counters, who ran.
//!
//! Data in: the tracers and the sampler, windows of time in which an I/O was slow. Data out: lots of rows, through a
//! bounded queue: it never waits for the disk that keeps them, so that a stall of that disk is still seen. What does not
//! fit into the queue is dropped and counted. It must not know how rows are kept.

use super::slow::{SlowFinder, Window};
use fathom_core::clock::Clock;
use fathom_core::record::{BlockRequest, CounterRow, ProcessRow, SchedSlice, StreamKind};
use fathom_core::units::{MonoTime, Nanos};
use fathom_observe::counters::CounterSampler;
use fathom_observe::trace::{BlockTracer, SchedTracer};
use fathom_sys::clock::HostClock;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender};
use std::time::Duration;

/// How often the block trace is read: at a million events a second its buffers hold several times as much.
const TICK: Duration = Duration::from_millis(50);
/// How often, in ticks, the disks' queues are read, the switches fetched, and all counters read.
const QUEUES_TICKS: u64 = 2;
const SWITCHES_TICKS: u64 = 4;
const SECOND: Nanos = Nanos::from_secs(1);

/// Rows on their way to the disk.
#[derive(Debug)]
pub(super) enum Lot {
    Block(Vec<BlockRequest>),
    Counters(Vec<CounterRow>),
    Processes(Vec<ProcessRow>),
    Sched(Vec<SchedSlice>),
}

/// Rows that did not fit into the queue.
#[derive(Debug, Default)]
pub(super) struct Dropped {
    block: AtomicU64,
    counters: AtomicU64,
    processes: AtomicU64,
    sched: AtomicU64,
}

impl Dropped {
    fn of(&self, kind: StreamKind) -> Option<&AtomicU64> {
        match kind {
            StreamKind::Io => None,
            StreamKind::Block => Some(&self.block),
            StreamKind::Counters => Some(&self.counters),
            StreamKind::Processes => Some(&self.processes),
            StreamKind::Sched => Some(&self.sched),
        }
    }

    pub(super) fn rows(&self, kind: StreamKind) -> u64 {
        self.of(kind).map_or(0, |count| count.load(Ordering::Relaxed))
    }
}

/// Where the rows go, and where windows come from.
#[derive(Debug)]
pub(super) struct Ends {
    pub lots: SyncSender<Lot>,
    pub dropped: Arc<Dropped>,
    /// Windows of slow I/Os of the load.
    pub windows: Receiver<Window>,
    pub stop: Arc<AtomicBool>,
    pub clock: HostClock,
}

impl Ends {
    fn send(&self, kind: StreamKind, rows: usize, lot: Lot) {
        if rows == 0 {
            return;
        }
        if self.lots.try_send(lot).is_err()
            && let Some(count) = self.dropped.of(kind)
        {
            count.fetch_add(rows as u64, Ordering::Relaxed);
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

/// What is known when it ends.
#[derive(Debug, Default)]
pub(super) struct Account {
    /// Events that the kernel could not keep, by its own count, or that came too late to be in order.
    pub lost: BTreeMap<StreamKind, u64>,
    /// What was found not to be available on the way.
    pub remarks: BTreeMap<StreamKind, Vec<String>>,
}

impl Account {
    fn say(&mut self, kind: StreamKind, remarks: Vec<String>) {
        let said = self.remarks.entry(kind).or_default();
        for remark in remarks {
            if !said.contains(&remark) {
                said.push(remark);
            }
        }
    }

    fn failed(&mut self, kind: StreamKind, result: std::io::Result<()>) {
        if let Err(error) = result {
            self.say(
                kind,
                vec![format!("the kernel's buffer could not be read: {error}")],
            );
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
    loop {
        let stopping = ends.stop.load(Ordering::Relaxed);
        let now = ends.clock.now();
        poll_block(&mut watched, &mut slow, &mut account, ends);
        if let Some(sampler) = &mut watched.counters {
            // The last reading is at the end, so that totals are of the whole run.
            if now >= next_second || stopping {
                next_second = next_second.after(SECOND).max(now);
                sample(sampler, now, ends);
            } else if tick.is_multiple_of(QUEUES_TICKS) {
                let mut rows = Vec::new();
                sampler.sample_disks(now.0, &mut rows);
                ends.send(StreamKind::Counters, rows.len(), Lot::Counters(rows));
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
        std::thread::sleep(TICK);
    }
}

fn poll_block(watched: &mut Watched, slow: &mut SlowFinder, account: &mut Account, ends: &Ends) {
    let Some(tracer) = &mut watched.block else { return };
    let mut rows = Vec::new();
    let polled = tracer.poll(&mut rows);
    account.failed(StreamKind::Block, polled);
    if watched.without_load {
        for row in &rows {
            slow.take_in(row.begun_ns(), row.completed_ns);
        }
    }
    ends.send(StreamKind::Block, rows.len(), Lot::Block(rows));
}

fn sample(sampler: &mut CounterSampler, now: MonoTime, ends: &Ends) {
    let (mut counters, mut processes) = (Vec::new(), Vec::new());
    sampler.sample(now.0, &mut counters, &mut processes);
    ends.send(StreamKind::Counters, counters.len(), Lot::Counters(counters));
    ends.send(StreamKind::Processes, processes.len(), Lot::Processes(processes));
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
    ends.send(StreamKind::Sched, rows.len(), Lot::Sched(rows));
    Ok(())
}

/// Ends the tracers.
fn end(watched: Watched, account: &mut Account, ends: &Ends) {
    if let Some(tracer) = watched.block {
        let mut rows = Vec::new();
        let audit = tracer.finish(&mut rows);
        ends.send(StreamKind::Block, rows.len(), Lot::Block(rows));
        account.lost.insert(StreamKind::Block, audit.lost + audit.late);
        account.say(StreamKind::Block, audit.remarks);
    }
    if let Some(sched) = watched.sched {
        let audit = sched.finish();
        account.lost.insert(StreamKind::Sched, audit.lost + audit.late);
        account.say(StreamKind::Sched, audit.remarks);
    }
    if let Some(sampler) = watched.counters {
        account.say(StreamKind::Counters, sampler.remarks().to_vec());
    }
}

//! The disks of one modelled machine, and what goes on on them.
//!
//! Data in: I/O from the doors, faults, the model's answers. Data out: each answer at its time, with the data; counts. One
//! clock, `CLOCK_MONOTONIC`; the model's time begins when the bench does. It must not know the doors.

mod gate;
mod request;
mod seen;
mod waiting;

use crate::fault::{Fault, FaultError, Scheduled};
use crate::store::{Receipt, Store};
use crate::timer::{PRIORITY, Timer, TimerThread};
use fathom_core::backend::Op;
use fathom_core::histogram::Histogram;
use fathom_core::record::{BlockRequest, CounterRow};
use fathom_core::virtual_disk::Trace;
use fathom_model::attached::{AttachError, Attached};
use fathom_model::{LimitState, Spec};
use fathom_sys::clock::monotonic_ns;
use fathom_sys::process::set_real_time;
use gate::Gate;
use request::{EINVAL, EIO, LEN_MAX, carry};
use seen::Seen;
use std::cell::Cell;
use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use waiting::Model;

pub use request::{Answer, Io, IoKind, Outcome};
pub use seen::{Counts, OpCounts, OpInterval};

/// How often what a stall holds looks whether it still does.
const STALL_LOOK_NS: u64 = 20_000_000;

/// A disk to be served.
#[derive(Debug)]
pub struct DiskOptions {
    /// What it is called: of its file, its export, in faults.
    pub name: String,
    /// Its data, of `size_bytes`.
    pub file: File,
    pub size_bytes: u64,
    /// What its write cache holds; 0: each write is on the medium when it is complete.
    pub cache_bytes: u64,
}

/// How disks are served.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Whether answers are given by a thread in real time (`SCHED_FIFO`).
    pub real_time: bool,
    /// What is kept of what goes on.
    pub keep: Trace,
    /// Whether all latencies of each interval are kept, for [`Bench::take_interval`].
    pub intervals: bool,
}

/// Why disks cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    #[error(transparent)]
    Attach(#[from] AttachError),
    #[error("cannot start a thread: {0}")]
    Thread(io::Error),
    /// One is to be larger than its model.
    #[error("{name}: {size_bytes} bytes are more than the modelled disk has ({model_bytes})")]
    Size {
        name: String,
        size_bytes: u64,
        model_bytes: u64,
    },
}

/// The disks, while they are served.
#[derive(Debug)]
pub struct Bench {
    disks: Vec<Disk>,
    model: Mutex<Model>,
    timer: Arc<Timer<Event>>,
    origin_ns: u64,
    /// Whether those who hand I/O in run in real time too.
    real_time: bool,
    /// Each answer is given so much earlier than the model says, which it takes to arrive.
    early_ns: AtomicU64,
    /// While it is not 0, what each I/O takes, in the model's place.
    fixed_ns: AtomicU64,
    lateness: Mutex<Histogram>,
}

/// Holds the bench up. Dropped, what waits is dropped with it.
#[derive(Debug)]
pub struct Running {
    pub bench: Arc<Bench>,
    _thread: TimerThread<Event>,
}

#[derive(Debug)]
struct Disk {
    name: String,
    store: Store,
    gate: RwLock<Gate>,
    seen: Mutex<Seen>,
}

/// What the timer is given.
#[derive(Debug)]
enum Event {
    Answer(Box<Pending>),
    /// The model does something of itself.
    Advance,
    Fault(Scheduled),
}

/// An I/O that was taken and is not answered.
struct Pending {
    disk: usize,
    op: Op,
    len_bytes: u32,
    ticket: u32,
    arrived_ns: u64,
    due_ns: u64,
    /// The disk's, when it was taken: another one has come and gone since, if it differs.
    epoch: u64,
    outcome: Outcome,
    receipt: Receipt,
    answer: Answer,
}

impl std::fmt::Debug for Pending {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pending")
            .field("ticket", &self.ticket)
            .finish_non_exhaustive()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Disk {
    fn gate(&self) -> RwLockReadGuard<'_, Gate> {
        self.gate.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn close_gate(&self) -> RwLockWriteGuard<'_, Gate> {
        self.gate.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Bench {
    /// Begins to serve `disks`, each as its part of `specs` says; `None`: nothing takes any time. What the system said where it
    /// refused real time comes with it.
    ///
    /// # Errors
    /// See [`BenchError`].
    pub fn start(
        specs: Option<&[Spec]>,
        disks: Vec<DiskOptions>,
        options: Options,
    ) -> Result<(Running, io::Result<()>), BenchError> {
        let attached = specs.map(Attached::new).transpose()?;
        for (number, disk) in disks.iter().enumerate() {
            let model_bytes = attached
                .as_ref()
                .map_or(u64::MAX, |model| model.capacity_bytes(number));
            if disk.size_bytes > model_bytes {
                return Err(BenchError::Size {
                    name: disk.name.clone(),
                    size_bytes: disk.size_bytes,
                    model_bytes,
                });
            }
        }
        let timer = Arc::new(Timer::default());
        let served = |(number, disk): (usize, DiskOptions)| Disk {
            seen: Mutex::new(Seen::new(number, &disk.name, options)),
            store: Store::new(disk.file, disk.size_bytes, disk.cache_bytes),
            name: disk.name,
            gate: RwLock::default(),
        };
        let bench = Arc::new(Self {
            disks: disks.into_iter().enumerate().map(served).collect(),
            model: Mutex::new(Model::new(attached)),
            timer: Arc::clone(&timer),
            origin_ns: monotonic_ns(),
            real_time: options.real_time,
            early_ns: AtomicU64::new(0),
            fixed_ns: AtomicU64::new(0),
            lateness: Mutex::new(Histogram::new()),
        });
        let for_timer = Arc::clone(&bench);
        let started = timer.start(options.real_time, move |event| for_timer.happen(event));
        let (thread, set) = started.map_err(BenchError::Thread)?;
        let running = Running {
            bench,
            _thread: thread,
        };
        Ok((running, set))
    }

    /// Takes an I/O; `answer` is called when it is complete.
    pub fn submit(&self, io: Io<'_>, answer: Answer) {
        let disk = &self.disks[io.disk];
        let (op, len) = (io.kind.op(), io.kind.len_bytes());
        let fits = io
            .offset_bytes
            .checked_add(len)
            .is_some_and(|end| end <= disk.store.size_bytes());
        if !fits || (len > LEN_MAX && op != Op::Trim) {
            return answer(Err(EINVAL));
        }
        let gate = disk.gate();
        if !gate.attached {
            lock(&disk.seen).refused();
            drop(gate);
            return answer(Err(EIO));
        }
        let fails = gate.fails(monotonic_ns(), op, io.offset_bytes, len);
        let (arrived_ns, ticket, due_ns) = self.admit(&io, op, len);
        lock(&disk.seen).begin(arrived_ns, ticket, (op, io.offset_bytes, len), (io.pid, io.comm));
        let (outcome, receipt) = if fails {
            (Err(EIO), Receipt::Nothing)
        } else {
            carry(&disk.store, &io)
        };
        let pending = Box::new(Pending {
            disk: io.disk,
            op,
            len_bytes: len.min(LEN_MAX) as u32,
            ticket,
            arrived_ns,
            due_ns: 0,
            epoch: gate.epoch,
            outcome,
            receipt,
            answer,
        });
        match due_ns {
            Some(due_ns) => self.schedule(&gate, pending, due_ns),
            None => self.park(&gate, pending),
        }
    }

    /// Answers at `due_ns`, or now where that is past.
    fn schedule(&self, gate: &Gate, mut pending: Box<Pending>, due_ns: u64) {
        let due_ns = gate.slowed(pending.arrived_ns, due_ns);
        lock(&self.disks[pending.disk].seen).told(due_ns - pending.arrived_ns);
        pending.due_ns = due_ns
            .saturating_sub(self.early_ns.load(Ordering::Relaxed))
            .max(pending.arrived_ns);
        let now_ns = monotonic_ns();
        if pending.due_ns <= now_ns && gate.stall_until_ns <= now_ns {
            self.finish(gate, *pending, now_ns);
        } else {
            self.timer.at(pending.due_ns, Event::Answer(pending));
        }
    }

    fn happen(&self, event: Event) {
        match event {
            Event::Answer(pending) => self.fire(pending),
            Event::Advance => self.advance(),
            Event::Fault(scheduled) => {
                // Its disk was looked for when the schedule was taken.
                let _known = self.apply(scheduled.disk.as_deref(), &scheduled.fault);
            }
        }
    }

    /// The time of an answer has come.
    fn fire(&self, mut pending: Box<Pending>) {
        let gate = self.disks[pending.disk].gate();
        let now_ns = monotonic_ns();
        if gate.stall_until_ns > now_ns {
            // Not for all of it at once: a stall may be healed before its time.
            pending.due_ns = gate.stall_until_ns.min(now_ns + STALL_LOOK_NS);
            self.timer.at(pending.due_ns, Event::Answer(pending));
            return;
        }
        self.finish(&gate, *pending, now_ns);
    }

    fn finish(&self, gate: &Gate, pending: Pending, now_ns: u64) {
        let disk = &self.disks[pending.disk];
        let is_there = gate.attached && gate.epoch == pending.epoch;
        // A write that fails as the disk goes is in its cache all the same, and on the medium after the next flush.
        disk.store
            .complete(&pending.receipt, is_there && !gate.ignores_flushes(now_ns));
        let outcome = if is_there { pending.outcome } else { Err(EIO) };
        let errno = outcome.as_ref().err().map_or(0, |errno| errno.0 as u16);
        lock(&self.lateness).record(now_ns - pending.due_ns.min(now_ns));
        let took_ns = now_ns - pending.arrived_ns;
        lock(&disk.seen).end(
            now_ns,
            pending.ticket,
            (pending.op, pending.len_bytes, took_ns),
            errno,
        );
        (pending.answer)(outcome);
    }

    /// Does `fault` to the disk of that name, or to all; what came of it in words.
    ///
    /// # Errors
    /// There is no such disk, or the data could not be changed.
    pub fn apply(&self, disk: Option<&str>, fault: &Fault) -> Result<Vec<String>, FaultError> {
        let chosen = self.named(disk)?;
        chosen.into_iter().map(|disk| apply_to(disk, fault)).collect()
    }

    /// Does each fault at its time.
    ///
    /// # Errors
    /// One names a disk that there is not.
    pub fn follow(&self, schedule: Vec<Scheduled>) -> Result<(), FaultError> {
        for scheduled in &schedule {
            self.named(scheduled.disk.as_deref())?;
        }
        for scheduled in schedule {
            self.timer
                .at(self.origin_ns + scheduled.at_ns, Event::Fault(scheduled));
        }
        Ok(())
    }

    fn named(&self, name: Option<&str>) -> Result<Vec<&Disk>, FaultError> {
        let Some(name) = name else {
            return Ok(self.disks.iter().collect());
        };
        let disk = self.disks.iter().find(|disk| disk.name == name);
        disk.map(|disk| vec![disk]).ok_or_else(|| {
            let names: Vec<&str> = self.disks.iter().map(|disk| disk.name.as_str()).collect();
            FaultError(format!("there is no disk `{name}` here: {}", names.join(", ")))
        })
    }
}

impl Bench {
    pub fn disks(&self) -> usize {
        self.disks.len()
    }

    pub fn name(&self, disk: usize) -> &str {
        &self.disks[disk].name
    }

    pub fn store(&self, disk: usize) -> &Store {
        &self.disks[disk].store
    }

    /// When it began, on `CLOCK_MONOTONIC`.
    pub fn origin_ns(&self) -> u64 {
        self.origin_ns
    }

    /// Lets the calling thread, which hands I/O in, run in real time as the timer does, once, where that is asked for and allowed:
    /// between the model's answer and the timer, it must not wait for a CPU.
    pub fn raise_thread(&self) {
        thread_local! {
            static RAISED: Cell<bool> = const { Cell::new(false) };
        }
        if self.real_time && !RAISED.replace(true) {
            // Where it is refused, so was the timer's, which is told.
            let _refused = set_real_time(PRIORITY - 1);
        }
    }

    /// From now on each answer is given so much earlier than the model says.
    pub fn set_early_ns(&self, early_ns: u64) {
        self.early_ns.store(early_ns, Ordering::Relaxed);
    }

    pub fn early_ns(&self) -> u64 {
        self.early_ns.load(Ordering::Relaxed)
    }

    /// From now on each I/O takes so long, whatever the model says; 0: the model says.
    pub fn set_fixed_ns(&self, fixed_ns: u64) {
        self.fixed_ns.store(fixed_ns, Ordering::Relaxed);
    }

    /// Forgets what was counted so far.
    pub fn forget(&self) {
        lock(&self.lateness).clear();
        for disk in &self.disks {
            lock(&disk.seen).forget();
        }
    }

    /// How late answers were, in nanoseconds.
    pub fn lateness(&self) -> Histogram {
        lock(&self.lateness).clone()
    }

    /// What was counted of a disk.
    pub fn counts(&self, disk: usize) -> Counts {
        lock(&self.disks[disk].seen).counts().clone()
    }

    /// Whether a disk is there, and what goes on there for a time, in words.
    pub fn condition(&self, disk: usize) -> (bool, Vec<String>) {
        let gate = self.disks[disk].gate();
        (gate.attached, gate.in_words(monotonic_ns()))
    }

    /// How the limits of a disk stand, or (`None`) those that all disks share.
    pub fn limits(&self, disk: Option<usize>) -> Vec<LimitState> {
        let model = lock(&self.model);
        let Some(attached) = &model.attached else {
            return Vec::new();
        };
        let now_ns = monotonic_ns() - self.origin_ns;
        disk.map_or_else(
            || attached.shared_limits(now_ns),
            |disk| attached.limits(disk, now_ns),
        )
    }

    /// What the model tells of a disk.
    pub fn account(&self, disk: usize) -> Option<fathom_core::run::ModelSummary> {
        lock(&self.model)
            .attached
            .as_ref()
            .map(|attached| attached.account(disk))
    }

    /// What was seen since the last call: requests that have ended, in that order, and the disks' counters as they stand, as far
    /// as they are kept.
    pub fn take_seen(&self) -> (Vec<BlockRequest>, Vec<CounterRow>) {
        let (mut requests, mut counters) = (Vec::new(), Vec::new());
        for disk in &self.disks {
            lock(&disk.seen).take(monotonic_ns(), &mut requests, &mut counters);
        }
        // Of several disks each came in its own order.
        requests.sort_by_key(|request| request.completed_ns);
        (requests, counters)
    }

    /// What was done on a disk since the last call, by [`Op::index`]; nothing where intervals are not kept.
    pub fn take_interval(&self, disk: usize) -> Option<[OpInterval; 4]> {
        lock(&self.disks[disk].seen).take_interval()
    }
}

fn apply_to(disk: &Disk, fault: &Fault) -> Result<String, FaultError> {
    // Nothing is moved or answered while the gate is closed.
    let mut gate = disk.close_gate();
    let name = &disk.name;
    if let Fault::PowerCut { seed } = fault {
        gate.detach();
        let cut = disk.store.cut(*seed);
        let cut = cut.map_err(|error| FaultError(format!("{name}: its data cannot be changed: {error}")))?;
        return Ok(format!(
            "{name}: power cut by seed {seed}: of the writes that were not flushed, {} are there, {} lost, {} torn; `attach` brings \
             it back",
            cut.kept, cut.lost, cut.torn
        ));
    }
    let said = gate.apply(monotonic_ns(), fault);
    Ok(format!("{name}: {said}"))
}

#[cfg(test)]
mod tests;

//! The disks of one modelled machine, and what goes on on them.
//!
//! Data in: I/O from the doors, faults, the model's answers. Data out: each answer at its time, with the data; counts. One
//! clock, `CLOCK_MONOTONIC`; the model's time begins when the bench does. It must not know the doors.

mod gate;
mod seen;

use crate::fault::{Fault, FaultError, Scheduled};
use crate::store::{Receipt, Store};
use crate::timer::{PRIORITY, Timer, TimerThread};
use fathom_core::backend::{Errno, Op};
use fathom_core::histogram::Histogram;
use fathom_core::record::{BlockRequest, Comm, CounterRow};
use fathom_core::virtual_disk::Trace;
use fathom_model::attached::{AttachError, Attached, VolumeIo};
use fathom_model::{LimitState, Spec};
use fathom_sys::clock::monotonic_ns;
use fathom_sys::process::set_real_time;
use gate::Gate;
use seen::Seen;
use std::cell::Cell;
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

pub use seen::{Counts, OpCounts};

/// `EIO`: all that a disk that is gone says.
const EIO: Errno = Errno(5);
const EINVAL: Errno = Errno(22);
/// No request is longer; trims may be.
const LEN_MAX: u64 = u32::MAX as u64;
/// What a trim counts as, whatever its length: one I/O that moves no data.
const TRIM_COUNTS_BYTES: u32 = 4096;

/// How often what a stall holds looks whether it still does.
const STALL_LOOK_NS: u64 = 20_000_000;

/// What becomes of an I/O: the data of a read (behind the room that was asked for), or the error.
pub type Outcome = Result<Vec<u8>, Errno>;
/// Takes the outcome to who asked. Called from the timer's thread: it must not wait.
pub type Answer = Box<dyn FnOnce(Outcome) + Send>;

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

/// An I/O, as a door hands it in.
#[derive(Debug, Clone, Copy)]
pub struct Io<'a> {
    /// The number of its disk.
    pub disk: usize,
    pub offset_bytes: u64,
    pub kind: IoKind<'a>,
    /// Who asked, as far as the door knows.
    pub pid: u32,
    pub comm: Comm,
}

#[derive(Debug, Clone, Copy)]
pub enum IoKind<'a> {
    /// `headroom` bytes come before the data in the answer.
    Read {
        len_bytes: u32,
        headroom: usize,
    },
    /// `forced`: on the medium when it is complete.
    Write {
        data: &'a [u8],
        forced: bool,
    },
    /// Zeros, by giving the range back.
    Trim {
        len_bytes: u64,
    },
    Flush,
}

impl IoKind<'_> {
    fn op(&self) -> Op {
        match self {
            Self::Read { .. } => Op::Read,
            Self::Write { .. } => Op::Write,
            Self::Trim { .. } => Op::Trim,
            Self::Flush => Op::Sync,
        }
    }

    fn len_bytes(&self) -> u64 {
        match self {
            Self::Read { len_bytes, .. } => u64::from(*len_bytes),
            Self::Write { data, .. } => data.len() as u64,
            Self::Trim { len_bytes } => *len_bytes,
            Self::Flush => 0,
        }
    }
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

#[derive(Debug)]
struct Model {
    /// `None`: nothing takes any time.
    attached: Option<Attached>,
    next_ticket: u32,
    waiting: HashMap<u32, Waiting>,
    /// When the model is to be asked next, as the timer knows it.
    advance_at_ns: u64,
}

/// An I/O whose end the model did not know at once.
#[derive(Debug)]
enum Waiting {
    /// Its data is on its way.
    Claimed,
    /// The end became known meanwhile.
    Known(u64),
    Parked(Box<Pending>),
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
            seen: Mutex::new(Seen::new(number, &disk.name, options.keep)),
            store: Store::new(disk.file, disk.size_bytes, disk.cache_bytes),
            name: disk.name,
            gate: RwLock::default(),
        };
        let bench = Arc::new(Self {
            disks: disks.into_iter().enumerate().map(served).collect(),
            model: Mutex::new(Model {
                attached,
                next_ticket: 0,
                waiting: HashMap::new(),
                advance_at_ns: u64::MAX,
            }),
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

    /// Asks the model: when the I/O came, its ticket, when it is complete; `None`: not known yet.
    fn admit(&self, io: &Io<'_>, op: Op, len: u64) -> (u64, u32, Option<u64>) {
        let fixed_ns = self.fixed_ns.load(Ordering::Relaxed);
        let mut model = lock(&self.model);
        // Read under the lock: to the model, time does not go back.
        let now_ns = monotonic_ns();
        let ticket = model.next_ticket;
        model.next_ticket = ticket.wrapping_add(1);
        let Some(attached) = model.attached.as_mut().filter(|_| fixed_ns == 0) else {
            return (now_ns, ticket, Some(now_ns + fixed_ns));
        };
        let len_bytes = match op {
            Op::Trim => TRIM_COUNTS_BYTES,
            _ => len as u32,
        };
        let due = attached.admit(
            now_ns - self.origin_ns,
            VolumeIo {
                volume: io.disk,
                ticket,
                op,
                offset_bytes: io.offset_bytes,
                len_bytes,
            },
        );
        if due.is_none() {
            model.waiting.insert(ticket, Waiting::Claimed);
        }
        self.ask_again(&mut model);
        (now_ns, ticket, due.map(|due| due + self.origin_ns))
    }

    /// Has the timer ask the model when it next does something of itself.
    fn ask_again(&self, model: &mut Model) {
        let next_ns = model.attached.as_ref().map_or(u64::MAX, Attached::next_event_ns);
        if next_ns < model.advance_at_ns {
            model.advance_at_ns = next_ns;
            self.timer
                .at(next_ns.saturating_add(self.origin_ns), Event::Advance);
        }
    }

    /// Keeps an I/O until the model knows its end.
    fn park(&self, gate: &Gate, pending: Box<Pending>) {
        let mut model = lock(&self.model);
        let ticket = pending.ticket;
        if let Some(Waiting::Known(due_ns)) = model.waiting.get(&ticket) {
            let due_ns = *due_ns;
            model.waiting.remove(&ticket);
            drop(model);
            return self.schedule(gate, pending, due_ns);
        }
        model.waiting.insert(ticket, Waiting::Parked(pending));
    }

    /// Lets the model do what it has to do by now.
    fn advance(&self) {
        let mut ready: Vec<(Box<Pending>, u64)> = Vec::new();
        let mut model = lock(&self.model);
        let now_ns = monotonic_ns() - self.origin_ns;
        let mut known: Vec<(u32, u64)> = Vec::new();
        if let Some(attached) = &mut model.attached {
            attached.advance(now_ns, &mut |_, ticket, due_ns| known.push((ticket, due_ns)));
        }
        model.advance_at_ns = u64::MAX;
        self.ask_again(&mut model);
        for (ticket, due_ns) in known {
            let due_ns = due_ns + self.origin_ns;
            if let Some(Waiting::Parked(pending)) = model.waiting.insert(ticket, Waiting::Known(due_ns)) {
                model.waiting.remove(&ticket);
                ready.push((pending, due_ns));
            }
        }
        drop(model);
        for (pending, due_ns) in ready {
            let gate = self.disks[pending.disk].gate();
            self.schedule(&gate, pending, due_ns);
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
        let mut outcome = pending.outcome;
        if !gate.attached || gate.epoch != pending.epoch {
            outcome = Err(EIO);
        } else if outcome.is_ok() {
            disk.store
                .complete(&pending.receipt, !gate.ignores_flushes(now_ns));
        }
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

    /// Moves to the vectors what was seen of a disk since the last call: requests that have ended, the counters as they stand.
    pub fn take_seen(&self, disk: usize, requests: &mut Vec<BlockRequest>, counters: &mut Vec<CounterRow>) {
        lock(&self.disks[disk].seen).take(monotonic_ns(), requests, counters);
    }
}

/// Moves the data of an I/O.
fn carry(store: &Store, io: &Io<'_>) -> (Outcome, Receipt) {
    let done = match io.kind {
        IoKind::Read { len_bytes, headroom } => {
            let mut data = vec![0; headroom + len_bytes as usize];
            store
                .read(io.offset_bytes, &mut data[headroom..])
                .map(|()| (data, Receipt::Nothing))
        }
        IoKind::Write { data, forced } => store
            .write(io.offset_bytes, data, forced)
            .map(|receipt| (Vec::new(), receipt)),
        IoKind::Trim { len_bytes } => store
            .trim(io.offset_bytes, len_bytes)
            .map(|receipt| (Vec::new(), receipt)),
        IoKind::Flush => Ok((Vec::new(), store.flush())),
    };
    match done {
        Ok((data, receipt)) => (Ok(data), receipt),
        Err(error) => (Err(error.raw_os_error().map_or(EIO, Errno)), Receipt::Nothing),
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

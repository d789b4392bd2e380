//! A record that is played: what is in it, and its way to the workers.
//!
//! Data in: an [`ArrivalSource`], by whoever can read the record. Data out: a [`Survey`]; the arrivals as they are to be sent, to
//! the engine. The record is read twice, each time from its beginning: once to know what is in it before anything is touched, and
//! once while it is played. Memory does not grow with it. It must not know formats or files.

use crate::facts::gcd;
use anyhow::Context as _;
use fathom_core::arrival::Arrival;
use fathom_core::workload::{Fold, Replay, ReplayLayout, ReplayOrder};
use fathom_engine::replay::{Inlets, Playback};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Where workers have all they can hold: look again so much later.
const NAP: Duration = Duration::from_millis(1);
/// The same in virtual time, where they take them as fast as they come.
const SHORT_NAP: Duration = Duration::from_micros(20);

/// Gives the I/Os of a record, in the order in which they were due.
pub trait ArrivalSource: Send {
    /// Appends the next ones to `arrivals`; `false`: there are none left.
    ///
    /// # Errors
    /// The record cannot be read, or is not what it should be: with its file and the place in it.
    fn next(&mut self, arrivals: &mut Vec<Arrival>) -> anyhow::Result<bool>;
}

/// What is in a record.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Survey {
    /// Read, write, trim, sync.
    pub ios: [u64; 4],
    /// Read, write, trim.
    pub bytes: [u64; 3],
    /// Smallest and largest of each of these; 0 where there is none.
    pub smallest: [u64; 3],
    pub largest: [u64; 3],
    pub first_ns: u64,
    pub last_ns: u64,
    /// The highest byte that is touched, and one more.
    pub extent_bytes: u64,
    /// What all offsets and lengths are multiples of.
    pub align_bytes: u64,
    /// I/Os that waited for an earlier one.
    pub waited: u64,
}

impl Survey {
    /// Counts what comes next.
    pub fn take(&mut self, arrivals: &[Arrival]) {
        for arrival in arrivals {
            if self.total() == 0 {
                self.first_ns = arrival.due_ns;
            }
            self.last_ns = arrival.due_ns;
            let op = arrival.op.index();
            self.ios[op] += 1;
            self.waited += u64::from(arrival.depth > 0);
            if let (Some(bytes), len @ 1..) = (self.bytes.get_mut(op), u64::from(arrival.len_bytes)) {
                *bytes += len;
                let smallest = &mut self.smallest[op];
                *smallest = if *smallest == 0 { len } else { len.min(*smallest) };
                self.largest[op] = self.largest[op].max(len);
                self.extent_bytes = self.extent_bytes.max(arrival.offset_bytes.saturating_add(len));
                self.align_bytes = gcd(gcd(self.align_bytes, arrival.offset_bytes), len);
            }
        }
    }

    /// Goes through all of `source`, and tells `progress` now and then; that ends it by `false`, and there is none then.
    ///
    /// # Errors
    /// Those of the source.
    pub fn of(
        source: &mut dyn ArrivalSource,
        progress: &mut dyn FnMut(&Self) -> bool,
    ) -> anyhow::Result<Option<Self>> {
        let mut survey = Self::default();
        let mut arrivals = Vec::new();
        while source.next(&mut arrivals)? {
            survey.take(&arrivals);
            arrivals.clear();
            if !progress(&survey) {
                return Ok(None);
            }
        }
        Ok(Some(survey))
    }

    pub fn total(&self) -> u64 {
        self.ios.iter().sum()
    }
}

/// How a record is changed on its way.
#[derive(Debug, Clone)]
struct Change {
    first_ns: u64,
    speed_permille: u64,
    fold: Option<Fold>,
    extent_bytes: u64,
    /// Only these: read, write, trim, sync.
    kept: [bool; 4],
    layout: ReplayLayout,
}

impl Change {
    #[inline]
    fn of(&self, arrival: &Arrival) -> Option<Arrival> {
        if !self.kept[arrival.op.index()] {
            return None;
        }
        let at_speed = |ns: u64| match self.speed_permille {
            1_000 => ns,
            permille => {
                let at_speed = u128::from(ns) * 1_000 / u128::from(permille.max(1));
                u64::try_from(at_speed).unwrap_or(u64::MAX)
            }
        };
        let offset_bytes = match &self.fold {
            Some(fold) => fold.apply(arrival.offset_bytes, arrival.len_bytes, self.extent_bytes),
            None => arrival.offset_bytes,
        };
        let (file, offset_bytes) = self.layout.place(offset_bytes);
        Some(Arrival {
            file,
            due_ns: at_speed(arrival.due_ns.saturating_sub(self.first_ns)),
            think_ns: u32::try_from(at_speed(u64::from(arrival.think_ns))).unwrap_or(u32::MAX),
            offset_bytes,
            ..*arrival
        })
    }
}

/// A record that is ready to be played, once.
pub struct Recording {
    source: Mutex<Option<Box<dyn ArrivalSource>>>,
    change: Change,
    order: ReplayOrder,
}

impl fmt::Debug for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recording")
            .field("change", &self.change)
            .field("order", &self.order)
            .finish_non_exhaustive()
    }
}

impl Recording {
    /// `source` from its beginning, to be played as `replay` says; the record begins at `first_ns` of its own clock.
    pub fn new(source: Box<dyn ArrivalSource>, replay: &Replay, first_ns: u64) -> Self {
        Self {
            source: Mutex::new(Some(source)),
            change: Change {
                first_ns,
                speed_permille: replay.speed_permille,
                fold: replay.fold,
                extent_bytes: replay.extent_bytes,
                kept: replay.ios.map(|ios| ios > 0),
                layout: replay.layout.clone(),
            },
            order: replay.order,
        }
    }

    /// Begins to read for the `workers` of that job section, in virtual time where `waits`: once this returns, they have all
    /// that they can hold, from the first of what is returned.
    pub(crate) fn begin(
        &self,
        (job, workers): (u32, u32),
        waits: bool,
        stop: &Arc<AtomicBool>,
    ) -> anyhow::Result<(Playback, Reading)> {
        let mut source = self.source.lock().unwrap_or_else(PoisonError::into_inner);
        let source = source.take().context("the record has been played already")?;
        let (playback, inlets) = Playback::new(job, workers, self.order, waits, stop);
        let over = Arc::new(AtomicBool::new(false));
        let (say, told) = channel();
        let reader = Reader {
            source,
            change: self.change.clone(),
            order: self.order,
            inlets,
            nap: if waits { SHORT_NAP } else { NAP },
            stop: Arc::clone(stop),
            over: Arc::clone(&over),
            say: say.clone(),
            is_full: false,
            turn: 0,
        };
        let thread = std::thread::Builder::new().name(String::from("reader"));
        let thread = thread.spawn(move || {
            // Nobody listens when the run was given up.
            drop(say.send(reader.run()));
        })?;
        let reading = Reading { thread, told, over };
        // That all is full, or how reading ended.
        match reading.told.recv() {
            Ok(Err(error)) => Err(error),
            Ok(Ok(())) | Err(_) => Ok((playback, reading)),
        }
    }
}

/// A record that is being read.
pub(crate) struct Reading {
    thread: JoinHandle<()>,
    told: Receiver<anyhow::Result<()>>,
    over: Arc<AtomicBool>,
}

impl Reading {
    /// The workers have ended: so does the reader.
    ///
    /// # Errors
    /// The record could not be read to its end.
    pub(crate) fn end(self) -> anyhow::Result<()> {
        self.over.store(true, Ordering::Relaxed);
        if let Err(panic) = self.thread.join() {
            std::panic::resume_unwind(panic);
        }
        self.told.try_iter().collect()
    }
}

/// The thread that reads.
struct Reader {
    source: Box<dyn ArrivalSource>,
    change: Change,
    order: ReplayOrder,
    inlets: Inlets,
    nap: Duration,
    stop: Arc<AtomicBool>,
    over: Arc<AtomicBool>,
    say: Sender<anyhow::Result<()>>,
    /// Some worker had all it can hold.
    is_full: bool,
    turn: usize,
}

impl Reader {
    fn run(mut self) -> anyhow::Result<()> {
        let mut arrivals = Vec::new();
        while self.source.next(&mut arrivals)? {
            for arrival in arrivals.drain(..) {
                if let Some(arrival) = self.change.of(&arrival)
                    && !self.give(arrival)
                {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Gives an arrival to the worker whose turn it is, to whom its lane belongs, or to all. `false`: nobody wants any more.
    fn give(&mut self, arrival: Arrival) -> bool {
        let workers = self.inlets.rings.len();
        if self.change.layout.by_each_worker {
            // One that has ended keeps nobody else from playing on.
            let wanted = (0..workers).filter(|&at| self.give_to(at, arrival));
            return wanted.count() > 0;
        }
        let at = match self.order {
            ReplayOrder::Dependent => arrival.worker as usize % workers,
            ReplayOrder::Timed | ReplayOrder::AsFast => {
                self.turn = (self.turn + 1) % workers;
                self.turn
            }
        };
        self.give_to(at, arrival)
    }

    fn give_to(&mut self, at: usize, arrival: Arrival) -> bool {
        while self.inlets.rings[at].push(arrival).is_err() {
            if !std::mem::replace(&mut self.is_full, true) {
                drop(self.say.send(Ok(())));
            }
            let ends = self.stop.load(Ordering::Relaxed) || self.over.load(Ordering::Relaxed);
            if ends || self.inlets.rings[at].is_abandoned() {
                return false;
            }
            std::thread::sleep(self.nap);
        }
        true
    }
}

#[cfg(test)]
mod tests;

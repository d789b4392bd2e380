//! A worker whose I/Os come from a record: which is sent next, and when it was to be.
//!
//! Data in: arrivals, the time, completions. Data out: I/Os with their intended times, and how these were kept. It must not
//! know where arrivals come from.

mod lanes;

use super::{Step, Worker};
use crate::pattern::Draw;
use crate::replay::{Fed, Feed};
use fathom_core::arrival::Arrival;
use fathom_core::histogram::Histogram;
use fathom_core::units::{MonoTime, Nanos};
use fathom_core::workload::ReplayOrder;
use lanes::Lanes;

/// From this error of its start on an I/O is late.
pub const LATE: Nanos = Nanos::from_millis(1);
/// Where the record is behind: look again so much later.
const LOOK_AGAIN: Nanos = Nanos::from_micros(50);
/// Below this error nobody asks how many others are due.
const BACKLOG_FROM: Nanos = Nanos::from_micros(100);

/// How a record's times were kept.
#[derive(Debug, Clone, Default)]
pub struct Kept {
    /// I/Os sent, flushes among them.
    pub sent: u64,
    /// Start minus intended start, in nanoseconds.
    pub errors: Histogram,
    /// I/Os with an error of [`LATE`] or more.
    pub late: u64,
    /// Of these: all slots were taken.
    pub late_no_room: u64,
    /// Of these: the record was not there in time.
    pub late_reading: u64,
}

impl Kept {
    /// Adds what another worker kept.
    pub fn merge(&mut self, other: &Self) {
        self.sent += other.sent;
        self.errors.merge(&other.errors);
        self.late += other.late;
        self.late_no_room += other.late_no_room;
        self.late_reading += other.late_reading;
    }
}

/// Why an I/O may be late.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Why {
    /// The processor, or the timer.
    #[default]
    Timing,
    NoRoom,
    Reading,
}

/// A record that a worker plays.
#[derive(Debug)]
pub(super) struct Playing {
    feed: Feed,
    /// When the record begins.
    base_ns: u64,
    /// Read, and not due yet.
    next: Option<Arrival>,
    /// Who waits for whom, where that is kept.
    lanes: Option<Lanes>,
    kept: Kept,
    /// Of each slot.
    why: Box<[Why]>,
    /// The record was behind since the last I/O.
    was_behind: bool,
}

/// What a record has to be done.
enum Wanted {
    Send(Arrival, u64),
    /// Not before then, on the worker's clock.
    At(u64),
    /// When something is complete.
    AfterEnd,
    Over,
}

impl Playing {
    pub(super) fn new(feed: Feed, depth: u32) -> Self {
        let lanes = (feed.order == ReplayOrder::Dependent).then(|| Lanes::new(depth));
        Self {
            feed,
            base_ns: 0,
            next: None,
            lanes,
            kept: Kept {
                errors: Histogram::reserved(),
                ..Kept::default()
            },
            why: vec![Why::default(); depth as usize].into_boxed_slice(),
            was_behind: false,
        }
    }

    /// The worker begins at `now` in a run that began at `epoch`.
    pub(super) fn start(&mut self, now: MonoTime, epoch: MonoTime) {
        // One moment for all workers.
        self.base_ns = epoch.after(self.feed.lead).max(now).0;
        if let Some(lanes) = &mut self.lanes {
            lanes.start(self.base_ns);
        }
    }

    /// When the record begins, on the worker's clock.
    pub(super) fn begins_ns(&self) -> u64 {
        self.base_ns
    }

    fn wanted(&mut self, now_ns: u64) -> Wanted {
        if let Some(lanes) = &mut self.lanes {
            return lanes.wanted(&mut self.feed, now_ns, &mut self.was_behind);
        }
        let arrival = match self.next.take() {
            Some(arrival) => arrival,
            None => match self.feed.take() {
                Fed::Next(arrival) => arrival,
                Fed::Ended => return Wanted::Over,
                Fed::Behind => {
                    self.was_behind = true;
                    return Wanted::At(now_ns + LOOK_AGAIN.0);
                }
            },
        };
        if self.feed.order == ReplayOrder::AsFast {
            return Wanted::Send(arrival, now_ns);
        }
        let due_ns = self.base_ns.saturating_add(arrival.due_ns);
        if due_ns > now_ns {
            self.next = Some(arrival);
            return Wanted::At(due_ns);
        }
        Wanted::Send(arrival, due_ns)
    }

    /// I/Os that are due at `now` and are not sent.
    pub(super) fn backlog(&mut self, now: MonoTime) -> u64 {
        let Some(due_ns) = now.0.checked_sub(self.base_ns) else {
            return 0;
        };
        if self.feed.order != ReplayOrder::Timed {
            return 0;
        }
        let next = self.next.is_some_and(|arrival| arrival.due_ns <= due_ns);
        self.feed.due_by(due_ns) + u64::from(next)
    }

    /// The I/O of `arrival` goes out in `slot`; `no_room`: it takes the last one.
    fn sent(&mut self, slot: u32, arrival: &Arrival, no_room: bool, now_ns: u64) {
        self.why[slot as usize] = if self.was_behind {
            Why::Reading
        } else if no_room {
            Why::NoRoom
        } else {
            Why::Timing
        };
        self.was_behind = false;
        self.kept.sent += 1;
        if let Some(lanes) = &mut self.lanes {
            lanes.sent(slot, arrival, now_ns);
        }
    }

    /// The I/O in `slot`, intended and made then, ended at `now_ns`.
    #[inline]
    pub(super) fn completed(&mut self, slot: u32, intended_ns: u64, created_ns: u64, now_ns: u64) {
        if self.feed.order != ReplayOrder::AsFast {
            let error_ns = created_ns.saturating_sub(intended_ns);
            self.kept.errors.record(error_ns);
            if error_ns >= LATE.0 {
                self.kept.late += 1;
                match self.why[slot as usize] {
                    Why::Timing => {}
                    Why::NoRoom => self.kept.late_no_room += 1,
                    Why::Reading => self.kept.late_reading += 1,
                }
            }
        }
        if let Some(lanes) = &mut self.lanes {
            lanes.completed(slot, now_ns);
        }
    }

    pub(super) fn into_kept(self) -> Kept {
        self.kept
    }
}

impl Worker {
    /// Plays a record instead of its pattern. To be said before it starts.
    pub(crate) fn play(&mut self, feed: Feed) {
        let depth = self.depth();
        self.arrivals = super::Arrivals::Recorded;
        self.watch.get_or_insert_default().playing = Some(Box::new(Playing::new(feed, depth)));
    }

    pub(super) fn playing(&mut self) -> Option<&mut Playing> {
        self.watch.as_mut()?.playing.as_deref_mut()
    }

    /// The next I/O of the record, once it is due.
    pub(super) fn next_recorded(&mut self, now: MonoTime) -> Step {
        let last_slot = self.free.len() == 1;
        let Some(playing) = self.playing() else {
            return self.end(now);
        };
        let (arrival, intended_ns) = match playing.wanted(now.0) {
            Wanted::Send(arrival, intended_ns) => (arrival, intended_ns),
            Wanted::At(at_ns) if at_ns >= self.deadline => return self.wait_for_deadline(),
            Wanted::At(at_ns) => return Step::Wait(MonoTime(at_ns)),
            Wanted::AfterEnd => return Step::Full,
            Wanted::Over => return self.end(now),
        };
        let late_ns = now.0.saturating_sub(intended_ns);
        if late_ns >= BACKLOG_FROM.0 {
            let backlog = playing.backlog(now);
            self.current.backlog_max = self.current.backlog_max.max(backlog);
        }
        self.current.lateness_max_ns = self.current.lateness_max_ns.max(late_ns);
        let draw = Draw {
            op: arrival.op,
            file: arrival.file.into(),
            offset: arrival.offset_bytes,
            len: arrival.len_bytes,
        };
        let step = self.issue(draw, MonoTime(intended_ns), now);
        if let (Step::Issue(slot), Some(playing)) = (step, self.playing()) {
            playing.sent(slot, &arrival, last_slot, now.0);
        }
        step
    }
}

#[cfg(test)]
mod tests;

//! Who waits for whom in a record: a lane for each who sent, with what it has still to send.
//!
//! Data in: arrivals as they are read, completions. Data out: what is sent next, and when it was to be. An I/O that waited
//! is sent so long after the last end in its lane as in the record, once there is room in it; all others have a lane of their own,
//! in which each is sent at its time. So many I/Os are read ahead and no more: a lane that is far behind holds up the
//! others when these are all its own. All memory is there from the start.

use super::Wanted;
use crate::queue::{NEVER, Queue};
use crate::replay::{AHEAD, Fed, Feed};
use fathom_core::arrival::{Arrival, WORKERS};

/// No place.
const NONE: u32 = u32::MAX;
/// The lane of I/Os that waited for none.
const FREE: u32 = WORKERS;

/// A lane's I/Os that are not sent, and what it has in flight.
#[derive(Debug, Clone, Copy)]
struct Lane {
    first: u32,
    last: u32,
    in_flight: u32,
    /// When its last I/O ended; `None`: none has.
    ended_ns: Option<u64>,
    /// When its last I/O was sent.
    sent_ns: u64,
}

/// One that is not sent, and the place of the next of its lane.
#[derive(Debug, Clone, Copy)]
struct Held {
    arrival: Arrival,
    next: u32,
}

#[derive(Debug)]
pub(super) struct Lanes {
    held: Vec<Held>,
    /// The first of the places that are free.
    free: u32,
    all: Box<[Lane]>,
    /// When each lane's first is to be sent.
    due: Queue,
    /// Whose I/O is in each slot.
    of_slot: Box<[u32]>,
    ended: bool,
    /// How many are not sent.
    left: u32,
    /// When the record begins.
    base_ns: u64,
}

impl Lanes {
    pub(super) fn new(slots: u32) -> Self {
        let lane = Lane {
            first: NONE,
            last: NONE,
            in_flight: 0,
            ended_ns: None,
            sent_ns: 0,
        };
        Self {
            held: Vec::with_capacity(AHEAD),
            free: NONE,
            all: vec![lane; FREE as usize + 1].into_boxed_slice(),
            due: Queue::new(FREE as usize + 1, 0),
            of_slot: vec![0; slots as usize].into_boxed_slice(),
            ended: false,
            left: 0,
            base_ns: 0,
        }
    }

    /// The record begins then.
    pub(super) fn start(&mut self, base_ns: u64) {
        self.base_ns = base_ns;
        self.due = Queue::new(self.all.len(), base_ns);
    }

    /// Reads ahead, and says what is to be done.
    pub(super) fn wanted(&mut self, feed: &mut Feed, now_ns: u64, was_behind: &mut bool) -> Wanted {
        let behind = self.read_ahead(feed);
        let first = self.due.earliest();
        if behind && first.is_none_or(|(at_ns, _)| at_ns > now_ns) {
            *was_behind = true;
            let look_ns = now_ns + super::LOOK_AGAIN.0;
            return Wanted::At(first.map_or(look_ns, |(at_ns, _)| at_ns.min(look_ns)));
        }
        match first {
            Some((at_ns, _)) if at_ns > now_ns => Wanted::At(at_ns),
            Some((at_ns, lane)) => {
                let first = self.all[lane as usize].first;
                Wanted::Send(self.held[first as usize].arrival, at_ns)
            }
            None if self.ended && self.left == 0 => Wanted::Over,
            None => Wanted::AfterEnd,
        }
    }

    /// Takes what there is room for. Whether more was wanted than is there.
    fn read_ahead(&mut self, feed: &mut Feed) -> bool {
        while !self.ended && (self.free != NONE || self.held.len() < AHEAD) {
            match feed.take() {
                Fed::Next(arrival) => self.hold(arrival),
                Fed::Behind => return true,
                Fed::Ended => self.ended = true,
            }
        }
        false
    }

    fn hold(&mut self, arrival: Arrival) {
        let held = Held { arrival, next: NONE };
        let place = if self.free == NONE {
            self.held.push(held);
            self.held.len() as u32 - 1
        } else {
            let place = self.free;
            self.free = self.held[place as usize].next;
            self.held[place as usize] = held;
            place
        };
        self.left += 1;
        let number = lane_of(&arrival);
        let lane = &mut self.all[number as usize];
        if lane.last == NONE {
            lane.first = place;
        } else {
            self.held[lane.last as usize].next = place;
        }
        let is_first = lane.last == NONE;
        lane.last = place;
        if is_first {
            self.settle(number);
        }
    }

    /// The first of `arrival`'s lane goes out in `slot`.
    pub(super) fn sent(&mut self, slot: u32, arrival: &Arrival, now_ns: u64) {
        let number = lane_of(arrival);
        let lane = &mut self.all[number as usize];
        let place = lane.first;
        lane.first = self.held[place as usize].next;
        if lane.first == NONE {
            lane.last = NONE;
        }
        self.held[place as usize].next = self.free;
        self.free = place;
        self.left -= 1;
        self.of_slot[slot as usize] = arrival.worker;
        let own = &mut self.all[arrival.worker as usize];
        own.in_flight += 1;
        own.sent_ns = now_ns;
        self.settle(number);
        if number != arrival.worker {
            self.settle(arrival.worker);
        }
    }

    /// The I/O in `slot` has ended.
    pub(super) fn completed(&mut self, slot: u32, now_ns: u64) {
        let number = self.of_slot[slot as usize];
        let lane = &mut self.all[number as usize];
        lane.in_flight -= 1;
        lane.ended_ns = Some(now_ns);
        self.settle(number);
    }

    /// Notes when the first of a lane is to be sent.
    fn settle(&mut self, number: u32) {
        let lane = self.all[number as usize];
        let at_ns = if lane.first == NONE {
            NEVER
        } else {
            let Arrival {
                due_ns,
                depth,
                think_ns,
                ..
            } = self.held[lane.first as usize].arrival;
            match lane.ended_ns {
                _ if number != FREE && lane.in_flight >= depth => NEVER,
                // The first of all have nobody to wait for.
                None => self.base_ns.saturating_add(due_ns),
                Some(ended_ns) => (ended_ns + u64::from(think_ns)).max(lane.sent_ns),
            }
        };
        if self.due.time(number) != at_ns {
            self.due.set(number, at_ns);
        }
    }
}

/// Where it waits.
fn lane_of(arrival: &Arrival) -> u32 {
    if arrival.depth == 0 {
        FREE
    } else {
        arrival.worker.min(FREE - 1)
    }
}

//! A recorded load, asked for again on the model of a layout.
//!
//! Data in: a layout, [`Arrival`]s in order. Data out: [`Replayed`]. The recorded times are kept: an I/O is sent when it was due,
//! or, where it waited for an earlier one of its worker, as long after the end of that as it was in the recording, never before
//! it was due. So a faster layout is not asked for more than was recorded, and a slower one holds up who waits. It must not
//! know how many layouts are tried, nor prices.

mod workers;

use crate::layout::{Layout, LayoutError};
use crate::need::MILLION;
use crate::seen::{Arrival, SECOND_NS};
use crate::setup::Lasts;
use fathom_core::arrival::WORKERS;
use fathom_core::backend::{Op, Request};
use fathom_core::histogram::Histogram;
use fathom_core::run::{Held, SpentCredit};
use fathom_core::units::MonoTime;
use fathom_core::virtual_disk::{Submitter, VirtualDisk};
use fathom_model::catalog::Catalog;
use fathom_model::{Machine, target};
use workers::{Workers, next_of};

/// I/Os that wait to be sent or to end, at most: a layout that is so far behind does not carry the load.
const BEHIND_MAX: usize = 250_000;
/// A second is throttled if its I/Os were held by limits for so long each, on average.
const THROTTLED_NS: u64 = 1_000_000;
/// Copies of a load, at most.
pub const GROWTH_PERMILLE_MAX: u64 = 16_000;

/// What came of a load on a layout.
#[derive(Debug, Clone)]
pub struct Replayed {
    /// I/Os that were complete, flushes not among them.
    pub ios: u64,
    pub bytes: u64,
    /// From when each was due; of those that waited, from when it was sent.
    pub reads: Histogram,
    pub writes: Histogram,
    /// Seconds of the recording, and those in which limits held the I/Os back for a millisecond each or longer.
    pub seconds: u64,
    pub throttled_seconds: u64,
    /// How much later than recorded the last I/O was sent.
    pub late_ns: u64,
    /// Where the replay was given up, seconds from its start, since too much waited.
    pub given_up_seconds: Option<u64>,
    /// What held I/Os, the longest first.
    pub held: Vec<Held>,
    /// Burst credit that ran out.
    pub spent: Vec<SpentCredit>,
}

/// A layout under a recorded load.
pub struct Player {
    machine: Machine,
    passive: bool,
    volume_bytes: u64,
    growth_permille: u64,
    /// What of the growth is owed, in thousandths of an I/O.
    owed_permille: u64,
    workers: Workers,
    /// What the machine has not told the end of yet: by ticket.
    waiting: Vec<Option<Waiting>>,
    free: Vec<u32>,
    start_ns: u64,
    second: Second,
    replayed: Replayed,
}

/// The second that is being asked for.
#[derive(Debug, Clone, Copy, Default)]
struct Second {
    number: u64,
    ios: u64,
    held_before_ns: u64,
}

/// An I/O whose end is not known.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    worker: u32,
    from_ns: u64,
    op: Op,
    len_bytes: u32,
}

impl Player {
    /// The model of `layout`, from full credit, its caches empty; each I/O comes `growth_permille` thousandths of a time.
    ///
    /// # Errors
    /// The layout cannot be modelled.
    pub fn new(
        layout: &Layout<'_>,
        catalog: &Catalog,
        start_ns: u64,
        growth_permille: u64,
    ) -> Result<Self, LayoutError> {
        let growth_permille = growth_permille.clamp(1, GROWTH_PERMILLE_MAX);
        let mut machine = Machine::new(&target::parse(&layout.target(), catalog)?);
        machine.attach(Submitter {
            direct: true,
            sync_writes: false,
            file_base_bytes: vec![0],
        });
        Ok(Self {
            passive: machine.is_passive(),
            volume_bytes: machine.capacity_bytes(),
            machine,
            growth_permille,
            owed_permille: 0,
            workers: Workers::new(u64::from(WORKERS) * growth_permille.div_ceil(1_000)),
            waiting: Vec::new(),
            free: Vec::new(),
            start_ns,
            second: Second::default(),
            replayed: Replayed {
                ios: 0,
                bytes: 0,
                reads: Histogram::new(),
                writes: Histogram::new(),
                seconds: 0,
                throttled_seconds: 0,
                late_ns: 0,
                given_up_seconds: None,
                held: Vec::new(),
                spent: Vec::new(),
            },
        })
    }

    /// Asks for I/Os, in the order in which they were due.
    pub fn take(&mut self, arrivals: &[Arrival]) {
        for arrival in arrivals {
            if self.replayed.given_up_seconds.is_some() {
                return;
            }
            if arrival.op == Op::Trim {
                continue;
            }
            let due_ns = arrival.due_ns.max(self.start_ns) - self.start_ns;
            self.run_to(due_ns);
            self.tick(due_ns);
            self.owed_permille += self.growth_permille;
            let copies = self.owed_permille / 1_000;
            self.owed_permille %= 1_000;
            for copy in 0..copies {
                self.ask(Arrival {
                    due_ns,
                    // Another part of the volume.
                    offset_bytes: arrival
                        .offset_bytes
                        .wrapping_add(copy * (self.volume_bytes / copies / 4_096 * 4_096)),
                    worker: arrival.worker + copy as u32 * WORKERS,
                    ..*arrival
                });
            }
            if self.workers.queued + self.waiting.len() - self.free.len() > BEHIND_MAX {
                self.replayed.given_up_seconds = Some(due_ns / SECOND_NS);
            }
        }
    }

    /// An I/O that is due now: sent, or put behind what its worker waits for.
    fn ask(&mut self, arrival: Arrival) {
        let now_ns = arrival.due_ns;
        if arrival.depth == 0 {
            self.send(&arrival, now_ns);
        } else if self.workers.queue(arrival) {
            self.go_on(arrival.worker, now_ns);
        }
    }

    /// Sends what a worker has to send by now, and notes when it can go on.
    fn go_on(&mut self, worker: u32, now_ns: u64) {
        while let Some(next) = next_of(self.workers.of(worker), now_ns) {
            if next.at_ns > now_ns {
                self.workers.wake(worker, next.at_ns);
                return;
            }
            let arrival = next.arrival;
            self.workers.sent(worker);
            self.replayed.late_ns = now_ns - arrival.due_ns;
            self.send(&arrival, now_ns);
        }
    }

    fn send(&mut self, arrival: &Arrival, now_ns: u64) {
        let len = u64::from(arrival.len_bytes).min(self.volume_bytes);
        let offset = arrival.offset_bytes % self.volume_bytes;
        let request = Request {
            slot: 0,
            op: arrival.op,
            file: 0,
            offset: offset.min(self.volume_bytes - len),
            len: len as u32,
        };
        self.second.ios += 1;
        let waiting = Waiting {
            worker: arrival.worker,
            from_ns: now_ns,
            op: arrival.op,
            len_bytes: len as u32,
        };
        let tracked = arrival.depth > 0;
        let ticket = self.free.last().copied().unwrap_or(self.waiting.len() as u32);
        let accepted = self.machine.submit(0, ticket, &request, MonoTime(now_ns));
        if accepted.completed != MonoTime::NEVER {
            if tracked {
                self.workers.ends(arrival.worker, accepted.completed.0);
            }
            self.complete(&waiting, accepted.completed.0);
            return;
        }
        if tracked {
            self.workers.of(arrival.worker).unknown += 1;
        }
        match self.free.pop() {
            Some(ticket) => self.waiting[ticket as usize] = Some(waiting),
            None => self.waiting.push(Some(waiting)),
        }
        self.workers.tracked(ticket, tracked);
    }

    fn complete(&mut self, io: &Waiting, completed_ns: u64) {
        let took_ns = completed_ns.saturating_sub(io.from_ns);
        match io.op {
            Op::Read => self.replayed.reads.record(took_ns),
            Op::Write => self.replayed.writes.record(took_ns),
            Op::Trim | Op::Sync | Op::DataSync => return,
        }
        self.replayed.ios += 1;
        self.replayed.bytes += u64::from(io.len_bytes);
    }

    /// Lets all happen that happens before `now_ns`: ends that the machine tells, workers that go on.
    fn run_to(&mut self, now_ns: u64) {
        loop {
            let wake_ns = self.workers.next_wake_ns();
            let event_ns = if self.passive {
                u64::MAX
            } else {
                self.machine.next_event().0
            };
            let next_ns = wake_ns.min(event_ns);
            if next_ns > now_ns || next_ns == u64::MAX {
                return;
            }
            if event_ns <= wake_ns {
                self.advance(event_ns);
            } else if let Some(worker) = self.workers.pop_wake() {
                self.go_on(worker, wake_ns);
            }
        }
    }

    fn advance(&mut self, now_ns: u64) {
        let mut ended: Vec<(u32, u64)> = Vec::new();
        self.machine
            .advance(MonoTime(now_ns), &mut |ticket, at| ended.push((ticket, at.0)));
        for (ticket, at_ns) in ended {
            let Some(io) = self.waiting[ticket as usize].take() else {
                continue;
            };
            self.free.push(ticket);
            self.complete(&io, at_ns);
            if self.workers.is_tracked(ticket) {
                self.workers.of(io.worker).unknown -= 1;
                self.workers.ends(io.worker, at_ns);
                self.go_on(io.worker, now_ns);
            }
        }
    }

    /// Closes the seconds before `now_ns`.
    fn tick(&mut self, now_ns: u64) {
        let number = now_ns / SECOND_NS;
        if number == self.second.number {
            return;
        }
        let held_ns = self.machine.held_ns();
        let held = held_ns - self.second.held_before_ns;
        let throttled = self.second.ios > 0 && held / self.second.ios >= THROTTLED_NS;
        self.replayed.throttled_seconds += u64::from(throttled);
        self.second = Second {
            number,
            ios: 0,
            held_before_ns: held_ns,
        };
    }

    /// What came of it, when all is complete.
    pub fn finish(mut self) -> Replayed {
        if self.replayed.given_up_seconds.is_none() {
            self.run_to(u64::MAX - 1);
        }
        self.replayed.seconds = self.second.number + 1;
        self.tick((self.second.number + 1) * SECOND_NS);
        let account = self.machine.account();
        self.replayed.held = account.held;
        self.replayed
            .held
            .sort_by_key(|held| std::cmp::Reverse(held.held_ns));
        self.replayed.spent = account.credits;
        self.replayed
    }
}

impl Replayed {
    /// Adds what came of another recording on the same layout.
    pub fn add(&mut self, other: Self) {
        self.ios += other.ios;
        self.bytes += other.bytes;
        self.reads.merge(&other.reads);
        self.writes.merge(&other.writes);
        self.seconds += other.seconds;
        self.throttled_seconds += other.throttled_seconds;
        self.late_ns = self.late_ns.max(other.late_ns);
        self.given_up_seconds = self.given_up_seconds.or(other.given_up_seconds);
        for held in other.held {
            match self.held.iter_mut().find(|one| one.limit == held.limit) {
                Some(one) => one.held_ns += held.held_ns,
                None => self.held.push(held),
            }
        }
        self.held.sort_by_key(|held| std::cmp::Reverse(held.held_ns));
        self.spent.extend(other.spent);
    }

    /// Whether all was asked for, and held in no more seconds than may be.
    pub fn carried(&self, lasts: &Lasts) -> bool {
        let spare_ppm = match lasts {
            Lasts::AsSeen(course) => course.spare_ppm,
            Lasts::Always | Lasts::Seconds(_) => MILLION,
        };
        let spare = (u128::from(self.seconds) * u128::from(spare_ppm)).div_ceil(u128::from(MILLION));
        self.given_up_seconds.is_none() && u128::from(self.throttled_seconds) <= spare
    }

    /// Reads and writes together.
    pub fn latency(&self) -> Histogram {
        let mut both = self.reads.clone();
        both.merge(&self.writes);
        both
    }
}

#[cfg(test)]
mod tests;

//! Measures a modelled disk in virtual time.
//!
//! Data in: a machine's specification, measurements. Data out: what came back. Time goes on from one measurement to the next, so
//! that credit that was spent stays spent. It must not know what the measurements are for.

use crate::probe::{IOS_MAX, Io, Mix, Outcome, Pattern, Probe, SECOND_NS};
use crate::schedule::{Options, Schedule};
use fathom_core::backend::{Op, Request};
use fathom_core::rng::Rng;
use fathom_core::units::MonoTime;
use fathom_core::virtual_disk::{Submitter, VirtualDisk};
use fathom_model::{Machine, Spec};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Between two measurements.
const PAUSE_NS: u64 = SECOND_NS / 10;

/// A modelled disk under measurement.
#[derive(Debug)]
pub struct Modelled {
    machine: Machine,
    size_bytes: u64,
    now_ns: u64,
    rng: Rng,
}

/// A measurement under way.
struct Loop {
    begin_ns: u64,
    /// When each I/O in flight is complete, and its ticket.
    due: BinaryHeap<Reverse<(u64, u32)>>,
    /// When each ticket's I/O was sent, and whether it writes.
    sent: Vec<Option<(u64, bool)>>,
    outcome: Outcome,
    /// The end of the latest I/O.
    last_ns: u64,
}

impl Modelled {
    /// The machine of a valid `spec`, at rest; draws of the load are seeded by `seed`.
    pub fn new(spec: &Spec, seed: u64) -> Self {
        let mut machine = Machine::new(spec);
        machine.attach(Submitter {
            direct: true,
            sync_writes: false,
            file_base_bytes: vec![0],
        });
        Self {
            machine,
            size_bytes: spec.volume_bytes(),
            now_ns: 0,
            rng: Rng::new(seed),
        }
    }

    /// The size of the disk.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// How much virtual time has passed.
    pub fn now_ns(&self) -> u64 {
        self.now_ns
    }

    /// Carries a measurement out.
    pub fn measure(&mut self, probe: &Probe) -> Outcome {
        let begin_ns = self.now_ns + PAUSE_NS;
        let mut run = Loop {
            begin_ns,
            due: (0..probe.depth)
                .map(|ticket| Reverse((begin_ns, ticket)))
                .collect(),
            sent: vec![None; probe.depth as usize],
            outcome: Outcome {
                probe: probe.clone(),
                ios: Vec::new(),
                count: 0,
                seconds: Vec::new(),
                elapsed_ns: 0,
            },
            last_ns: begin_ns,
        };
        let interval_ns = probe.pace_per_second.map_or(0.0, |pace| 1e9 / pace);
        let block = u64::from(probe.block_bytes);
        let span = match probe.span_bytes {
            0 => self.size_bytes,
            some => some.min(self.size_bytes),
        };
        let places = (span / block).max(1);
        let (mut number, mut sent_until) = (0u64, begin_ns);
        loop {
            let next = self.machine.next_event().0;
            let Some(&Reverse((at, ticket))) = run.due.peek() else {
                if next == MonoTime::NEVER.0 {
                    break;
                }
                self.advance(next, &mut run);
                continue;
            };
            if next <= at {
                self.advance(next, &mut run);
                continue;
            }
            run.due.pop();
            run.complete(at, ticket);
            let elapsed = at - begin_ns;
            if at > begin_ns && probe.is_enough(elapsed, run.outcome.count, &run.outcome.seconds) {
                break;
            }
            let paced = begin_ns + (number as f64 * interval_ns) as u64;
            let now = at.max(sent_until).max(paced);
            // What the machine does of itself before then comes first.
            while self.machine.next_event().0 <= now {
                let event = self.machine.next_event().0;
                self.advance(event, &mut run);
            }
            let place = match probe.pattern {
                Pattern::Random => self.rng.below(places),
                Pattern::Sequential => number % places,
            };
            let is_write = match probe.mix {
                Mix::Read => false,
                Mix::Write => true,
                Mix::Both => self.rng.below(2) == 1,
            };
            let request = Request {
                slot: ticket,
                op: if is_write { Op::Write } else { Op::Read },
                file: 0,
                offset: place * block,
                len: probe.block_bytes,
            };
            let accepted = self.machine.submit(0, ticket, &request, MonoTime(now));
            sent_until = accepted.submitted.0;
            number += 1;
            run.sent[ticket as usize] = Some((now, is_write));
            if accepted.completed != MonoTime::NEVER {
                run.due.push(Reverse((accepted.completed.0, ticket)));
            }
        }
        let in_flight = run.due.iter().map(|Reverse((at, _))| *at).max().unwrap_or(0);
        self.now_ns = run.last_ns.max(in_flight).max(sent_until);
        let elapsed_ns = run.last_ns - begin_ns;
        run.outcome.elapsed_ns = elapsed_ns;
        // The last second is not over.
        run.outcome.seconds.truncate((elapsed_ns / SECOND_NS) as usize);
        run.outcome
    }

    fn advance(&mut self, now_ns: u64, run: &mut Loop) {
        self.machine.advance(MonoTime(now_ns), &mut |ticket, at| {
            run.due.push(Reverse((at.0, ticket)));
        });
    }
}

/// Makes all measurements on the modelled disk of `spec`.
pub fn identify(spec: &Spec, options: Options, seed: u64) -> Schedule {
    let mut disk = Modelled::new(spec, seed);
    let mut schedule = Schedule::new(options);
    while let Some(probe) = schedule.next() {
        schedule.take(disk.measure(&probe));
    }
    schedule
}

impl Loop {
    fn complete(&mut self, at: u64, ticket: u32) {
        let Some((sent_ns, is_write)) = self.sent[ticket as usize].take() else {
            return;
        };
        self.last_ns = at;
        let outcome = &mut self.outcome;
        let elapsed = at - self.begin_ns;
        let second = (elapsed / SECOND_NS) as usize;
        // A second is counted once it is over.
        while outcome.seconds.len() <= second {
            outcome.seconds.push(0);
        }
        outcome.seconds[second] += 1;
        outcome.count += 1;
        if outcome.ios.len() < IOS_MAX {
            outcome.ios.push(Io {
                submitted_ns: sent_ns - self.begin_ns,
                completed_ns: elapsed,
                is_write,
            });
        }
    }
}

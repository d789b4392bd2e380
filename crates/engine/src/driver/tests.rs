//! The loop itself, on backends that are made for it.

use super::Driver;
use crate::content::Content;
use crate::interval::{Exchange, Interval};
use crate::testing::{EPOCH, asynchronous, depth, job, random_job, worker_plan};
use crate::worker::{Ends, Worker, WorkerEnd};
use fathom_core::backend::{Backend, BackendError, Capabilities, Outcome, Request, Submit};
use fathom_core::clock::{Clock, ManualClock};
use fathom_core::histogram::Histogram;
use fathom_core::units::{MonoTime, Nanos};
use fathom_core::workload::{Depth, Job, Mix, Rate, Verify, VerifyAlgorithm};
use fathom_sys::clock::HostClock;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

const BLOCK: u64 = 4096;
const MS: u64 = 1_000_000;

/// Runs `job` to its end; everything it counted.
fn drive(
    job: &Job,
    backend: &mut impl Backend,
    mut clock: impl Clock,
) -> (Interval, WorkerEnd, Option<BackendError>) {
    let exchange = Arc::new(Exchange::new());
    let mut worker = Worker::new(worker_plan(job, 1 << 24), Arc::clone(&exchange), Ends::default());
    let mut content = Content::new(job, 0, 1);
    let start = clock.now();
    worker.start(start, start);
    let result = Driver::new(&mut worker, backend, &mut clock, &mut content, job.depth).run();
    let end = worker.finish(clock.now());
    let mut sum = (*end.last).clone();
    while let Some(interval) = exchange.take() {
        sum.backlog_max = sum.backlog_max.max(interval.backlog_max);
        sum.verified += interval.verified;
        for (sum, part) in sum.ops.iter_mut().zip(&interval.ops) {
            sum.merge(part);
        }
    }
    (sum, end, result.err())
}

/// A queue that completes each I/O when it is asked to, in virtual time.
struct Queue<'a> {
    clock: &'a ManualClock,
    capabilities: Capabilities,
    room: usize,
    uncommitted: Vec<u32>,
    in_flight: VecDeque<u32>,
    lengths: Vec<u32>,
    buffer: Vec<u8>,
    /// What was committed at once, and what was asked for.
    commits: Vec<usize>,
    reaps: Vec<(u32, u32, usize)>,
    fails: bool,
}

impl<'a> Queue<'a> {
    fn new(clock: &'a ManualClock, room: usize) -> Self {
        Self {
            clock,
            capabilities: Capabilities {
                asynchronous: true,
                has_buffers: false,
            },
            room,
            uncommitted: Vec::new(),
            in_flight: VecDeque::new(),
            lengths: vec![0; 64],
            buffer: vec![0; 1 << 16],
            commits: Vec::new(),
            reaps: Vec::new(),
            fails: false,
        }
    }
}

impl Backend for Queue<'_> {
    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }
    fn submit(&mut self, request: Request, _now: MonoTime) -> Submit {
        if !self.capabilities.asynchronous {
            self.clock.advance(Nanos(MS));
            return Submit::Done(Ok(request.len));
        }
        if self.uncommitted.len() + self.in_flight.len() >= self.room {
            return Submit::Busy;
        }
        self.lengths[request.slot as usize] = request.len;
        self.uncommitted.push(request.slot);
        Submit::Queued
    }
    fn commit(&mut self) -> Result<(), BackendError> {
        if self.fails {
            return Err(BackendError {
                call: "io_submit",
                source: std::io::Error::from_raw_os_error(5),
            });
        }
        self.commits.push(self.uncommitted.len());
        self.in_flight.extend(self.uncommitted.drain(..));
        Ok(())
    }
    fn reap(
        &mut self,
        min: u32,
        max: u32,
        until: MonoTime,
        done: &mut impl FnMut(u32, Outcome),
    ) -> Result<u32, BackendError> {
        assert!(
            min as usize <= self.in_flight.len() || until != MonoTime::NEVER,
            "waits for {min} where {} are in flight: for ever",
            self.in_flight.len()
        );
        self.reaps.push((min, max, self.in_flight.len()));
        let count = (min.max(1) as usize).min(self.in_flight.len());
        for slot in self.in_flight.drain(..count) {
            // One after the other.
            self.clock.advance(Nanos(MS));
            done(slot, Ok(self.lengths[slot as usize]));
        }
        Ok(count as u32)
    }
    fn buffer(&mut self, _slot: u32) -> &mut [u8] {
        // Whoever looks at a buffer takes his time.
        self.clock.advance(Nanos(100 * MS));
        &mut self.buffer
    }
}

fn asked(change: impl FnOnce(&mut Depth)) -> Job {
    let mut job = asynchronous(random_job(Mix::Read, BLOCK), 16);
    job.region.number_ios = Some(100);
    change(&mut job.depth);
    job
}

#[test]
fn completions_have_a_stamp_each() {
    let clock = ManualClock::new(EPOCH);
    let job = asked(|depth| depth.batch_complete_min = 16);
    let (sum, ..) = drive(&job, &mut Queue::new(&clock, 16), &clock);
    // Six rounds of 16 and one of 4: each completion 1 ms after the one before.
    let expected = 6 * (1..=16).sum::<u64>() + (1..=4).sum::<u64>();
    assert_eq!(sum.ops[0].lat.n(), 100);
    assert_eq!(sum.ops[0].lat.sum(), u128::from(expected * MS));
    assert_eq!(sum.ops[0].clat.sum(), u128::from(expected * MS));
}

#[test]
fn batches_are_as_large_as_asked() {
    let clock = ManualClock::new(EPOCH);
    let mut queue = Queue::new(&clock, 16);
    drive(&asked(|depth| depth.batch_submit = 4), &mut queue, &clock);
    assert_eq!(queue.commits.iter().sum::<usize>(), 100);
    assert_eq!(queue.commits.iter().max(), Some(&4));
    let mut queue = Queue::new(&clock, 16);
    drive(&asked(|_| {}), &mut queue, &clock);
    assert_eq!(queue.commits[0], 16);
}

#[test]
fn completions_are_taken_in_the_numbers_asked_for() {
    let clock = ManualClock::new(EPOCH);
    let mut queue = Queue::new(&clock, 16);
    let job = asked(|depth| {
        depth.batch_complete_min = 3;
        depth.batch_complete_max = 5;
    });
    drive(&job, &mut queue, &clock);
    let steady = queue.reaps.iter().filter(|(_, _, in_flight)| *in_flight == 16);
    assert!(
        steady
            .clone()
            .all(|&(min, max, _)| (min, max) == (3, 5) || min == 1)
    );
    assert!(steady.count() > 10);
}

#[test]
fn a_low_water_mark_is_drained_to() {
    let clock = ManualClock::new(EPOCH);
    let mut queue = Queue::new(&clock, 16);
    drive(&asked(|depth| depth.low = 4), &mut queue, &clock);
    assert_eq!(queue.commits[..4], [16, 12, 12, 12]);
}

/// A backend with less room than the queue is deep is waited for, not waited on for ever.
#[test]
fn a_busy_backend_is_tried_again() {
    for room in [1, 3, 15] {
        for (min, low) in [(1, 16), (16, 16), (1, 0)] {
            let clock = ManualClock::new(EPOCH);
            let mut queue = Queue::new(&clock, room);
            let job = asked(|depth| {
                depth.batch_complete_min = min;
                depth.low = low;
            });
            let (sum, end, _) = drive(&job, &mut queue, &clock);
            assert_eq!((sum.ops[0].lat.n(), end.issued), (100, 100), "room {room}");
        }
    }
}

#[test]
fn a_broken_queue_ends_the_run() {
    let clock = ManualClock::new(EPOCH);
    let mut queue = Queue::new(&clock, 16);
    queue.fails = true;
    let (_, _, error) = drive(&asked(|_| {}), &mut queue, &clock);
    assert_eq!(
        error.map(|error| error.to_string()).as_deref(),
        Some("io_submit failed: Input/output error (os error 5)")
    );
}

/// Filling and checking buffers is our own time: it counts in no latency.
#[test]
fn the_time_of_filling_and_checking_is_no_latency() {
    let clock = ManualClock::new(EPOCH);
    let mut queue = Queue::new(&clock, 1);
    queue.capabilities = Capabilities {
        asynchronous: false,
        has_buffers: true,
    };
    let mut job = job(Mix::Write, BLOCK);
    job.region.number_ios = Some(20);
    job.verify = Some(Verify {
        algorithm: VerifyAlgorithm::Crc32c,
        interval_bytes: 0,
        pattern: Vec::new(),
        only: false,
        read_back: true,
        fatal: false,
        ..Verify::default()
    });
    let (sum, end, _) = drive(&job, &mut queue, &clock);
    assert_eq!(sum.verified, 20);
    for op in [0, 1] {
        assert_eq!(sum.ops[op].lat.n(), 20);
        assert_eq!(sum.ops[op].lat.max(), Some(MS), "direction {op}");
    }
    // The one buffer holds the last block, which is right for one of twenty.
    assert_eq!(end.errors.entries().map(|entry| entry.count).sum::<u64>(), 19);
}

/// A disk in real time that answers in 200 µs, and for one second not at all.
struct Stalling {
    clock: HostClock,
    stall: (MonoTime, MonoTime),
    in_flight: VecDeque<(MonoTime, u32)>,
}

impl Stalling {
    /// Stalls from 0.3 s to 1.3 s from now.
    fn new(clock: &HostClock) -> Self {
        let start = clock.now().after(Nanos(300 * MS));
        Self {
            clock: clock.clone(),
            stall: (start, start.after(Nanos(1000 * MS))),
            in_flight: VecDeque::new(),
        }
    }
}

impl Backend for Stalling {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            asynchronous: true,
            has_buffers: false,
        }
    }
    fn submit(&mut self, request: Request, now: MonoTime) -> Submit {
        let due = now.after(Nanos(MS / 5));
        let stalled = due > self.stall.0 && due < self.stall.1;
        let due = if stalled { self.stall.1 } else { due };
        self.in_flight.push_back((due, request.slot));
        Submit::Queued
    }
    fn commit(&mut self) -> Result<(), BackendError> {
        Ok(())
    }
    fn reap(
        &mut self,
        min: u32,
        max: u32,
        until: MonoTime,
        done: &mut impl FnMut(u32, Outcome),
    ) -> Result<u32, BackendError> {
        let mut count = 0;
        while count < max {
            let now = self.clock.now();
            match self.in_flight.front() {
                Some(&(due, slot)) if due <= now => {
                    self.in_flight.pop_front();
                    done(slot, Ok(BLOCK as u32));
                    count += 1;
                }
                Some(&(due, _)) if count < min && now < until => {
                    let wait = due.min(until).since(now).0.min(MS / 10);
                    std::thread::sleep(Duration::from_nanos(wait));
                }
                _ => break,
            }
        }
        Ok(count)
    }
    fn buffer(&mut self, _slot: u32) -> &mut [u8] {
        &mut []
    }
}

/// How many took over 50 ms: far above what a busy test machine adds.
fn slow(histogram: &Histogram) -> u64 {
    let slow = histogram.occupied().filter(|(low, ..)| *low > 50 * MS);
    slow.map(|(.., count)| count).sum()
}

fn stalled(rate: Option<u64>, iodepth: u32) -> (Interval, WorkerEnd) {
    let mut job = asynchronous(random_job(Mix::Read, BLOCK), iodepth);
    job.depth = depth(iodepth);
    job.pace.rate[0] = rate.map(Rate::Iops);
    job.limit.runtime = Some(Nanos(1_800 * MS));
    job.limit.time_based = true;
    let clock = HostClock::new();
    let mut backend = Stalling::new(&clock);
    let (sum, end, error) = drive(&job, &mut backend, clock);
    assert!(error.is_none());
    (sum, end)
}

/// Coordinated omission: a disk that stalls for a second under 1,000 I/Os a second makes a thousand wait.
#[test]
fn a_stall_shows_in_every_response_that_it_delayed() {
    let (sum, end) = stalled(Some(1000), 4096);
    let late = slow(&sum.ops[0].response);
    assert!((900..=1600).contains(&late), "{late} slow responses");
    let all = sum.ops[0].response.n() + end.backlog;
    assert!((1799..=1800).contains(&all), "{all} of 1800 accounted for");
}

/// Too shallow a queue cannot send them; their response time counts from when they should have been sent all the
/// same, and what waits is reported.
#[test]
fn a_shallow_queue_hides_nothing() {
    let (sum, _) = stalled(Some(1000), 4);
    let late = slow(&sum.ops[0].response);
    assert!((900..=1600).contains(&late), "{late} slow responses");
    // Only what was in flight is slow in itself, and what a busy test machine delays.
    let own = slow(&sum.ops[0].lat);
    assert!(own >= 4 && own * 8 < late, "{own} of {late} slow in themselves");
    let backlog = sum.backlog_max;
    assert!((900..=1600).contains(&backlog), "backlog {backlog}");
}

/// Closed loop: the stall keeps I/Os from being sent, so that few are slow. That is why there is the other kind.
#[test]
fn a_closed_loop_shows_few() {
    let (sum, _) = stalled(None, 4);
    let own = slow(&sum.ops[0].lat);
    assert!((4..=110).contains(&own), "{own} slow");
    assert_eq!(sum.ops[0].response.n(), 0);
}

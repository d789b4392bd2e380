//! A worker that plays a record, on a disk that answers as a closure says.

use crate::replay::{Inlets, Playback};
use crate::testing::{ALL_METRICS, Answer, EPOCH, Run, Sim, asynchronous, job, worker_plan};
use crate::worker::WorkerPlan;
use fathom_core::arrival::Arrival;
use fathom_core::backend::Op;
use fathom_core::rng::Rng;
use fathom_core::units::{MonoTime, Nanos};
use fathom_core::workload::{Mix, ReplayOrder};
use std::collections::BTreeMap;
use std::sync::Arc;

const US: u64 = 1_000;
const MS: u64 = 1_000_000;

fn arrival(due_ns: u64, worker: u32, depth: u32, think_ns: u32) -> Arrival {
    Arrival {
        due_ns,
        offset_bytes: due_ns % 997 * 4096,
        len_bytes: 4096,
        op: Op::Read,
        file: 0,
        worker,
        depth,
        think_ns,
        took_ns: 0,
    }
}

/// Plays `arrivals` with so many slots on a disk of these latencies.
fn play(arrivals: &[Arrival], order: ReplayOrder, depth: u32, mut took_ns: impl FnMut(usize) -> u64) -> Run {
    let (playback, Inlets { mut rings }) = Playback::new(0, 1, order, true, &Arc::default());
    for &arrival in arrivals {
        rings[0].push(arrival).expect("few enough for the ring");
    }
    drop(rings);
    let mix = Mix::Recorded {
        reads: true,
        writes: true,
        trims: true,
    };
    let plan = WorkerPlan {
        metrics: ALL_METRICS,
        ..worker_plan(&asynchronous(job(mix, 4096), depth), 1 << 30)
    };
    let mut number = 0;
    let mut sim = Sim::new(plan, |request: &fathom_core::backend::Request, _| {
        number += 1;
        Answer {
            slat: Nanos::ZERO,
            clat: Nanos(took_ns(number - 1)),
            outcome: Ok(request.len),
        }
    });
    sim.worker.play(playback.feed(0, 0).expect("a feed"));
    sim.worker.start(EPOCH, EPOCH);
    sim.run()
}

/// When each was sent, since the start, in the order in which they were.
fn sent(run: &Run) -> Vec<u64> {
    run.seen.iter().map(|seen| seen.created - EPOCH.0).collect()
}

#[test]
fn each_is_sent_when_it_was_due() {
    let due = [0, 10 * US, 10 * US, 3 * MS, 2_000 * MS];
    let arrivals = due.map(|due_ns| Arrival {
        op: if due_ns == 3 * MS { Op::Sync } else { Op::Write },
        len_bytes: if due_ns == 3 * MS { 0 } else { 4096 },
        ..arrival(due_ns, 0, 0, 0)
    });
    let run = play(&arrivals, ReplayOrder::Timed, 8, |_| 5 * MS);
    assert_eq!(sent(&run), due);
    let offsets: Vec<u64> = run.requests().map(|request| request.offset).collect();
    assert_eq!(offsets, arrivals.map(|arrival| arrival.offset_bytes));
    let kept = run.end.kept.expect("a record was played");
    assert_eq!((kept.sent, kept.late, kept.errors.n()), (5, 0, 5));
    assert_eq!(kept.errors.max(), Some(0));
    assert_eq!(run.end.issued, 4, "a sync moves nothing");
}

/// Two slots, ten at a time: each later one waits for a slot, is late, and it is said why.
#[test]
fn what_finds_no_room_is_late_and_its_response_says_so() {
    let arrivals: Vec<Arrival> = (0..10).map(|_| arrival(0, 0, 0, 0)).collect();
    let run = play(&arrivals, ReplayOrder::Timed, 2, |_| 4 * MS);
    let starts: Vec<u64> = (0..10).map(|number| number / 2 * 4 * MS).collect();
    assert_eq!(sent(&run), starts);
    let kept = run.end.kept.as_ref().expect("a record was played");
    assert_eq!((kept.late, kept.late_no_room, kept.late_reading), (8, 8, 0));
    assert_eq!(kept.errors.max(), Some(16 * MS));
    let sum = run.sum();
    assert_eq!(sum.ops[0].lat.max(), Some(4 * MS));
    assert_eq!(sum.ops[0].response.max(), Some(20 * MS), "from when it was due");
    let most = run.intervals.iter().map(|interval| interval.backlog_max).max();
    assert!(most >= Some(5), "{most:?} were due and not sent");
}

#[test]
fn a_record_without_times_goes_as_fast_as_it_can() {
    let arrivals: Vec<Arrival> = (0..6).map(|_| arrival(0, 0, 0, 0)).collect();
    let run = play(&arrivals, ReplayOrder::AsFast, 1, |_| MS);
    assert_eq!(sent(&run), [0, MS, 2 * MS, 3 * MS, 4 * MS, 5 * MS]);
    assert_eq!(
        run.end.kept.expect("played").errors.n(),
        0,
        "there is no time to miss"
    );
}

/// A lane of one in flight with pauses, and one I/O that waits for nobody: on a disk that takes twice as long the first takes
/// its pauses after each end, and the other is not moved.
#[test]
fn who_waited_waits_and_the_others_do_not() {
    let arrivals = [
        arrival(0, 1, 1, 0),
        arrival(1_500 * US, 2, 0, 0),
        arrival(2 * MS, 1, 1, (MS) as u32),
        arrival(4 * MS, 1, 1, (MS) as u32),
    ];
    let run = play(&arrivals, ReplayOrder::Dependent, 8, |_| MS);
    assert_eq!(sent(&run), [0, 1_500 * US, 2 * MS, 4 * MS], "as recorded");
    let run = play(&arrivals, ReplayOrder::Dependent, 8, |_| 2 * MS);
    assert_eq!(sent(&run), [0, 1_500 * US, 3 * MS, 6 * MS]);
    assert_eq!(run.end.kept.expect("played").errors.max(), Some(0));
}

/// Against a second writing of the rule, I/O by I/O, on drawn records: all are sent, each lane in its order with no more in flight
/// than recorded, and none before its pause is over.
#[test]
fn dependent_records_keep_their_rule() {
    for seed in 1..=20 {
        let mut rng = Rng::new(seed);
        let mut due_ns = 0;
        let arrivals: Vec<Arrival> = (0..400u64)
            .map(|number| {
                due_ns += rng.below(300 * US);
                let depth = rng.below(4) as u32;
                Arrival {
                    // So that it is found again.
                    offset_bytes: number * 4096,
                    ..arrival(due_ns, rng.below(5) as u32, depth, rng.below(500 * US) as u32)
                }
            })
            .collect();
        let took: Vec<u64> = (0..400).map(|_| 50 * US + rng.below(2 * MS)).collect();
        let run = play(&arrivals, ReplayOrder::Dependent, 64, |number| took[number]);
        assert_eq!(run.seen.len(), 400, "seed {seed}");
        let mut last_number: BTreeMap<u32, u64> = BTreeMap::new();
        for (at, seen) in run.seen.iter().enumerate() {
            let number = seen.request.offset / 4096;
            let arrival = &arrivals[number as usize];
            let since_ns = seen.created - EPOCH.0;
            if arrival.depth == 0 {
                assert_eq!(since_ns, arrival.due_ns, "seed {seed}: {number} waits for nobody");
                continue;
            }
            let before = last_number.insert(arrival.worker, number);
            assert!(before < Some(number), "seed {seed}: {number} overtook {before:?}");
            let of_lane = |other: &&crate::testing::Seen| {
                arrivals[(other.request.offset / 4096) as usize].worker == arrival.worker
            };
            let earlier: Vec<_> = run.seen[..at].iter().filter(of_lane).collect();
            let in_flight = earlier
                .iter()
                .filter(|other| other.completed > seen.created)
                .count();
            assert!(in_flight < arrival.depth as usize, "seed {seed}: {number}");
            let ended = earlier
                .iter()
                .map(|other| other.completed)
                .filter(|&end| end <= seen.created)
                .max();
            match ended {
                Some(end) => assert!(
                    seen.created >= end + u64::from(arrival.think_ns),
                    "seed {seed}: {number} did not pause"
                ),
                None => assert!(since_ns >= arrival.due_ns, "seed {seed}: {number} came too early"),
            }
        }
    }
}

/// The end of a run is that of its runtime, and what was not sent is not counted as sent.
#[test]
fn a_stop_leaves_the_rest() {
    let arrivals: Vec<Arrival> = (0..100).map(|number| arrival(number * MS, 0, 0, 0)).collect();
    let (playback, Inlets { mut rings }) = Playback::new(0, 1, ReplayOrder::Timed, true, &Arc::default());
    for &arrival in &arrivals {
        rings[0].push(arrival).expect("room");
    }
    drop(rings);
    let mut job = asynchronous(job(Mix::Read, 4096), 4);
    job.limit.runtime = Some(Nanos::from_millis(50));
    let mut sim = Sim::new(
        worker_plan(&job, 1 << 30),
        |request: &fathom_core::backend::Request, _| Answer {
            slat: Nanos::ZERO,
            clat: Nanos(US),
            outcome: Ok(request.len),
        },
    );
    sim.worker.play(playback.feed(0, 0).expect("a feed"));
    sim.worker.start(EPOCH, EPOCH);
    let run = sim.run();
    assert_eq!(run.now, MonoTime(EPOCH.0 + 50 * MS));
    assert_eq!(run.end.kept.expect("played").sent, 50);
}

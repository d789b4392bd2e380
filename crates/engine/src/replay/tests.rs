use super::{AHEAD, Fed, Playback};
use fathom_core::arrival::Arrival;
use fathom_core::backend::Op;
use fathom_core::workload::ReplayOrder;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

fn arrival(due_ns: u64) -> Arrival {
    Arrival {
        due_ns,
        offset_bytes: 0,
        len_bytes: 4096,
        op: Op::Read,
        file: 0,
        worker: 0,
        depth: 0,
        think_ns: 0,
        took_ns: 0,
    }
}

#[test]
fn each_worker_takes_its_own_and_the_end_is_told() {
    let stop = Arc::new(AtomicBool::new(false));
    let (playback, mut inlets) = Playback::new(3, 2, ReplayOrder::Timed, false, &stop);
    let mut feed = playback.feed(3, 1).expect("a feed");
    assert!(playback.feed(3, 1).is_none() && playback.feed(0, 0).is_none());
    assert_eq!(feed.take(), Fed::Behind);
    for due_ns in 0..10 {
        inlets.rings[1].push(arrival(due_ns)).expect("room");
    }
    assert_eq!(feed.due_by(4), 5);
    assert_eq!(feed.take(), Fed::Next(arrival(0)));
    assert_eq!(feed.due_by(4), 4);
    drop(inlets);
    for due_ns in 1..10 {
        assert_eq!(feed.take(), Fed::Next(arrival(due_ns)));
    }
    assert_eq!(feed.take(), Fed::Ended);
}

/// In virtual time how fast the record is read changes nothing: who finds nothing waits.
#[test]
fn in_virtual_time_a_worker_waits_for_the_reader() {
    let stop = Arc::new(AtomicBool::new(false));
    let (playback, mut inlets) = Playback::new(0, 1, ReplayOrder::Timed, true, &stop);
    let mut feed = playback.feed(0, 0).expect("a feed");
    let reader = std::thread::spawn(move || {
        for due_ns in 0..3 * AHEAD as u64 {
            while inlets.rings[0].push(arrival(due_ns)).is_err() {
                std::thread::yield_now();
            }
            if due_ns % 10_000 == 0 {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
        }
    });
    for due_ns in 0..3 * AHEAD as u64 {
        assert_eq!(feed.take(), Fed::Next(arrival(due_ns)));
    }
    assert_eq!(feed.take(), Fed::Ended);
    reader.join().expect("the reader");
}

use super::*;
use fathom_core::backend::{Errno, Op};
use std::sync::mpsc::sync_channel;

/// Batches that may wait.
const BATCHES: usize = 8;

fn request(offset: u64) -> Request {
    Request {
        slot: 0,
        op: Op::Read,
        file: 2,
        offset,
        len: 4096,
    }
}

fn stamps(at: u64) -> Stamps {
    Stamps {
        intended: at,
        created: at + 1,
        submitted: at + 2,
        completed: at + 10,
    }
}

fn all(recording: &IoRecording) -> Vec<IoRecord> {
    let mut rows = Vec::new();
    recording.drain(&mut |some| rows.extend_from_slice(some));
    rows
}

#[test]
fn a_row_says_all_of_its_io() {
    let recording = IoRecording::rings(1);
    let mut recorder = recording.recorder(3, 4);
    recorder.record(&request(8192), &stamps(100), (7, 0), 5);
    let row = IoRecord {
        intended_ns: 100,
        created_ns: 101,
        submitted_ns: 102,
        completed_ns: 110,
        offset_bytes: 8192,
        len_bytes: 4096,
        file: 2,
        job: 3,
        worker: 4,
        depth: 7,
        errno: 5,
        op: Op::Read,
        priority: 0,
    };
    assert_eq!(all(&recording), [row]);
    assert_eq!(all(&recording), [], "each comes once");
}

#[test]
fn what_does_not_fit_is_counted_and_what_does_keeps_its_order() {
    let recording = IoRecording::rings(1 << 20);
    let mut recorder = recording.recorder(0, 0);
    for at in 0..RING_ROWS_MIN as u64 + 100 {
        recorder.record(&request(at), &stamps(at), (1, 0), 0);
    }
    assert_eq!(recording.dropped(), 100);
    let offsets: Vec<u64> = all(&recording).iter().map(|row| row.offset_bytes).collect();
    assert_eq!(offsets, (0..RING_ROWS_MIN as u64).collect::<Vec<_>>());
    recorder.record(&request(1), &stamps(1), (1, 0), 0);
    assert_eq!(
        (all(&recording).len(), recording.dropped()),
        (1, 100),
        "there is room again"
    );
}

#[test]
fn the_last_rows_of_a_worker_that_has_ended_are_there() {
    let recording = IoRecording::rings(2);
    let mut first = recording.recorder(0, 0);
    let mut second = recording.recorder(0, 1);
    first.record(&request(0), &stamps(0), (1, 0), 0);
    drop(first);
    second.record(&request(1), &stamps(1), (1, 0), 0);
    assert_eq!(all(&recording).len(), 2);
    assert_eq!(
        recording.sources.lock().expect("no panic").len(),
        1,
        "its ring is given back"
    );
    second.record(&request(2), &stamps(2), (1, 0), 0);
    assert_eq!(all(&recording).len(), 1);
}

#[test]
fn in_virtual_time_nothing_is_lost_and_batches_come_when_asked() {
    let (batches, received) = sync_channel(BATCHES);
    let recording = IoRecording::lossless(batches);
    let mut recorder = recording.recorder(0, 0);
    let taken = std::thread::spawn(move || received.iter().map(|batch| batch.len()).collect::<Vec<_>>());
    let ios = BATCH_ROWS * (BATCHES + 5);
    for at in 0..ios as u64 {
        recorder.record(&request(at), &stamps(at), (1, 0), 0);
    }
    recorder.record(&request(0), &stamps(0), (1, 0), 0);
    recorder.hand_over();
    recorder.hand_over();
    drop((recorder, recording));
    let taken = taken.join().expect("no panic");
    assert_eq!(taken.iter().sum::<usize>(), ios + 1);
    assert_eq!(taken.last(), Some(&1), "an empty lot is not sent");
}

#[test]
fn an_errno_is_kept_and_a_success_is_none() {
    assert_eq!(errno_of(Ok(0)), 0);
    assert_eq!(errno_of(Err(Errno(5))), 5);
    assert_eq!(errno_of(Err(Errno(-1))), u16::MAX);
}

//! Rows on their way to the disk, and disks that stall.

use super::*;
use crate::event::Silent;
use crate::testing::run;
use fathom_core::run::{SeriesRow, Status};
use fathom_testkit::make;
use std::sync::mpsc::{Sender, channel};
use std::time::Instant;

fn row(second: u32) -> SeriesRow {
    SeriesRow {
        ios: 7,
        bytes: 7 << 12,
        ..make::second(second)
    }
}

#[test]
fn rows_go_through_the_thread_into_the_directory() {
    let dir = tempfile::tempdir().expect("dir");
    let path = dir.path().join("run");
    let mut recorder = Recorder::begin(&path, &run(Status::Running, 0), &mut Silent).expect("begin");
    recorder.rows(&[row(0)]);
    recorder.rows(&[row(1), row(2)]);
    let closed = recorder.close();
    assert!(closed.warnings.is_empty(), "{:?}", closed.warnings);
    closed
        .finish(&run(Status::Complete, 0), Arc::default())
        .expect("finish");
    let stored = fathom_store::read(&path).expect("read");
    assert_eq!(stored.run.status, Status::Complete);
    let seconds: Vec<u32> = stored.series.iter().map(|row| row.second).collect();
    assert_eq!(seconds, [0, 1, 2]);
}

#[test]
fn a_run_that_did_not_start_leaves_an_empty_directory() {
    let dir = tempfile::tempdir().expect("dir");
    let path = dir.path().join("run");
    Recorder::begin(&path, &run(Status::Running, 0), &mut Silent)
        .expect("begin")
        .abandon(&mut Silent);
    // Whoever made it removes it.
    assert_eq!(std::fs::read_dir(&path).expect("dir").count(), 0);
}

/// A disk that answers when it is told to.
struct Stalls {
    go: Receiver<()>,
    taken: Sender<u32>,
}

impl Sink for Stalls {
    fn take(&mut self, entry: &Entry) -> std::io::Result<()> {
        // The disk answers for good once the other end is gone.
        let _told = self.go.recv();
        if let Entry::Rows(rows) = entry {
            self.taken.send(rows[0].second).map_err(std::io::Error::other)?;
        }
        Ok(())
    }
}

fn stalled() -> (Recorder<Stalls>, Sender<()>, Receiver<u32>) {
    let (tell, go) = channel();
    let (taken, seen) = channel();
    let recorder = Recorder::over(Path::new("d"), Stalls { go, taken }).expect("a thread");
    (recorder, tell, seen)
}

/// Nothing waits for it while the run goes on; what does not fit is counted.
#[test]
fn a_stalled_disk_holds_nothing_up() {
    let (mut recorder, tell, seen) = stalled();
    let begun = Instant::now();
    for second in 0..1_000 {
        recorder.rows(&[row(second)]);
        recorder.histograms(Vec::new());
    }
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    let dropped = recorder.dropped_rows;
    assert!((800..1_000).contains(&dropped), "{dropped}");
    // It comes back: all that waited is written, in order.
    drop(tell);
    let closed = recorder.close();
    assert!(closed.writer.is_some());
    assert_eq!(closed.warnings.len(), 1, "{:?}", closed.warnings);
    let seconds: Vec<u32> = seen.try_iter().collect();
    assert_eq!(seconds.len() as u64 + dropped, 1_000);
    assert!(seconds.windows(2).all(|pair| pair[0] < pair[1]));
}

/// It does not come back: the run ends all the same, and says so.
#[test]
fn a_run_ends_though_its_disk_does_not_answer() {
    let (mut recorder, tell, _seen) = stalled();
    recorder.rows(&[row(0)]);
    let begun = Instant::now();
    let closed = recorder.close_within(Duration::from_millis(100));
    assert!(begun.elapsed() < Duration::from_secs(5));
    assert!(closed.writer.is_none());
    let [Warning::RecordIncomplete { detail }] = closed.warnings.as_slice() else {
        panic!("{:?}", closed.warnings);
    };
    assert!(detail.contains("left unfinished"), "{detail}");
    drop(tell);
}

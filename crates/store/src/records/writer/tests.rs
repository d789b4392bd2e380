use super::*;
use crate::records::fixtures::{self, directory, ios, read};
use crate::{RecordReader, fixtures as run_fixtures};
use fathom_core::record::{CounterRow, IoRecord};
use std::collections::BTreeSet;

fn names(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).expect("a folder").map(|entry| {
        let name = entry.expect("an entry").file_name();
        name.into_string().expect("a name")
    });
    names.collect::<BTreeSet<_>>().into_iter().collect()
}

/// Segments follow each other while the run goes on: at each moment the rows that were flushed are there, once.
#[test]
fn segments_follow_each_other() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut run = directory(dir.path());
    let rows = ios(1, 1000);
    let mut writer = StreamWriter::<IoRecord>::with_segments(dir.path(), 320).expect("created");
    for (index, some) in rows.chunks(70).enumerate() {
        writer.rows(some).expect("taken");
        writer.flush().expect("kept");
        let kept = rows.len().min((index + 1) * 70);
        assert_eq!(writer.rows_kept() as usize, kept);
        let (found, _) = read::<IoRecord>(dir.path()).expect("read");
        assert_eq!(found, rows[..kept]);
    }
    assert_eq!(
        names(&dir.path().join("io")),
        [
            ".000002.parquet.tmp",
            "000000.parquet",
            "000001.parquet",
            "000002.arrows"
        ]
    );
    let end = writer.finish().expect("finished");
    assert_eq!((end.rows, end.lost_rows, end.files.len()), (1000, 0, 3));
    assert_eq!(end.files[2].name, "io/000002.parquet");
    let on_disk: u64 = (0..3)
        .map(|n| {
            let path = dir.path().join(format!("io/{n:06}.parquet"));
            std::fs::metadata(path).expect("a file").len()
        })
        .sum();
    assert_eq!(end.bytes, on_disk);
    run.stream_ended(&end);
    run.finish(&run_fixtures::finished(), std::iter::empty())
        .expect("finished");
    assert_eq!(read::<IoRecord>(dir.path()).expect("read"), (rows, true));
    let document = crate::document::read(dir.path()).expect("read");
    for file in &end.files {
        assert_eq!(document.file(&file.name), Some(file), "it is listed");
        crate::table::check(&dir.path().join(&file.name), file)
            .expect("its checksum is that of what was written");
    }
}

/// Rows wait for a batch; a tick, or a call without rows, does not let them.
#[test]
fn a_tick_hands_over_what_waits() {
    let dir = tempfile::tempdir().expect("a directory");
    let _run = directory(dir.path());
    let rows = ios(2, 2 * BATCH_ROWS + 10);
    let mut writer = StreamWriter::<IoRecord>::create(dir.path()).expect("created");
    let kept = |expected: usize| {
        let (found, complete) = read::<IoRecord>(dir.path()).expect("read");
        assert_eq!((found.len(), complete), (expected, false));
        assert_eq!(found, rows[..expected]);
    };
    writer.rows(&rows[..5]).expect("taken");
    kept(0);
    writer.rows(&[]).expect("a tick");
    kept(5);
    writer.rows(&rows[5..=BATCH_ROWS]).expect("taken");
    writer.rows(&rows[BATCH_ROWS + 1..]).expect("taken");
    kept(5 + 2 * BATCH_ROWS);
    writer.flush().expect("kept");
    kept(rows.len());
    // Nothing new: nothing written.
    let arrows = dir.path().join("io/000000.arrows");
    let size = std::fs::metadata(&arrows).expect("a file").len();
    writer.flush().expect("nothing to do");
    assert_eq!(std::fs::metadata(&arrows).expect("a file").len(), size);
}

#[test]
fn a_stream_without_rows_has_its_columns() {
    let dir = tempfile::tempdir().expect("a directory");
    let _run = directory(dir.path());
    let writer = StreamWriter::<CounterRow>::create(dir.path()).expect("created");
    let end = writer.finish().expect("finished");
    assert_eq!((end.rows, end.files.len()), (0, 1));
    assert_eq!(names(&dir.path().join("counters")), ["000000.parquet"]);
    assert_eq!(read::<CounterRow>(dir.path()).expect("read"), (Vec::new(), true));
}

/// Where the last row ended a segment, there is no empty one after it.
#[test]
fn no_empty_segment_at_the_end() {
    let dir = tempfile::tempdir().expect("a directory");
    let _run = directory(dir.path());
    let mut writer = StreamWriter::<IoRecord>::with_segments(dir.path(), 50).expect("created");
    for some in ios(3, 100).chunks(50) {
        writer.rows(some).expect("taken");
        writer.flush().expect("kept");
    }
    writer.finish().expect("finished");
    assert_eq!(
        names(&dir.path().join("io")),
        ["000000.parquet", "000001.parquet"]
    );
}

/// Where Parquet cannot be written, nothing is lost: the stream becomes Parquet at the end.
#[test]
fn what_parquet_refuses_is_converted_at_the_end() {
    let dir = tempfile::tempdir().expect("a directory");
    let _run = directory(dir.path());
    let rows = ios(4, 250);
    let mut writer = StreamWriter::<IoRecord>::with_segments(dir.path(), 100).expect("created");
    for (index, some) in rows.chunks(50).enumerate() {
        if index == 1 {
            writer.segment.as_mut().expect("a segment").give_up_table();
        }
        writer.rows(some).expect("taken");
        writer.flush().expect("kept");
    }
    assert_eq!(
        names(&dir.path().join("io")),
        [
            ".000002.parquet.tmp",
            "000000.arrows",
            "000001.parquet",
            "000002.arrows"
        ]
    );
    assert_eq!(read::<IoRecord>(dir.path()).expect("read"), (rows.clone(), false));
    let end = writer.finish().expect("finished");
    assert_eq!((end.rows, end.files.len()), (250, 3));
    assert_eq!(
        names(&dir.path().join("io")),
        ["000000.parquet", "000001.parquet", "000002.parquet"]
    );
    assert_eq!(read::<IoRecord>(dir.path()).expect("read"), (rows, true));
}

/// What a full disk refuses is counted; what came before and what comes after is there.
#[test]
fn a_full_disk_costs_the_rows_it_refuses() {
    if !Path::new("/dev/full").exists() {
        fathom_testkit::skipped("a_full_disk_costs_the_rows_it_refuses", "no /dev/full");
        return;
    }
    let dir = tempfile::tempdir().expect("a directory");
    let _run = directory(dir.path());
    let rows = ios(5, 30);
    let mut writer = StreamWriter::<IoRecord>::create(dir.path()).expect("created");
    writer.rows(&rows[..10]).expect("taken");
    writer.flush().expect("kept");
    writer.segment.as_mut().expect("a segment").fill_disk();
    writer.rows(&rows[10..20]).expect("taken");
    let error = writer.flush().expect_err("a full disk").to_string();
    assert!(
        error.contains("No space left") && error.contains("Make room"),
        "{error}"
    );
    assert_eq!((writer.rows_kept(), writer.lost_rows()), (10, 10));
    let error = writer.rows(&rows[20..]).and_then(|()| writer.rows(&[]));
    assert!(error.is_err(), "it is still full");
    drop(writer);
    assert_eq!(read::<IoRecord>(dir.path()).expect("read").0, rows[..10]);
}

#[test]
fn one_writer_a_stream() {
    let dir = tempfile::tempdir().expect("a directory");
    let _run = directory(dir.path());
    let _first = StreamWriter::<IoRecord>::create(dir.path()).expect("created");
    let second = StreamWriter::<IoRecord>::create(dir.path())
        .err()
        .expect("a second one");
    assert!(matches!(second, StoreError::Io { .. }), "{second}");
}

/// A run that only watches has streams, no jobs and no rows of a series.
#[test]
fn a_record_without_a_load() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut run = fixtures::directory(dir.path());
    let rows = ios(6, 10);
    let mut writer = StreamWriter::<IoRecord>::create(dir.path()).expect("created");
    writer.rows(&rows).expect("taken");
    run.stream_ended(&writer.finish().expect("finished"));
    let mut finished = run_fixtures::finished();
    finished.workload.jobs.clear();
    finished.summary.jobs.clear();
    run.finish(&finished, std::iter::empty()).expect("finished");
    let stored = crate::read(dir.path()).expect("read");
    assert_eq!((stored.series.len(), stored.complete), (0, true));
    assert_eq!(crate::stored_streams(dir.path()), [StreamKind::Io]);
    assert_eq!(read::<IoRecord>(dir.path()).expect("read"), (rows, true));
    let recovered = crate::recover(dir.path()).expect("nothing to do");
    assert!(!recovered.changed);
    assert!(
        RecordReader::<CounterRow>::open(dir.path()).is_err(),
        "no such stream"
    );
}

use super::*;
use crate::fixtures as run_fixtures;
use crate::records::StreamWriter;
use crate::records::fixtures::{directory, ios, read};
use expect_test::expect;
use fathom_core::record::{CounterRow, IoRecord, RowSink};
use fathom_core::rng::Rng;
use proptest::prelude::*;
use tempfile::TempDir;

/// A run with so many I/Os in segments of so many; finished or not.
fn recorded(count: usize, segment_rows: u64, finished: bool) -> (TempDir, Vec<IoRecord>) {
    let dir = tempfile::tempdir().expect("a directory");
    let mut run = directory(dir.path());
    let rows = ios(7, count);
    let mut writer = StreamWriter::<IoRecord>::with_segments(dir.path(), segment_rows).expect("created");
    for some in rows.chunks(64) {
        writer.rows(some).expect("taken");
        writer.flush().expect("kept");
    }
    if finished {
        run.stream_ended(&writer.finish().expect("finished"));
        run.finish(&run_fixtures::finished(), std::iter::empty())
            .expect("finished");
    }
    (dir, rows)
}

/// A window gives the rows that a look at each one gives, over Parquet and over a stream.
#[test]
fn windows_are_those_of_a_naive_filter() {
    let (dir, rows) = recorded(3000, 700, false);
    let mut reader = RecordReader::<IoRecord>::open(dir.path()).expect("opened");
    let times: Vec<u64> = rows.iter().map(|row| row.completed_ns).collect();
    let last = times.iter().copied().max().unwrap_or(0);
    let edge = || {
        let of_a_row = prop::sample::select(times.clone());
        prop_oneof![of_a_row, 0..last + 10, Just(0), Just(u64::MAX)]
    };
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(200));
    let reader = std::cell::RefCell::new(&mut reader);
    let result = runner.run(&(edge(), edge()), |(start, end)| {
        let mut reader = reader.borrow_mut();
        reader.seek(start..end);
        let mut found = Vec::new();
        reader
            .for_each_batch(|some| found.extend_from_slice(some))
            .expect("read");
        let inside =
            |row: &&IoRecord| row.completed_ns >= start && (row.completed_ns < end || end == u64::MAX);
        let expected: Vec<IoRecord> = rows.iter().filter(inside).copied().collect();
        prop_assert_eq!(found, expected);
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
}

/// The statistics let row groups be skipped, those above the signed range too.
#[test]
fn row_groups_outside_of_the_window_are_skipped() {
    let dir = tempfile::tempdir().expect("a directory");
    let _run = directory(dir.path());
    let mut rows = ios(8, 100);
    for row in &mut rows[50..] {
        row.completed_ns += 1 << 63;
    }
    let mut writer = StreamWriter::<IoRecord>::with_segments(dir.path(), 50).expect("created");
    for some in rows.chunks(50) {
        writer.rows(some).expect("taken");
        writer.flush().expect("kept");
    }
    writer.finish().expect("finished");
    let groups = |segment: &str, window: Range<u64>| {
        let file = File::open(dir.path().join("io").join(segment)).expect("opened");
        let metadata = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()).expect("parquet");
        wanted(metadata.metadata(), "completed_ns", &window)
            .expect("sound")
            .len()
    };
    assert_eq!(groups("000000.parquet", 0..1 << 62), 1);
    assert_eq!(groups("000001.parquet", 0..1 << 62), 0);
    assert_eq!(groups("000000.parquet", 1 << 63..u64::MAX), 0);
    assert_eq!(groups("000001.parquet", 1 << 63..u64::MAX), 1);
    assert_eq!(groups("000000.parquet", 0..5_000_000_000), 0);
}

fn said(dir: &TempDir) -> String {
    let error = read::<IoRecord>(dir.path())
        .expect_err("a broken stream")
        .to_string();
    error.replace(&dir.path().display().to_string(), "DIR")
}

#[test]
fn what_is_missing_is_told() {
    let (dir, _) = recorded(10, 100, true);
    let Err(error) = RecordReader::<CounterRow>::open(dir.path()) else {
        panic!("there is no such stream");
    };
    let error = error
        .to_string()
        .replace(&dir.path().display().to_string(), "DIR");
    expect!["the run in DIR has no record of `counters`. Record one with `--record=counters`"]
        .assert_eq(&error);
    std::fs::remove_file(dir.path().join("io/000000.parquet")).expect("removed");
    expect!["cannot read DIR/io/000000.parquet: No such file or directory (os error 2). Check the path"]
        .assert_eq(&said(&dir));
}

#[test]
fn a_changed_file_is_told_by_its_checksum() {
    let (dir, _) = recorded(100, 100, true);
    let path = dir.path().join("io/000000.parquet");
    let mut bytes = std::fs::read(&path).expect("read");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    run_fixtures::put(&path, &bytes);
    expect!["DIR/io/000000.parquet is damaged: its checksum is not the one in run.json. Restore the file from a copy; the summary in run.json does not depend on it"].assert_eq(&said(&dir));
}

/// Once a run has ended, what is not listed is not read: nothing tells whether it is what was written.
#[test]
fn a_file_without_a_checksum_is_not_read() {
    let (dir, _) = recorded(100, 100, true);
    let path = dir.path().join("run.json");
    let mut run: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&path).expect("read")).expect("JSON");
    run["files"] = serde_json::json!([]);
    run_fixtures::put(&path, run.to_string().as_bytes());
    expect!["DIR/io/000000.parquet is damaged: the run has ended, and run.json does not list it. Restore the file from a copy; the summary in run.json does not depend on it"].assert_eq(&said(&dir));
    run["files"] = serde_json::json!([{"name": "io/../../x", "size_bytes": 1, "xxh64": "0"}]);
    run_fixtures::put(&path, run.to_string().as_bytes());
    expect![[r#"DIR/run.json is damaged: it lists a file "io/../../x", which is not in its directory. Restore the file from a copy; the summary in run.json does not depend on it"#]].assert_eq(&said(&dir));
}

/// Other files in the folder, and names that are nearly those of segments, are left alone.
#[test]
fn other_files_are_no_segments() {
    let (dir, rows) = recorded(10, 100, true);
    for name in [
        "notes.txt",
        "0.parquet",
        "0000001.parquet",
        "+00001.parquet",
        "000001.parquet.damaged",
    ] {
        std::fs::write(dir.path().join("io").join(name), "x").expect("written");
    }
    assert_eq!(read::<IoRecord>(dir.path()).expect("read").0, rows);
}

/// Cut at every byte, a stream gives its whole batches and never an error.
#[test]
fn torn_at_every_byte() {
    let (dir, rows) = recorded(130, 1000, false);
    let path = dir.path().join("io/000000.arrows");
    let size = std::fs::metadata(&path).expect("a file").len();
    let file = File::options().write(true).open(&path).expect("opened");
    let mut found = vec![130];
    for end in (0..size).rev() {
        file.set_len(end).expect("cut");
        let (some, complete) = read::<IoRecord>(dir.path()).expect("read");
        assert!(!complete, "cut at {end}");
        assert_eq!(some, rows[..some.len()], "cut at {end}");
        found.push(some.len());
    }
    found.dedup();
    assert_eq!(found, [130, 128, 64, 0]);
}

/// A Parquet file that is cut anywhere is an error that names it, and no panic.
#[test]
fn parquet_cut_anywhere_is_an_error() {
    let (dir, _) = recorded(130, 130, false);
    let path = dir.path().join("io/000000.parquet");
    let bytes = std::fs::read(&path).expect("read");
    for end in 0..bytes.len() {
        run_fixtures::put(&path, &bytes[..end]);
        let error = read::<IoRecord>(dir.path()).expect_err("it is cut").to_string();
        assert!(
            error.contains("000000.parquet is damaged"),
            "cut at {end}: {error}"
        );
    }
}

/// Changed bits in a file that no checksum guards: rows or an error, never a panic, never more rows than there were.
#[test]
fn flipped_bits() {
    let seed = 20_261_121;
    let mut rng = Rng::new(seed);
    for segment_rows in [192, 1000] {
        let (dir, rows) = recorded(200, segment_rows, false);
        let name = if segment_rows == 1000 {
            "io/000000.arrows"
        } else {
            "io/000000.parquet"
        };
        let path = dir.path().join(name);
        let bytes = std::fs::read(&path).expect("read");
        let mut noticed = 0;
        for round in 0..2_000 {
            let mut copy = bytes.clone();
            for _ in 0..=rng.below(3) {
                let at = rng.below(copy.len() as u64) as usize;
                copy[at] ^= 1 << rng.below(8);
            }
            run_fixtures::put(&path, &copy);
            match read::<IoRecord>(dir.path()) {
                Ok((found, _)) => {
                    assert!(
                        found.len() <= rows.len(),
                        "seed {seed}, round {round}: rows from nowhere"
                    );
                    noticed += u32::from(found.len() < rows.len());
                }
                Err(_) => noticed += 1,
            }
        }
        assert!(noticed > 200, "seed {seed}: hardly noticed: {noticed} times");
    }
}

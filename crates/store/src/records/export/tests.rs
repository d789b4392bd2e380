use super::*;
use crate::StreamWriter;
use crate::records::fixtures::{directory, ios, read};
use fathom_core::record::{IoRecord, RowSink};
use std::fs::File;

/// One file with the rows of all segments, which is a segment itself.
#[test]
fn one_file_of_all_segments() {
    let dir = tempfile::tempdir().expect("a directory");
    let _run = directory(dir.path());
    let rows = ios(11, 500);
    let mut writer = StreamWriter::<IoRecord>::with_segments(dir.path(), 200).expect("created");
    for some in rows.chunks(100) {
        writer.rows(some).expect("taken");
        writer.flush().expect("kept");
    }
    writer.finish().expect("finished");
    let mut reader = RecordReader::<IoRecord>::open(dir.path()).expect("opened");
    let other = tempfile::tempdir().expect("a directory");
    let _other_run = directory(other.path());
    std::fs::create_dir(other.path().join("io")).expect("made");
    let path = other.path().join("io/000000.parquet");
    let file = File::create(&path).expect("created");
    assert_eq!(export_parquet(&mut reader, &path, file).expect("exported"), 500);
    assert_eq!(read::<IoRecord>(other.path()).expect("read"), (rows, true));
}

#[test]
fn a_full_disk_is_an_error() {
    let Ok(full) = File::options().write(true).open("/dev/full") else {
        fathom_testkit::skipped("a_full_disk_is_an_error", "no /dev/full");
        return;
    };
    let dir = tempfile::tempdir().expect("a directory");
    let _run = directory(dir.path());
    StreamWriter::<IoRecord>::create(dir.path())
        .expect("created")
        .finish()
        .expect("finished");
    let mut reader = RecordReader::<IoRecord>::open(dir.path()).expect("opened");
    let error = export_parquet(&mut reader, Path::new("io.parquet"), full).expect_err("it is full");
    let error = error.to_string();
    assert!(error.contains("write io.parquet: No space left"), "{error}");
}

//! Where runs are kept.

use super::{Recorder, file_name, release, reserve, unused};
use crate::args::Output;
use crate::fixture::run;
use fathom_core::backend::Op;
use fathom_core::run::{LatencySummary, SeriesRow, Status};
use fathom_core::units::MonoTime;

#[test]
fn names_of_jobs_become_file_names() {
    assert_eq!(file_name("rand read/4k"), "rand-read-4k");
    assert_eq!(file_name("../x"), "..-x");
    assert_eq!(file_name(&"x".repeat(100)).len(), 40);
}

#[test]
fn a_name_in_use_gets_a_number() {
    let dir = tempfile::tempdir().expect("dir");
    let path = dir.path().join("run");
    assert_eq!(unused(&path), path);
    std::fs::create_dir(&path).expect("mkdir");
    assert_eq!(unused(&path), dir.path().join("run-2"));
}

#[test]
fn a_new_or_empty_directory_is_taken_and_released_again() {
    let dir = tempfile::tempdir().expect("dir");
    let path = dir.path().join("deep/run");
    let output = Output::Directory(path.clone());
    assert_eq!(reserve(&output, "job").expect("new"), Some(path.clone()));
    assert_eq!(reserve(&output, "job").expect("empty"), Some(path.clone()));
    release(Some(&path));
    assert!(!path.exists());
    assert_eq!(reserve(&Output::None, "job").expect("none"), None);
}

#[test]
fn a_directory_with_anything_in_it_is_refused_and_kept() {
    let dir = tempfile::tempdir().expect("dir");
    let file = dir.path().join("file");
    std::fs::write(&file, "x").expect("write");
    let output = Output::Directory(dir.path().to_owned());
    let error = reserve(&output, "job").expect_err("not empty").to_string();
    assert!(error.contains("is not empty"), "{error}");
    std::fs::rename(&file, dir.path().join("run.json")).expect("rename");
    let error = reserve(&output, "job").expect_err("a run").to_string();
    assert!(error.contains("already holds a run"), "{error}");
    let error = reserve(&Output::Directory(dir.path().join("run.json")), "job");
    let error = format!("{:#}", error.expect_err("a file"));
    assert!(error.contains("cannot make the run directory"), "{error}");
}

fn row(second: u32) -> SeriesRow {
    SeriesRow {
        second,
        end: MonoTime(u64::from(second + 1) * 1_000_000_000),
        duration_ns: 1_000_000_000,
        job: 0,
        ramp: false,
        op: Op::Read,
        ios: 7,
        bytes: 7 << 12,
        errors: 0,
        lat: LatencySummary::default(),
        response: LatencySummary::default(),
        backlog: 0,
    }
}

#[test]
fn rows_go_through_the_thread_into_the_directory() {
    let dir = tempfile::tempdir().expect("dir");
    let path = dir.path().join("run");
    let mut recorder = Recorder::begin(&path, &run(Status::Running, 0)).expect("begin");
    recorder.rows(&[row(0)]);
    recorder.rows(&[row(1), row(2)]);
    let closed = recorder.close();
    assert!(closed.warnings.is_empty(), "{:?}", closed.warnings);
    closed
        .finish(&run(Status::Complete, 0), Vec::new())
        .expect("finish");
    let stored = fathom_store::read(&path).expect("read");
    assert_eq!(stored.run.status, Status::Complete);
    let seconds: Vec<u32> = stored.series.iter().map(|row| row.second).collect();
    assert_eq!(seconds, [0, 1, 2]);
}

#[test]
fn a_run_that_did_not_start_leaves_nothing() {
    let dir = tempfile::tempdir().expect("dir");
    let path = dir.path().join("run");
    Recorder::begin(&path, &run(Status::Running, 0))
        .expect("begin")
        .abandon();
    assert!(!path.exists());
}

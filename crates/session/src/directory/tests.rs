//! Where runs are kept.

use super::{file_name, reserve, unused};
use crate::request::Output;

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
    let reserved = reserve(&output, "job").expect("new").expect("a place");
    assert!(path.is_dir());
    drop(reserved);
    assert!(!path.exists(), "it was made for nothing");
    std::fs::create_dir_all(&path).expect("mkdir");
    drop(reserve(&output, "job").expect("empty"));
    assert!(path.is_dir(), "it was there before");
    std::fs::remove_dir(&path).expect("rmdir");
    let reserved = reserve(&output, "job").expect("new").expect("a place");
    std::fs::write(reserved.join("run.json"), "x").expect("write");
    drop(reserved);
    assert!(path.is_dir(), "something is in it");
    assert!(reserve(&Output::None, "job").expect("none").is_none());
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

//! Job file or target.

use super::{Sorted, Target, aim, resolve, sort};
use fathom_core::workload::{Job, Workload};
use std::ffi::OsStr;
use std::path::PathBuf;

fn file(dir: &tempfile::TempDir, name: &str, contents: &[u8]) -> PathBuf {
    let path = dir.path().join(name);
    std::fs::write(&path, contents).expect("write");
    path
}

#[test]
fn job_files_are_told_by_name_or_by_their_first_line() {
    let dir = tempfile::tempdir().expect("dir");
    let missing = PathBuf::from("missing.fio");
    let section = file(&dir, "jobs", b"\n  [global]\nbs=4k\n");
    let comments = file(
        &dir,
        "commented.txt",
        b"; a comment\n# more\n\n[randread]\nrw=randread\n",
    );
    let stdin = PathBuf::from("-");
    let paths = vec![missing, section, comments, stdin];
    let sorted = sort(&paths).expect("no target");
    assert_eq!(
        sorted,
        Sorted {
            job_files: paths,
            target: None
        }
    );
}

#[test]
fn data_is_a_target_even_if_it_begins_like_a_comment() {
    let dir = tempfile::tempdir().expect("dir");
    let mut random = b"[global]\n".to_vec();
    random.extend([0u8; 100]);
    let script = file(&dir, "script", b"#!/bin/sh\necho\n");
    for target in [
        file(&dir, "binary", &random),
        script,
        file(&dir, "empty", b""),
        dir.path().to_owned(),
        dir.path().join("new"),
    ] {
        let sorted = sort(std::slice::from_ref(&target)).expect("one target");
        assert_eq!(sorted.target, Some(target));
        assert!(sorted.job_files.is_empty());
    }
}

#[test]
fn a_large_file_is_not_read_as_a_job_file() {
    let dir = tempfile::tempdir().expect("dir");
    let path = file(&dir, "large", b"[global]\n");
    let open = std::fs::OpenOptions::new().write(true).open(&path).expect("open");
    open.set_len(2 << 20).expect("grow");
    assert_eq!(
        sort(std::slice::from_ref(&path)).expect("one target").target,
        Some(path)
    );
}

#[test]
fn two_targets_are_refused() {
    let paths = [PathBuf::from("a"), PathBuf::from("b")];
    let error = sort(&paths).expect_err("two targets").to_string();
    assert_eq!(
        error,
        "two targets: a and b (neither is named *.fio, *.ini or *.job, or begins with a [section]): give one"
    );
}

#[test]
fn a_target_is_a_file_a_directory_or_nothing() {
    let dir = tempfile::tempdir().expect("dir");
    let path = dir.path().to_owned();
    assert_eq!(
        resolve(path.as_os_str()).expect("directory"),
        Target::Directory(path.clone())
    );
    let new = path.join("new");
    assert_eq!(resolve(new.as_os_str()).expect("file"), Target::File(new));
    assert_eq!(resolve(OsStr::new("null:")).expect("null"), Target::Null);
    assert_eq!(
        resolve(OsStr::new("model:azure/P15")).expect("model"),
        Target::Model(String::from("azure/P15"))
    );
    assert_eq!(
        resolve(OsStr::new("/dev/null")).expect("device"),
        Target::File(PathBuf::from("/dev/null"))
    );
}

#[test]
fn what_cannot_be_a_target_is_refused_with_a_remedy() {
    for (words, expected) in [
        ("", "--on is empty"),
        ("/nowhere/at/all/", "does not exist: make it"),
    ] {
        let error = resolve(OsStr::new(words)).expect_err(words).to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn aiming_replaces_all_names_of_all_jobs() {
    let mut job = Job::default();
    job.files.names = vec![PathBuf::from("a"), PathBuf::from("b")];
    job.files.directories = vec![PathBuf::from("d")];
    let mut workload = Workload {
        jobs: vec![job.clone(), job],
    };
    aim(&mut workload, &Target::Directory(PathBuf::from("/mnt")));
    for job in &workload.jobs {
        assert!(job.files.names.is_empty());
        assert_eq!(job.files.directories, [PathBuf::from("/mnt")]);
    }
    aim(&mut workload, &Target::File(PathBuf::from("F")));
    for job in &workload.jobs {
        assert_eq!(job.files.names, [PathBuf::from("F")]);
        assert!(job.files.directories.is_empty());
    }
}

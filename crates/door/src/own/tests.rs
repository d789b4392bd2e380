use super::*;
use std::os::unix::fs::symlink;

/// Links that somebody put into a directory of fathom's are never followed.
#[test]
fn links_are_not_followed() {
    let directory = tempfile::tempdir().expect("a directory");
    let at = |name: &str| directory.path().join(name);
    fs::write(at("dear"), "dear").expect("a file");
    symlink(at("dear"), at(".run.json.tmp")).expect("a link");
    assert!(create(&at(".run.json.tmp")).is_err());
    drop(create_temporary(&at(".run.json.tmp")).expect("made"));
    symlink(at("dear"), at("run.json")).expect("a link");
    rename(&at(".run.json.tmp"), &at("run.json")).expect("renamed");
    assert_eq!(fs::read(at("dear")).expect("read"), b"dear");
    assert_eq!(fs::read(at("run.json")).expect("read"), b"");
    symlink(at("dear"), at("link")).expect("a link");
    remove(&at("link")).expect("removed");
    assert_eq!(fs::read(at("dear")).expect("read"), b"dear");
}

#[test]
fn what_is_gone_already_is_no_error_and_what_is_full_stays() {
    let directory = tempfile::tempdir().expect("a directory");
    let at = |name: &str| directory.path().join(name);
    remove(&at("x")).expect("gone");
    remove_directory(&at("x")).expect("gone");
    make_directories(&at("a/b")).expect("made");
    assert!(remove_directory(&at("a")).is_err());
    assert!(make_directory(&at("a")).is_err());
    remove_directory(&at("a/b")).expect("removed");
}

#[test]
fn only_the_kernel_s_switches_are_switches() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("tracing_on");
    fs::write(&path, "1").expect("a file");
    let error = kernel_switch(&path).expect_err("a file");
    assert!(error.to_string().contains("tracefs"), "{error}");
}

//! Regular files.

use crate::setup::{Loop, Swap, alone, ask, open, with};
use expect_test::expect;
use fathom_observe::safety::{Basis, Refusal, is_made, mark_made};
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use tempfile::TempDir;

fn directory() -> TempDir {
    TempDir::new().expect("a temporary directory")
}

#[test]
fn a_file_that_fathom_made_may_be_used_again() {
    let dir = directory();
    let path = dir.path().join("job.0.0");
    let permission = ask(&path, &[], false).expect("allowed");
    assert_eq!(permission.basis, Basis::New);
    let file = File::create_new(&path).expect("created");
    permission.confirm(&file).expect("a regular file");
    assert!(!is_made(&file).expect("readable"));
    if !mark_made(&file).expect("marked") {
        let name = "a_file_that_fathom_made_may_be_used_again";
        eprintln!("SKIPPED: {name}: user attributes in {}", dir.path().display());
        return;
    }
    assert!(is_made(&file).expect("readable"));
    let permission = ask(&path, &[], false).expect("allowed");
    assert_eq!(permission.basis, Basis::Made);
    permission.confirm(&open(&path)).expect("the same file");

    // Copied over by `cp`, or replaced: the mark is not there any more.
    let other = dir.path().join("other");
    fs::write(&other, "dear data").expect("written");
    fs::rename(&other, &path).expect("renamed");
    let refusal = permission.confirm(&open(&path)).expect_err("another file");
    assert!(matches!(refusal, Refusal::Changed { .. }), "{refusal}");
    assert!(matches!(ask(&path, &[], false), Err(Refusal::NotMade { .. })));
}

#[test]
fn a_file_that_fathom_did_not_make_must_be_named() {
    let dir = directory();
    let (path, link, other) = (
        dir.path().join("db"),
        dir.path().join("link"),
        dir.path().join("other"),
    );
    fs::write(&path, "dear data").expect("written");
    fs::write(&other, "other data").expect("written");
    symlink(&path, &link).expect("linked");
    let refusal = ask(&link, std::slice::from_ref(&other), true).expect_err("not named");
    let text = refusal
        .to_string()
        .replace(&*dir.path().to_string_lossy(), "/data");
    expect!["/data/link exists (9 B) and was not made by fathom (it has no mark: made by another program, copied, or on a file system without user attributes). To overwrite it, add --allow-overwrite /data/link; to keep it, choose another name"].assert_eq(&text);
    for (asked, named) in [(&path, &link), (&link, &path), (&path, &path)] {
        let permission = ask(asked, std::slice::from_ref(named), false).expect("allowed");
        assert_eq!(permission.basis, Basis::NamedFile);
    }
    assert_eq!(
        fs::read(&path).expect("readable"),
        b"dear data",
        "a check changes nothing"
    );
}

#[test]
fn a_file_in_memory_may_have_no_mark() {
    let Ok(dir) = TempDir::new_in("/dev/shm") else {
        eprintln!("SKIPPED: a_file_in_memory_may_have_no_mark: a writable /dev/shm");
        return;
    };
    let path = dir.path().join("x");
    assert_eq!(ask(&path, &[], false).expect("allowed").basis, Basis::New);
    let file = File::create_new(&path).expect("created");
    let marked = mark_made(&file).expect("answered");
    match ask(&path, &[], false) {
        Ok(permission) => assert!(marked && permission.basis == Basis::Made),
        Err(refusal) => assert!(!marked && matches!(refusal, Refusal::NotMade { .. }), "{refusal}"),
    }
}

#[test]
fn a_swap_file_is_refused() {
    let name = "a_swap_file_is_refused";
    let _alone = alone();
    let dir = directory();
    let path = dir.path().join("swapfile");
    fs::write(&path, vec![0; 1 << 20]).expect("written");
    with(name, Swap::on(&path.to_string_lossy()), |swap| {
        let refusal = ask(&path, std::slice::from_ref(&path), true).expect_err("swap");
        assert!(matches!(refusal, Refusal::Swap { .. }), "{refusal}");
        drop(swap);
        ask(&path, std::slice::from_ref(&path), true).expect("allowed");
    });
}

#[test]
fn a_link_to_nowhere_is_a_new_file() {
    let dir = directory();
    let link = dir.path().join("link");
    symlink(dir.path().join("nothing"), &link).expect("linked");
    assert_eq!(ask(&link, &[], false).expect("allowed").basis, Basis::New);
    symlink("/dev/no-such-disk", dir.path().join("typo")).expect("linked");
    let refusal = ask(&dir.path().join("typo"), &[], false).expect_err("it leads to /dev");
    assert!(matches!(refusal, Refusal::NoSuchDevice { .. }), "{refusal}");
}

#[test]
fn a_device_replaced_by_a_file_is_noticed() {
    with("a_device_replaced_by_a_file_is_noticed", Loop::new(), |device| {
        let link = device.link();
        let permission = ask(&link, std::slice::from_ref(&link), false).expect("allowed");
        fs::remove_file(&link).expect("removed");
        fs::write(&link, "x").expect("written");
        assert!(matches!(
            permission.confirm(&open(&link)),
            Err(Refusal::Changed { .. })
        ));
    });
}

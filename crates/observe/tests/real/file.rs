//! Regular files.

use crate::setup::{Loop, Swap, alone, ask, with};
use expect_test::expect;
use fathom_door::Permits;
use fathom_observe::safety::{Basis, Refusal};
use rustix::fs::OFlags;
use std::fs;
use std::os::unix::fs::FileExt;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::MutexGuard;
use tempfile::TempDir;

/// A directory for a test that has its files for itself.
struct Directory {
    dir: TempDir,
    _alone: MutexGuard<'static, ()>,
}

impl Directory {
    fn path(&self) -> &Path {
        self.dir.path()
    }
}

fn directory() -> Directory {
    Directory {
        _alone: alone(),
        dir: TempDir::new().expect("a temporary directory"),
    }
}

#[test]
fn a_file_that_fathom_made_may_be_used_again() {
    let dir = directory();
    let path = dir.path().join("job.0.0");
    let permission = ask(&path, &[], false).expect("allowed");
    assert_eq!(permission.basis, Basis::New);
    permission.permit.grows_to(8192);
    let file = permission.permit.create().expect("created");
    file.write_all_at(&[7; 8192], 0).expect("written");
    drop((file, permission));
    let again = ask(&path, &[], false);
    if matches!(again, Err(Refusal::NoMarks { .. })) {
        let name = "a_file_that_fathom_made_may_be_used_again";
        fathom_testkit::skipped(name, format!("user attributes in {}", dir.path().display()));
        return;
    }
    let permission = again.expect("allowed");
    assert_eq!(permission.basis, Basis::Made);
    permission.permit.open(OFlags::empty()).expect("the same file");

    // Replaced: the mark is not there any more.
    let other = dir.path().join("other");
    fs::write(&other, "dear data").expect("written");
    fs::rename(&other, &path).expect("renamed");
    assert!(permission.permit.open(OFlags::empty()).is_err());
    drop(permission);
    assert!(matches!(ask(&path, &[], false), Err(Refusal::NotMade { .. })));
}

#[test]
fn a_file_system_in_a_file_is_named() {
    let dir = directory();
    let path = dir.path().join("image");
    fs::write(&path, vec![0; 8 << 20]).expect("written");
    let name = "a_file_system_in_a_file_is_named";
    if !std::process::Command::new("mkfs.ext4")
        .arg("-qF")
        .arg(&path)
        .status()
        .is_ok_and(|status| status.success())
    {
        fathom_testkit::skipped(name, "mkfs.ext4");
        return;
    }
    let refusal = ask(&path, std::slice::from_ref(&path), false).expect_err("a file system");
    assert!(
        refusal
            .to_string()
            .contains("carries an ext2/ext3/ext4 file system"),
        "{refusal}"
    );
    let permission = ask(&path, std::slice::from_ref(&path), true).expect("confirmed");
    assert!(matches!(permission.basis, Basis::NamedFile(found) if found.len() == 1));
}

#[test]
fn what_others_write_to_is_in_use() {
    let dir = directory();
    let path = dir.path().join("db");
    fs::write(&path, "dear data").expect("written");
    let child = |redirection: &str| {
        std::process::Command::new("sh")
            .arg("-c")
            .arg(format!("exec sleep 60 {redirection}"))
            .env("F", &path)
            .spawn()
            .expect("a shell")
    };
    for (redirection, refused) in [(">>\"$F\"", true), ("3<\"$F\"", false)] {
        let mut child = child(redirection);
        // Until the shell has become the program.
        let name = || fs::read_to_string(format!("/proc/{}/comm", child.id())).unwrap_or_default();
        while name().trim() != "sleep" {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let answer = ask(&path, std::slice::from_ref(&path), true);
        child.kill().expect("killed");
        child.wait().expect("waited for");
        match answer {
            Err(refusal) => {
                assert!(refused, "{refusal}");
                assert!(
                    refusal.to_string().contains("(sleep) has it open for writing"),
                    "{refusal}"
                );
            }
            Ok(_) => assert!(!refused),
        }
    }
}

#[test]
fn two_at_once_are_one_too_many() {
    let dir = directory();
    let path = dir.path().join("x");
    fs::write(&path, "x").expect("written");
    let named = std::slice::from_ref(&path);
    let first = ask(&path, named, true).expect("allowed");
    let refusal = ask(&path, named, true).expect_err("locked");
    assert!(matches!(refusal, Refusal::Locked { .. }), "{refusal}");
    drop(first);
    ask(&path, named, true).expect("allowed again");
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
    expect!["/data/link exists (9 B) and was not made by fathom (it has no mark: made by another program, or copied). To overwrite it, add --allow-overwrite /data/link; to keep it, choose another name"].assert_eq(&text);
    for (asked, named) in [(&path, &link), (&link, &path), (&path, &path)] {
        let permission = ask(asked, std::slice::from_ref(named), false).expect("allowed");
        assert_eq!(permission.basis, Basis::NamedFile(vec![]));
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
        fathom_testkit::skipped("a_file_in_memory_may_have_no_mark", "a writable /dev/shm");
        return;
    };
    let path = dir.path().join("x");
    let permission = ask(&path, &[], false).expect("allowed");
    assert_eq!(permission.basis, Basis::New);
    permission.permit.create().expect("created");
    let permits = Permits::new([(path.clone(), permission.permit)]);
    let marked = permits.unmarked().is_empty();
    drop(permits);
    match ask(&path, &[], false) {
        Ok(permission) => assert!(marked && permission.basis == Basis::Made),
        Err(refusal) => assert!(!marked && matches!(refusal, Refusal::NoMarks { .. }), "{refusal}"),
    }
}

#[test]
fn a_swap_file_is_refused() {
    let name = "a_swap_file_is_refused";
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
        let error = permission.permit.open(OFlags::empty()).expect_err("a file");
        assert!(error.to_string().contains("replaced"), "{error}");
    });
}

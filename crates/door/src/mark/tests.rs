use super::*;
use crate::target::Permits;
use proptest::prelude::*;
use rustix::fs::OFlags;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const BYTES: u64 = 1 << 20;

/// A directory with a file of fathom's in it; `None`: no attributes here.
fn made(test: &str) -> Option<(tempfile::TempDir, PathBuf)> {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("fm");
    make(&path);
    if of(&path) == Standing::NoMarks {
        fathom_testkit::skipped(test, format!("user attributes in {}", directory.path().display()));
        return None;
    }
    Some((directory, path))
}

/// A file as a run leaves it.
fn make(path: &Path) {
    let permits = Permits::unasked([path]).expect("a permit");
    let permit = permits.of(path).expect("a permit");
    permit.grows_to(BYTES);
    let file = permit.create().expect("made");
    for place in (0..BYTES).step_by(4096) {
        file.write_all_at(&[place as u8 ^ 0x5a; 4096], place)
            .expect("written");
    }
}

fn of(path: &Path) -> Standing {
    standing(&File::open(path).expect("opened")).expect("a standing")
}

fn run(program: &str, words: &[&str]) {
    let status = Command::new(program).args(words).status().expect(program);
    assert!(status.success(), "{program} {words:?}");
}

#[test]
fn a_mark_holds_until_somebody_else_writes() {
    let Some((directory, path)) = made("a_mark_holds_until_somebody_else_writes") else {
        return;
    };
    assert_eq!(of(&path), Standing::Made);
    fs::read(&path).expect("read");
    assert_eq!(of(&path), Standing::Made, "reading changes nothing");
    let name = path.to_str().expect("a name");
    let other = directory.path().join("userdata");
    let other_name = other.to_str().expect("a name");
    fs::write(&other, vec![1; BYTES as usize]).expect("a file");
    let spoil: [(&str, &dyn Fn()); 9] = [
        ("a byte changed, and the time put back", &|| {
            let file = File::options().write(true).open(&path).expect("opened");
            let modified = path
                .metadata()
                .and_then(|found| found.modified())
                .expect("a time");
            file.write_all_at(b"!", 12_345).expect("written");
            file.set_times(fs::FileTimes::new().set_modified(modified))
                .expect("a time");
        }),
        ("a copy with all that can be kept in its place", &|| {
            let copy = path.with_extension("copy");
            run("cp", &["-a", name, copy.to_str().expect("a name")]);
            fs::rename(&copy, &path).expect("renamed");
        }),
        ("copied over", &|| run("cp", &[other_name, name])),
        ("copied over with its time", &|| {
            run("cp", &["-p", other_name, name]);
        }),
        ("copied over, all kept", &|| run("cp", &["-a", other_name, name])),
        ("a byte changed", &|| {
            let file = File::options().write(true).open(&path).expect("opened");
            file.write_all_at(b"!", 12_345).expect("written");
        }),
        ("appended to", &|| {
            let file = File::options().write(true).open(&path).expect("opened");
            file.write_all_at(b"!", BYTES).expect("written");
        }),
        ("cut", &|| {
            let file = File::options().write(true).open(&path).expect("opened");
            file.set_len(BYTES / 2).expect("cut");
        }),
        ("all but its time", &|| {
            // As a copy does that keeps the times of a file that has the very time of ours.
            let times = fs::FileTimes::new().set_modified(
                path.metadata()
                    .and_then(|found| found.modified())
                    .expect("a time"),
            );
            let file = File::options().write(true).open(&path).expect("opened");
            file.write_all_at(&vec![2; BYTES as usize], 0).expect("written");
            file.set_times(times).expect("a time");
        }),
    ];
    for (what, spoil) in spoil {
        fs::remove_file(&path).expect("removed");
        make(&path);
        assert_eq!(of(&path), Standing::Made);
        // Within the same tick of the kernel's clock a time tells nothing.
        std::thread::sleep(Duration::from_millis(60));
        spoil();
        assert_eq!(of(&path), Standing::Changed, "{what}");
    }
}

#[test]
fn a_mark_that_was_carried_elsewhere_does_not_hold() {
    let Some((directory, path)) = made("a_mark_that_was_carried_elsewhere_does_not_hold") else {
        return;
    };
    let other = directory.path().join("db");
    fs::write(&other, vec![3; BYTES as usize]).expect("a file");
    let mut value = [0; LONGEST_BYTES];
    let length = fgetxattr(File::open(&path).expect("opened"), MARK, &mut value[..]).expect("a mark");
    let file = File::open(&other).expect("opened");
    for mark in [
        &value[..length],
        b"1",
        b"",
        b"2s",
        b"2s12345678",
        b"3s1234567812345678",
    ] {
        fsetxattr(&file, MARK, mark, XattrFlags::empty()).expect("marked");
        assert_eq!(of(&other), Standing::Changed, "{}", mark.escape_ascii());
    }
}

/// Killed while it wrote: nobody sealed the file.
#[test]
fn a_killed_run_may_go_on_but_not_over_what_came_after_it() {
    let Some((_directory, path)) = made("a_killed_run_may_go_on_but_not_over_what_came_after_it") else {
        return;
    };
    let file = File::options()
        .read(true)
        .write(true)
        .open(&path)
        .expect("opened");
    let writing = begin(&file, 0, Duration::from_millis(300))
        .expect("marked")
        .expect("attributes");
    assert_eq!(of(&path), Standing::Made, "before its first I/O");
    file.write_all_at(b"load", 4096).expect("written");
    assert_eq!(of(&path), Standing::Made);
    std::thread::sleep(Duration::from_millis(400));
    assert_eq!(of(&path), Standing::Made, "its last I/O was in time");
    file.write_all_at(b"dear", 8192).expect("written");
    assert_eq!(of(&path), Standing::Changed, "after its end");
    prolong(&file, writing, Duration::from_mins(1)).expect("marked");
    assert_eq!(of(&path), Standing::Made, "it lived on");
    prolong(&file, writing, Duration::ZERO).expect("marked");
    std::thread::sleep(Duration::from_millis(50));
    let modified = path
        .metadata()
        .and_then(|found| found.modified())
        .expect("a time");
    file.write_all_at(b"dear", 8192).expect("written");
    file.set_times(fs::FileTimes::new().set_modified(modified))
        .expect("a time");
    assert_eq!(of(&path), Standing::Changed, "with a time of its life");
    prolong(&file, writing, Duration::from_mins(1)).expect("marked");
    file.write_all_at(b"dear", BYTES).expect("written");
    assert_eq!(of(&path), Standing::Changed, "larger than it made it");
    let old = fs::FileTimes::new().set_modified(UNIX_EPOCH + Duration::from_secs(1));
    file.set_len(BYTES).expect("cut");
    file.set_times(old).expect("a time");
    assert_eq!(of(&path), Standing::Changed, "older than the run");
}

#[test]
fn a_run_on_a_marked_file_leaves_it_marked() {
    let Some((_directory, path)) = made("a_run_on_a_marked_file_leaves_it_marked") else {
        return;
    };
    let permits = Permits::unasked([path.as_path()]).expect("a permit");
    let file = permits
        .of(&path)
        .and_then(|permit| permit.open(OFlags::empty()))
        .expect("opened");
    file.write_all_at(&[9; 8192], 0).expect("written");
    permits.prolong();
    assert_eq!(of(&path), Standing::Made, "while it is written to");
    assert!(permits.seal().is_empty());
    assert_eq!(of(&path), Standing::Made);
    std::thread::sleep(Duration::from_millis(20));
    file.write_all_at(&[8; 8192], 0).expect("written");
    assert_eq!(of(&path), Standing::Changed, "after the seal");
}

#[test]
fn samples_lie_all_over_a_file() {
    for size in [0, 1, 4095, 4096, 4097, 12_288, 1 << 20, 1 << 50, u64::MAX] {
        let places = places(size);
        assert_eq!(places[0], 0, "{size}");
        assert!(
            places.is_sorted() && places.len() <= SAMPLES as usize,
            "{size}: {places:?}"
        );
        let last = places[places.len() - 1];
        assert!(
            last < size.max(1) && size - last <= 2 * SAMPLE_BYTES,
            "{size}: {places:?}"
        );
    }
}

proptest! {
    #[test]
    fn a_mark_reads_back_as_it_was_written(a: u64, b: i64, c: i64, d: i64, digest: u64) {
        for mark in [
            Mark::Sealed { size_bytes: a, modified_ns: b, digest, sealed_ns: c },
            Mark::Open { size_bytes: a, before_ns: b, since_ns: c, until_ns: d },
        ] {
            let bytes = mark.encode();
            // What ext4's inodes of 256 bytes have room for beside the name.
            prop_assert!(bytes.len() <= 60);
            prop_assert_eq!(Mark::decode(&bytes), Some(mark));
        }
    }

    #[test]
    fn any_other_value_is_no_mark_and_no_panic(bytes: Vec<u8>) {
        if let Some(mark) = Mark::decode(&bytes) {
            prop_assert_eq!(mark.encode(), bytes);
        }
    }
}

#[test]
fn a_file_system_without_user_attributes_is_told_apart_from_a_file_without_a_mark() {
    // That of processes has none, whatever the kernel.
    assert_eq!(of(Path::new("/proc/self/comm")), Standing::NoMarks);
    let Some((directory, _)) = made("a_file_system_without_user_attributes") else {
        return;
    };
    let other = directory.path().join("other");
    fs::write(&other, "x").expect("written");
    assert_eq!(of(&other), Standing::Unmarked);
}

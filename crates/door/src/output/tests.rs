use super::*;
use std::fs;
use std::os::unix::fs::symlink;

fn directory() -> tempfile::TempDir {
    tempfile::tempdir().expect("a directory")
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("read");
    let mut names: Vec<String> = entries
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    names.sort();
    names
}

#[test]
fn a_file_is_there_when_it_is_whole() {
    let directory = directory();
    let path = directory.path().join("r.md");
    let mut output = Output::create(&path, false).expect("begun");
    output.write_all(b"half").expect("written");
    assert!(!path.exists());
    output.publish().expect("published");
    assert_eq!(fs::read(&path).expect("read"), b"half");
    drop(Output::create(&directory.path().join("other"), false).expect("begun"));
    assert_eq!(names(directory.path()), ["r.md"], "what was given up is gone");
}

#[test]
fn a_file_is_replaced_only_by_force() {
    let directory = directory();
    let path = directory.path().join("r.md");
    fs::write(&path, "dear").expect("a file");
    assert!(matches!(
        leave(&path, b"new", false),
        Err(OutputError::Exists { .. })
    ));
    assert_eq!(fs::read(&path).expect("read"), b"dear");
    leave(&path, b"new", true).expect("replaced");
    assert_eq!(fs::read(&path).expect("read"), b"new");
    // One that comes to be there meanwhile is no less dear.
    let late = directory.path().join("late");
    let output = Output::create(&late, false).expect("begun");
    fs::write(&late, "dear").expect("a file");
    assert!(matches!(output.publish(), Err(OutputError::Exists { .. })));
    assert_eq!(fs::read(&late).expect("read"), b"dear");
    assert_eq!(names(directory.path()), ["late", "r.md"]);
}

/// Neither what is no file nor what leads elsewhere is ever written to, by force or not.
#[test]
fn links_devices_pipes_and_directories_are_left_alone() {
    let directory = directory();
    let dear = directory.path().join("dear");
    fs::write(&dear, "dear").expect("a file");
    let at = |name: &str| directory.path().join(name);
    symlink(&dear, at("link")).expect("a link");
    symlink("/dev/null", at("device")).expect("a link");
    symlink("nowhere", at("dangling")).expect("a link");
    fs::create_dir(at("directory")).expect("a directory");
    rustix::fs::mknodat(
        CWD,
        at("pipe"),
        rustix::fs::FileType::Fifo,
        Mode::from_raw_mode(0o600),
        0,
    )
    .expect("a pipe");
    let before = names(directory.path());
    let paths = ["link", "device", "dangling", "directory", "pipe"].map(at);
    for path in paths
        .iter()
        .chain([&PathBuf::from("/dev/null"), &PathBuf::from("/dev/stdin")])
    {
        for force in [false, true] {
            let error = leave(path, b"new", force).expect_err("refused");
            assert!(matches!(error, OutputError::WrongKind { .. }), "{error}");
            assert!(error.is_refusal());
        }
    }
    assert_eq!(names(directory.path()), before);
    assert_eq!(fs::read(&dear).expect("read"), b"dear");
}

#[test]
fn the_system_s_own_refusals_come_with_a_remedy() {
    let directory = directory();
    let missing = directory.path().join("no/such/r.md");
    let error = check(&missing, false).expect_err("no directory");
    assert!(!error.is_refusal());
    assert!(error.to_string().contains("make the directory first"), "{error}");
    let file = directory.path().join("file");
    fs::write(&file, "x").expect("a file");
    assert!(check(&file.join("r.md"), false).is_err(), "below a file");
    check(Path::new("r.md"), false).expect("here");
    let error = check(Path::new("/dev/loop0.md"), true).expect_err("among the devices");
    assert!(error.is_refusal(), "{error}");
}

#[test]
fn an_earlier_output_is_replaced_if_it_is_still_the_same() {
    let directory = directory();
    let path = directory.path().join("log");
    assert!(Earlier::look(&path, 10).expect("looked").is_none());
    fs::write(&path, "an earlier one").expect("written");
    let look = || Earlier::look(&path, 10).expect("looked").expect("a file");
    assert_eq!(look().1, b"an earlier");
    leave_over(&path, b"new", look().0).expect("left");
    assert_eq!(fs::read(&path).expect("read"), b"new");
    // Written to, replaced and removed between the look and the end.
    for (what, left) in [("more", "dear"), ("other", "dear"), ("none", "new")] {
        fs::write(&path, "an earlier one").expect("written");
        let mut output = Output::create_over(&path, look().0).expect("begun");
        output.write_all(b"new").expect("written");
        match what {
            "more" => fs::write(&path, "dear").expect("written"),
            "other" => {
                fs::write(directory.path().join("dear"), "dear").expect("written");
                fs::rename(directory.path().join("dear"), &path).expect("renamed");
            }
            _ => fs::remove_file(&path).expect("removed"),
        }
        let published = output.publish();
        assert_eq!(published.is_ok(), left == "new", "{what}: {published:?}");
        assert_eq!(fs::read_to_string(&path).expect("read"), left, "{what}");
        assert_eq!(names(directory.path()), ["log"], "{what}");
    }
    symlink("log", directory.path().join("link")).expect("a link");
    let link = directory.path().join("link");
    assert!(Earlier::look(&link, 10).expect("looked").is_none());
}

#[test]
fn what_is_marked_replaces_only_its_like() {
    let directory = directory();
    let path = directory.path().join("f.0.received");
    leave_marked(&path, b"one").expect("left");
    let file = File::open(&path).expect("open");
    let can_mark = mark::standing(&file).expect("a mark") == Standing::Made;
    if can_mark {
        leave_marked(&path, b"two").expect("left");
        assert_eq!(names(directory.path()), ["f.0.received"]);
        assert_eq!(fs::read(&path).expect("read"), b"two");
    } else {
        fathom_testkit::skipped("what_is_marked_replaces_only_its_like", "user attributes");
    }
    fs::write(&path, "dear").expect("written");
    leave_marked(&path, b"three").expect("left");
    assert_eq!(fs::read(&path).expect("read"), b"dear");
    assert_eq!(names(directory.path()), ["f.0.received", "f.0.received.1"]);
    fs::remove_file(&path).expect("removed");
    symlink("nowhere", &path).expect("a link");
    fs::remove_file(directory.path().join("f.0.received.1")).expect("removed");
    leave_marked(&path, b"four").expect("left");
    let beside = directory.path().join("f.0.received.1");
    assert_eq!(fs::read(beside).expect("read"), b"four");
}

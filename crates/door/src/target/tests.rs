use super::*;
use std::fs;
use std::os::unix::fs::{FileExt, symlink};

fn directory() -> tempfile::TempDir {
    tempfile::tempdir().expect("a directory")
}

fn unasked(path: &Path) -> Permits {
    Permits::unasked([path]).expect("a permit")
}

#[test]
fn a_file_is_made_once_and_only_where_nothing_is() {
    let directory = directory();
    let path = directory.path().join("x");
    let permits = unasked(&path);
    let permit = permits.of(&path).expect("a permit");
    assert!(permit.open(OFlags::empty()).is_err(), "nothing is there yet");
    permit.grows_to(4);
    permit
        .create()
        .expect("made")
        .write_all_at(b"load", 0)
        .expect("written");
    let again = permit.create().expect("the same");
    assert_eq!(again.metadata().expect("there").len(), 4);
    assert!(permits.of(Path::new("elsewhere")).is_err());

    for (name, make) in [
        (
            "file",
            (|path| fs::write(path, "dear")) as fn(&Path) -> io::Result<()>,
        ),
        ("link", |path| symlink("nowhere", path)),
        ("directory", |path| fs::create_dir(path)),
    ] {
        let path = directory.path().join(name);
        let permit = Permit::new_file(&path);
        make(&path).expect("made by somebody else");
        let error = permit.create().expect_err("it is there");
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists, "{name}");
        assert!(!permit.remove_created().expect("nothing to do"));
        assert!(fs::symlink_metadata(&path).is_ok(), "{name} is left alone");
    }
    assert!(!directory.path().join("nowhere").exists());
}

type Replace = fn(&Path, &Path) -> io::Result<()>;

/// Whatever takes the place of what was judged, by whichever name: it is not opened.
#[test]
fn what_was_replaced_is_not_opened() {
    let directory = directory();
    let [path, dear] = ["x", "dear"].map(|name| directory.path().join(name));
    let replace: [(&str, Replace); 4] = [
        ("another file", |path, dear| {
            fs::copy(dear, path.with_extension("new"))
                .and_then(|_| fs::rename(path.with_extension("new"), path))
        }),
        ("a link to another", |path, dear| {
            fs::remove_file(path)?;
            symlink(dear, path)
        }),
        ("another name of another", |path, dear| {
            fs::remove_file(path)?;
            fs::hard_link(dear, path)
        }),
        ("a device", |path, _| {
            fs::remove_file(path)?;
            symlink("/dev/null", path)
        }),
    ];
    for (what, replace) in replace {
        drop(fs::remove_file(&path));
        fs::write(&path, "load").expect("a file");
        fs::write(&dear, "dear data").expect("a file");
        let permits = unasked(&path);
        let permit = permits.of(&path).expect("a permit");
        replace(&path, &dear).expect("replaced");
        let error = permit.open(OFlags::empty()).expect_err(what);
        assert!(error.to_string().contains("replaced"), "{what}: {error}");
        assert_eq!(fs::read(&dear).expect("read"), b"dear data", "{what}");
    }
}

/// The attack itself: a link that another thread flips between a file of ours and somebody else's.
#[test]
fn a_link_that_is_flipped_never_leads_to_the_other() {
    let directory = directory();
    let [ours, theirs, link, spare] =
        ["ours", "theirs", "link", "spare"].map(|name| directory.path().join(name));
    fs::write(&ours, "ours").expect("a file");
    fs::write(&theirs, "dear").expect("a file");
    symlink(&ours, &link).expect("a link");
    let permits = Permits::unasked([link.as_path()]).expect("a permit");
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                for to in [&theirs, &ours] {
                    symlink(to, &spare).expect("a link");
                    fs::rename(&spare, &link).expect("flipped");
                }
            }
        });
        let mut opened = 0;
        for _ in 0..2000 {
            if let Ok(file) = permits.of(&link).and_then(|permit| permit.open(OFlags::empty())) {
                file.write_all_at(b"load", 0).expect("written");
                opened += 1;
            }
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(opened > 0, "it is opened where it leads to ours");
    });
    assert_eq!(fs::read(&theirs).expect("read"), b"dear");
}

#[test]
fn only_what_was_made_is_removed() {
    let directory = directory();
    let [path, there] = ["x", "there"].map(|name| directory.path().join(name));
    fs::write(&there, "dear").expect("a file");
    let permits = Permits::unasked([path.as_path(), there.as_path()]).expect("permits");
    let permit = |path: &Path| Arc::clone(permits.of(path).expect("a permit"));
    permit(&there).open(OFlags::empty()).expect("opened");
    assert!(!permit(&there).remove_created().expect("not ours"));
    assert!(there.exists());
    permit(&path).create().expect("made");
    assert!(permit(&path).remove_created().expect("removed"));
    assert!(!path.exists());
    assert!(!permit(&path).remove_created().expect("gone"));

    // Made again, and replaced: the other one stays, under its name.
    permit(&path).create().expect("made");
    fs::rename(&there, &path).expect("replaced");
    let error = permit(&path).remove_created().expect_err("another");
    assert!(error.to_string().contains("left alone"), "{error}");
    assert_eq!(fs::read(&path).expect("read"), b"dear");
    let names = fs::read_dir(directory.path()).expect("read").count();
    assert_eq!(names, 1, "nothing is left over");
}

#[test]
fn the_second_is_told() {
    let directory = directory();
    let path = directory.path().join("x");
    fs::write(&path, "load").expect("a file");
    let first = unasked(&path);
    let error = Permits::unasked([path.as_path()]).expect_err("locked");
    assert!(matches!(error, Refused::Locked), "{error}");
    let judged = File::open(&path).expect("opened");
    assert!(matches!(is_locked(&judged), Err(Refused::Locked)));
    drop(first);
    is_locked(&judged).expect("free");
    unasked(&path);
}

#[test]
fn a_permit_outlives_a_move_within_its_file_only() {
    let directory = directory();
    let path = directory.path().join("x");
    let permits = unasked(&path);
    let permit = permits.of(&path).expect("a permit");
    permit.create().expect("made");
    fs::rename(&path, directory.path().join("moved")).expect("moved");
    let error = permit.open(OFlags::empty()).expect_err("gone");
    assert!(error.to_string().contains("removed"), "{error}");
    // Gone is gone: nothing to remove, nothing to say.
    assert!(permit.remove_created().is_ok());
    assert!(directory.path().join("moved").exists());
}

/// A file of fathom's that somebody else writes to while a run goes on is neither removed nor written to again.
#[test]
fn what_others_write_to_during_a_run_is_theirs() {
    let directory = directory();
    let grown: fn(&Path) -> io::Result<()> = |path| {
        use std::io::Write;
        File::options().append(true).open(path)?.write_all(b"dear")
    };
    let rewritten: fn(&Path) -> io::Result<()> = |path| {
        std::thread::sleep(Duration::from_millis(20));
        fs::write(path, vec![9; 8192])
    };
    for (what, at_rest, write) in [
        ("grown under a load", false, grown),
        ("grown at rest", true, grown),
        ("rewritten at rest", true, rewritten),
    ] {
        let path = directory.path().join(what);
        let permits = unasked(&path);
        let permit = permits.of(&path).expect("a permit");
        permit.grows_to(8192);
        permit
            .create()
            .expect("made")
            .write_all_at(&[1; 8192], 0)
            .expect("written");
        permit.laid_out().expect("sealed");
        let (file, writer) = permit.open_for_load(OFlags::empty()).expect("opened");
        file.write_all_at(&[2; 4096], 0).expect("written");
        if at_rest {
            drop((file, writer));
            write(&path).expect("written");
        } else {
            write(&path).expect("written");
            drop((file, writer));
        }
        assert!(permit.open(OFlags::empty()).is_err(), "{what}");
        let error = permit.remove_created().expect_err(what);
        assert!(
            error.to_string().contains("something else has written to it"),
            "{error}"
        );
        assert_eq!(permits.seal().len(), 1, "{what}");
        let standing = mark::standing(&File::open(&path).expect("opened")).expect("a standing");
        assert_ne!(standing, mark::Standing::Made, "{what}");
    }
}

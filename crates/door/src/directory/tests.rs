use super::{make, make_missing, remove_own};
use std::fs;
use std::io::ErrorKind;

#[test]
fn only_what_fathom_made_and_what_is_empty_is_removed() {
    let place = tempfile::tempdir().expect("a directory");
    let (own, theirs) = (place.path().join("own"), place.path().join("theirs"));
    make(&own).expect("made");
    fs::create_dir(&theirs).expect("made");
    assert_eq!(
        make(&own).expect_err("it is there").kind(),
        ErrorKind::AlreadyExists
    );
    assert!(!make_missing(&own).expect("there") && !make_missing(&theirs).expect("there"));
    assert!(
        !remove_own(&theirs, false).expect("looked at"),
        "somebody else made it"
    );
    assert!(theirs.is_dir());
    fs::write(own.join("file"), b"x").expect("written");
    assert_eq!(
        remove_own(&own, true).expect_err("something is in it").kind(),
        ErrorKind::DirectoryNotEmpty
    );
    assert!(own.join("file").exists());
    fs::remove_file(own.join("file")).expect("removed");
    // A file system without attributes knows only what was made now.
    assert!(remove_own(&own, true).expect("removed"));
    assert!(!own.exists());
}

#[test]
fn what_is_no_directory_is_left_alone() {
    let place = tempfile::tempdir().expect("a directory");
    let file = place.path().join("file");
    fs::write(&file, b"x").expect("written");
    assert!(make_missing(&file).is_err());
    assert!(!remove_own(&file, false).expect("looked at"));
    assert!(file.exists());
}

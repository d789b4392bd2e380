use super::*;
use std::fs;

fn of(path: &Path) -> Identity {
    hold(path, true).expect("looked at").expect("there").identity
}

#[test]
fn names_of_one_file_are_one_and_its_successor_is_another() {
    let directory = tempfile::tempdir().expect("a directory");
    let [path, link, hard] = ["x", "link", "hard"].map(|name| directory.path().join(name));
    fs::write(&path, "x").expect("a file");
    std::os::unix::fs::symlink(&path, &link).expect("a link");
    fs::hard_link(&path, &hard).expect("a name");
    let identity = of(&path);
    assert!(identity.is_regular());
    assert!(identity.same_as(&of(&link)) && identity.same_as(&of(&hard)));
    let itself = hold(&link, false).expect("looked at").expect("there").identity;
    assert_eq!(itself.in_words(), "a symbolic link");
    assert!(!identity.same_as(&itself));
    // Its successor may be given the same number.
    fs::remove_file(&hard).expect("removed");
    fs::remove_file(&path).expect("removed");
    assert!(hold(&path, true).expect("looked at").is_none());
    fs::write(&path, "x").expect("a file");
    assert!(!identity.same_as(&of(&path)));
}

#[test]
fn a_device_is_its_number_and_not_its_node() {
    let null = of(Path::new("/dev/null"));
    assert!(!null.is_regular());
    assert_eq!(null.in_words(), "a character device");
    assert!(null.same_as(&of(Path::new("/dev/../dev/null"))));
    assert!(!null.same_as(&of(Path::new("/dev/zero"))));
}

#[test]
fn what_is_held_is_what_is_opened() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("x");
    fs::write(&path, "first").expect("a file");
    let held = hold(&path, true).expect("looked at").expect("there");
    let other = directory.path().join("other");
    fs::write(&other, "other").expect("a file");
    fs::rename(&other, &path).expect("renamed");
    let opened = held.open(OFlags::RDONLY).expect("opened");
    assert_eq!(io::read_to_string(opened).expect("read"), "first");
}

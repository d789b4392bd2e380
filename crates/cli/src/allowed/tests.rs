use super::{covers, paths};

#[test]
fn a_name_covers_itself_and_a_directory_what_is_in_it() {
    let place = tempfile::tempdir().expect("a directory");
    let inner = place.path().join("inner");
    std::fs::create_dir(&inner).expect("mkdir");
    let (file, other) = (inner.join("file"), place.path().join("other"));
    std::fs::write(&file, "x").expect("write");
    std::fs::write(&other, "x").expect("write");
    assert!(covers(std::slice::from_ref(&inner), &file));
    assert!(covers(std::slice::from_ref(&file), &inner.join("../inner/file")));
    assert!(!covers(std::slice::from_ref(&inner), &other));
    assert!(!covers(&[place.path().join("inn")], &file));
    assert!(!covers(&[], &file));
    assert!(!covers(std::slice::from_ref(&inner), &inner.join("new")));
}

#[test]
fn names_have_colons_between_them() {
    assert_eq!(
        paths("/a:b::/c/d"),
        ["/a", "b", "/c/d"].map(std::path::PathBuf::from)
    );
    assert!(paths("").is_empty());
}

//! Which paths are the same.

use super::same;

#[test]
fn links_to_a_file_are_the_file_and_copies_are_not() {
    let dir = tempfile::tempdir().expect("dir");
    let [a, b, link] = ["a", "b", "link"].map(|name| dir.path().join(name));
    std::fs::write(&a, "x").expect("write");
    std::fs::write(&b, "x").expect("write");
    std::os::unix::fs::symlink(&a, &link).expect("link");
    assert!(same(&link, &a));
    assert!(!same(&b, &a));
    assert!(!same(&dir.path().join("missing"), &a));
}

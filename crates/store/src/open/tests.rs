use super::{regular, whole};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;

fn refused(path: &Path) -> String {
    regular(path)
        .expect_err("it is no file of the directory's own")
        .to_string()
}

#[test]
fn what_may_never_end_or_lies_elsewhere_is_not_opened() {
    let dir = tempfile::tempdir().expect("a directory");
    let at = |name: &str| dir.path().join(name);
    std::fs::write(at("file"), "text").expect("a file");
    mknodat(CWD, at("pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a pipe");
    symlink(at("file"), at("link")).expect("a link");
    symlink("/dev/zero", at("zero")).expect("a link");
    let _listening = UnixListener::bind(at("socket")).expect("a socket");
    assert_eq!(refused(&at("pipe")), "it is no regular file");
    assert_eq!(refused(&at("socket")), "it is no regular file");
    assert_eq!(refused(dir.path()), "it is no regular file");
    assert_eq!(refused(Path::new("/dev/zero")), "it is no regular file");
    assert_eq!(refused(&at("link")), "it is a link, and links are not followed");
    assert_eq!(refused(&at("zero")), "it is a link, and links are not followed");
    assert_eq!(whole(&at("file"), 4).expect("a file"), b"text");
    assert!(whole(&at("file"), 3).is_err(), "it is larger");
}

use super::*;

const EXPECTED: Expected = Expected {
    what: "list",
    mib_max: 1,
    remedy: ". Give another",
};

fn error(bytes: &[u8]) -> String {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("file");
    std::fs::write(&path, bytes).expect("a file");
    let text = format!("{:#}", read(&path, EXPECTED).expect_err("it is wrong"));
    text.replace(&path.display().to_string(), "FILE")
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    assert_eq!(error(b"one\ntwo \xff\n"), "FILE:2: not text (UTF-8): give a list");
    assert_eq!(
        error(&vec![b'a'; (1 << 20) + 1]),
        "FILE is larger than 1 MiB: it is not a list. Give another"
    );
}

#[test]
fn a_text_is_read_and_a_directory_is_none() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("file");
    std::fs::write(&path, vec![b'a'; 1 << 20]).expect("a file");
    assert_eq!(read(&path, EXPECTED).expect("a text").len(), 1 << 20);
    let message = format!("{:#}", read(dir.path(), EXPECTED).expect_err("a directory"));
    assert!(message.ends_with("is not a file: give a list"), "{message}");
    let message = format!(
        "{:#}",
        read(&dir.path().join("none"), EXPECTED).expect_err("none")
    );
    assert!(message.starts_with("cannot read the list"), "{message}");
}

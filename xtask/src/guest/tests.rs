//! What needs no guest: the archive, the order of modules, what is made of a guest's words.

use super::cpio::Archive;
use super::judged;
use super::kernel::depends;

#[test]
fn an_archive_is_what_cpio_reads() {
    let mut archive = Archive::new();
    archive.file("a/b/one", 0o755, b"12345");
    archive.file("a/two", 0o644, b"");
    let bytes = archive.finished();
    let mut names = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let text = |from: usize, len: usize| std::str::from_utf8(&bytes[at + from..][..len]).expect("text");
        let number = |field: usize| usize::from_str_radix(text(6 + 8 * field, 8), 16).expect("a number");
        assert_eq!((at % 4, text(0, 6)), (0, "070701"));
        let (mode, content, name) = (number(1), number(6), number(11));
        names.push(format!("{mode:o} {} {content}", text(110, name - 1)));
        at = (at + 110 + name).next_multiple_of(4);
        at = (at + content).next_multiple_of(4);
    }
    let expected = [
        "40755 dev 0",
        "20600 dev/console 0",
        "40755 a 0",
        "40755 a/b 0",
        "100755 a/b/one 5",
        "100644 a/two 0",
        "0 TRAILER!!! 0",
    ];
    assert_eq!(names, expected);
}

#[test]
fn a_module_names_what_it_depends_on() {
    assert_eq!(
        depends(b"..\0depends=nvme-core,t10_pi\0name=nvme\0"),
        ["nvme_core", "t10_pi"]
    );
    assert!(depends(b"..\0depends=\0name=x\0").is_empty());
    assert!(depends(b"no such section").is_empty());
}

#[test]
fn failures_and_silence_are_errors() {
    let error = |said: &str| judged(said).err().map(|error| error.to_string());
    assert_eq!(error("PASSED one\nSKIPPED two: a zone\nENDED\n"), None);
    let failed = error("PASSED one\nFAILED two\nFAILED three\nENDED\n");
    assert_eq!(failed.as_deref(), Some("checks in the guest failed: two, three"));
    assert_eq!(
        error("PASSED one\n").as_deref(),
        Some("the guest did not come to its end")
    );
}

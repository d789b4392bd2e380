//! Texts from outside.

use super::{in_words, read_text};
use fathom_dialect::{Diagnostic, Place, Severity};

#[test]
fn a_finding_becomes_a_warning_without_its_severity() {
    let place = Place::Text {
        file: String::from("a.fio"),
        line: 3,
        column: 1,
    };
    let diagnostic = Diagnostic {
        severity: Severity::Warning,
        at: Some(place),
        message: String::from("`x` is left out"),
        remedy: Some(String::from("remove it")),
    };
    assert_eq!(in_words(&diagnostic), "a.fio:3:1: `x` is left out; remove it");
}

#[test]
fn what_is_no_text_is_refused_with_its_line() {
    let dir = tempfile::tempdir().expect("dir");
    let path = dir.path().join("bad.fio");
    std::fs::write(&path, b"[a]\nrw=\xff\n").expect("write");
    let error = read_text(&path).expect_err("not text").to_string();
    assert!(
        error.ends_with("bad.fio:2: not text (UTF-8): give a job file"),
        "{error}"
    );
    let error = read_text(dir.path()).expect_err("a directory").to_string();
    assert!(error.ends_with("is not a file: give a job file"), "{error}");
    let error = format!(
        "{:#}",
        read_text(&dir.path().join("no.fio")).expect_err("missing")
    );
    assert!(
        error.contains("cannot read") && error.contains("No such file"),
        "{error}"
    );
}

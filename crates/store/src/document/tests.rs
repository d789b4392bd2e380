use super::*;
use crate::fixtures;
use expect_test::{Expect, expect};

fn check(text: &str, expect: &Expect) {
    let Err(error) = parse(PathBuf::from("d/run.json"), text.as_bytes()) else {
        panic!("accepted: {text}");
    };
    expect.assert_eq(&error.to_string());
}

#[test]
fn documents_come_back_exactly() {
    let dir = tempfile::tempdir().expect("a directory");
    let files = vec![FileRecord {
        name: String::from("x"),
        size_bytes: 3,
        xxh64: String::from("00"),
    }];
    for run in [fixtures::run(), fixtures::finished()] {
        write(dir.path(), &run, &files).expect("written");
        let back = read(dir.path()).expect("read");
        assert_eq!(back.run, run);
        assert_eq!(back.files, files);
    }
    let names: Vec<_> = std::fs::read_dir(dir.path()).expect("listed").collect();
    assert_eq!(names.len(), 1, "no temporary file is left: {names:?}");
}

/// `run.json` is the run, with one key more: whoever reads it needs no knowledge of this crate.
#[test]
fn the_document_is_the_run() {
    let dir = tempfile::tempdir().expect("a directory");
    write(dir.path(), &fixtures::finished(), &[]).expect("written");
    let text = std::fs::read(dir.path().join(RUN_FILE)).expect("read");
    let run: Run = serde_json::from_slice(&text).expect("a run");
    assert_eq!(run, fixtures::finished());
}

#[test]
fn damaged_documents() {
    check(
        "",
        &expect![
            "d/run.json:1:0: not a run record: EOF while parsing a value at line 1 column 0. Restore the file from a copy; the series beside it can be read with any Parquet or Arrow tool"
        ],
    );
    check(
        "[1, 2",
        &expect![
            "d/run.json:1:2: not a run record: invalid type: integer `1`, expected a string at line 1 column 2. Restore the file from a copy; the series beside it can be read with any Parquet or Arrow tool"
        ],
    );
    check(
        r#"{"name": "fio"}"#,
        &expect![
            "d/run.json:1:15: not a run record: missing field `schema` at line 1 column 15. Restore the file from a copy; the series beside it can be read with any Parquet or Arrow tool"
        ],
    );
    check(
        r#"{"schema": "fathom.run/2", "everything": "else"}"#,
        &expect![
            "d/run.json has the schema `fathom.run/2`, this fathom reads `fathom.run/1`. Use the version of fathom that made it, or a newer one"
        ],
    );
    check(
        r#"{"schema": "something/1"}"#,
        &expect![
            "d/run.json has the schema `something/1`, this fathom reads `fathom.run/1`. Use the version of fathom that made it, or a newer one"
        ],
    );
    check(
        "{\n  \"schema\": \"fathom.run/1\"\n}",
        &expect![
            "d/run.json:3:1: not a run record: missing field `build` at line 3 column 1. Restore the file from a copy; the series beside it can be read with any Parquet or Arrow tool"
        ],
    );
}

#[test]
fn every_truncation_is_an_error() {
    let text = serde_json::to_vec(&fixtures::finished()).expect("JSON");
    for end in 0..text.len() {
        assert!(parse(PathBuf::from("run.json"), &text[..end]).is_err(), "{end}");
    }
    assert!(parse(PathBuf::from("run.json"), &text).is_ok());
}

#[test]
fn what_is_too_large_is_not_read() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = std::fs::File::create(dir.path().join(RUN_FILE)).expect("made");
    file.set_len(SIZE_BYTES_MAX + 1).expect("sparse");
    let Err(error) = read(dir.path()) else {
        panic!("it was read");
    };
    assert!(error.to_string().contains("no run.json has more than"), "{error}");
}

#[test]
fn missing_documents() {
    let dir = tempfile::tempdir().expect("a directory");
    assert!(matches!(read(dir.path()), Err(StoreError::NotARun { .. })));
    let nowhere = dir.path().join("nowhere");
    let Err(error) = read(&nowhere) else {
        panic!("there is nothing to read");
    };
    assert!(error.to_string().contains("Check the path"), "{error}");
}

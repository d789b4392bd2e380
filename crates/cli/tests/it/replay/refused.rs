//! What is wrong with a record or a target is said with its place, and nothing is touched.

use crate::harness::Place;
use std::path::Path;

const IOLOG: &str = "fio version 3 iolog\n1 a write 0 4096\n2 a read 4096 4096\n";

#[test]
fn a_wrong_record_is_refused_with_its_place() {
    let place = Place::new();
    let cases: [(&str, &[u8], &str); 9] = [
        ("empty", b"", "empty: it is empty"),
        (
            "text",
            b"hello\n",
            "text: its first line, `hello`, is of no format that is read",
        ),
        ("packed.gz", b"\x1f\x8b\x08\0\0", "packed.gz: it is packed (gzip)"),
        (
            "cut.log",
            b"fio version 3 iolog\n1 a write 0 4096\n2 a read 40",
            "cut.log:3: the last line has no end",
        ),
        (
            "back.log",
            b"fio version 3 iolog\n9000000 a read 0 512\n1 a read 0 512\n",
            "back.log:3: its time lies 9.000 s before",
        ),
        (
            "word.csv",
            b"1,R,0,512,1\n1,R,zero,512,2\n",
            "word.csv:2: the offset `zero` is no whole number",
        ),
        (
            "none.log",
            b"fio version 3 iolog\n1 a add\n1 a open\n",
            "none.log: no I/O is in it",
        ),
        (
            "half.blktrace.0",
            b"\x07\x74\x61\x65\x01\0\0\0",
            "half.blktrace.0: byte 0: the file ends within a record",
        ),
        (
            "old.blktrace.0",
            &[5, 0x74, 0x61, 0x65, 0, 0, 0, 0],
            "old.blktrace.0: byte 0: version 5",
        ),
    ];
    for (name, bytes, said) in cases {
        place.write(name, bytes);
        for target in ["new", "model:azure/P4"] {
            let outcome = place.fathom(&format!("replay {name} --on {target} -o none"));
            outcome.expect(2).saying(said);
            assert!(!place.path("new").exists(), "{name}: nothing is touched");
        }
    }
    place
        .fathom("replay missing --on new")
        .expect(2)
        .saying("missing: no such file");
    place.fathom("replay . --on new").expect(2);
    assert!(!place.path("new").exists() && !place.path("fathom-runs").exists());
}

#[test]
fn what_cannot_be_is_said_by_its_flag() {
    let place = Place::new();
    place.write("a.log", IOLOG);
    place.write("plain.log", "fio version 2 iolog\na read 0 4096\n");
    place.write("syncs.log", "fio version 3 iolog\n1 a sync 0 0\n");
    place.write("writes.log", "fio version 3 iolog\n1 a write 0 4096\n");
    for (line, said) in [
        (
            "a.log --on model:azure/P4 --dependent",
            "does not say when I/Os ended",
        ),
        (
            "plain.log --on model:azure/P4 --speed 2x",
            "--speed: plain.log has no times",
        ),
        (
            "plain.log --on model:azure/P4 --dependent",
            "--dependent: plain.log has no times",
        ),
        ("syncs.log --on model:azure/P4", "only syncs"),
        (
            "writes.log --on model:azure/P4 --readonly",
            "--readonly: writes.log has no reads",
        ),
        (
            "a.log --on model:azure/P4 --volume b",
            "--volume b: a.log has a with 2 I/Os",
        ),
        (
            "a.log --on new --to target",
            "--to target: new has no size of its own",
        ),
        (
            "a.log --on model:azure/P4 --to 2KiB",
            "the largest I/O of a.log has 4 KiB",
        ),
        ("a.log --on a.log", "is the record itself"),
        (
            "a.log --on model:azure/P4 --stream io",
            "--stream is for run directories",
        ),
        (
            "a.log --on model:azure/P4 --format msr",
            "a.log:1: 1 fields instead of 7",
        ),
        ("a.log --on model:azure/P4 --speed 0x", "--speed"),
    ] {
        place
            .fathom(&format!("replay {line} -o none"))
            .expect(2)
            .saying(said);
    }
    assert!(!place.path("new").exists());
    let run = place.json("replay plain.log --on model:azure/P4 -o none");
    assert_eq!(
        run["jobs"][0]["replay"]["start_error_ns"]["n"], 0,
        "no times, no errors"
    );
}

/// What `fathom run` would not overwrite, a replay does not.
#[test]
fn nothing_of_others_is_overwritten_without_leave() {
    let place = Place::new();
    place.write("a.log", IOLOG);
    place.write("mine", vec![5; 8192]);
    let intact = |path: &Path| assert_eq!(std::fs::read(path).expect("it"), vec![5; 8192]);
    place
        .fathom("replay a.log --on mine -o none")
        .expect(3)
        .saying("--allow-overwrite");
    intact(&place.path("mine"));
    place.fathom("replay a.log --on mine -o none --dry-run").expect(3);
    intact(&place.path("mine"));
    let small = place.write("small", vec![5; 4096]);
    place
        .fathom("replay a.log --on small -o none --allow-overwrite small")
        .expect(2)
        .saying("reaches to 8 KiB");
    assert_eq!(std::fs::metadata(small).expect("it").len(), 4096);
    place
        .fathom("replay a.log --on mine -o none --readonly --buffered --engine psync -q")
        .expect(0);
    intact(&place.path("mine"));
    place
        .fathom("replay a.log --on mine -o none --allow-overwrite mine --buffered --engine psync -q")
        .expect(0);
    let now = std::fs::read(place.path("mine")).expect("it");
    assert_eq!(now.len(), 8192);
    assert!(now[..4096] != [5; 4096], "it was written to");
    assert_eq!(now[4096..], [5; 4096], "where the record wrote");
    place.fathom("replay a.log --on new -o none --dry-run").expect(0);
    assert!(!place.path("new").exists(), "a dry run makes nothing");
}

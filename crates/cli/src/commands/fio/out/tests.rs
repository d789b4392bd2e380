use super::{Out, check, is_output};
use crate::allowed::Allowed;
use std::path::Path;

#[test]
fn an_earlier_output_is_known() {
    for known in [
        "{\n  \"fio version\" : \"fio-3.33\",\n",
        "3;fio-3.33;a;0;0;64;",
        "a: (g=0): rw=read, bs=(R) 4096B-4096B\n...\nfio-3.33\nStarting 1 process\n",
        "fio: pid=4, err=28/file:a.c:1\n",
        "fio: pid=4, err=28/file:a.c:1\na: (g=0): rw=read\nfio-3.42-7-gabc\nStarting 2 processes\n",
        "2;a;0;0;64;1;2;3;4;5;6;7;8;9;10;11;12;13;14;15;16;17;18;19;20;21;22;23;24;25;26;27;28;29;30;31;32;33;34;35",
    ] {
        assert!(is_output(known.as_bytes()), "{known}");
    }
    for other in [
        "{\n  \"version\" : 3\n}",
        "thesis\n",
        "3;4;5",
        "[global]\nrw=read\n",
        "2;a;b;c\n2;d;e;f\n",
        "notes\nfio-3.35 was here\n",
        "fio-3.35\nand more\n",
        "fio: a tutorial\nwritten by hand\n",
        "{ \"note\": 1, \"fio version\" : \"fio-3.3\" }",
        "compare a: (g=0) with b\n",
    ] {
        assert!(!is_output(other.as_bytes()), "{other}");
    }
}

#[test]
fn anything_else_stays() {
    let place = tempfile::tempdir().expect("a directory");
    let path = place.path().join("out");
    let may = |force| check(&path, force, &Allowed::default(), &is_output).is_ok();
    assert!(may(false));
    for (text, replaced) in [("mine", false), ("", true), ("3;fio-3.33;a;0;0", true)] {
        std::fs::write(&path, text).expect("write");
        assert_eq!((may(false), may(true)), (replaced, true), "{text}");
    }
}

#[test]
fn a_script_may_throw_it_away() {
    let open = |name: &str| Out::open(Some(Path::new(name)), false, &Allowed::default()).expect(name);
    assert!(matches!(open("/dev/null"), Out::Nowhere));
    assert!(matches!(open("/dev/stderr"), Out::Stderr));
}

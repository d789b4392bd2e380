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
    ] {
        assert!(is_output(known), "{known}");
    }
    for other in [
        "{\n  \"version\" : 3\n}",
        "thesis\n",
        "3;4;5",
        "[global]\nrw=read\n",
    ] {
        assert!(!is_output(other), "{other}");
    }
}

#[test]
fn anything_else_stays() {
    let place = tempfile::tempdir().expect("a directory");
    let path = place.path().join("out");
    let may = |force| check(&path, force, &Allowed::default(), is_output).is_ok();
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

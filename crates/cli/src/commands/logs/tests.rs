use super::{inflate, is_log, open};
use crate::allowed::Allowed;
use fathom_report::fio::logs::{LogKind, Opening};
use flate2::Compression;
use flate2::write::ZlibEncoder;
use std::io::Write as _;

fn opening(append: bool, compressed: bool, kind: LogKind) -> Opening {
    Opening {
        append,
        compressed,
        kind,
    }
}

#[test]
fn logs_are_known() {
    let is = |kind, head: &str| is_log(opening(false, false, kind), head.as_bytes());
    let buckets = format!("1000, 0, 4096{}\n", ", 0".repeat(1216));
    for known in [
        "0, 117347, 0, 4096, 0, 0x4003\n",
        "500, 8192, 1, 0, 0\n",
        "500, 8192, 9000, 1, 0, 0\n",
        &buckets,
    ] {
        assert!(is(LogKind::Samples, known), "{known}");
        assert!(!is(LogKind::Iolog, known), "{known}");
    }
    assert!(is(LogKind::Iolog, "fio version 3 iolog\n"));
    assert!(!is(LogKind::Samples, "fio version 3 iolog\n"));
    for other in [
        "a, b\n",
        "1\n",
        "12,13\n",
        "thesis",
        "1, 2\n3, 4\n",
        "1, 2, 3, 4\n",
        "1, 2, 0, x\n",
        "fio version 3 is what I have\n",
        "",
    ] {
        for kind in [LogKind::Samples, LogKind::Iolog] {
            assert!(!is(kind, other), "{other}");
        }
    }
}

/// Whatever is compressed is not a log for that.
#[test]
fn a_compressed_log_is_known_by_what_is_in_it() {
    for (rows, known) in [("0, 1, 0, 4096, 0\n", true), ("dear\n", false)] {
        let mut bytes = ZlibEncoder::new(Vec::new(), Compression::default());
        write!(bytes, "{rows}").expect("write");
        let bytes = bytes.finish().expect("finish");
        for kind in [LogKind::Samples, LogKind::Iolog] {
            let is = is_log(opening(false, true, kind), &bytes);
            assert_eq!(is, known && kind == LogKind::Samples, "{rows}");
            assert!(!is_log(opening(false, false, kind), &bytes));
        }
    }
    let nothing = ZlibEncoder::new(Vec::new(), Compression::default()).finish();
    let nothing = nothing.expect("finish");
    let compressed = opening(false, true, LogKind::Samples);
    assert!(is_log(compressed, &nothing));
    assert!(!is_log(compressed, &nothing[..3]) && !is_log(compressed, b"xyz"));
}

#[test]
fn a_compressed_log_is_read_back_and_replaced() {
    let place = tempfile::tempdir().expect("a directory");
    let path = place.path().join("x_lat.1.log.fz");
    let opening = opening(false, true, LogKind::Samples);
    for round in 0..2 {
        let mut log = open(&path, opening, false, &Allowed::default()).expect("open");
        for at in 0..10_000 {
            writeln!(log, "{at}, {round}, 0, 4096, 0").expect("write");
        }
        log.finish().expect("finish");
    }
    let mut text = String::new();
    inflate(&path, |part| {
        text.push_str(part);
        Ok(())
    })
    .expect("inflate");
    assert_eq!(text.lines().count(), 10_000);
    assert_eq!(text.lines().last(), Some("9999, 1, 0, 4096, 0"));
    assert!(inflate(&place.path().join("none"), |_| Ok(())).is_err());
}

#[test]
fn a_shared_log_goes_on_behind_what_it_holds() {
    let place = tempfile::tempdir().expect("a directory");
    let path = place.path().join("x_bw.log");
    let opening = opening(true, false, LogKind::Samples);
    for _ in 0..2 {
        let mut log = open(&path, opening, false, &Allowed::default()).expect("open");
        writeln!(log, "0, 1, 0, 4096, 0").expect("write");
        log.finish().expect("finish");
    }
    let text = std::fs::read_to_string(&path).expect("read");
    assert_eq!(text.lines().count(), 2);
    std::fs::write(&path, "mine").expect("write");
    assert!(open(&path, opening, false, &Allowed::default()).is_err());
}

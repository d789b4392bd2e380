use super::{inflate, is_log, open};
use crate::allowed::Allowed;
use fathom_report::fio::logs::Opening;

#[test]
fn logs_are_known() {
    for known in [
        "0, 117347, 0, 4096, 0, 0x4003\n",
        "500, 8192, 1, 0, 0\n",
        "fio version 3 iolog\n",
    ] {
        assert!(is_log(known), "{known}");
    }
    for other in ["a, b\n", "1\n", "12,13\n", "thesis"] {
        assert!(!is_log(other), "{other}");
    }
}

#[test]
fn a_compressed_log_is_read_back_and_replaced() {
    let place = tempfile::tempdir().expect("a directory");
    let path = place.path().join("x_lat.1.log.fz");
    let opening = Opening {
        append: false,
        compressed: true,
    };
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
    let opening = Opening {
        append: true,
        compressed: false,
    };
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

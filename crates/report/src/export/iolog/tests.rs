use super::{Iolog, Version, can_name};
use expect_test::expect;
use fathom_core::arrival::Arrival;
use fathom_core::backend::Op;

fn written(version: Version) -> String {
    let io = |due_ns, op, len_bytes| Arrival {
        due_ns,
        offset_bytes: 0,
        len_bytes,
        op,
        file: 0,
        worker: 0,
        depth: 0,
        think_ns: 0,
        took_ns: 0,
    };
    let mut out = Vec::new();
    let names = vec![String::from("/d/a"), String::from("/d/b")];
    let mut log = Iolog::begin(version, names, &mut out).expect("memory");
    for (arrival, file, offset) in [
        (io(5_000_000, Op::Read, 4096), 0, 8192),
        (io(5_250_000, Op::Write, 512), 1, 0),
        (io(7_000_999, Op::DataSync, 0), 1, 0),
        (io(9_000_000, Op::Trim, 65_536), 0, 65_536),
    ] {
        log.io(&arrival, file, offset, &mut out).expect("memory");
    }
    log.finish(&mut out).expect("memory");
    String::from_utf8(out).expect("text")
}

#[test]
fn a_log_is_as_fio_writes_it() {
    expect![[r#"
        fio version 3 iolog
        1 /d/a add
        1 /d/b add
        1 /d/a open
        1 /d/b open
        1 /d/a read 8192 4096
        251 /d/b write 0 512
        2001 /d/b datasync 0 0
        4001 /d/a trim 65536 65536
        4001 /d/a close
        4001 /d/b close
    "#]]
    .assert_eq(&written(Version::Three));
    expect![[r#"
        fio version 2 iolog
        /d/a add
        /d/b add
        /d/a open
        /d/b open
        /d/a read 8192 4096
        /d/b write 0 512
        /d/b wait 2 0
        /d/b datasync 0 0
        /d/a wait 4 0
        /d/a trim 65536 65536
        /d/a close
        /d/b close
    "#]]
    .assert_eq(&written(Version::Two));
}

#[test]
fn fio_reads_names_up_to_a_blank() {
    assert!(can_name("/d/a"));
    assert!(!can_name("/d/a b") && !can_name("") && !can_name(&"x".repeat(300)));
}
